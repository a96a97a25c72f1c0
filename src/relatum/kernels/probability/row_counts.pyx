"""Sums over the subsets of a row's columns with a limited number of members, column by column.

The state is how many columns were taken so far. If that number has no upper limit, only whether
it is 0 counts.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from relatum.kernels.probability.scaled cimport NEVER, plus, ratio, settle
from relatum.kernels.watch cimport Watch, is_over


cdef void _back(
    const double[::1] w, const int32_t[::1] we, const uint8_t[::1] forced, int64_t least,
    bint open_end, double[:, ::1] g, int64_t[:, ::1] ge,
) noexcept nogil:
    """Set g[b, s]: the sum over columns from b on, if s were taken before it."""
    cdef int64_t m = w.shape[0], last = g.shape[1] - 1, b, s, top, after
    cdef double total
    for s in range(last + 1):
        g[m, s] = 0.5 if s >= least else 0.0
        ge[m, s] = 1 if s >= least else <int64_t>NEVER
    for b in range(m - 1, -1, -1):
        for s in range(last + 1):
            total, top = 0.0, 4 * <int64_t>NEVER
            if not forced[b]:
                total = plus(total, &top, g[b + 1, s], ge[b + 1, s])
            after = s + 1 if s < last else (last if open_end else -1)
            if after >= 0 and w[b] > 0.0:
                total = plus(total, &top, w[b] * g[b + 1, after], we[b] + ge[b + 1, after])
            g[b, s] = settle(total, &top)
            ge[b, s] = top


def row_count_probabilities(
    const double[:, ::1] w, const int32_t[:, ::1] we, const uint8_t[:, ::1] forced,
    int64_t least, int64_t most, expired=None,
):
    """Return the probabilities of all pairs, and each row's sum as mantissa and exponent.

    Parameters
    ----------
    w, we : (rows, columns) arrays
        Mantissas and exponents of the weights; mantissa 0 where a pair is excluded.
    forced : (rows, columns) uint8 array
        Which pairs have to be taken.
    least, most : int
        How many columns a row takes; most = -1 for any number, and least is 0 or 1 then.
    expired : callable or None
        Rows not reached before time was up have the sum 0.
    """
    cdef int64_t rows = w.shape[0], m = w.shape[1], a, b, s, after, top, e
    cdef bint open_end = most < 0
    cdef int64_t last = max(1, least) if open_end else min(most, m)
    cdef double total
    p_, mantissa_, places_ = np.zeros((rows, m)), np.zeros(rows), np.full(rows, NEVER, np.int64)
    cdef double[:, ::1] p = p_, g = np.empty((m + 1, last + 1))
    cdef int64_t[:, ::1] ge = np.empty((m + 1, last + 1), np.int64)
    cdef double[::1] mantissa = mantissa_, f = np.empty(last + 1)
    cdef int64_t[::1] places = places_, fe = np.empty(last + 1, np.int64)
    cdef Watch watch = Watch(expired)
    with nogil:
        for a in range(rows):
            if is_over(watch, 20 * m * (last + 1)):
                break
            _back(w[a], we[a], forced[a], least, open_end, g, ge)
            mantissa[a], places[a] = g[0, 0], ge[0, 0]
            if g[0, 0] <= 0.0:
                continue
            for s in range(last + 1):
                f[s] = 0.0
                fe[s] = NEVER
            f[0], fe[0] = 0.5, 1
            for b in range(m):
                total, top = 0.0, 4 * <int64_t>NEVER
                for s in range(last + 1):
                    after = s + 1 if s < last else (last if open_end else -1)
                    if after >= 0 and w[a, b] > 0.0:
                        e = fe[s] + we[a, b] + ge[b + 1, after]
                        total = plus(total, &top, f[s] * w[a, b] * g[b + 1, after], e)
                p[a, b] = ratio(total, top, g[0, 0], ge[0, 0])
                for s in range(last, -1, -1):  # from more down: they read fewer
                    total, top = 0.0, 4 * <int64_t>NEVER
                    if not forced[a, b]:
                        total = plus(total, &top, f[s], fe[s])
                    if w[a, b] > 0.0:
                        if s > 0:
                            total = plus(total, &top, f[s - 1] * w[a, b], fe[s - 1] + we[a, b])
                        if s == last and open_end:
                            total = plus(total, &top, f[s] * w[a, b], fe[s] + we[a, b])
                    f[s] = settle(total, &top)
                    fe[s] = top
    watch.close()
    return p_, mantissa_, places_


def draw_row(
    const double[::1] w, const int32_t[::1] we, const uint8_t[::1] forced, int64_t least,
    int64_t most, const double[:, ::1] uniform,
):
    """Draw the columns of one row, once for each row of uniform numbers."""
    cdef int64_t m = w.shape[0], k, b, s, after
    cdef bint open_end = most < 0, taken
    cdef int64_t last = max(1, least) if open_end else min(most, m)
    cdef double p
    result = np.zeros((uniform.shape[0], m), np.bool_)
    cdef uint8_t[:, ::1] chosen = result.view(np.uint8)
    cdef double[:, ::1] g = np.empty((m + 1, last + 1))
    cdef int64_t[:, ::1] ge = np.empty((m + 1, last + 1), np.int64)
    with nogil:
        _back(w, we, forced, least, open_end, g, ge)
        for k in range(uniform.shape[0]):
            s = 0
            for b in range(m):
                after = s + 1 if s < last else (last if open_end else -1)
                if after < 0 or w[b] <= 0.0:
                    continue
                p = ratio(w[b] * g[b + 1, after], we[b] + ge[b + 1, after], g[b, s], ge[b, s])
                taken = forced[b] or uniform[k, b] < p
                # rounding must not lead where nothing is feasible
                if taken and g[b + 1, after] > 0.0 or g[b + 1, s] <= 0.0:
                    chosen[k, b] = 1
                    s = after
    return result
