"""Restarted, reflected Halpern PDHG for box-constrained problems with sparse two-sided rows.

The problem is max c x over low <= A x <= high, lower <= x <= upper. ``rows`` is the tuple
(triples, start, column, coefficient): first come rows x_i + x_j - x_k, one per line of
``triples``; then general rows in compressed form. ``sides`` holds low, high and the
unscaled dual step of each row; ``box`` holds c, lower, upper and the unscaled primal step
of each column.

Iterates lie in two arrays. The lines of ``primals`` are x, its anchor, the result of the plain
step, A'y and its anchor; those of ``duals`` are y, its anchor and the result of the plain step.
"""

import numpy as np

from libc.math cimport exp, log, sqrt
from libc.stdint cimport int32_t, int64_t

from relatum.kernels.watch cimport Watch, is_over


cdef enum:
    BLOCK = 512


cdef class RowsView:
    """The arrays of the rows, as kernels read them."""

    cdef const int32_t[:, ::1] triples
    cdef const int64_t[::1] start
    cdef const int32_t[::1] column
    cdef const double[::1] coefficient
    cdef int64_t count

    def __init__(self, rows):
        self.triples, self.start, self.column, self.coefficient = rows
        self.count = self.triples.shape[0] + self.start.shape[0] - 1


cdef void _activity(RowsView rows, const double[::1] x, double[::1] out) noexcept nogil:
    """Write A x."""
    cdef int64_t t = rows.triples.shape[0], r, q
    cdef double s
    for r in range(t):
        out[r] = x[rows.triples[r, 0]] + x[rows.triples[r, 1]] - x[rows.triples[r, 2]]
    for r in range(t, rows.count):
        s = 0.0
        for q in range(rows.start[r - t], rows.start[r - t + 1]):
            s += rows.coefficient[q] * x[rows.column[q]]
        out[r] = s


cdef void _price(RowsView rows, const double[::1] y, double[::1] out) noexcept nogil:
    """Write A'y."""
    cdef int64_t t = rows.triples.shape[0], e, r, q
    cdef double v
    for e in range(out.shape[0]):
        out[e] = 0.0
    for r in range(t):
        v = y[r]
        if v != 0.0:
            out[rows.triples[r, 0]] += v
            out[rows.triples[r, 1]] += v
            out[rows.triples[r, 2]] -= v
    for r in range(t, rows.count):
        v = y[r]
        if v != 0.0:
            for q in range(rows.start[r - t], rows.start[r - t + 1]):
                out[rows.column[q]] += rows.coefficient[q] * v


def activity(rows, const double[::1] x):
    """Return A x."""
    cdef RowsView view = RowsView(rows)
    out = np.empty(view.count)
    cdef double[::1] into = out
    with nogil:
        _activity(view, x, into)
    return out


def price(rows, const double[::1] y, int64_t n_columns):
    """Return A'y."""
    cdef RowsView view = RowsView(rows)
    out = np.empty(n_columns)
    cdef double[::1] into = out
    with nogil:
        _price(view, y, into)
    return out


cdef inline double _row_step(
    const double[:, ::1] sides, double step, int64_t r, double activity, double[:, ::1] duals,
    double w, double* moved
) noexcept nogil:
    """Step, reflect and average one multiplier; return the plain step, add its squared length."""
    cdef double sigma = step * sides[2, r], y = duals[0, r]
    cdef double v = y + sigma * activity, d
    v -= min(max(v, sigma * sides[0, r]), sigma * sides[1, r])
    d = v - y
    duals[2, r] = v
    duals[0, r] = w * (v + d) + (1.0 - w) * duals[1, r]
    moved[0] += d * d / sigma
    return v


