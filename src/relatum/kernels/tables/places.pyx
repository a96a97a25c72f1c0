"""Ids to numbers and pairs to their components, for tables of scored pairs.

Elements are put in places: component by component, and by number within each, so that a
component, and any range of components, is a range of places.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

ctypedef fused end_t:
    int32_t
    int64_t

cdef enum:
    SHORT = 32  # pairs that are sorted by insertion


cdef class ComponentsView:
    """The arrays of `Components`, as kernels read them."""

    def __init__(self, components):
        self.element_ptr, self.pair_ptr, self.i, self.j, self.log_odds = components[:5]
        self.fixed_ptr, self.fixed, self.groups, self.start = components[5:]


def mark_ids(uint64_t[::1] present, const int64_t[::1] ids, int64_t lowest):
    """Set the bit of each id in a bitmap of 64 bit words, counted from the lowest id."""
    cdef int64_t p, x
    with nogil:
        for p in range(ids.shape[0]):
            x = ids[p] - lowest
            present[x >> 6] |= <uint64_t>1 << (x & 63)


cdef inline int64_t _count_bits(uint64_t x) noexcept nogil:
    x = x - ((x >> 1) & <uint64_t>0x5555555555555555)
    x = (x & <uint64_t>0x3333333333333333) + ((x >> 2) & <uint64_t>0x3333333333333333)
    x = (x + (x >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int64_t>((x * <uint64_t>0x0101010101010101) >> 56)


def rank_ids(
    const uint64_t[::1] present, int64_t[::1] before, const int64_t[::1] ids, int64_t lowest,
    int64_t[::1] out
):
    """Write how many marked ids are smaller than each id; ``before`` holds that for each word.

    With ``before`` empty of meaning (its last entry negative), it is filled first.
    """
    cdef int64_t words = present.shape[0], total = 0, k, p, x
    cdef uint64_t below
    with nogil:
        if before[words] < 0:
            for k in range(words):
                before[k] = total
                total += _count_bits(present[k])
            before[words] = total
        for p in range(ids.shape[0]):
            x = ids[p] - lowest
            below = present[x >> 6] & ((<uint64_t>1 << (x & 63)) - 1)
            out[p] = before[x >> 6] + _count_bits(below)


def place_elements(
    const int64_t[::1] roots, int64_t[::1] place, int64_t[::1] order, int64_t[::1] first
):
    """Put elements in places by root, and by number within a root.

    ``roots[v]`` is the smallest element of the set of ``v``. Writes the place of each element,
    the element at each place, and the first place of each set; returns the number of sets.
    """
    cdef int64_t n = roots.shape[0], sets = 0, v, p
    cdef int64_t[::1] begin = np.zeros(n + 1, np.int64)
    with nogil:
        for v in range(n):
            begin[roots[v] + 1] += 1
        for v in range(n):
            if begin[v + 1] > 0:
                first[sets] = begin[v]
                sets += 1
            begin[v + 1] += begin[v]
        for v in range(n):
            p = begin[roots[v]]
            begin[roots[v]] += 1
            place[v] = p
            order[p] = v
        first[sets] = n
    return sets


cdef void _distribute(
    const end_t[::1] low, const end_t[::1] high, const double[::1] score, int64_t first,
    int64_t[::1] begin, end_t[::1] a, end_t[::1] b, double[::1] w
) noexcept nogil:
    """Put pairs in the order of their rows; afterwards row ``r`` ends where ``begin[r]`` says."""
    cdef int64_t p, q, r
    for p in range(low.shape[0]):
        begin[low[p] - first + 1] += 1
    for r in range(begin.shape[0] - 1):
        begin[r + 1] += begin[r]
    for p in range(low.shape[0]):
        r = low[p] - first
        q = begin[r]
        begin[r] += 1
        a[q], b[q], w[q] = low[p], high[p], score[p]


cdef inline bint _after(end_t x, double y, end_t b, double w) noexcept nogil:
    """Whether a pair of high end ``x`` and score ``y`` comes after one of ``b`` and ``w``."""
    return x > b or (x == b and y > w)


cdef inline void _insert(end_t[::1] b, double[::1] w, int64_t s, int64_t t) noexcept nogil:
    """Sort the pairs from ``s`` to ``t`` by insertion."""
    cdef int64_t p, q
    cdef end_t x
    cdef double y
    for p in range(s + 1, t):
        x, y = b[p], w[p]
        q = p - 1
        while q >= s and _after(b[q], w[q], x, y):
            b[q + 1], w[q + 1] = b[q], w[q]
            q -= 1
        b[q + 1], w[q + 1] = x, y


cdef void _merge(
    end_t[::1] b, double[::1] w, int64_t s, int64_t middle, int64_t t, end_t[::1] x, double[::1] y
) noexcept nogil:
    """Merge sorted pairs from ``s`` to ``middle`` with those from there to ``t``.

    The former wait in ``x`` and ``y``.
    """
    cdef int64_t waiting = middle - s, p
    for p in range(waiting):
        x[p], y[p] = b[s + p], w[s + p]
    p = 0
    while p < waiting:
        if middle < t and _after(x[p], y[p], b[middle], w[middle]):
            b[s], w[s] = b[middle], w[middle]
            middle += 1
        else:
            b[s], w[s] = x[p], y[p]
            p += 1
        s += 1


cdef void _sort_row(
    end_t[::1] b, double[::1] w, int64_t s, int64_t t, end_t[::1] x, double[::1] y
) noexcept nogil:
    """Sort the pairs from ``s`` to ``t``: short parts by insertion, then merged."""
    cdef int64_t width = SHORT, p = s
    while p < t:
        _insert(b, w, p, min(p + width, t))
        p += width
    while width < t - s:
        p = s
        while p + width < t:
            _merge(b, w, p, p + width, min(p + 2 * width, t), x, y)
            p += 2 * width
        width *= 2


def sort_rows(
    const end_t[::1] low, const end_t[::1] high, const double[::1] score, int64_t first,
    int64_t rows
):
    """Sort pairs by their low end, which lies in [first, first + rows), high end and score.

    Rows are short, so within one they are sorted by insertion; long ones are merged of such parts.
    """
    cdef int64_t m = low.shape[0], longest = 0, s = 0, r
    kind = np.int32 if end_t is int32_t else np.int64
    a, b, w = np.empty(m, kind), np.empty(m, kind), np.empty(m)
    cdef end_t[::1] a_view = a, b_view = b, x
    cdef double[::1] w_view = w, y
    cdef int64_t[::1] ends = np.zeros(rows + 1, np.int64)
    with nogil:
        _distribute(low, high, score, first, ends, a_view, b_view, w_view)
        for r in range(rows):
            longest = max(longest, ends[r] - s)
            s = ends[r]
    x, y = np.empty(longest, kind), np.empty(longest)
    with nogil:
        s = 0
        for r in range(rows):
            if ends[r] - s <= SHORT:
                _insert(b_view, w_view, s, ends[r])
            else:
                _sort_row(b_view, w_view, s, ends[r], x, y)
            s = ends[r]
    return a, b, w


def merge_duplicates(
    end_t[::1] low, end_t[::1] high, double[::1] score, double same, int64_t[::1] odd
):
    """Keep one of equal neighbours of sorted pairs, in place, with the mean of their scores.

    Returns how many pairs are left; ``odd`` receives (duplicates, contradictory rows, the
    place of the first contradiction among the pairs that are left, or -1).
    """
    cdef int64_t m = low.shape[0], kept = 0, p = 0, q
    cdef end_t a, b
    cdef double total
    odd[0], odd[1], odd[2] = 0, 0, -1
    with nogil:
        while p < m:
            a, b, q, total = low[p], high[p], p, 0.0
            while q < m and low[q] == a and high[q] == b:
                total += score[q]
                q += 1
            if q - p > 1:
                if score[q - 1] - score[p] > same:
                    odd[1] += q - p
                    if odd[2] < 0:
                        odd[2] = kept
                    total /= q - p
                else:
                    odd[0] += q - p - 1
                    total = score[p]
            low[kept], high[kept], score[kept] = a, b, total
            kept += 1
            p = q
    return kept


cdef inline uint64_t _mix(uint64_t x) noexcept nogil:
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t _mixed(uint64_t h, uint64_t x) noexcept nogil:
    """Mix one more word into a hash."""
    return _mix(h + <uint64_t>0x9E3779B97F4A7C15 + x)


cdef inline uint64_t _two(int32_t a, int32_t b) noexcept nogil:
    """Return two elements as one word."""
    return (<uint64_t>a << 32) + <uint64_t>b


cdef uint64_t _fingerprint(
    ComponentsView c, int64_t k, const uint64_t[::1] keys, const uint64_t[::1] bits, uint64_t seed
) noexcept nogil:
    cdef int64_t s = c.element_ptr[k], t = c.element_ptr[k + 1], v, u, p, f
    cdef uint64_t h = _mix(seed + <uint64_t>(t - s))
    for v in range(s, t):
        h = _mixed(h, keys[v])
        if c.groups.shape[0] > 0 and c.groups[v] >= 0:
            for u in range(s, v + 1):  # the first element of the same group
                if c.groups[u] == c.groups[v]:
                    h = _mixed(h, <uint64_t>(u - s))
                    break
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        h = _mixed(h, _two(c.i[p], c.j[p]))
        h = _mixed(h, bits[p])
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        h = _mixed(h, _two(c.fixed[f, 0], c.fixed[f, 1]))
        h = _mixed(h, <uint64_t>c.fixed[f, 2])
    return h


def fingerprints(
    components, const uint64_t[::1] keys, const uint64_t[::1] bits, uint64_t seed,
    uint64_t[::1] out
):
    """Write a hash of each component: its elements' keys, pairs, scores, groups and evidence.

    ``keys`` are uint64 hashes of the ids, ``bits`` the scores seen as uint64.
    """
    cdef ComponentsView c = ComponentsView(components)
    cdef int64_t k
    with nogil:
        for k in range(out.shape[0]):
            out[k] = _fingerprint(c, k, keys, bits, seed)


cdef int64_t _count_unlisted(ComponentsView c, int64_t most) noexcept nogil:
    cdef int64_t total = 0, k, n
    for k in range(c.element_ptr.shape[0] - 1):
        n = c.element_ptr[k + 1] - c.element_ptr[k]
        if n <= most:
            total += n * (n - 1) // 2 - (c.pair_ptr[k + 1] - c.pair_ptr[k])
    return total


cdef void _list_unlisted(
    ComponentsView c, int64_t most, int64_t[::1] low, int64_t[::1] high
) noexcept nogil:
    cdef int64_t count = 0, k, s, n, p, end, a, b
    for k in range(c.element_ptr.shape[0] - 1):
        s = c.element_ptr[k]
        n = c.element_ptr[k + 1] - s
        if n > most:
            continue
        p, end = c.pair_ptr[k], c.pair_ptr[k + 1]
        for a in range(n):
            for b in range(a + 1, n):
                if p < end and c.i[p] == a and c.j[p] == b:
                    p += 1
                else:
                    low[count], high[count] = s + a, s + b
                    count += 1


def unlisted_pairs(components, int64_t most):
    """Return the pairs of elements (numbers in the batch) that are not listed.

    Components of more than ``most`` elements are left out.
    """
    cdef ComponentsView c = ComponentsView(components)
    cdef int64_t total
    with nogil:
        total = _count_unlisted(c, most)
    low, high = np.empty(total, np.int64), np.empty(total, np.int64)
    cdef int64_t[::1] low_view = low, high_view = high
    with nogil:
        _list_unlisted(c, most, low_view, high_view)
    return low, high
