"""A small search by moves, joins and exchanges for the incumbents of branch and cut.

Weights are a dense symmetric matrix with zero diagonal; forbidden pairs have weights far
below anything that could make up for them. ``sizes`` counts the elements behind each
element, and no set may hold more than ``cap`` of them.

Matrices are flat here, row behind row, so that one search can serve many problems of different
sizes, one after the other, each in the first entries of its arrays.
"""

import numpy as np

from libc.stdint cimport int64_t, uint64_t

from relatum.kernels.randomness cimport next_word
from relatum.kernels.watch cimport Watch, is_over


cdef class SmallSearch:
    """A partition of n elements into up to n + 1 sets, the sums that moves need, and room.

    ``table[c * n + v]`` is the sum of the weights of element v with the elements of set c, and
    ``held[c]`` the sum of the sizes of these; the first ``count`` entries of ``used`` are the
    sets that are not empty, in order. ``least`` is the gain below which nothing is done.
    """


cdef SmallSearch new_search(
    const double[::1] weights, const int64_t[::1] sizes, int64_t[::1] labels, int64_t cap,
    double least
):
    """Make a search for as many elements as there are labels."""
    cdef SmallSearch s = SmallSearch.__new__(SmallSearch)
    cdef int64_t n = labels.shape[0], m = n + 1
    cdef double[::1] sums = np.empty(2 * m * n + m)
    cdef int64_t[::1] counts = np.empty(4 * m, np.int64)
    s.weights, s.sizes, s.labels = weights, sizes, labels
    s.n, s.cap, s.least, s.watch = n, cap, least, Watch()
    s.table, s.table_before, s.gain = sums[: m * n], sums[m * n : 2 * m * n], sums[2 * m * n :]
    s.held, s.held_before = counts[:m], counts[m : 2 * m]
    s.used, s.labels_before = counts[2 * m : 3 * m], counts[3 * m :]
    return s


cdef double _value(
    const double[::1] weights, const int64_t[::1] labels, int64_t n
) noexcept nogil:
    cdef int64_t a, b, own
    cdef double total = 0.0
    for a in range(n):
        own = labels[a]
        for b in range(a + 1, n):
            if labels[b] == own:
                total += weights[a * n + b]
    return total


cdef double labels_value(SmallSearch s) noexcept nogil:
    """Return the sum of the weights of the pairs with equal labels."""
    return _value(s.weights, s.labels, s.n)


cdef int64_t _below(SmallSearch s, int64_t n) noexcept nogil:
    """Return a random integer below n, which is small: the remainder is even enough."""
    return <int64_t>(next_word(s.random) % <uint64_t>n)


cdef void _open(SmallSearch s, int64_t c) noexcept nogil:
    """Put set c among those in use."""
    cdef int64_t i = s.count
    s.count = i + 1
    while i > 0 and s.used[i - 1] > c:
        s.used[i] = s.used[i - 1]
        i -= 1
    s.used[i] = c


cdef void _close(SmallSearch s, int64_t c) noexcept nogil:
    """Take set c from those in use."""
    cdef int64_t i = 0, count = s.count - 1
    s.count = count
    while s.used[i] < c:
        i += 1
    for i in range(i, count):
        s.used[i] = s.used[i + 1]


cdef void _open_all(SmallSearch s) noexcept nogil:
    """Find the sets in use."""
    cdef int64_t count = 0, c
    for c in range(s.n + 1):
        if s.held[c] > 0:
            s.used[count] = c
            count += 1
    s.count = count


cdef void _shift(SmallSearch s, int64_t v, int64_t to) noexcept nogil:
    """Move element v to set ``to``, keeping the sums."""
    cdef int64_t n = s.n, old = s.labels[v], u
    for u in range(n):
        s.table[old * n + u] -= s.weights[v * n + u]
        s.table[to * n + u] += s.weights[v * n + u]
    s.held[old] -= s.sizes[v]
    if s.held[old] == 0:
        _close(s, old)
    if s.held[to] == 0:
        _open(s, to)
    s.held[to] += s.sizes[v]
    s.labels[v] = to


cdef int64_t _empty_set(SmallSearch s) noexcept nogil:
    """Return the first set that is not in use: there is one more than elements."""
    cdef int64_t c = 0
    while s.held[c] > 0:
        c += 1
    return c


cdef double _moves(SmallSearch s) noexcept nogil:
    """Best moves of single elements, in sweeps, until none gains more than ``least``."""
    cdef int64_t n = s.n, v, a, c, i, to, room
    cdef double gained = 0.0, own, best
    cdef bint changed = True
    while changed:
        changed = False
        for v in range(n):
            a, room = s.labels[v], s.cap - s.sizes[v]
            own = s.table[a * n + v]
            best, to = own + s.least, -1
            for i in range(s.count):
                c = s.used[i]
                if s.table[c * n + v] > best and c != a and s.held[c] <= room:
                    best, to = s.table[c * n + v], c
            if best < 0.0 or (to < 0 and own < -s.least):
                to = _empty_set(s)
                best = 0.0
            if to >= 0:
                gained += best - own
                _shift(s, v, to)
                changed = True
            if is_over(s.watch, 4 * s.count + (4 * n if to >= 0 else 0)):
                return gained
    return gained


