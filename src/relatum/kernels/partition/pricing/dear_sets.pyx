"""Sets of any size that are worth more than the prices of their elements.

What a set has above its prices, its excess, is a quadratic function of its members. Pairs that no
set may hold have a weight that nothing outweighs.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over


cdef class _Walk:
    """A set that changes: ``gain[v]`` is what v has with the others in it, less its price.

    ``until[v]`` is the step up to which v stays where it is, unless that gives the best so far.
    """

    cdef double[::1] gain
    cdef uint8_t[::1] inside
    cdef int64_t[::1] until
    cdef double total
    cdef int64_t size

    def __init__(self, n):
        self.gain, self.inside = np.empty(n), np.empty(n, np.uint8)
        self.until = np.empty(n, np.int64)


cdef void _start(
    _Walk walk, const double[:, ::1] weights, const double[::1] prices, const uint8_t[::1] first
) noexcept nogil:
    """Begin with a set."""
    cdef int64_t n = prices.shape[0], v, u
    walk.total, walk.size = 0.0, 0
    for v in range(n):
        walk.gain[v], walk.inside[v], walk.until[v] = -prices[v], first[v], 0
        for u in range(n):
            if first[u] and u != v:
                walk.gain[v] += weights[v, u]
        if first[v]:
            walk.total = walk.total + 0.5 * (walk.gain[v] - prices[v])
            walk.size = walk.size + 1


cdef int64_t _best_flip(_Walk walk, int64_t step, double best) noexcept nogil:
    """Return the element that gains most by entering or leaving; -1 if all have to stay."""
    cdef int64_t v, chosen = -1
    cdef double change, top = -INFINITY
    for v in range(walk.gain.shape[0]):
        change = -walk.gain[v] if walk.inside[v] else walk.gain[v]
        if change > top and (walk.until[v] <= step or walk.total + change > best):
            top, chosen = change, v
    return chosen


cdef void _flip(_Walk walk, const double[:, ::1] weights, int64_t v) noexcept nogil:
    """Let an element enter the set, or leave it."""
    cdef double sign = -1.0 if walk.inside[v] else 1.0, own = walk.gain[v]
    cdef int64_t u
    walk.total = walk.total + sign * own
    walk.inside[v] = not walk.inside[v]
    walk.size = walk.size + (1 if walk.inside[v] else -1)
    for u in range(weights.shape[0]):
        walk.gain[u] += sign * weights[v, u]
    walk.gain[v] = own


def dear_sets(
    const double[:, ::1] weights, const double[::1] prices, const uint8_t[:, ::1] starts,
    int64_t steps, double least, expired=None
):
    """Look for sets above their prices by tabu search from some sets.

    Parameters
    ----------
    weights : float64 array (n, n)
        Symmetric, zero diagonal.
    prices : float64 array (n,)
    starts : uint8 array (s, n)
    steps : int
        From each start: the element that gains most enters or leaves, and stays there for a while.
    least : float
        Of the excess; sets that have no more are not returned.
    expired : callable, optional
        Starts are left out once it says so.

    Returns
    -------
    sets : uint8 array (r, n)
        The best one of each start, not empty.
    excess : float64 array (r,)
    """
    cdef int64_t n = len(prices), count = 0, s, step, v
    cdef Watch watch = Watch(expired)
    cdef _Walk walk = _Walk(n)
    found, excesses = np.zeros((len(starts), n), np.uint8), np.empty(len(starts))
    cdef uint8_t[:, ::1] sets = found
    cdef double[::1] excess = excesses
    cdef double best
    with nogil:
        for s in range(starts.shape[0]):
            _start(walk, weights, prices, starts[s])
            best = least
            for step in range(steps):
                if walk.total > best and walk.size > 0:
                    best = walk.total
                    for v in range(n):
                        sets[count, v] = walk.inside[v]
                v = _best_flip(walk, step, best)
                if v < 0:
                    break
                walk.until[v] = step + 4 + (step + v) % (1 + n // 5)
                _flip(walk, weights, v)
            if best > least:
                excess[count] = best
                count += 1
            if is_over(watch, (2 * steps + n) * n):
                break
    watch.close()
    return found[:count], excesses[:count]


cdef class _Levels:
    """A set with one element more per level, and what may still join it there.

    Level d has the candidates ``who[d, :count[d]]``: ``gain`` is what each would add, ``shared``
    its positive weights with the other candidates. ``hope`` is scratch.
    """

    cdef int64_t[:, ::1] who
    cdef double[:, ::1] gain, shared
    cdef double[::1] worth, hope
    cdef int64_t[::1] count, taken

    def __init__(self, weights, prices):
        n = len(prices)
        self.who = np.tile(np.arange(n), (n + 1, 1))
        self.gain = np.tile(-np.asarray(prices), (n + 1, 1))
        self.shared = np.tile(np.maximum(weights, 0.0).sum(axis=1), (n + 1, 1))
        self.worth, self.hope = np.zeros(n + 1), np.empty(n)
        self.count, self.taken = np.full(n + 1, n), np.zeros(n + 1, np.int64)


cdef void _remove(
    _Levels at, const double[:, ::1] weights, int64_t d, int64_t i
) noexcept nogil:
    """Remove a candidate of a level; the last one takes its place."""
    cdef int64_t h = at.who[d, i], last = at.count[d] - 1, k
    at.who[d, i], at.gain[d, i] = at.who[d, last], at.gain[d, last]
    at.shared[d, i] = at.shared[d, last]
    at.count[d] = last
    for k in range(last):
        if weights[h, at.who[d, k]] > 0.0:
            at.shared[d, k] -= weights[h, at.who[d, k]]


cdef int64_t _trim(_Levels at, const double[:, ::1] weights, int64_t d, double tiny) noexcept nogil:
    """Remove candidates without which no set is worse; return the steps that this took."""
    cdef int64_t i = 0, since = 0, work = 0
    while since < at.count[d]:
        if i >= at.count[d]:
            i = 0
        work += 1
        if at.gain[d, i] + at.shared[d, i] <= -tiny:
            work += at.count[d]
            _remove(at, weights, d, i)
            since = 0
        else:
            i, since = i + 1, since + 1
    return work


cdef double _most(
    _Levels at, const double[:, ::1] weights, int64_t d, double enough, int64_t* work
) noexcept nogil:
    """Bound what candidates add together; any bound that is not above ``enough`` will do.

    Each adds its gain and half of its positive weights with others, if that is positive. One of
    which it is not takes more than half of a weight, and leaves less to the other.
    """
    cdef int64_t m = at.count[d], i, k
    cdef double total = 0.0, x, part
    for i in range(m):
        at.hope[i] = at.gain[d, i] + 0.5 * at.shared[d, i]
        if at.hope[i] > 0.0:
            total += at.hope[i]
    work[0] += m
    for i in range(m):
        if total <= enough:
            break
        if at.hope[i] >= 0.0:
            continue
        for k in range(m):
            x = weights[at.who[d, i], at.who[d, k]]
            if x > 0.0 and at.hope[k] > 0.0:
                part = min(0.5 * x, min(-at.hope[i], at.hope[k]))
                at.hope[i] += part
                at.hope[k] -= part
                total -= part
                if at.hope[i] >= 0.0:
                    break
        work[0] += k
    return total


cdef int64_t _most_hopeful(_Levels at, int64_t d) noexcept nogil:
    """Return the place of the candidate that may add most."""
    cdef int64_t i, chosen = 0
    cdef double top = -INFINITY
    for i in range(at.count[d]):
        if at.gain[d, i] + 0.5 * at.shared[d, i] > top:
            top, chosen = at.gain[d, i] + 0.5 * at.shared[d, i], i
    return chosen


cdef void _take(_Levels at, const double[:, ::1] weights, int64_t d) noexcept nogil:
    """Take the most hopeful candidate to the next level; here it is left."""
    cdef int64_t i = _most_hopeful(at, d), h = at.who[d, i], k
    at.taken[d] = h
    at.worth[d + 1] = at.worth[d] + at.gain[d, i]
    _remove(at, weights, d, i)
    at.count[d + 1] = at.count[d]
    for k in range(at.count[d]):
        at.who[d + 1, k], at.shared[d + 1, k] = at.who[d, k], at.shared[d, k]
        at.gain[d + 1, k] = at.gain[d, k] + weights[h, at.who[d, k]]


def dearest_sets(
    const double[:, ::1] weights, const double[::1] prices, double least, int64_t most,
    int64_t budget, expired=None
):
    """Look through all sets for the one that is most above its prices.

    Take or leave: the most hopeful candidate is taken into the set, and everything with it looked
    at, then left for good.

    Parameters
    ----------
    weights, prices, least
        As of `dear_sets`; up to rounding, no set is above ``least`` if none is found.
    most : int
        Sets that are returned.
    budget : int
        Steps after which the search is given up: a step looks at a candidate or at a weight.
    expired : callable, optional
        Says whether to give up before.

    Returns
    -------
    sets : uint8 array (r, n)
        The last of the sets found, each better than the one before.
    left : int
        What is left of the budget; negative if the search was given up.
    """
    cdef int64_t n = len(prices), d = 0, found = 0, k
    cdef Watch watch = Watch(expired)
    cdef _Levels at = _Levels(weights, prices)
    last = np.zeros((most, n), np.uint8)
    cdef uint8_t[:, ::1] sets = last
    cdef double best = least
    cdef double tiny = 1e-12 * (1.0 + np.abs(prices).max(initial=0.0))
    cdef int64_t work
    with nogil:
        while d >= 0:
            work = _trim(at, weights, d, tiny)
            if at.count[d] == 0 or _most(
                at, weights, d, best - at.worth[d], &work
            ) <= best - at.worth[d]:
                d -= 1
            else:
                _take(at, weights, d)
                work += 4 * at.count[d] + 1
                if at.worth[d + 1] > best:
                    best = at.worth[d + 1]
                    sets[found % most, :] = 0
                    for k in range(d + 1):
                        sets[found % most, at.taken[k]] = 1
                    found += 1
                d += 1
            budget -= work
            if budget < 0 or is_over(watch, 2 * work):
                budget = -1
                break
    watch.close()
    return last[:min(found, most)], budget
