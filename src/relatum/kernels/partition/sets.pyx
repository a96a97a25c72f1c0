"""Sets of at most so many elements: the best one under prices, and those that hold too much.

Elements may stand for several: ``sizes`` counts these, and no set may hold more than ``cap``.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int8_t, int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over


cdef class _Instance:
    """Elements, and which sets of them there may be, as kernels read them."""

    cdef const double[:, ::1] weights
    cdef const int64_t[::1] sizes
    cdef const uint8_t[:, ::1] forbidden
    cdef int64_t n, cap

    def __init__(self, weights, sizes, forbidden, cap):
        self.weights = np.ascontiguousarray(weights)
        self.sizes, self.cap = sizes, cap
        self.forbidden = np.ascontiguousarray(forbidden).view(np.uint8)
        self.n = len(sizes)


cdef inline void _enter_sorted(double[::1] largest, int64_t k, double x) noexcept nogil:
    """Enter x into falling numbers of which place k is free."""
    while k > 0 and largest[k - 1] < x:
        largest[k] = largest[k - 1]
        k -= 1
    largest[k] = x


cdef void _half_sums(_Instance given, double[:, ::1] half, double[::1] largest) noexcept nogil:
    """Half of the sum of the r largest positive weights of each element.

    These become row r = 0 ... of ``half``; ``largest`` is scratch.
    """
    cdef int64_t most = half.shape[0] - 1, v, u, r
    cdef double x, total
    for v in range(given.n):
        for r in range(most):
            largest[r] = 0.0
        for u in range(given.n):
            x = 0.5 * given.weights[v, u]
            if x > largest[most - 1] and u != v and not given.forbidden[v, u]:
                _enter_sorted(largest, most - 1, x)
        total = 0.0
        half[0, v] = total
        for r in range(most):
            total += largest[r]
            half[r + 1, v] = total


cdef class _Search:
    """Sets that grow from a root, one element at a time: what is known at each depth.

    Row d + 1 of ``gain`` has the gains of adding one more element to the set of depth d, from
    the element on that entered last; -inf if it may not be added. Row 0 is about the empty set.
    """

    cdef double[:, ::1] gain, half
    cdef double[::1] worth, largest
    cdef int64_t[::1] room, at, chosen

    def __init__(self, prices, depths):
        gain = np.empty((depths + 1, len(prices)))
        np.negative(prices, out=gain[0])
        self.gain, self.half = gain, np.empty_like(gain)
        self.worth, self.largest = np.empty(depths), np.empty(depths + 1)
        self.room, self.at, self.chosen = np.empty((3, depths), np.int64)


cdef double _most_to_gain(
    _Search search, int64_t d, int64_t begin, int64_t room
) noexcept nogil:
    """Bound what up to ``room`` of the elements from ``begin`` on add to a set.

    Each adds its own gain and at most half of what it has with the others; the largest of
    these sums are taken.
    """
    cdef int64_t count = 0, others = min(room - 1, search.half.shape[0] - 1), u, k
    cdef double g, total = 0.0
    for u in range(begin, search.gain.shape[1]):
        g = search.gain[d + 1, u] + search.half[others, u]
        if g <= 0.0:
            continue
        if count < room:
            k = count
            count += 1
        elif g > search.largest[room - 1]:
            k = room - 1
        else:
            continue
        _enter_sorted(search.largest, k, g)
    for k in range(count):
        total += search.largest[k]
    return total


cdef void _enter(
    _Instance given, _Search search, int64_t d, int64_t v, double worth, int64_t room
) noexcept nogil:
    """Note that ``v`` is in the set of depth ``d``, and the gains of adding one more."""
    cdef int64_t u
    search.chosen[d], search.worth[d], search.room[d], search.at[d] = v, worth, room, v + 1
    for u in range(v + 1, given.n):
        if given.forbidden[v, u] or given.sizes[u] > room:
            search.gain[d + 1, u] = -INFINITY
        else:
            search.gain[d + 1, u] = search.gain[d, u] + given.weights[v, u]


cdef int64_t _next(_Search search, int64_t d) noexcept nogil:
    """Return the next element to be added to the set of depth ``d``; n if there is none."""
    cdef int64_t v = search.at[d], n = search.gain.shape[1]
    while v < n and search.gain[d + 1, v] == -INFINITY:
        v += 1
    return v


cdef int64_t _best_set(
    _Instance given, _Search search, int64_t root, double[::1] excess, int64_t[:, ::1] members,
    int64_t budget, Watch watch
) noexcept nogil:
    """Find the best set of a root and later elements; return what is left of the budget."""
    cdef int64_t n = given.n, depths = search.worth.shape[0], d = 0, v, k, places
    cdef double total, best = excess[root]
    _enter(given, search, 0, root, search.gain[0, root], given.cap - given.sizes[root])
    if search.worth[0] > best:
        best, members[root, 0] = search.worth[0], root
    while d >= 0:
        v = _next(search, d)
        budget -= 1
        if is_over(watch, 4 * (n - v)):
            budget = -1
        places = min(search.room[d], depths - 1 - d)
        if v == n or places == 0 or budget < 0:
            d -= 1
            continue
        if search.worth[d] + _most_to_gain(search, d, v, places) <= best:
            d -= 1
            continue
        search.at[d] = v + 1
        total = search.worth[d] + search.gain[d + 1, v]
        if total > best:
            best = total
            for k in range(depths):
                members[root, k] = search.chosen[k] if k <= d else -1
            members[root, d + 1] = v
        if places > 1 and search.room[d] > given.sizes[v]:
            _enter(given, search, d + 1, v, total, search.room[d] - given.sizes[v])
            d += 1
    excess[root] = best
    return budget


def best_sets(
    weights, prices, sizes, forbidden, int64_t cap, double least, int64_t budget, expired=None
):
    """For each element v, a set of v and later ones whose weight exceeds its prices most.

    Parameters
    ----------
    weights : float64 array (n, n)
        Symmetric.
    prices : float64 array (n,)
    sizes : int64 array (n,)
    forbidden : bool array (n, n)
        Pairs that no set may hold, symmetric.
    cap : int
    least : float
        Sets that do not exceed their prices by more are not looked for.
    budget : int
        Steps after which the search is given up.
    expired : callable, optional
        Says whether to give up before.

    Returns
    -------
    excess : float64 array (n,)
        The largest weight less prices, or ``least`` where there is no larger one.
    members : int64 array (n, cap)
        The set, padded with -1.
    left : int
        What is left of the budget; negative if the search was given up.
    """
    n = len(sizes)
    cdef _Instance given = _Instance(weights, sizes, forbidden, cap)
    cdef _Search search = _Search(prices, min(cap, n))
    found, held = np.full(n, least), np.full((n, min(cap, n)), -1, np.int64)
    cdef double[::1] excess = found
    cdef int64_t[:, ::1] members = held
    cdef Watch watch = Watch(expired)
    cdef int64_t root
    with nogil:
        _half_sums(given, search.half, search.largest)
        for root in range(given.n):
            if given.sizes[root] > cap:
                continue
            budget = _best_set(given, search, root, excess, members, budget, watch)
            if budget < 0:
                break
    watch.close()
    return found, held, budget


cdef class _Grown:
    """A set around a root, which stays in it.

    ``gain[v]`` is what v adds, or what it has added if it is inside; ``blocked[v]`` counts
    the elements inside that v may not join.
    """

    cdef double[::1] gain
    cdef int64_t[::1] blocked, others
    cdef uint8_t[::1] inside
    cdef int64_t root, room
    cdef double total

    def __init__(self, n):
        self.gain, self.inside = np.empty(n), np.empty(n, np.uint8)
        self.blocked, self.others = np.empty((2, n), np.int64)


cdef void _flip(_Instance given, _Grown grown, int64_t v) noexcept nogil:
    """Put ``v`` into the set, or take it out."""
    cdef double gain = grown.gain[v]
    cdef int64_t blocked = grown.blocked[v], u
    if grown.inside[v]:
        for u in range(given.n):
            grown.gain[u] -= given.weights[v, u]
            grown.blocked[u] -= given.forbidden[v, u]
        grown.total, grown.room = grown.total - gain, grown.room + given.sizes[v]
    else:
        for u in range(given.n):
            grown.gain[u] += given.weights[v, u]
            grown.blocked[u] += given.forbidden[v, u]
        grown.total, grown.room = grown.total + gain, grown.room - given.sizes[v]
    grown.inside[v] = not grown.inside[v]
    grown.gain[v], grown.blocked[v] = gain, blocked


cdef void _begin(
    _Instance given, _Grown grown, const double[::1] prices, int64_t root
) noexcept nogil:
    """Begin with the set of the root alone."""
    cdef int64_t u
    for u in range(given.n):
        grown.gain[u], grown.blocked[u], grown.inside[u] = -prices[u], 0, False
    grown.root, grown.room = root, given.cap
    _flip(given, grown, root)
    grown.total = grown.gain[root]


cdef void _grow(_Instance given, _Grown grown) noexcept nogil:
    """Put the element that gains most into the set until none fits."""
    cdef int64_t v = grown.root, u
    cdef double top
    while v >= 0:
        v, top = -1, -INFINITY
        for u in range(given.n):
            if grown.inside[u] or grown.blocked[u] != 0 or given.sizes[u] > grown.room:
                continue
            if v < 0 or grown.gain[u] > top:
                v, top = u, grown.gain[u]
        if v >= 0:
            _flip(given, grown, v)


cdef double _best_change(
    _Instance given, _Grown grown, int64_t* enters, int64_t* leaves
) noexcept nogil:
    """Return the gain of the change that gains most.

    Also the elements to enter and to leave (-1: none). The root stays.
    """
    cdef double best = 0.0, change
    cdef int64_t count = 0, i, u, v
    enters[0], leaves[0] = -1, -1
    for u in range(given.n):
        if grown.inside[u] and u != grown.root:
            grown.others[count] = u
            count += 1
    for v in range(given.n):
        if grown.inside[v]:
            if -grown.gain[v] > best and v != grown.root:
                best, enters[0], leaves[0] = -grown.gain[v], -1, v
            continue
        if grown.blocked[v] == 0 and given.sizes[v] <= grown.room and grown.gain[v] > best:
            best, enters[0], leaves[0] = grown.gain[v], v, -1
        if grown.blocked[v] > 1:
            continue
        for i in range(count):
            u = grown.others[i]
            if given.sizes[v] > grown.room + given.sizes[u]:
                continue
            change = grown.gain[v] - grown.gain[u] - given.weights[u, v]
            if change > best and (grown.blocked[v] == 0 or given.forbidden[u, v]):
                best, enters[0], leaves[0] = change, v, u
    return best


def good_sets(weights, prices, sizes, forbidden, int64_t cap, double least, expired=None):
    """Grow a set around each element until it is full, then change it while that gains.

    Parameters as in `best_sets`. Returns the weight less prices of the sets (``least`` where
    it is not larger) and their elements; unlike there, better sets may exist. Elements are left
    out once ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef int64_t n = len(sizes)
    cdef _Instance given = _Instance(weights, sizes, forbidden, cap)
    cdef _Grown grown = _Grown(n)
    found, held = np.full(n, least), np.full((n, min(cap, n)), -1, np.int64)
    cdef double[::1] excess = found
    cdef int64_t[:, ::1] members = held
    cdef const double[::1] price = prices
    cdef double tiny = 1e-12 * (1.0 + np.abs(prices).max())
    cdef int64_t root, v, k, enters, leaves
    with nogil:
        for root in range(given.n):
            if given.sizes[root] > cap:
                continue
            if is_over(watch, 4 * n * cap):
                break
            _begin(given, grown, price, root)
            _grow(given, grown)
            while _best_change(given, grown, &enters, &leaves) > tiny:
                if is_over(watch, 2 * n * cap):
                    break
                if leaves >= 0:
                    _flip(given, grown, leaves)
                if enters >= 0:
                    _flip(given, grown, enters)
            if grown.total > least:
                excess[root] = grown.total
                k = 0
                for v in range(given.n):
                    if grown.inside[v]:
                        members[root, k] = v
                        k += 1
    watch.close()
    return found, held


