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


def advance(matrices, rows, prices, relaxation, sweeps):
    """One step from X, Y, U and scores: Y, U and prices.

    What rows with prices take is subtracted, and pairs are clipped; then row after row is met as
    nearly as it can be by moving all of its pairs by the same amount, unless its price ends.
    """
    x, y, u, scores = matrices
    n, (start, places, signs, sides) = len(x), rows
    prices = np.array(prices)
    total = u + relaxation * x + (1 - relaxation) * y
    new = np.clip(total + scores - _matrix(rows, prices, n), 0, 1)
    for _ in range(sweeps if len(prices) else 0):
        for r in range(len(prices)):
            pairs = [divmod(place, n) for place in places[start[r] : start[r + 1]]]
            own = signs[start[r] : start[r + 1]]
            now = sum(sign * new[pair] for sign, pair in zip(own, pairs, strict=True))
            more = max((now - sides[r]) / len(pairs), -prices[r])
            prices[r] += more
            for sign, pair in zip(own, pairs, strict=True):
                new[pair] -= sign * more
        new = np.clip(total + scores - _matrix(rows, prices, n), 0, 1)
    np.fill_diagonal(new, 1)
    return new, total - new, prices
