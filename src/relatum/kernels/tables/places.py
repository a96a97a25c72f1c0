"""Ids to numbers and pairs to their components, for tables of scored pairs.

Elements are put in places: component by component, and by number within each, so that a
component, and any range of components, is a range of places.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def mark_ids(present, ids, lowest):
    """Set the bit of each id in a bitmap of 64 bit words, counted from the lowest id."""
    for p in range(ids.shape[0]):
        x = ids[p] - lowest
        present[x >> 6] |= np.uint64(1) << np.uint64(x & 63)


@njit(cache=True, nogil=True)
def _count_bits(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def rank_ids(present, before, ids, lowest, out):
    """Write how many marked ids are smaller than each id; ``before`` holds that for each word.

    With ``before`` empty of meaning (its last entry negative), it is filled first.
    """
    if before[-1] < 0:
        total = 0
        for k in range(present.shape[0]):
            before[k] = total
            total += _count_bits(present[k])
        before[-1] = total
    for p in range(ids.shape[0]):
        x = ids[p] - lowest
        below = present[x >> 6] & ((np.uint64(1) << np.uint64(x & 63)) - np.uint64(1))
        out[p] = before[x >> 6] + _count_bits(below)


@njit(cache=True, nogil=True)
def place_elements(roots, place, order, first):
    """Put elements in places by root, and by number within a root.

    ``roots[v]`` is the smallest element of the set of ``v``. Writes the place of each element,
    the element at each place, and the first place of each set; returns the number of sets.
    """
    n = roots.shape[0]
    begin = np.zeros(n + 1, np.int64)
    for v in range(n):
        begin[roots[v] + 1] += 1
    sets = 0
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


@njit(cache=True, nogil=True)
def sort_rows(low, high, score, first, rows):
    """Sort pairs by their low end, which lies in [first, first + rows), high end and score.

    Rows are short, so within one they are sorted by insertion; long ones by numpy.
    """
    m = low.shape[0]
    begin = np.zeros(rows + 1, np.int64)
    for p in range(m):
        begin[low[p] - first + 1] += 1
    for r in range(rows):
        begin[r + 1] += begin[r]
    at = begin[:rows].copy()
    a, b, w = np.empty(m, low.dtype), np.empty(m, high.dtype), np.empty(m)
    for p in range(m):
        r = low[p] - first
        q = at[r]
        at[r] += 1
        a[q], b[q], w[q] = low[p], high[p], score[p]
    for r in range(rows):
        s, t = begin[r], begin[r + 1]
        if t - s > 64:
            by = np.argsort(w[s:t], kind="mergesort")
            b[s:t], w[s:t] = b[s:t][by], w[s:t][by]
            by = np.argsort(b[s:t], kind="mergesort")
            b[s:t], w[s:t] = b[s:t][by], w[s:t][by]
            continue
        for p in range(s + 1, t):
            x, y = b[p], w[p]
            q = p - 1
            while q >= s and (b[q] > x or (b[q] == x and w[q] > y)):
                b[q + 1], w[q + 1] = b[q], w[q]
                q -= 1
            b[q + 1], w[q + 1] = x, y
    return a, b, w


@njit(cache=True, nogil=True)
def merge_duplicates(low, high, score, same, odd):
    """Keep one of equal neighbours of sorted pairs, in place, with the mean of their scores.

    Returns how many pairs are left; ``odd`` receives (duplicates, contradictory rows, the
    place of the first contradiction among the pairs that are left, or -1).
    """
    m, kept, p = low.shape[0], 0, 0
    odd[:] = 0
    odd[2] = -1
    while p < m:
        q, total = p, 0.0
        while q < m and low[q] == low[p] and high[q] == high[p]:
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
        low[kept], high[kept], score[kept] = low[p], high[p], total
        kept += 1
        p = q
    return kept


@njit(cache=True, nogil=True)
def _mix(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def fingerprints(c, keys, bits, seed, out):
    """Write a hash of each component: its elements' keys, pairs, scores, groups and evidence.

    ``keys`` are uint64 hashes of the ids, ``bits`` the scores seen as uint64.
    """
    step = np.uint64(0x9E3779B97F4A7C15)
    for k in range(out.shape[0]):
        s, t = c.element_ptr[k], c.element_ptr[k + 1]
        h = _mix(np.uint64(seed) + np.uint64(t - s))
        for v in range(s, t):
            h = _mix(h + step + keys[v])
            if c.groups.shape[0] > 0 and c.groups[v] >= 0:
                for u in range(s, v + 1):  # the first element of the same group
                    if c.groups[u] == c.groups[v]:
                        h = _mix(h + step + np.uint64(u - s))
                        break
        for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
            h = _mix(h + step + (np.uint64(c.i[p]) << np.uint64(32)) + np.uint64(c.j[p]))
            h = _mix(h + step + bits[p])
        for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
            h = _mix(
                h + step + (np.uint64(c.fixed[f, 0]) << np.uint64(32)) + np.uint64(c.fixed[f, 1])
            )
            h = _mix(h + step + np.uint64(c.fixed[f, 2]))
        out[k] = h


@njit(cache=True, nogil=True)
def unlisted_pairs(c, most):
    """Return the pairs of elements (numbers in the batch) that are not listed.

    Components of more than ``most`` elements are left out.
    """
    total = 0
    for k in range(c.element_ptr.shape[0] - 1):
        n = c.element_ptr[k + 1] - c.element_ptr[k]
        if n <= most:
            total += n * (n - 1) // 2 - (c.pair_ptr[k + 1] - c.pair_ptr[k])
    low, high = np.empty(total, np.int64), np.empty(total, np.int64)
    count = 0
    for k in range(c.element_ptr.shape[0] - 1):
        s, t = c.element_ptr[k], c.element_ptr[k + 1]
        if t - s > most:
            continue
        p, end = c.pair_ptr[k], c.pair_ptr[k + 1]
        for a in range(t - s):
            for b in range(a + 1, t - s):
                if p < end and c.i[p] == a and c.j[p] == b:
                    p += 1
                else:
                    low[count], high[count] = s + a, s + b
                    count += 1
    return low, high
