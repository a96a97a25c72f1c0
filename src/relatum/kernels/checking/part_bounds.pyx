"""Bounds of the parts of a table of pairs in exact integers, for the checker of its certificate.

Numbers have two limbs, high * 2^48 + low with 0 <= low < 2^48. The caller scales the scores of
each part so that no sum of them reaches 2^107, and rounds up what does not fit: a bound is never
too low. Four ways of bounding a part are tried until one of them proves what is claimed: pair by
pair, the same with those contracted that are known to be related, by triangles packed into the
scores, and by going through all partitions. Nothing is shared with the kernels that find clusters,
not even how sets are joined.
"""

import numpy as np

from cython cimport final
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

cpdef enum:
    PAIRS = 0
    TRIANGLES = 1
    SUBSETS = 2

cdef enum:
    PASSES = 3  # over triangles; large ones first, any in the last
    CHUNK = 14  # bits of a factor that a limb has room for
    WIDTH = 48  # bits of the lower limb

cdef int64_t BASE = <int64_t>1 << WIDTH
cdef int64_t MASK = BASE - 1


cdef struct Wide:
    int64_t high
    int64_t low


cdef inline Wide _wide(int64_t high, int64_t low) noexcept nogil:
    cdef Wide x
    x.high, x.low = high, low
    return x


cdef inline Wide _carried(int64_t high, int64_t low) noexcept nogil:
    cdef Wide x
    x.low = low & MASK
    x.high = high + (low - x.low) // BASE
    return x


cdef inline Wide _sum(Wide x, Wide y) noexcept nogil:
    cdef int64_t low = x.low + y.low  # one carry at most
    return _wide(x.high + y.high + (low >> WIDTH), low & MASK)


cdef inline Wide _difference(Wide x, Wide y) noexcept nogil:
    cdef int64_t low = BASE + x.low - y.low  # one borrow at most
    return _wide(x.high - y.high - 1 + (low >> WIDTH), low & MASK)


cdef inline bint _less(Wide x, Wide y) noexcept nogil:
    return x.high < y.high or (x.high == y.high and x.low < y.low)


cdef inline bint _positive(Wide x) noexcept nogil:
    return x.high > 0 or (x.high == 0 and x.low > 0)


cdef inline Wide _times(Wide x, int64_t count) noexcept nogil:
    """Multiply by a count below 2^56, some bits at a time."""
    cdef Wide total = _wide(0, 0)
    cdef int64_t shift = 3 * CHUNK, own
    while shift >= 0:
        own = (count >> shift) & ((1 << CHUNK) - 1)
        total = _carried(total.high * (1 << CHUNK), total.low * (1 << CHUNK))
        total = _sum(total, _carried(x.high * own, x.low * own))
        shift -= CHUNK
    return total


@final
cdef class PartsView:
    """The arrays of `Parts`, as they are read here."""

    cdef const int64_t[::1] element_ptr, pair_ptr, fixed_ptr, groups
    cdef const int32_t[::1] i, j
    cdef const int32_t[:, ::1] fixed

    def __init__(self, parts):
        self.element_ptr, self.pair_ptr, self.i, self.j = parts[:4]
        self.fixed_ptr, self.fixed, self.groups = parts[4:]


@final
cdef class Numbers:
    """The scores of a batch and the background of each part, and the clusters to be proved."""

    cdef const int64_t[::1] high, low, background_high, background_low, slack, labels

    def __init__(self, numbers, labels):
        self.high, self.low, self.background_high, self.background_low, self.slack = numbers
        self.labels = labels

    cdef inline Wide score(self, int64_t p) noexcept nogil:
        return _wide(self.high[p], self.low[p])

    cdef inline Wide background(self, int64_t k) noexcept nogil:
        return _wide(self.background_high[k], self.background_low[k])


@final
cdef class Desk:
    """Room to bound parts, one after the other."""

    cdef int64_t cap, largest, exact
    cdef int64_t[::1] name, after, element, held  # of the elements
    cdef int64_t[::1] sizes, near  # of the contracted elements
    cdef int64_t[::1] high, low, rest_high, rest_low, listed  # of pairs of these, row behind row
    cdef uint8_t[::1] barred
    cdef int64_t[::1] inner_high, inner_low, best_high, best_low, total  # of subsets of these
    cdef uint8_t[::1] unfit
    cdef Wide inside  # the scores inside contracted elements

    def __init__(self, int64_t n, rules):
        self.cap, self.largest, self.exact = rules
        cdef int64_t m = min(n, self.largest), subsets = <int64_t>1 << min(m, self.exact)
        self.name, self.after, self.element, self.held = np.empty((4, n), np.int64)
        self.sizes, self.near = np.empty((2, m), np.int64)
        self.high, self.low, self.rest_high, self.rest_low, self.listed = (
            np.empty((5, m * m), np.int64)
        )
        self.barred = np.empty(m * m, np.uint8)
        self.inner_high, self.inner_low, self.best_high, self.best_low, self.total = (
            np.empty((5, subsets), np.int64)
        )
        self.unfit = np.empty(subsets, np.uint8)

    cdef inline Wide weight(self, int64_t p) noexcept nogil:
        return _wide(self.high[p], self.low[p])

    cdef inline Wide rest(self, int64_t p) noexcept nogil:
        return _wide(self.rest_high[p], self.rest_low[p])

    cdef inline Wide inner(self, int64_t s) noexcept nogil:
        return _wide(self.inner_high[s], self.inner_low[s])

    cdef inline Wide best(self, int64_t s) noexcept nogil:
        return _wide(self.best_high[s], self.best_low[s])


