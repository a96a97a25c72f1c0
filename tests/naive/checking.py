"""Plain twins of the kernels of the checker."""

from __future__ import annotations

from itertools import combinations


def largest_excess(weights, prices, sizes, forbidden, cap):
    """The largest weight less prices of any set that may be, 0 if none is positive."""
    best = 0
    for members in range(1, 2 ** len(prices)):
        inside = [v for v in range(len(prices)) if members >> v & 1]
        pairs = list(combinations(inside, 2))
        if sum(int(sizes[v]) for v in inside) > cap or any(forbidden[a, b] for a, b in pairs):
            continue
        worth = sum(int(weights[a, b]) for a, b in pairs) - sum(int(prices[v]) for v in inside)
        best = max(best, worth)
    return best
