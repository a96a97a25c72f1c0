"""Restarted, reflected Halpern PDHG for box-constrained problems with sparse two-sided rows.

The problem is max c x over low <= A x <= high, lower <= x <= upper. ``rows`` is the tuple
(triples, start, column, coefficient): first come rows x_i + x_j - x_k, one per line of
``triples``; then general rows in compressed form. ``sides`` holds low, high and the
unscaled dual step of each row; ``box`` holds c, lower, upper and the unscaled primal step
of each column.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def activity(rows, x):
    """Return A x."""
    triples, start, column, coefficient = rows
    t = triples.shape[0]
    out = np.empty(t + start.size - 1)
    for r in range(t):
        out[r] = x[triples[r, 0]] + x[triples[r, 1]] - x[triples[r, 2]]
    for r in range(start.size - 1):
        s = 0.0
        for q in range(start[r], start[r + 1]):
            s += coefficient[q] * x[column[q]]
        out[t + r] = s
    return out


@njit(cache=True)
def price(rows, y, n_columns):
    """Return A'y."""
    triples, start, column, coefficient = rows
    t = triples.shape[0]
    out = np.zeros(n_columns)
    for r in range(t):
        v = y[r]
        if v != 0.0:
            out[triples[r, 0]] += v
            out[triples[r, 1]] += v
            out[triples[r, 2]] -= v
    for r in range(start.size - 1):
        v = y[t + r]
        if v != 0.0:
            for q in range(start[r], start[r + 1]):
                out[column[q]] += coefficient[q] * v
    return out


@njit(cache=True)
def _row_step(sides, step, r, activity, duals, w):
    """Step, reflect and average one multiplier; return the plain step and its squared length."""
    sigma, y = step * sides[2, r], duals[0, r]
    v = y + sigma * activity
    v -= min(max(v, sigma * sides[0, r]), sigma * sides[1, r])
    d = v - y
    duals[2, r] = v
    duals[0, r] = w * (v + d) + (1.0 - w) * duals[1, r]
    return v, d * d / sigma


@njit(cache=True)
def _dual_step(rows, sides, step, ahead, duals, w, g):
    """One pass over the rows: step, reflect, average with the anchor, and price into g.

    ``duals`` holds the multipliers, their anchor and the result of the plain step.
    Returns the squared length of the plain step, measured by the dual steps.
    """
    triples, start, column, coefficient = rows
    t = triples.shape[0]
    moved = 0.0
    for r in range(t):
        # unsigned: no check for negative indices
        i, j, k = np.uint32(triples[r, 0]), np.uint32(triples[r, 1]), np.uint32(triples[r, 2])
        v, far = _row_step(sides, step, r, ahead[i] + ahead[j] - ahead[k], duals, w)
        moved += far
        g[i] += v
        g[j] += v
        g[k] -= v
    for r in range(t, t + start.size - 1):
        s = 0.0
        for q in range(start[r - t], start[r - t + 1]):
            s += coefficient[q] * ahead[column[q]]
        v, far = _row_step(sides, step, r, s, duals, w)
        moved += far
        if v != 0.0:
            for q in range(start[r - t], start[r - t + 1]):
                g[column[q]] += coefficient[q] * v
    return moved


@njit(cache=True)
def _primal_step(box, step, x, g, out, ahead):
    """Step from x along c - g, into the box, and the extrapolation 2 out - x."""
    for e in range(x.size):
        v = x[e] + step * box[3, e] * (box[0, e] - g[e])
        v = min(max(v, box[1, e]), box[2, e])
        out[e] = v
        ahead[e] = 2.0 * v - x[e]


@njit(cache=True)
def _reflect(box, step, primals, new_g, w):
    """Finish the primal iterate; return the primal and cross parts of the step's length."""
    x, x_anchor, out, g, g_anchor = primals
    moved = 0.0
    for e in range(x.size):
        d = out[e] - x[e]
        moved += d * d / (step * box[3, e]) - 2.0 * d * (new_g[e] - g[e])
        x[e] = w * (out[e] + d) + (1.0 - w) * x_anchor[e]
        g[e] = w * (2.0 * new_g[e] - g[e]) + (1.0 - w) * g_anchor[e]
    return moved


@njit(cache=True)
def _rebalanced(weight, first, box, sides, dx, dy):
    """Return the primal weight after a restart: the log-average of old and seen."""
    far_x = 0.0
    for e in range(dx.size):
        far_x += dx[e] * dx[e] / box[3, e]
    far_y = 0.0
    for r in range(dy.size):
        far_y += dy[r] * dy[r] / sides[2, r]
    if far_x < 1e-20 or far_y < 1e-20:
        return weight
    new = math.exp(0.5 * math.log(weight) + 0.25 * math.log(far_y / far_x))
    return min(max(new, 0.01 * first), 100.0 * first)


@njit(cache=True)
def iterate(rows, sides, box, x, y, control, iterations):
    """Run iterations from (x, y), in place; the result is the last plain step.

    ``control`` holds the primal weight, the scale of the steps, the number of iterations
    made so far and the first weight; weight and number are updated. The weight stays within
    a factor of 100 of the first one: at a solved problem only noise would move it.

    A restart happens when the fixed-point residual has fallen to 0.2 of its value at the
    last restart, or to 0.8 of it and rises, or when the stretch since then has become 0.36
    of all iterations.
    """
    n = x.size
    g = price(rows, y, n)
    primals = (x.copy(), x.copy(), x.copy(), g.copy(), g.copy())
    duals = np.empty((3, y.size))
    for i in range(3):
        duals[i] = y
    ahead = np.empty(n)
    weight, scale, total = control[0], control[1], control[2]
    k = 0
    first, last = -1.0, 0.0
    for _ in range(iterations):
        w = (k + 1.0) / (k + 2.0)
        _primal_step(box, scale / weight, primals[0], primals[3], primals[2], ahead)
        g[:] = 0.0
        moved = _dual_step(rows, sides, scale * weight, ahead, duals, w, g)
        moved += _reflect(box, scale / weight, primals, g, w)
        residual = math.sqrt(max(moved, 0.0))
        if first < 0.0:
            first = residual
        k += 1
        total += 1.0
        falls = residual <= 0.2 * first or (residual <= 0.8 * first and residual > last)
        last = residual
        if k > 1 and (falls or k >= 0.36 * total):
            dx, dy = primals[2] - primals[1], duals[2] - duals[1]
            weight = _rebalanced(weight, control[3], box, sides, dx, dy)
            primals[0][:] = primals[2]
            primals[1][:] = primals[2]
            primals[3][:] = g
            primals[4][:] = g
            duals[0] = duals[2]
            duals[1] = duals[2]
            k = 0
            first = -1.0
    x[:] = primals[2]
    y[:] = duals[2]
    control[0] = weight
    control[2] = total
    return last


@njit(cache=True)
def scaled_norm(rows, sides, box, v, rounds):
    """Estimate the norm of A scaled by the roots of the unscaled steps, by power iteration.

    v is the start; it ends as the leading direction, of length one.
    """
    n = v.size
    square = 0.0
    for _ in range(rounds):
        for e in range(n):
            v[e] *= math.sqrt(box[3, e])
        u = activity(rows, v)
        for r in range(u.size):
            u[r] *= sides[2, r]
        v[:] = price(rows, u, n)
        total = 0.0
        for e in range(n):
            v[e] *= math.sqrt(box[3, e])
            total += v[e] * v[e]
        square = math.sqrt(total)
        if square == 0.0:
            return 0.0
        for e in range(n):
            v[e] /= square
    return math.sqrt(square)
