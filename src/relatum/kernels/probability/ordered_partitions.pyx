"""Sums over all rankings with ties of a small set: ordered partitions, class by class.

A ranking is built from the front. After the set A comes a class T of tied elements: its weight is
the weight of T as a class times that of each of its elements after A. For one A, the weights of all
T are made one from another, at one multiplication each.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.probability.permutations cimport Placing
from relatum.kernels.probability.scaled cimport NEVER, plus, ratio, settle, times
from relatum.kernels.watch cimport Watch, is_over


cdef int64_t _classes_after(
    Placing placing, int64_t a, double[::1] p, int64_t[::1] pe, int64_t[::1] mask,
    int64_t[::1] rest,
) noexcept nogil:
    """Weigh every set of elements not in a, placed after a; return how many elements there are.

    The sets are numbered by subsets of `rest`, the elements in ascending order.
    """
    cdef int64_t b, k = 0, half, r, top, own
    cdef double x
    p[0], pe[0], mask[0] = 0.5, 1, 0
    for b in range(placing.n):
        if a >> b & 1:
            continue
        half, own = <int64_t>1 << k, 0
        x = settle(placing.mantissa(b, a, &own), &own)
        for r in range(half):
            top = pe[r] + own
            p[half + r] = times(p[r], x, &top)
            pe[half + r] = top if p[half + r] > 0.0 else NEVER
            mask[half + r] = mask[r] | <int64_t>1 << b
        rest[k] = b
        k += 1
    return k


def ranking_sums(Placing placing, const double[::1] tie, const int32_t[::1] tie_e, expired=None):
    """Add up, for every subset, the rankings with ties of it; zero if time was up before.

    Parameters
    ----------
    placing : Placing
        The weights of an element after a set.
    tie, tie_e : arrays of length 2^n
        The weight of every subset as one class: mantissas and exponents.
    expired : callable or None

    Returns
    -------
    forward, forward_places : arrays of length 2^n
    """
    cdef int64_t n = placing.n, count = <int64_t>1 << n, a, r, k, s, top
    forward, forward_e = np.zeros(count), np.full(count, 4 * <int64_t>NEVER, np.int64)
    cdef Watch watch = Watch(expired)
    cdef double[::1] f = forward, p = np.empty(count)
    cdef int64_t[::1] fe = forward_e, pe = np.empty(count, np.int64)
    cdef int64_t[::1] mask = np.empty(count, np.int64), rest = np.empty(n, np.int64)
    f[0], fe[0] = 0.5, 1
    with nogil:
        for a in range(count):
            f[a] = settle(f[a], &fe[a])
            if f[a] <= 0.0 or a == count - 1:
                continue
            k = _classes_after(placing, a, p, pe, mask, rest)
            if is_over(watch, 8 * (<int64_t>1 << k)):
                f[count - 1] = 0.0
                break
            for r in range(1, <int64_t>1 << k):
                s, top = mask[r], fe[a | mask[r]]
                f[a | s] = plus(
                    f[a | s], &top, f[a] * p[r] * tie[s], fe[a] + pe[r] + tie_e[s]
                )
                fe[a | s] = top
    watch.close()
    return forward, forward_e


def ranking_probabilities(
    Placing placing, const double[::1] tie, const int32_t[::1] tie_e, const double[::1] f,
    const int64_t[::1] fe, expired=None,
):
    """Return probabilities, and the sums over the rankings of what is left after each subset.

    Returns
    -------
    before : (n, n) array
        The probability that a comes before b, without a tie.
    classes : array of length 2^n
        The probability that a subset is one of the classes.
    backward, backward_places : arrays of length 2^n
    """
    cdef int64_t n = placing.n, count = <int64_t>1 << n, a, b, c, r, k, s, top, e, half
    cdef double total, x
    backward, backward_e = np.zeros(count), np.full(count, NEVER, np.int64)
    before_, classes_ = np.zeros((n, n)), np.zeros(count)
    cdef Watch watch = Watch(expired)
    cdef double[::1] g = backward, p = np.empty(count), h = np.empty(count), classes = classes_
    cdef double[:, ::1] before = before_
    cdef int64_t[::1] ge = backward_e, pe = np.empty(count, np.int64)
    cdef int64_t[::1] mask = np.empty(count, np.int64), rest = np.empty(n, np.int64)
    g[count - 1], ge[count - 1] = 0.5, 1
    with nogil:
        for a in range(count - 2, -1, -1):
            k = _classes_after(placing, a, p, pe, mask, rest)
            if is_over(watch, 16 * (<int64_t>1 << k)):
                break
            total, top, h[0] = 0.0, 4 * <int64_t>NEVER, 0.0
            for r in range(1, <int64_t>1 << k):
                s = mask[r]
                x, e = p[r] * tie[s] * g[a | s], pe[r] + tie_e[s] + ge[a | s]
                total = plus(total, &top, x, e)
                h[r] = ratio(x * f[a], e + fe[a], f[count - 1], fe[count - 1])
                classes[s] += h[r]
            g[a] = settle(total, &top)
            ge[a] = top
            for c in range(k - 1, -1, -1):  # what each element's classes have together
                half, x = <int64_t>1 << c, 0.0
                for r in range(half):
                    x += h[half + r]
                    h[r] += h[half + r]
                for b in range(n):
                    if a >> b & 1:
                        before[b, rest[c]] += x
    watch.close()
    return before_, classes_, backward, backward_e


def draw_rankings(
    Placing placing, const double[::1] tie, const int32_t[::1] tie_e, const double[::1] g,
    const int64_t[::1] ge, const double[:, ::1] uniform,
):
    """Draw independent rankings; one row of n uniform numbers makes one. Return their ranks."""
    cdef int64_t n = placing.n, count = <int64_t>1 << n, k, a, b, r, s, size, rank, chosen
    cdef double left, x
    result = np.zeros((uniform.shape[0], n), np.int64)
    cdef int64_t[:, ::1] ranks = result
    cdef double[::1] p = np.empty(count)
    cdef int64_t[::1] pe = np.empty(count, np.int64)
    cdef int64_t[::1] mask = np.empty(count, np.int64), rest = np.empty(n, np.int64)
    with nogil:
        for k in range(uniform.shape[0]):
            a, rank = 0, 0
            while a < count - 1:
                size = _classes_after(placing, a, p, pe, mask, rest)
                left, chosen = uniform[k, rank], 0
                for r in range(1, <int64_t>1 << size):
                    s = mask[r]
                    x = p[r] * tie[s] * g[a | s]
                    if x > 0.0:
                        chosen = s
                        left -= ratio(x, pe[r] + tie_e[s] + ge[a | s], g[a], ge[a])
                        if left < 0.0:
                            break
                for b in range(n):
                    if chosen >> b & 1:
                        ranks[k, b] = rank
                a |= chosen
                rank += 1
    return result
