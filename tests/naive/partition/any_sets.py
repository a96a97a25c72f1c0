"""Plain twins: sets of any size above the prices of their elements."""

from __future__ import annotations

from itertools import combinations

import numpy as np

__all__ = ["dear_set", "dearest_excess"]


def _excess(weights, prices, inside):
    held = np.flatnonzero(inside)
    pairs = weights[np.ix_(held, held)]
    return float(np.triu(pairs, 1).sum() - prices[held].sum())


def dear_set(weights, prices, start, steps):
    """Tabu search: the best set that is met, and its excess; None if it is never above 0."""
    n = len(prices)
    now, until = np.array(start, dtype=bool), np.zeros(n, dtype=int)
    best, found = 0.0, None
    for step in range(steps):
        value = _excess(weights, prices, now)
        if value > best + 1e-12 and now.any():
            best, found = value, now.copy()
        flips = [now ^ (np.arange(n) == v) for v in range(n)]
        values = np.array([_excess(weights, prices, flip) for flip in flips])
        free = (until <= step) | (values > best + 1e-12)
        if not free.any():
            break
        v = int(np.argmax(np.where(free, values, -np.inf)))
        until[v] = step + 4 + (step + v) % (1 + n // 5)
        now = flips[v]
    return best, found


def dearest_excess(weights, prices):
    """Return the largest excess of all sets, or 0 if none is above its prices."""
    n = len(prices)
    sets = (s for size in range(1, n + 1) for s in combinations(range(n), size))
    return max([0.0, *(_excess(weights, prices, np.isin(np.arange(n), s)) for s in sets)])
