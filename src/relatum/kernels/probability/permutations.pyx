"""Sums over all linear orders of a small set, forward and backward over subsets.

An order is built from the front. The weight of placing a after the set S is the product, over b
in S, of the weight of b before a. It is looked up in two tables, one for either half of the
elements, so that it costs one multiplication.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.probability.scaled cimport NEVER, plus, ratio, settle, times
from relatum.kernels.watch cimport Watch, is_over


cdef class Placing:
    """The weight of placing an element after a set: mantissas and exponents of both halves."""

    def __init__(self, const double[:, ::1] before, const int32_t[:, ::1] places):
        """Set up the tables; before[b, a] and places[b, a] weigh b before a."""
        cdef int64_t n = before.shape[0], half = n // 2
        self.n, self.half = n, half
        self.low, self.low_e = np.empty((n, 1 << half)), np.empty((n, 1 << half), np.int64)
        self.high = np.empty((n, 1 << (n - half)))
        self.high_e = np.empty((n, 1 << (n - half)), np.int64)
        _fill(before, places, 0, half, self.low, self.low_e)
        _fill(before, places, half, n, self.high, self.high_e)

    cdef double mantissa(self, int64_t a, int64_t s, int64_t *exponent) noexcept nogil:
        """Return the mantissa of placing a after s, and add the exponent."""
        cdef int64_t below = s & ((<int64_t>1 << self.half) - 1), above = s >> self.half
        exponent[0] = exponent[0] + self.low_e[a, below] + self.high_e[a, above]
        return self.low[a, below] * self.high[a, above]


cdef void _fill(
    const double[:, ::1] before, const int32_t[:, ::1] places, int64_t start, int64_t stop,
    double[:, ::1] m, int64_t[:, ::1] e,
) noexcept nogil:
    """Multiply up the weights of all subsets of the elements from start to stop."""
    cdef int64_t a, b, r, half, top
    for a in range(before.shape[0]):
        m[a, 0], e[a, 0] = 0.5, 1
        for b in range(start, stop):
            half = <int64_t>1 << (b - start)
            for r in range(half):
                if b == a:
                    m[a, half + r], e[a, half + r] = m[a, r], e[a, r]
                    continue
                top = e[a, r] + <int64_t>places[b, a]
                m[a, half + r] = times(m[a, r], before[b, a], &top)
                e[a, half + r] = top if m[a, half + r] > 0.0 else NEVER


def order_sums(Placing placing, expired=None):
    """Add up, for every subset, the orders of it, and the orders of the rest after it.

    Returns
    -------
    forward, forward_places, backward, backward_places : arrays of length 2^n
        Those not reached before time was up are zero.
    """
    cdef int64_t n = placing.n, count = <int64_t>1 << n, s, a, top, e
    cdef double total, x
    forward, forward_e = np.zeros(count), np.full(count, NEVER, np.int32)
    backward, backward_e = np.zeros(count), np.full(count, NEVER, np.int32)
    cdef Watch watch = Watch(expired)
    cdef double[::1] f = forward, g = backward
    cdef int32_t[::1] fe = forward_e, ge = backward_e
    f[0], fe[0], g[count - 1], ge[count - 1] = 0.5, 1, 0.5, 1
    with nogil:
        for s in range(1, count):
            total, top = 0.0, 4 * <int64_t>NEVER
            for a in range(n):
                if s >> a & 1:
                    e = fe[s ^ (<int64_t>1 << a)]
                    x = placing.mantissa(a, s ^ (<int64_t>1 << a), &e)
                    total = plus(total, &top, x * f[s ^ (<int64_t>1 << a)], e)
            f[s] = settle(total, &top)
            fe[s] = <int32_t>top
            if is_over(watch, 4 * n):
                break
        for s in range(count - 2, -1, -1):
            if is_over(watch, 4 * n):
                break
            total, top = 0.0, 4 * <int64_t>NEVER
            for a in range(n):
                if not s >> a & 1:
                    e = ge[s | (<int64_t>1 << a)]
                    x = placing.mantissa(a, s, &e)
                    total = plus(total, &top, x * g[s | (<int64_t>1 << a)], e)
            g[s] = settle(total, &top)
            ge[s] = <int32_t>top
    watch.close()
    return forward, forward_e, backward, backward_e


def placement(
    Placing placing, int64_t a, const double[::1] f, const int32_t[::1] fe,
    const double[::1] g, const int32_t[::1] ge,
):
    """Return, for every subset, the probability that it is the set of elements before a."""
    cdef int64_t count = f.shape[0], s, e, bit = <int64_t>1 << a
    cdef double x
    result = np.zeros(count)
    cdef double[::1] p = result
    with nogil:
        for s in range(count):
            if s & bit:
                continue
            e = <int64_t>fe[s] + ge[s | bit]
            x = placing.mantissa(a, s, &e) * f[s] * g[s | bit]
            p[s] = ratio(x, e, f[count - 1], fe[count - 1])
    return result


def draw_orders(
    Placing placing, const double[::1] f, const int32_t[::1] fe, const double[:, ::1] uniform
):
    """Draw independent orders; one row of n uniform numbers makes one. First comes first."""
    cdef int64_t n = placing.n, k, s, a, chosen, rest, place, e
    cdef double left, x
    result = np.zeros((uniform.shape[0], n), np.int64)
    cdef int64_t[:, ::1] order = result
    with nogil:
        for k in range(uniform.shape[0]):
            s = (<int64_t>1 << n) - 1
            for place in range(n - 1, -1, -1):
                left, chosen = uniform[k, place], -1
                for a in range(n):
                    if s >> a & 1:
                        rest = s ^ (<int64_t>1 << a)
                        e = fe[rest]
                        x = placing.mantissa(a, rest, &e) * f[rest]
                        if x > 0.0:
                            chosen = a
                            left -= ratio(x, e, f[s], fe[s])
                            if left < 0.0:
                                break
                order[k, place] = chosen
                s ^= <int64_t>1 << chosen
    return result
