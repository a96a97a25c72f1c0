"""Whether a set is worth more than the prices of its elements, in exact integers.

Take or leave: the most promising candidate is first taken into the set, and everything with it
looked at, then left for good, which lowers what all others may hope for. What a candidate adds at
most is its gain and half of its best weights among the candidates that are still there. All numbers
are twice what they stand for, so that halves are integers, too.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t

LARGEST = 2**61  # of weights and prices added up: twice that fits into int64


cdef class _Given:
    """Elements, their weights, and for each the others it may join, best weight first.

    ``near[v, :degrees[v]]`` are those of positive weight.
    """

    cdef const int64_t[:, ::1] weights
    cdef const int64_t[::1] sizes, degrees
    cdef const uint8_t[:, ::1] forbidden
    cdef const int64_t[:, ::1] near
    cdef int64_t cap

    def __init__(self, weights, sizes, forbidden, cap):
        helps = (weights > 0) & (forbidden == 0)
        np.fill_diagonal(helps, False)
        self.near = np.argsort(np.where(helps, -weights, 1), axis=1, kind="stable")
        self.degrees = helps.sum(axis=1)
        self.weights, self.sizes, self.forbidden, self.cap = weights, sizes, forbidden, cap


cdef class _Levels:
    """The set with one element more per level, and what may still join it there.

    Level d has the candidates ``who[d, :count[d]]`` with ``gain[d]``, what each would add, and
    ``hope[d]``, what it may add together with others; ``deepest[v]`` is the last level of which
    v is a candidate. ``best`` is the largest excess so far, ``work`` what is left of the budget.
    """

    cdef int64_t[:, ::1] who, gain, hope
    cdef int64_t[::1] count, worth, room, deepest
    cdef int64_t best, work

    def __init__(self, n, levels, budget):
        self.who, self.gain, self.hope = np.zeros((3, levels, n), np.int64)
        self.count, self.worth, self.room = np.zeros((3, levels), np.int64)
        self.deepest = np.full(n, -1, np.int64)
        self.best, self.work = 0, budget


cdef int64_t _begin(_Given given, _Levels at, const int64_t[::1] prices) noexcept nogil:
    """Write the candidates of the empty set; return whether there are any."""
    cdef int64_t count = 0, v
    for v in range(prices.shape[0]):
        if given.sizes[v] <= given.cap:
            at.who[0, count], at.gain[0, count], at.deepest[v] = v, -2 * prices[v], 0
            if at.gain[0, count] > at.best:
                at.best = at.gain[0, count]
            count += 1
    at.count[0], at.worth[0], at.room[0] = count, 0, given.cap
    at.work = at.work - prices.shape[0]
    return count > 0


cdef int64_t _places(_Given given, _Levels at, int64_t d) noexcept nogil:
    """Return how many candidates have room at most."""
    cdef int64_t least = at.room[d], i
    for i in range(at.count[d]):
        least = min(least, given.sizes[at.who[d, i]])
    return min(at.room[d] // max(least, 1), at.count[d])


cdef int64_t _shared(_Given given, _Levels at, int64_t d, int64_t v, int64_t most) noexcept nogil:
    """Add up the best weights of ``v`` with ``most`` of the candidates."""
    cdef int64_t total = 0, k = 0, u
    while most > 0 and k < given.degrees[v]:
        u = given.near[v, k]
        if at.deepest[u] >= d:
            total += given.weights[v, u]
            most -= 1
        k += 1
    at.work = at.work - k
    return total


cdef void _hope(_Given given, _Levels at, int64_t d, int64_t places) noexcept nogil:
    """Sort candidates by what they may add, without those that never do."""
    cdef int64_t count = at.count[d], kept = 0, i, j, v, gain, shared, hope
    for i in range(count):
        v, gain = at.who[d, i], at.gain[d, i]
        shared = _shared(given, at, d, v, places - 1)
        if gain + 2 * shared <= 0:  # no set is worse without it
            at.deepest[v] = d - 1
            continue
        hope, j = gain + shared, kept
        while j > 0 and at.hope[d, j - 1] < hope:
            at.who[d, j], at.gain[d, j] = at.who[d, j - 1], at.gain[d, j - 1]
            at.hope[d, j] = at.hope[d, j - 1]
            j -= 1
        at.who[d, j], at.gain[d, j], at.hope[d, j] = v, gain, hope
        at.work = at.work - (kept - j)
        kept += 1
    at.count[d] = kept
    at.work = at.work - count


cdef int64_t _cut(_Levels at, int64_t d, int64_t places) noexcept nogil:
    """Drop the candidates that are in no set above the best; return how many."""
    cdef int64_t total = at.worth[d], last = 0, count = at.count[d], i, k
    if count == 0:
        return 0
    places = min(places, count)
    for i in range(places):
        total += max(at.hope[d, i], 0)
        last = at.hope[d, i]
    if total <= at.best:
        i = 0
    else:
        i, total = places, total - max(last, 0)
        while i < count and total + at.hope[d, i] > at.best:
            i += 1
    at.count[d] = i
    for k in range(i, count):
        at.deepest[at.who[d, k]] = d - 1
    return count - i


cdef int64_t _take(_Given given, _Levels at, int64_t d) noexcept nogil:
    """Take the first candidate of level ``d``; return whether anything may follow it."""
    cdef int64_t v = at.who[d, 0], count = 0, i, u, gain, least = given.cap
    cdef int64_t worth = at.worth[d] + at.gain[d, 0], room = at.room[d] - given.sizes[v]
    at.deepest[v] = d - 1
    at.work = at.work - at.count[d]
    if worth > at.best:
        at.best = worth
    for i in range(1, at.count[d]):
        u = at.who[d, i]
        if given.forbidden[v, u] or given.sizes[u] > room:
            continue
        gain = at.gain[d, i] + 2 * given.weights[v, u]
        if worth + gain > at.best:
            at.best = worth + gain
        at.who[d + 1, count], at.gain[d + 1, count] = u, gain
        at.deepest[u], least = d + 1, min(least, given.sizes[u])
        count += 1
    at.worth[d + 1], at.room[d + 1], at.count[d + 1] = worth, room, count
    return count > 1 and room - least >= least


cdef void _leave(_Levels at, int64_t d) noexcept nogil:
    """Leave the first candidate of level ``d``, after all sets with it were looked at."""
    cdef int64_t i
    for i in range(1, at.count[d]):
        at.who[d, i - 1], at.gain[d, i - 1] = at.who[d, i], at.gain[d, i]
        at.deepest[at.who[d, i]] = d
    at.count[d] = at.count[d] - 1


cdef void _search(_Given given, _Levels at) noexcept nogil:
    """Look at all sets that may be above the best."""
    cdef int64_t d = 0, places
    while d >= 0 and at.work >= 0:
        places = _places(given, at, d)
        _hope(given, at, d, places)
        while _cut(at, d, places) > 0 and at.count[d] > 0:
            _hope(given, at, d, places)
        if at.count[d] == 0:
            d -= 1
            if d >= 0:
                _leave(at, d)
        elif _take(given, at, d):
            d += 1
        else:
            _leave(at, d)


def _check(weights, prices, sizes, forbidden):
    """Refuse arrays that do not fit together, and numbers whose sums may not fit into int64."""
    n = len(prices)
    if weights.shape != (n, n) or forbidden.shape != (n, n) or sizes.shape != (n,):
        raise ValueError(f"There are {n} prices, but not as many weights, sizes, forbidden pairs.")
    if (sizes < 1).any() or np.diagonal(weights).any() or (weights != weights.T).any():
        raise ValueError("Sizes are positive, weights symmetric, and zero on the diagonal.")
    if (forbidden != forbidden.T).any():
        raise ValueError("If a pair is forbidden, so it is from both sides.")
    total = 0
    for part, times in ((weights, 1), (prices, 2)):
        if part.size and max(int(part.max()), -int(part.min())) >= LARGEST:
            raise OverflowError(f"Weights and prices must add up to less than {LARGEST}.")
        part = np.abs(part)  # in two parts, whose sums are exact
        total += times * ((int((part >> 31).sum()) << 31) + int((part & (2**31 - 1)).sum()))
    if total >= 2 * LARGEST:  # a weight stands on both sides of the diagonal
        raise OverflowError(f"Weights and prices must add up to less than {LARGEST}.")


def largest_excess(
    const int64_t[:, ::1] weights, const int64_t[::1] prices, const int64_t[::1] sizes, forbidden,
    int64_t cap, int64_t budget
):
    """Return the largest weight less prices of a set, or 0 if none is above its prices.

    Parameters
    ----------
    weights : int64 array (n, n)
        Symmetric, zero diagonal; of a set, those of its unordered pairs count.
    prices : int64 array (n,)
        Of any sign. All weights of unordered pairs and all prices, without their signs, must
        add up to less than 2**61.
    sizes : int64 array (n,)
        At least 1; those of a set may not add up to more than ``cap``.
    forbidden : uint8 or bool array (n, n)
        Pairs that no set may hold, symmetric.
    cap : int
    budget : int
        Steps after which the search is given up: a step looks at one candidate or at one of
        its weights.

    Returns
    -------
    excess : int
        If the search was given up, that of some set, or 0.
    left : int
        What is left of the budget; negative if the search was given up.
    """
    n, apart = len(prices), np.ascontiguousarray(forbidden).view(np.uint8)
    _check(np.asarray(weights), np.asarray(prices), np.asarray(sizes), apart)
    cdef _Given given = _Given(np.asarray(weights), np.asarray(sizes), apart, cap)
    cdef _Levels at = _Levels(n, max(min(cap, n), 0) + 1, budget)
    with nogil:
        if _begin(given, at, prices):
            _search(given, at)
    return at.best // 2, at.work