cdef double _dual_step(
    RowsView rows, const double[:, ::1] sides, double step, const double[::1] ahead,
    double[:, ::1] duals, double w, double[::1] g
) noexcept nogil:
    """One pass over the rows: step, reflect, average with the anchor, and price into g.

    Returns the squared length of the plain step, measured by the dual steps.
    """
    cdef int64_t t = rows.triples.shape[0], r, q, i, j, k
    cdef double moved = 0.0, v, s
    for r in range(t):
        i, j, k = rows.triples[r, 0], rows.triples[r, 1], rows.triples[r, 2]
        v = _row_step(sides, step, r, ahead[i] + ahead[j] - ahead[k], duals, w, &moved)
        g[i] += v
        g[j] += v
        g[k] -= v
    for r in range(t, rows.count):
        s = 0.0
        for q in range(rows.start[r - t], rows.start[r - t + 1]):
            s += rows.coefficient[q] * ahead[rows.column[q]]
        v = _row_step(sides, step, r, s, duals, w, &moved)
        if v != 0.0:
            for q in range(rows.start[r - t], rows.start[r - t + 1]):
                g[rows.column[q]] += rows.coefficient[q] * v
    return moved


cdef void _primal_step(
    const double[:, ::1] box, double step, double[:, ::1] primals, double[::1] ahead
) noexcept nogil:
    """Step from x along c - A'y, into the box, and the extrapolation from x to twice as far.

    Here and in `_reflect`, columns go in blocks and a loop writes one array only: with more of
    them, compilers do not vectorise.
    """
    cdef int64_t n = ahead.shape[0], begin = 0, end, e
    cdef double v
    while begin < n:
        end = min(begin + BLOCK, n)
        for e in range(begin, end):
            v = primals[0, e] + step * box[3, e] * (box[0, e] - primals[3, e])
            primals[2, e] = min(max(v, box[1, e]), box[2, e])
        for e in range(begin, end):
            ahead[e] = 2.0 * primals[2, e] - primals[0, e]
        begin = end


cdef double _reflect(
    const double[:, ::1] box, double step, double[:, ::1] primals, const double[::1] g, double w
) noexcept nogil:
    """Finish the primal iterate; return the primal and cross parts of the step's length."""
    cdef int64_t n = g.shape[0], begin = 0, end, e
    cdef double moved = 0.0, d
    while begin < n:
        end = min(begin + BLOCK, n)
        for e in range(begin, end):
            d = primals[2, e] - primals[0, e]
            moved += d * d / (step * box[3, e]) - 2.0 * d * (g[e] - primals[3, e])
        for e in range(begin, end):
            d = primals[2, e] - primals[0, e]
            primals[0, e] = w * (primals[2, e] + d) + (1.0 - w) * primals[1, e]
        for e in range(begin, end):
            primals[3, e] = w * (2.0 * g[e] - primals[3, e]) + (1.0 - w) * primals[4, e]
        begin = end
    return moved


cdef double _rebalanced(
    double weight, double first, const double[:, ::1] box, const double[:, ::1] sides,
    const double[:, ::1] primals, const double[:, ::1] duals
) noexcept nogil:
    """Return the primal weight after a restart: the log-average of old and seen."""
    cdef double far_x = 0.0, far_y = 0.0, d, new
    cdef int64_t e, r
    for e in range(primals.shape[1]):
        d = primals[2, e] - primals[1, e]
        far_x += d * d / box[3, e]
    for r in range(duals.shape[1]):
        d = duals[2, r] - duals[1, r]
        far_y += d * d / sides[2, r]
    if far_x < 1e-20 or far_y < 1e-20:
        return weight
    new = exp(0.5 * log(weight) + 0.25 * log(far_y / far_x))
    return min(max(new, 0.01 * first), 100.0 * first)


cdef void _restart(
    double[:, ::1] primals, double[:, ::1] duals, const double[::1] g
) noexcept nogil:
    """Make the result of the plain step the iterate and the anchor."""
    cdef int64_t e, r
    for e in range(g.shape[0]):
        primals[0, e] = primals[1, e] = primals[2, e]
        primals[3, e] = primals[4, e] = g[e]
    for r in range(duals.shape[1]):
        duals[0, r] = duals[1, r] = duals[2, r]