cdef inline bint _one_group(PartsView c, int64_t u, int64_t v) noexcept nogil:
    """Whether two elements, numbered through the batch, are of one group."""
    return c.groups.shape[0] > 0 and c.groups[u] >= 0 and c.groups[u] == c.groups[v]


cdef Wide _value(PartsView c, int64_t k, Numbers given, Desk desk) noexcept nogil:
    """Return the value of the clusters of a part, its scores rounded as they are."""
    cdef int64_t begin = c.element_ptr[k], n = c.element_ptr[k + 1] - begin, unlisted = 0, v, p
    cdef Wide total = _wide(0, 0)
    for v in range(n):
        desk.held[v] = 0
    for v in range(n):
        unlisted += desk.held[given.labels[begin + v]]
        desk.held[given.labels[begin + v]] += 1
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        if given.labels[begin + c.i[p]] == given.labels[begin + c.j[p]]:
            total = _sum(total, given.score(p))
            unlisted -= 1
    return _sum(total, _times(given.background(k), unlisted))


cdef Wide _single_pairs(PartsView c, int64_t k, Numbers given) noexcept nogil:
    """Bound a part by its positive pairs, but for those within a group."""
    cdef int64_t begin = c.element_ptr[k], p
    cdef Wide total = _wide(0, 0)
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        if _positive(given.score(p)) and not _one_group(c, begin + c.i[p], begin + c.j[p]):
            total = _sum(total, given.score(p))
    return total


cdef void _join(Desk desk, int64_t a, int64_t b) noexcept nogil:
    """Join the sets of two elements: all of the smaller one get the name of the larger one.

    A set is a ring, ``after[v]`` the element behind v in it; rings are joined by a swap.
    """
    cdef int64_t v
    if desk.name[a] == desk.name[b]:
        return
    if desk.held[desk.name[a]] < desk.held[desk.name[b]]:
        a, b = b, a
    desk.held[desk.name[a]] += desk.held[desk.name[b]]
    v = b
    while desk.name[v] != desk.name[a]:
        desk.name[v] = desk.name[a]
        v = desk.after[v]
    desk.after[a], desk.after[b] = desk.after[b], desk.after[a]


cdef int64_t _contract(PartsView c, int64_t k, Desk desk) noexcept nogil:
    """Number the elements from 0, equally those known to be related; return how many there are."""
    cdef int64_t n = c.element_ptr[k + 1] - c.element_ptr[k], m = 0, f, v
    for v in range(n):
        desk.name[v] = desk.after[v] = v
        desk.held[v] = 1
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        if c.fixed[f, 2] == 1:
            _join(desk, c.fixed[f, 0], c.fixed[f, 1])
    for v in range(n):
        desk.held[v] = -1  # from here on the number of a name
    for v in range(n):
        if desk.held[desk.name[v]] < 0:
            desk.held[desk.name[v]] = m
            m += 1
        desk.element[v] = desk.held[desk.name[v]]
    return m


cdef inline void _add(Desk desk, int64_t p, Wide x) noexcept nogil:
    x = _sum(desk.weight(p), x)
    desk.high[p], desk.low[p] = x.high, x.low


