"""Sums over assignments of rows to columns, row by row, over the sets of columns taken.

A row takes a column, or none where it may skip. Each column is taken at most once, or, where it may
be used again, only whether it was taken counts. One step of each kind: forward by a row, backward
by a row, and the probabilities of the row's columns in between.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.probability.scaled cimport NEVER, plus, ratio, settle
from relatum.kernels.watch cimport Watch, is_over


def step_forward(
    double[::1] f, int32_t[::1] fe, const double[::1] w, const int32_t[::1] we, bint skip,
    bint again, Watch watch,
):
    """Let one more row take a column, in place: sums over the rows so far, by columns taken."""
    cdef int64_t m = w.shape[0], s, b, bit, top
    cdef double total
    with nogil:
        for s in range(f.shape[0] - 1, -1, -1):  # from larger sets down: they read smaller ones
            if is_over(watch, 4 * m):
                break
            total, top = 0.0, 4 * <int64_t>NEVER
            if skip:
                total = plus(total, &top, f[s], fe[s])
            for b in range(m):
                bit = <int64_t>1 << b
                if s & bit and w[b] > 0.0:
                    total = plus(total, &top, f[s ^ bit] * w[b], <int64_t>fe[s ^ bit] + we[b])
                    if again:
                        total = plus(total, &top, f[s] * w[b], <int64_t>fe[s] + we[b])
            f[s] = settle(total, &top)
            fe[s] = <int32_t>top


def step_backward(
    double[::1] g, int32_t[::1] ge, const double[::1] w, const int32_t[::1] we, bint skip,
    bint again, Watch watch,
):
    """Take a row back, in place: sums over the rows from it on, by columns taken before it."""
    cdef int64_t m = w.shape[0], s, b, bit, top
    cdef double total
    with nogil:
        for s in range(g.shape[0]):  # from smaller sets up: they read larger ones
            if is_over(watch, 4 * m):
                break
            total, top = 0.0, 4 * <int64_t>NEVER
            if skip:
                total = plus(total, &top, g[s], ge[s])
            for b in range(m):
                bit = <int64_t>1 << b
                if w[b] > 0.0 and (again or not s & bit):
                    total = plus(total, &top, g[s | bit] * w[b], <int64_t>ge[s | bit] + we[b])
            g[s] = settle(total, &top)
            ge[s] = <int32_t>top


def row_probabilities(
    const double[::1] f, const int32_t[::1] fe, const double[::1] g, const int32_t[::1] ge,
    const double[::1] w, const int32_t[::1] we, bint again, double whole, int64_t whole_e,
    Watch watch,
):
    """Return the probabilities of a row's columns, from the sums before it and after it."""
    cdef int64_t m = w.shape[0], s, b, bit, top
    cdef double total
    result = np.zeros(m)
    cdef double[::1] p = result
    with nogil:
        for b in range(m):
            if w[b] <= 0.0:
                continue
            bit, total, top = <int64_t>1 << b, 0.0, 4 * <int64_t>NEVER
            for s in range(f.shape[0]):
                if again or not s & bit:
                    total = plus(total, &top, f[s] * g[s | bit], <int64_t>fe[s] + ge[s | bit])
            if is_over(watch, 2 * f.shape[0]):
                break
            total = settle(total, &top)
            p[b] = ratio(total * w[b], top + we[b], whole, whole_e)
    return result


def choose_columns(
    int64_t[::1] states, const double[::1] uniform, const double[::1] f, const int32_t[::1] fe,
    const double[::1] w, const int32_t[::1] we, bint skip, bint again,
):
    """Choose a row's column in every draw, and take it from the draw's set of columns.

    `f` are the sums over the rows before it. Returns the columns, -1 for none.
    """
    cdef int64_t m = w.shape[0], k, s, b, bit, top, before, chosen, kind
    cdef double total, left
    result = np.full(states.shape[0], -1, np.int64)
    cdef int64_t[::1] columns = result
    with nogil:
        for k in range(states.shape[0]):
            s, total, top = states[k], 0.0, 4 * <int64_t>NEVER
            if skip:
                total = plus(total, &top, f[s], fe[s])
            for b in range(m):
                bit = <int64_t>1 << b
                if s & bit and w[b] > 0.0:
                    total = plus(total, &top, f[s ^ bit] * w[b], <int64_t>fe[s ^ bit] + we[b])
                    if again:
                        total = plus(total, &top, f[s] * w[b], <int64_t>fe[s] + we[b])
            left, chosen, before = uniform[k], -1, s
            if skip:
                left -= ratio(f[s], fe[s], total, top)
            for b in range(m):
                bit = <int64_t>1 << b
                if left < 0.0:
                    break
                if not s & bit or w[b] <= 0.0:
                    continue
                for kind in range(2 if again else 1):
                    if left >= 0.0 and f[s if kind else s ^ bit] > 0.0:
                        chosen, before = b, s if kind else s ^ bit
                        left -= ratio(f[before] * w[b], <int64_t>fe[before] + we[b], total, top)
            columns[k], states[k] = chosen, before
    return result