cdef double _iterate(
    RowsView rows, const double[:, ::1] sides, const double[:, ::1] box, double[:, ::1] primals,
    double[:, ::1] duals, double[:, ::1] scratch, double[::1] control, int64_t iterations,
    Watch watch
) noexcept nogil:
    """See `iterate`; scratch is for the point ahead and the new A'y."""
    cdef double[::1] ahead = scratch[0], g = scratch[1]
    cdef double weight = control[0], scale = control[1], total = control[2]
    cdef double first = -1.0, last = 0.0, w, moved, residual
    cdef int64_t k = 0, e, _
    cdef int64_t work = 10 * rows.count + 3 * rows.column.shape[0] + 10 * box.shape[1]
    cdef bint falls
    for _ in range(iterations):
        w = (k + 1.0) / (k + 2.0)
        _primal_step(box, scale / weight, primals, ahead)
        for e in range(g.shape[0]):
            g[e] = 0.0
        moved = _dual_step(rows, sides, scale * weight, ahead, duals, w, g)
        moved += _reflect(box, scale / weight, primals, g, w)
        residual = sqrt(max(moved, 0.0))
        if first < 0.0:
            first = residual
        k += 1
        total += 1.0
        falls = residual <= 0.2 * first or (residual <= 0.8 * first and residual > last)
        last = residual
        if k > 1 and (falls or k >= 0.36 * total):
            weight = _rebalanced(weight, control[3], box, sides, primals, duals)
            _restart(primals, duals, g)
            k = 0
            first = -1.0
        if is_over(watch, work):
            break
    control[0] = weight
    control[2] = total
    return last


def iterate(
    rows, const double[:, ::1] sides, const double[:, ::1] box, double[::1] x, double[::1] y,
    double[::1] control, int64_t iterations, expired=None
):
    """Run iterations from (x, y), in place; the result is the last plain step.

    There are fewer of them if `expired` says so.

    ``control`` holds the primal weight, the scale of the steps, the number of iterations
    made so far and the first weight; weight and number are updated. The weight stays within
    a factor of 100 of the first one: at a solved problem only noise would move it.

    A restart happens when the fixed-point residual has fallen to 0.2 of its value at the
    last restart, or to 0.8 of it and rises, or when the stretch since then has become 0.36
    of all iterations.
    """
    cdef RowsView view = RowsView(rows)
    cdef double[:, ::1] primals = np.empty((5, x.shape[0]))
    cdef double[:, ::1] duals = np.empty((3, y.shape[0]))
    cdef double[:, ::1] scratch = np.empty((2, x.shape[0]))
    cdef Watch watch = Watch(expired)
    cdef double last
    with nogil:
        _price(view, y, primals[3])
        primals[0] = x
        primals[1] = x
        primals[2] = x
        primals[4] = primals[3]
        duals[:] = y
        last = _iterate(view, sides, box, primals, duals, scratch, control, iterations, watch)
        x[:] = primals[2]
        y[:] = duals[2]
    watch.close()
    return last


cdef double _scaled_norm(
    RowsView rows, const double[:, ::1] sides, const double[:, ::1] box, double[::1] v,
    double[::1] u, int64_t rounds
) noexcept nogil:
    cdef double square = 0.0, total
    cdef int64_t _, e, r
    for _ in range(rounds):
        for e in range(v.shape[0]):
            v[e] *= sqrt(box[3, e])
        _activity(rows, v, u)
        for r in range(u.shape[0]):
            u[r] *= sides[2, r]
        _price(rows, u, v)
        total = 0.0
        for e in range(v.shape[0]):
            v[e] *= sqrt(box[3, e])
            total += v[e] * v[e]
        square = sqrt(total)
        if square == 0.0:
            return 0.0
        for e in range(v.shape[0]):
            v[e] /= square
    return sqrt(square)


def scaled_norm(
    rows, const double[:, ::1] sides, const double[:, ::1] box, double[::1] v, int64_t rounds
):
    """Estimate the norm of A scaled by the roots of the unscaled steps, by power iteration.

    v is the start; it ends as the leading direction, of length one.
    """
    cdef RowsView view = RowsView(rows)
    cdef double[::1] u = np.empty(view.count)
    cdef double norm
    with nogil:
        norm = _scaled_norm(view, sides, box, v, u, rounds)
    return norm
