"""Where a pattern of directed pairs fits a fractional point best: local search over its places.

A pattern is an antisymmetric matrix of k places with entries -1, 0 and 1; its pairs ij are those
with a 1. Elements at the places give it the value sum of x[element of i, element of j] over its
pairs. ``x`` is full and complementary: x[b, a] = 1 - x[a, b].
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over

cdef enum:
    STEPS = 64  # of one search at most; it ends sooner where nothing is better

cdef double LEAST = 1e-9  # gain of a step: less may be rounding


cdef (double, int64_t, int64_t) _best_newcomer(
    const double[:, ::1] x, const int64_t[:, ::1] pattern, const int64_t[::1] element,
    const uint8_t[::1] placed, double[::1] worth
) noexcept nogil:
    """Return the gain, place and element of the best exchange with one that has no place.

    What element e is worth at place i is, but for what i alone decides, minus the sum of
    pattern[i, j] x[element of j, e]; `worth` is scratch space for that.
    """
    cdef int64_t n = x.shape[0], k = element.shape[0], i, j, e, p, place = -1, newcomer = -1
    cdef double best = LEAST, sign, own
    for i in range(k):
        for e in range(n):
            worth[e] = 0.0
        for j in range(k):
            if pattern[i, j] == 0:
                continue
            sign, p = pattern[i, j], element[j]
            for e in range(n):
                worth[e] -= sign * x[p, e]
        own = worth[element[i]]
        for e in range(n):
            if worth[e] - own > best and not placed[e]:
                best, place, newcomer = worth[e] - own, i, e
    return best, place, newcomer


cdef (double, int64_t, int64_t) _best_swap(
    const double[:, ::1] x, const int64_t[:, ::1] pattern, const int64_t[::1] element, double least
) noexcept nogil:
    """Return the gain and both places of the best swap, if its gain is above the least."""
    cdef int64_t k = element.shape[0], i, j, m, a, b, first = -1, second = -1
    cdef double best = least, gain
    for i in range(k):
        a = element[i]
        for j in range(i + 1, k):
            b = element[j]
            gain = pattern[i, j] * (1.0 - 2.0 * x[a, b])
            for m in range(k):
                if m != i and m != j:
                    gain += (pattern[i, m] - pattern[j, m]) * (x[b, element[m]] - x[a, element[m]])
            if gain > best:
                best, first, second = gain, i, j
    return best, first, second


cdef double _value(
    const double[:, ::1] x, const int64_t[:, ::1] pattern, const int64_t[::1] element
) noexcept nogil:
    cdef int64_t k = element.shape[0], i, j
    cdef double total = 0.0
    for i in range(k):
        for j in range(k):
            if pattern[i, j] > 0:
                total += x[element[i], element[j]]
    return total


cdef double _fit(
    const double[:, ::1] x, const int64_t[:, ::1] pattern, int64_t[::1] element,
    uint8_t[::1] placed, double[::1] worth
) noexcept nogil:
    """Improve the places of one search by best steps; return the value."""
    cdef int64_t n = x.shape[0], k = element.shape[0], i, e, place, newcomer, first, second
    cdef double gain
    for e in range(n):
        placed[e] = False
    for i in range(k):
        placed[element[i]] = True
    for _ in range(STEPS):
        gain, place, newcomer = _best_newcomer(x, pattern, element, placed, worth)
        gain, first, second = _best_swap(x, pattern, element, gain)
        if first >= 0:
            element[first], element[second] = element[second], element[first]
        elif place >= 0:
            placed[element[place]], placed[newcomer] = False, True
            element[place] = newcomer
        else:
            break
    return _value(x, pattern, element)


def fit_pattern(const double[:, ::1] x, const int64_t[:, ::1] pattern, starts, expired=None):
    """Search from every start for elements at whose places a pattern has a large value.

    A step puts an element without a place at one of the places, or swaps two; the best one is
    taken, until none gains.

    Parameters
    ----------
    x : float64 array (n, n)
    pattern : int64 array (k, k)
    starts : int64 array (r, k)
        Different elements in each row.
    expired : callable, optional
        Says whether to leave out the starts that are left.

    Returns
    -------
    elements : int64 array (t, k)
        One row for each of the first t starts.
    values : float64 array (t,)
    """
    cdef int64_t count = 0, r
    cdef Watch watch = Watch(expired)
    cdef int64_t cost = 8 * pattern.shape[0] * pattern.shape[0] * x.shape[0]
    elements, values = np.array(starts, np.int64, order="C"), np.empty(len(starts))
    cdef int64_t[:, ::1] element = elements
    cdef double[::1] value = values
    cdef uint8_t[::1] placed = np.empty(x.shape[0], np.uint8)
    cdef double[::1] worth = np.empty(x.shape[0])
    with nogil:
        for r in range(element.shape[0]):
            if is_over(watch, cost):
                break
            value[r] = _fit(x, pattern, element[r], placed, worth)
            count += 1
    watch.close()
    return elements[:count], values[:count]
