"""Local search for preorders, partial orders and weak orders.

``yes[a, b]`` is what a related to b is worth, ``no[a, b]`` what it is worth that a is not;
-inf if excluded. The diagonal does not count. A move takes one element out and puts it
back in a place beside another element, or changes single pairs.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over

cdef enum:  # places of an element: see _place
    APART, TIED, TWIN, AFTER, BEFORE


cdef class _Relation:
    """A relation, what its pairs are worth, and scratch space."""

    cdef uint8_t[:, ::1] y
    cdef const double[:, ::1] yes, no
    cdef uint8_t[::1] into, out  # who is related to an element, whom it is related to
    cdef double[:, ::1] own  # what its pairs with others are worth: into no and yes, out no and yes
    cdef double[::1] one, from_e, to_e  # what additions would gain: see _weigh_additions
    cdef bint ties, stale  # whether the relation has changed since these were filled in
    cdef double least
    cdef int64_t n
    cdef Watch watch

    def __init__(self, y, yes, no, bint ties, double least, expired):
        self.y = y.view(np.uint8)
        self.yes, self.no, self.own = yes, no, np.empty((len(y), 4))
        self.ties, self.least, self.n = ties, least, self.y.shape[0]
        self.into, self.out = np.empty(self.n, np.uint8), np.empty(self.n, np.uint8)
        self.one, self.from_e, self.to_e = np.empty((3, self.n))
        self.stale, self.watch = True, Watch(expired)


cdef void _place(_Relation s, int64_t e, int64_t f, int64_t kind) noexcept nogil:
    """Fill in who is related to e (into) and whom e is related to (out), placed by f.

    Kinds: related to nobody; tied with f; related as f is, but not to f; right after f;
    right before f. All keep a preorder a preorder.
    """
    cdef int64_t a
    cdef bint tied
    for a in range(s.n):
        if kind == APART:
            s.into[a] = s.out[a] = False
            continue
        # those tied with f are on the same side of e as f
        tied = a == f or (s.y[a, f] and s.y[f, a])
        if tied and kind != TIED:
            s.into[a], s.out[a] = kind == AFTER, kind == BEFORE
        else:
            s.into[a], s.out[a] = tied or s.y[a, f], tied or s.y[f, a]
    s.into[e] = s.out[e] = True


cdef double _load_pairs(_Relation s, int64_t e) noexcept nogil:
    """Fill in what the pairs of e are worth either way; return what they are worth now."""
    cdef double now = 0.0
    cdef int64_t a
    for a in range(s.n):
        s.own[a, 0], s.own[a, 1] = s.no[a, e], s.yes[a, e]
        s.own[a, 2], s.own[a, 3] = s.no[e, a], s.yes[e, a]
        if a != e:
            now += s.own[a, s.y[a, e]]
            now += s.own[a, 2 + s.y[e, a]]
    return now


cdef void _worths(_Relation s, int64_t e, int64_t f, double* worth) noexcept nogil:
    """Sum what the pairs of e are worth in each of the places beside f (see `_place`)."""
    cdef double tied = 0.0, twin = 0.0, after = 0.0, before = 0.0, apart = 0.0
    cdef int64_t a, into, out
    for a in range(s.n):
        if a == e:
            continue
        into, out = s.y[a, f], s.y[f, a]
        tied += s.own[a, into]
        tied += s.own[a, 2 + out]
        # into > out: not if both, as those tied with f are on the same side of e as f
        twin += s.own[a, into > out]
        twin += s.own[a, 2 + (out > into)]
        after += s.own[a, into]
        after += s.own[a, 2 + (out > into)]
        before += s.own[a, into > out]
        before += s.own[a, 2 + out]
        apart += s.own[a, 0]
        apart += s.own[a, 2]
    worth[APART], worth[TIED], worth[TWIN] = apart, tied, twin
    worth[AFTER], worth[BEFORE] = after, before


cdef double _move_element(_Relation s, int64_t e) noexcept nogil:
    """Put e into its best place beside another element; return the gain (0 if none)."""
    cdef int64_t n = s.n, f, kind, best_f = -1, best_kind = -1, a
    cdef double now = _load_pairs(s, e), best = now + s.least
    cdef double[5] worth
    for f in range(n):
        if f == e:
            continue
        _worths(s, e, f, worth)
        for kind in range(5):
            if (kind == APART and f != (e + 1) % n) or (kind == TIED and not s.ties):
                continue
            if worth[kind] > best:
                best, best_f, best_kind = worth[kind], f, kind
    if best_f < 0:
        return 0.0
    _place(s, e, best_f, best_kind)
    for a in range(n):
        s.y[a, e], s.y[e, a] = s.into[a], s.out[a]
    return best - now


cdef void _weigh_additions(_Relation s, int64_t e) noexcept nogil:
    """Fill in what relating e to each b, or each b to e, would gain, with all that follows.

    Everything up to a becomes related to everything from b on. With a = e fixed, what each q
    from b on would add is the same for all b; so is what each p up to a would, with b = e.
    """
    cdef int64_t n = s.n, p, q
    cdef double total
    for q in range(n):
        s.one[q] = s.to_e[q] = 0.0
    for p in range(n):
        total = 0.0
        if s.y[p, e]:
            for q in range(n):
                s.one[q] += 0.0 if s.y[p, q] else s.yes[p, q] - s.no[p, q]
        for q in range(n):
            total += s.yes[p, q] - s.no[p, q] if s.y[e, q] and not s.y[p, q] else 0.0
        if total != 0.0:  # sums of nothing are left out: most p are related already
            for q in range(n):
                s.to_e[q] += total if s.y[p, q] else 0.0
    for p in range(n):
        total = 0.0
        for q in range(n):
            total += s.one[q] if s.y[p, q] else 0.0
        s.from_e[p] = total
    s.stale = False


cdef double _add_pair(_Relation s, int64_t a, int64_t b, double gain) noexcept nogil:
    """Relate a to b, and everything up to a to everything from b on, if that gains."""
    cdef int64_t p, q
    if s.y[a, b] or (not s.ties and s.y[b, a]) or not gain > s.least:
        return 0.0
    for p in range(s.n):
        s.into[p], s.out[p] = s.y[p, a], s.y[b, p]
    for p in range(s.n):
        if s.into[p]:
            for q in range(s.n):
                if s.out[q]:
                    s.y[p, q] = True
    s.stale = True
    return gain


cdef double _drop_pair(_Relation s, int64_t a, int64_t b) noexcept nogil:
    """Unrelate a from b if nothing lies between and that gains."""
    cdef int64_t c
    cdef double gain = s.no[a, b] - s.yes[a, b]
    if not s.y[a, b] or not gain > s.least:
        return 0.0
    for c in range(s.n):
        if c != a and c != b and s.y[a, c] and s.y[c, b]:
            return 0.0
    s.y[a, b] = False
    s.stale = True
    return gain


cdef double _change_pairs(_Relation s, int64_t e, int64_t b) noexcept nogil:
    """Try to add or drop the pairs of e and b; return the gain."""
    cdef double gain = 0.0
    if s.stale:
        _weigh_additions(s, e)
    gain += _add_pair(s, e, b, s.from_e[b])
    if s.stale:
        _weigh_additions(s, e)
    gain += _add_pair(s, b, e, s.to_e[b])
    gain += _drop_pair(s, e, b)
    gain += _drop_pair(s, b, e)
    return gain


cdef double _climb(_Relation s) noexcept nogil:
    """Try all moves until none gains; return the gain."""
    cdef double total = 0.0, gain
    cdef bint gained = True
    cdef int64_t n = s.n, e, b
    while gained:
        gained = False
        for e in range(n):
            gain = _move_element(s, e)
            s.stale = True
            for b in range(n):
                if is_over(s.watch, 4 * n * n if s.stale else 4 * n):
                    break
                if b != e:
                    gain += _change_pairs(s, e, b)
            if gain > 0.0:
                total += gain
                gained = True
            if is_over(s.watch, 10 * n * n):
                return total
    return total


def preorder_search(y, yes, no, bint ties, double least, expired=None):
    """Improve a preorder (with ties) or partial order (without) until no move gains.

    Changes `y`, a reflexive and transitive relation whose worth is finite; returns the gain. Ends
    before if `expired` says so; the relation is feasible at any time.
    """
    cdef _Relation relation = _Relation(y, yes, no, ties, least, expired)
    cdef double total
    with nogil:
        total = _climb(relation)
    relation.watch.close()
    return total


cdef void _re_rank(
    int64_t[::1] rank, int64_t e, int64_t place, bint joins, bint alone
) noexcept nogil:
    """Move e into class `place`, or into a new one before it, and close the hole it leaves."""
    cdef int64_t old = rank[e], a, r
    for a in range(rank.shape[0]):
        r = rank[a]
        rank[a] += (not joins and r >= place) - (alone and r > old)
    rank[e] = place - (alone and place > old)


cdef double _weak_climb(
    int64_t[::1] rank, const double[:, ::1] yes, const double[:, ::1] no, double least,
    double[:, ::1] sums, Watch watch
) noexcept nogil:
    """Do what `weak_order_search` does, with four rows of scratch space."""
    cdef double[::1] before = sums[0], tied = sums[1], after = sums[2], right = sums[3]
    cdef int64_t n = rank.shape[0], idle = 0, e = 0, top = 0, own, place, a, r, s
    cdef double total = 0.0, now, best, left, step
    cdef bint alone, joins
    while idle < n and not is_over(watch, 4 * n + top * top // 2):
        top = 0
        for a in range(n):
            top = max(top, rank[a])
        for r in range(top + 1):
            before[r] = tied[r] = after[r] = right[r] = 0.0
        alone, own = True, rank[e]
        for a in range(n):
            if a != e:
                r = rank[a]
                alone = alone and r != own
                before[r] += yes[e, a] + no[a, e]  # e before class r
                tied[r] += yes[e, a] + yes[a, e]
                after[r] += no[e, a] + yes[a, e]
        left, now = 0.0, 0.0  # e before everybody; where it is
        for r in range(top + 1):
            left += before[r]
            now += after[r] if r < own else (before[r] if r > own else tied[r])
        best, place, joins = now + least, -1, False
        if left > best:
            best, place = left, 0
        # what e before all classes on the right of r is worth: sums from the left, as inf would
        # spoil differences
        for s in range(top + 1):
            step = before[s]
            for r in range(s):
                right[r] += step
        left = 0.0
        for r in range(top + 1):
            if left + tied[r] + right[r] > best:
                best, place, joins = left + tied[r] + right[r], r, True
            if left + after[r] + right[r] > best:
                best, place, joins = left + after[r] + right[r], r + 1, False
            left += after[r]
        idle += 1
        if place >= 0:
            total += best - now
            idle = 0
            _re_rank(rank, e, place, joins, alone)
        e = (e + 1) % n
    return total


def weak_order_search(
    int64_t[::1] rank, const double[:, ::1] yes, const double[:, ::1] no, double least,
    expired=None
):
    """Improve a ranking with ties until moving no single element gains, or `expired` says so.

    `rank` holds dense ranks 0, 1, ..., and is changed; returns the gain. An element moves
    into any class, or between two classes, before all or after all.
    """
    cdef double[:, ::1] sums = np.empty((4, rank.shape[0]))
    cdef Watch watch = Watch(expired)
    cdef double total
    with nogil:
        total = _weak_climb(rank, yes, no, least, sums, watch)
    watch.close()
    return total
