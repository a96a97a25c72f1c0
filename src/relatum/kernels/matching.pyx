"""The heaviest matching of two sides, and prices that prove it: shortest augmenting paths.

Left elements have listed neighbours on the right, with positive weights. Every element has a price
of at least 0, and two neighbours together are never cheaper than their weight: so all prices
together are a bound on every matching, whenever the kernel is stopped. At first a left element asks
for its largest weight, the right ones for nothing. Then, one left element after the other, the
cheapest way is sought to match it: by a path to a right element that is free, or to a left one,
perhaps itself, that is best left alone. Prices fall and rise along the way so that pairs of the
matching cost what they weigh. SciPy has the matching of sparse weights, but not the prices.
"""

import numpy as np

from libc.stdint cimport int64_t

from relatum.kernels.heap cimport drop_top, push
from relatum.kernels.watch cimport Watch, is_over


cdef class Matching:
    """Neighbours and weights, prices and mates of both sides, and room for one search."""

    cdef const int64_t[::1] start, neighbour
    cdef const double[::1] weight
    cdef double[::1] left_price, right_price
    cdef int64_t[::1] left_mate, right_mate  # -1 for none
    cdef double[::1] distance, heap_key  # of right elements
    cdef int64_t[::1] came_from, seen, heap_item  # seen by the search for which left element
    cdef int64_t[::1] reached  # left elements in the order in which they were
    cdef double[::1] reached_at

    def __init__(self, start, neighbour, weight, int64_t n_right):
        cdef int64_t n_left = len(start) - 1, room = len(neighbour) + 1
        self.start, self.neighbour, self.weight = start, neighbour, weight
        self.left_price, self.right_price = np.zeros(n_left), np.zeros(n_right)
        self.left_mate, self.right_mate = np.full(n_left, -1), np.full(n_right, -1)
        self.distance, self.heap_key = np.zeros(n_right), np.empty(room)
        self.came_from, self.seen = np.full(n_right, -1), np.full(n_right, -1)
        self.heap_item, self.reached = np.empty(room, np.int64), np.empty(n_left, np.int64)
        self.reached_at = np.empty(n_left)


cdef void _begin(Matching m) noexcept nogil:
    """Let left elements ask for their largest weight, and match those whose choice is free."""
    cdef int64_t a, e, best
    for a in range(m.left_mate.shape[0]):
        best = -1
        for e in range(m.start[a], m.start[a + 1]):
            if best < 0 or m.weight[e] > m.weight[best]:
                best = e
        if best < 0:
            continue
        m.left_price[a] = m.weight[best]
        if m.right_mate[m.neighbour[best]] < 0:
            m.left_mate[a] = m.neighbour[best]
            m.right_mate[m.neighbour[best]] = a


cdef int64_t _look_around(
    Matching m, int64_t a, double at, int64_t root, double* least, int64_t* free, int64_t size
) noexcept nogil:
    """Note ways from a left element to its neighbours; return the size of the heap.

    A free neighbour at less than ``least`` becomes ``free``, and its distance ``least``.
    """
    cdef int64_t e, b
    cdef double far
    for e in range(m.start[a], m.start[a + 1]):
        b = m.neighbour[e]
        far = at + max(0.0, m.left_price[a] + m.right_price[b] - m.weight[e])
        if far >= least[0] or (m.seen[b] == root and far >= m.distance[b]):
            continue
        m.seen[b], m.distance[b], m.came_from[b] = root, far, a
        if m.right_mate[b] < 0:
            least[0], free[0] = far, b
        else:
            push(m.heap_key, m.heap_item, size, far, b)
            size += 1
    return size


cdef int64_t _match(Matching m, int64_t root) noexcept nogil:
    """Find the cheapest way to match a left element, and go it; return the steps that it took."""
    cdef double least = m.left_price[root], at  # what it costs to leave it alone
    cdef int64_t free = -1, alone = root, size = 0, count = 1, steps = 0, a, b, k
    m.reached[0], m.reached_at[0] = root, 0.0
    size = _look_around(m, root, 0.0, root, &least, &free, size)
    while size > 0 and m.heap_key[0] < least:
        at, b = m.heap_key[0], m.heap_item[0]
        size -= 1
        drop_top(m.heap_key, m.heap_item, size)
        if at > m.distance[b]:
            continue  # a shorter way was found since
        a = m.right_mate[b]
        m.reached[count], m.reached_at[count] = a, at
        count += 1
        if at + m.left_price[a] < least:
            least, alone, free = at + m.left_price[a], a, -1
        steps += m.start[a + 1] - m.start[a]
        size = _look_around(m, a, at, root, &least, &free, size)
    for k in range(count):
        a, at = m.reached[k], m.reached_at[k]
        if at >= least:
            continue
        m.left_price[a] = max(0.0, m.left_price[a] - (least - at))
        if k > 0:
            b = m.left_mate[a]
            m.right_price[b] = m.right_price[b] + (least - at)
    b = free
    if free < 0:
        if alone == root:
            return steps
        b, m.left_mate[alone] = m.left_mate[alone], -1
    while True:  # back to the root: who came from where gets what it came to
        a = m.came_from[b]
        m.right_mate[b] = a
        b, m.left_mate[a] = m.left_mate[a], b
        if a == root:
            return steps


cdef void _match_all(Matching m, Watch watch) noexcept nogil:
    cdef int64_t a
    _begin(m)
    for a in range(m.left_mate.shape[0]):
        if m.left_mate[a] < 0 and m.start[a + 1] > m.start[a]:
            if is_over(watch, 10 * (_match(m, a) + m.start[a + 1] - m.start[a] + 1)):
                return


def heaviest_matching(start, neighbour, weight, int64_t n_right, expired=None):
    """Match left with right elements, and price both.

    Parameters
    ----------
    start : int64 array (n_left + 1,)
    neighbour : int64 array
        Those of left element ``a`` stand from ``start[a]`` to ``start[a + 1]``, each once.
    weight : float64 array
        Of these pairs, positive.
    n_right : int
    expired : callable () -> bool, or None
        Says whether to stop: then some elements are left unmatched, and prices are a bound still.

    Returns
    -------
    mate : int64 array (n_left,)
        The right element of each left one, -1 for none.
    left, right : float64 arrays
        Prices, which add up to the weight of the matching, but for rounding, if it is finished.
    """
    cdef Matching m = Matching(start, neighbour, weight, n_right)
    cdef Watch watch = Watch(expired)
    with nogil:
        _match_all(m, watch)
    watch.close()
    return np.asarray(m.left_mate), np.asarray(m.left_price), np.asarray(m.right_price)