cdef double _grow_capped(
    const double[:, ::1] x, const double[:, ::1] noise, int64_t q, int64_t cap, double threshold,
    double[::1] to, uint8_t[::1] inside, int64_t[::1] order, int64_t* best_size
) noexcept nogil:
    """Grow a set, its elements in ``order``; return the violation of the best size.

    That size is 0 where no violation is above the threshold.
    """
    cdef int64_t n = x.shape[0], u = q % n, v, size, rest, share
    cdef double total = 0.0, best = 0.0, violation = 0.0, top, over, ratio
    best_size[0] = 0
    for v in range(n):
        to[v], inside[v] = x[u, v], False
    inside[u], order[0] = True, u
    for size in range(2, order.shape[0] + 1):
        top, u = -INFINITY, -1
        for v in range(n):
            if not inside[v] and to[v] + noise[q, v] > top:
                top, u = to[v] + noise[q, v], v
        total += to[u]
        inside[u], order[size - 1] = True, u
        for v in range(n):
            to[v] += x[u, v]
        rest = size % cap
        share = (size // cap) * (cap * (cap - 1) // 2) + rest * (rest - 1) // 2
        over = total - share
        ratio = over / sqrt(0.5 * size * (size - 1))
        if over > threshold and ratio > best:
            best, best_size[0], violation = ratio, size, over
    return violation


def violated_capped_sets(
    x, const double[:, ::1] noise, int64_t cap, int64_t largest, double threshold, expired=None
):
    """Find sets T with more than their share: x(T) above the most pairs that a cap allows.

    From each element in turn a set grows by the element that has most with it (up to the
    row of ``noise``), to ``largest`` elements; the violation largest for the norm of the row
    is kept if it is above the threshold. Returns the sets as rows of 0 and 1, and violations.
    Elements are left out once ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef const double[:, ::1] point = np.ascontiguousarray(x)
    found, over = np.zeros((len(noise), len(x)), np.int8), np.empty(len(noise))
    cdef int8_t[:, ::1] sets = found
    cdef double[::1] violation = over, to = np.empty(len(x))
    cdef uint8_t[::1] inside = np.empty(len(x), np.uint8)
    cdef int64_t[::1] order = np.empty(min(largest, len(x)), np.int64)
    cdef int64_t count = 0, q, i, size
    with nogil:
        for q in range(noise.shape[0]):
            violation[count] = _grow_capped(
                point, noise, q, cap, threshold, to, inside, order, &size
            )
            if size > 0:
                for i in range(size):
                    sets[count, order[i]] = 1
                count += 1
            if is_over(watch, 2 * order.shape[0] * point.shape[0]):
                break
    watch.close()
    return found[:count], over[:count]
