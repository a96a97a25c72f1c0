"""Plain twins of the steps of the semidefinite relaxation."""

from __future__ import annotations

import numpy as np


def _matrix(rows, prices, n):
    """What rows with prices take from the entries of the upper triangle."""
    start, places, signs, _ = rows
    taken = np.zeros(n * n)
    for r, price in enumerate(prices):
        for t in range(start[r], start[r + 1]):
            taken[places[t]] += price * signs[t]
    return taken.reshape(n, n)


def bound_of(z, scores, rows, prices):
    """Half of the trace, the sides of rows times prices, and what is positive of the rest."""
    left = np.triu(scores + z - _matrix(rows, prices, len(z)), 1)
    return 0.5 * np.trace(z) + np.maximum(left, 0).sum() + float(np.dot(prices, rows[3]))


def advance(x, y, u, scores, relaxation):
    """One step without rows: Y and U."""
    total = u + relaxation * x + (1 - relaxation) * y
    new = np.clip(total + scores, 0, 1)
    np.fill_diagonal(new, 1)
    return new, total - new
