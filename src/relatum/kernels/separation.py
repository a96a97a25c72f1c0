"""Violated rows of properties at a fractional point."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def violated_transitivity(x, tolerance, limit):
    """Rows x_ab + x_bc - x_ac <= 1 that x breaks by more than the tolerance.

    For every pair ab the most violated c is kept, so that the rows found spread over the
    pairs. Triples with a = c are included: they matter where the diagonal is free.

    Returns
    -------
    index : int64 array (r, 3)
    violation : float64 array (r,)
        Sorted from the most violated down; at most `limit` rows.
    """
    n = x.shape[0]
    index = np.empty((n * n, 3), np.int64)
    violation = np.empty(n * n, np.float64)
    count = 0
    for a in range(n):
        for b in range(n):
            # x_ab + x_bc - x_ac > 1 needs x_ab > x_ac, hence x_ab > 0
            if a == b or x[a, b] <= tolerance:
                continue
            best = tolerance
            best_c = -1
            for c in range(n):
                if c == b:
                    continue
                v = x[a, b] + x[b, c] - x[a, c] - 1.0
                if v > best:
                    best = v
                    best_c = c
            if best_c >= 0:
                index[count, 0] = a
                index[count, 1] = b
                index[count, 2] = best_c
                violation[count] = best
                count += 1
    order = np.argsort(-violation[:count])
    if order.size > limit:
        order = order[:limit]
    return index[order], violation[order]


@njit(cache=True)
def first_intransitivity(y):
    """Return a triple (a, b, c) with ab and bc related but not ac, or (-1, -1, -1)."""
    n = y.shape[0]
    for a in range(n):
        for b in range(n):
            if a == b or not y[a, b]:
                continue
            for c in range(n):
                if y[b, c] and not y[a, c]:
                    return a, b, c
    return -1, -1, -1