cdef void _weigh(PartsView c, int64_t k, Numbers given, Desk desk, int64_t m) noexcept nogil:
    """Write the scores of pairs of contracted elements, both ways; on the diagonal, inside them."""
    cdef int64_t n = c.element_ptr[k + 1] - c.element_ptr[k], v, p, a, b, pairs
    for a in range(m):
        desk.sizes[a] = 0
    for p in range(m * m):
        desk.high[p] = desk.low[p] = desk.listed[p] = 0
        desk.barred[p] = 0
    for v in range(n):
        desk.sizes[desk.element[v]] += 1
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        a, b = desk.element[c.i[p]], desk.element[c.j[p]]
        a, b = min(a, b), max(a, b)
        desk.listed[a * m + b] += 1
        _add(desk, a * m + b, given.score(p))
    desk.inside = _wide(0, 0)
    for a in range(m):
        for b in range(a, m):
            pairs = desk.sizes[a] * desk.sizes[b]
            if a == b:
                pairs = desk.sizes[a] * (desk.sizes[a] - 1) // 2
            _add(desk, a * m + b, _times(given.background(k), pairs - desk.listed[a * m + b]))
            desk.high[b * m + a], desk.low[b * m + a] = desk.high[a * m + b], desk.low[a * m + b]
        desk.inside = _sum(desk.inside, desk.weight(a * m + a))


cdef void _bar(PartsView c, int64_t k, Desk desk, int64_t m) noexcept nogil:
    """Mark pairs of contracted elements that no cluster may hold."""
    cdef int64_t begin = c.element_ptr[k], n = c.element_ptr[k + 1] - begin, f, u, v, a, b
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        if c.fixed[f, 2] == 0:
            a, b = desk.element[c.fixed[f, 0]], desk.element[c.fixed[f, 1]]
            desk.barred[a * m + b] = desk.barred[b * m + a] = 1
    if c.groups.shape[0] > 0:
        for v in range(n):
            for u in range(v):
                if _one_group(c, begin + u, begin + v):
                    a, b = desk.element[u], desk.element[v]
                    desk.barred[a * m + b] = desk.barred[b * m + a] = 1
    for a in range(m):
        for b in range(a):
            if desk.sizes[a] + desk.sizes[b] > desk.cap:
                desk.barred[a * m + b] = desk.barred[b * m + a] = 1


cdef Wide _best_rest(Desk desk, int64_t m) noexcept nogil:
    """Sum the positive rests of pairs that a cluster may hold."""
    cdef Wide total = _wide(0, 0)
    cdef int64_t a, b
    for a in range(m):
        for b in range(a):
            if not desk.barred[a * m + b] and _positive(desk.rest(a * m + b)):
                total = _sum(total, desk.rest(a * m + b))
    return total


cdef inline void _lower(Desk desk, int64_t m, int64_t a, int64_t b, Wide x) noexcept nogil:
    """Take a number from the rest of a pair."""
    x = _difference(desk.rest(a * m + b), x)
    desk.rest_high[a * m + b] = desk.rest_high[b * m + a] = x.high
    desk.rest_low[a * m + b] = desk.rest_low[b * m + a] = x.low


cdef inline bint _large(Desk desk, int64_t p, Wide least) noexcept nogil:
    return not desk.barred[p] and _less(least, desk.rest(p))


cdef Wide _pack(Desk desk, int64_t m, int64_t a, Wide least) noexcept nogil:
    """Pack the triangles at one element whose two pairs there are above a least rest.

    With x_ab + x_ac - x_bc <= 1, the lesser of the rests of ab and ac, and no more than what bc
    lacks, is taken from both, given to bc, and counted once; where bc is barred it lacks enough.
    """
    cdef Wide packed = _wide(0, 0), none = _wide(0, 0), x, lack
    cdef int64_t k = 0, b, c, y, z
    for b in range(m):
        if b != a and _large(desk, a * m + b, least):
            desk.near[k] = b
            k += 1
    for y in range(k):
        b = desk.near[y]
        for z in range(y + 1, k):
            c = desk.near[z]
            if not _large(desk, a * m + b, least):
                break
            if not _large(desk, a * m + c, least):
                continue
            lack = _difference(none, desk.rest(b * m + c))
            if not desk.barred[b * m + c] and not _positive(lack):
                continue
            x = desk.rest(a * m + b)
            if _less(desk.rest(a * m + c), x):
                x = desk.rest(a * m + c)
            if not desk.barred[b * m + c]:
                if _less(lack, x):
                    x = lack
                _lower(desk, m, b, c, _difference(none, x))
            _lower(desk, m, a, b, x)
            _lower(desk, m, a, c, x)
            packed = _sum(packed, x)
    return packed


cdef Wide _by_triangles(Desk desk, int64_t m) noexcept nogil:
    """Bound the contracted part by packing triangles; this changes the rests."""
    cdef int64_t count = 0, high = 0, a, b, turn
    cdef Wide packed = _wide(0, 0), least = _wide(0, 0)
    for a in range(m):
        for b in range(a):
            if not desk.barred[a * m + b] and _positive(desk.rest(a * m + b)):
                count += 1
                high += desk.rest_high[a * m + b]
    if count > 0:
        least.high = high // count // 2  # half the mean
    for turn in range(PASSES):
        if turn == PASSES - 1:
            least.high = 0
        for a in range(m):
            packed = _sum(packed, _pack(desk, m, a, least))
    return _sum(packed, _best_rest(desk, m))