cdef double _joins(SmallSearch s) noexcept nogil:
    """Join the first pair of sets that gains; return the gain, or zero."""
    cdef int64_t n = s.n, i, j, c, d, v
    for i in range(s.count):
        c = s.used[i]
        for j in range(s.count):
            s.gain[s.used[j]] = 0.0
        if is_over(s.watch, 2 * n):
            return 0.0
        for v in range(n):
            s.gain[s.labels[v]] += s.table[c * n + v]
        for j in range(s.count):
            d = s.used[j]
            if s.gain[d] > s.least and d != c and s.held[c] + s.held[d] <= s.cap:
                for v in range(n):
                    if s.labels[v] == d:
                        _shift(s, v, c)
                return s.gain[d]
    return 0.0


cdef double _exchanges(SmallSearch s) noexcept nogil:
    """Let pairs of elements change places where that gains, in one sweep; return the gain."""
    cdef int64_t n = s.n, v, u, a, c, more
    cdef double gained = 0.0, gain
    for v in range(n):
        for u in range(v):
            a, c = s.labels[v], s.labels[u]
            more = s.sizes[v] - s.sizes[u]
            if a == c or s.held[c] + more > s.cap or s.held[a] - more > s.cap:
                continue
            gain = (
                s.table[c * n + v] + s.table[a * n + u] - s.table[a * n + v] - s.table[c * n + u]
                - 2.0 * s.weights[v * n + u]
            )
            if gain > s.least:
                _shift(s, v, c)
                _shift(s, u, a)
                gained += gain
    return gained


cdef double _improve(SmallSearch s) noexcept nogil:
    """Move and join, and exchange where a cap keeps elements out, until nothing gains."""
    cdef double gained = 0.0, more
    cdef int64_t total = 0, c
    for c in range(s.n + 1):
        total += s.held[c]
    while True:
        gained += _moves(s)
        more = _joins(s)
        if more == 0.0 and s.cap < total:
            more = _exchanges(s)
        if more == 0.0:
            return gained
        gained += more


cdef double polish_labels(SmallSearch s) noexcept nogil:
    """Fill the table from the labels, and improve them until nothing gains; return the gain."""
    cdef int64_t n = s.n, c, v, u
    for u in range((n + 1) * n):
        s.table[u] = 0.0
    for c in range(n + 1):
        s.held[c] = 0
    for v in range(n):
        c = s.labels[v]
        for u in range(n):
            s.table[c * n + u] += s.weights[v * n + u]
        s.held[c] += s.sizes[v]
    _open_all(s)
    return _improve(s)


cdef double _perturb(SmallSearch s) noexcept nogil:
    """Move a few elements to random sets, or to new ones; return the change of the value."""
    cdef int64_t n = s.n, v, to
    cdef double change = 0.0
    for _ in range(2 + _below(s, max(2, n // 10))):
        v = _below(s, n)
        to = s.labels[_below(s, n)]
        if _below(s, 5) == 0:
            to = _empty_set(s)
        if to != s.labels[v] and s.held[to] + s.sizes[v] <= s.cap:
            change += s.table[to * n + v] - s.table[s.labels[v] * n + v]
            _shift(s, v, to)
    return change


cdef void _remember(SmallSearch s) noexcept nogil:
    cdef int64_t n = s.n, i
    for i in range(n):
        s.labels_before[i] = s.labels[i]
    for i in range(n + 1):
        s.held_before[i] = s.held[i]
    for i in range((n + 1) * n):
        s.table_before[i] = s.table[i]


cdef void _return(SmallSearch s) noexcept nogil:
    """Go back to what was remembered."""
    cdef int64_t i
    for i in range(s.n):
        s.labels[i] = s.labels_before[i]
    s.table, s.table_before = s.table_before, s.table
    s.held, s.held_before = s.held_before, s.held
    _open_all(s)


cdef double perturb_labels(SmallSearch s, int64_t iterations, uint64_t seed) noexcept nogil:
    """Search locally, perturb and repeat; return the gain."""
    cdef double gained = polish_labels(s), change
    s.random[0] = seed
    for _ in range(iterations if s.n > 0 else 0):
        _remember(s)
        change = _perturb(s)
        change += _improve(s)
        if change < 0.0:
            _return(s)
        else:
            gained += change
        if is_over(s.watch, 8 * s.n * s.n):
            break
    return gained


def value_of(weights, const int64_t[::1] labels):
    """Return the sum of the weights of the pairs with equal labels."""
    cdef const double[::1] flat = weights.ravel()
    cdef double total
    with nogil:
        total = _value(flat, labels, labels.shape[0])
    return total


def polish(weights, sizes, int64_t cap, labels, double least, expired=None):
    """Move, join and (under a cap) exchange from the given labels, in place, until nothing gains.

    Returns the sizes of the sets and the gain. Ends before if ``expired`` says so.
    """
    cdef SmallSearch s = new_search(weights.ravel(), sizes, labels, cap, least)
    s.watch = Watch(expired)
    cdef double gained
    held = np.empty(s.n + 1, np.int64)
    s.held = held
    with nogil:
        gained = polish_labels(s)
    s.watch.close()
    return held, gained


def perturb_and_polish(
    weights, sizes, int64_t cap, labels, double least, int64_t iterations, uint64_t seed,
    expired=None
):
    """Search locally, perturb and repeat, in place; return the gain over the labels given.

    A perturbation moves a few elements to random sets (or to new ones); the result is kept
    unless it is worse. Ends before all iterations are made if ``expired`` says so.
    """
    cdef SmallSearch s = new_search(weights.ravel(), sizes, labels, cap, least)
    s.watch = Watch(expired)
    cdef double gained
    s.random = np.empty(1, np.uint64)
    with nogil:
        gained = perturb_labels(s, iterations, seed)
    s.watch.close()
    return gained