cdef void _weigh_subsets(Desk desk, int64_t m) noexcept nogil:
    """Write value and size of every subset as one set, and whether no cluster may hold it."""
    cdef int64_t s, rest, u, v
    cdef Wide x
    desk.inner_high[0] = desk.inner_low[0] = desk.total[0] = 0
    desk.unfit[0] = 0
    for s in range(1, <int64_t>1 << m):
        v = 0
        while not (s >> v) & 1:
            v += 1
        rest = s & (s - 1)
        x = desk.inner(rest)
        desk.total[s] = desk.total[rest] + desk.sizes[v]
        desk.unfit[s] = desk.unfit[rest] or (rest > 0 and desk.total[s] > desk.cap)
        for u in range(v + 1, m):
            if (rest >> u) & 1:
                x = _sum(x, desk.weight(v * m + u))
                desk.unfit[s] |= desk.barred[v * m + u]
        desk.inner_high[s], desk.inner_low[s] = x.high, x.low


cdef Wide _by_subsets(Desk desk, int64_t m) noexcept nogil:
    """Return the best value of all partitions of the contracted part."""
    cdef int64_t s, low, rest, part
    cdef Wide best, x
    _weigh_subsets(desk, m)
    desk.best_high[0] = desk.best_low[0] = 0
    for s in range(1, <int64_t>1 << m):
        low = s & -s
        rest = part = s ^ low
        best = desk.best(rest)  # the lowest element alone
        while part > 0:
            if not desk.unfit[part | low]:
                x = _sum(desk.inner(part | low), desk.best(rest ^ part))
                if _less(best, x):
                    best = x
            part = (part - 1) & rest
        desk.best_high[s], desk.best_low[s] = best.high, best.low
    return desk.best((<int64_t>1 << m) - 1)


cdef Wide _bound(
    PartsView c, int64_t k, Numbers given, Desk desk, Wide claim, int8_t *method
) noexcept nogil:
    """Return by how much the part's bound exceeds its clusters' value, and how it was found."""
    cdef Wide value = _difference(_value(c, k, given, desk), _carried(0, given.slack[k]))
    cdef Wide found = _difference(_single_pairs(c, k, given), value), other
    cdef int64_t n = c.element_ptr[k + 1] - c.element_ptr[k], m, p
    method[0] = PAIRS
    if not _less(claim, found) or (n > desk.largest and c.fixed_ptr[k] == c.fixed_ptr[k + 1]):
        return found
    m = _contract(c, k, desk)
    if m > desk.largest:
        return found
    _weigh(c, k, given, desk, m)
    _bar(c, k, desk, m)
    value = _difference(value, desk.inside)
    for p in range(m * m):
        desk.rest_high[p], desk.rest_low[p] = desk.high[p], desk.low[p]
    found = _difference(_best_rest(desk, m), value)
    if _less(claim, found):
        other = _difference(_by_triangles(desk, m), value)
        if _less(other, found):
            found, method[0] = other, TRIANGLES
    if _less(claim, found) and m <= desk.exact:
        found, method[0] = _difference(_by_subsets(desk, m), value), SUBSETS
    return found


def bound_parts(
    parts, numbers, rules, const int64_t[::1] labels, claim, int64_t[:, ::1] excess,
    int8_t[::1] method
):
    """Bound the value of every partition of each part, beyond that of the given clusters.

    Parameters
    ----------
    parts : Parts
    numbers : Wide
        Scores and backgrounds as limbs, at the scale of each part, rounded up, and how many
        units the value of the clusters may be too high because of that.
    rules : (cap, largest, exact)
        The largest cluster allowed; contracted elements up to which triangles are packed, and up
        to which all partitions are gone through.
    labels : int64 array (elements,)
        The clusters, numbered from 0 in each part, and allowed.
    claim : int64 array (2, parts)
        High and low limbs: what is enough.
    excess : int64 array (2, parts)
        Receives the limbs of bound minus value.
    method : int8 array (parts,)
        Receives PAIRS, TRIANGLES or SUBSETS.
    """
    cdef PartsView c = PartsView(parts)
    cdef Numbers given = Numbers(numbers, labels)
    cdef const int64_t[:, ::1] enough = claim
    cdef int64_t k
    cdef Wide found
    cdef Desk desk = Desk(np.diff(parts.element_ptr).max(initial=1), rules)
    with nogil:
        for k in range(method.shape[0]):
            found = _bound(c, k, given, desk, _wide(enough[0, k], enough[1, k]), &method[k])
            excess[0, k], excess[1, k] = found.high, found.low
