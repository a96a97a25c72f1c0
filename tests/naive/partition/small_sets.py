"""Plain twins of the kernels of partitions into small sets."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from naive.partition.enumeration import all_partitions


def allowed_sets(sizes, forbidden, cap):
    """All sets of elements within the cap that hold no forbidden pair, as tuples."""
    n = len(sizes)
    return [
        members
        for k in range(1, n + 1)
        for members in combinations(range(n), k)
        if sum(sizes[v] for v in members) <= cap
        and not any(forbidden[a, b] for a, b in combinations(members, 2))
    ]


def set_excess(weights, prices, members):
    """Weight inside a set less the prices of its elements."""
    inside = sum(weights[a, b] for a, b in combinations(members, 2))
    return inside - sum(prices[v] for v in members)


def best_excess(weights, prices, sizes, forbidden, cap):
    """For each element, the largest excess of a set of it and later ones; -inf if none."""
    out = np.full(len(sizes), -np.inf)
    for members in allowed_sets(sizes, forbidden, cap):
        out[members[0]] = max(out[members[0]], set_excess(weights, prices, members))
    return out


def most_capped_pairs(size, cap):
    """The most pairs that share a set, over all ways to split so many elements."""
    best = 0
    for labels in all_partitions(size):
        counts = np.bincount(labels)
        if counts.max() <= cap:
            best = max(best, int((counts * (counts - 1) // 2).sum()))
    return best


def grown_capped_set(x, first, noise, cap, largest, threshold):
    """The set grown from an element that violates its row most for its norm, or None."""
    members, best, found = [first], 0.0, None
    while len(members) < min(largest, len(x)):
        left = [v for v in range(len(x)) if v not in members]
        members = [*members, max(left, key=lambda v: sum(x[v, u] for u in members) + noise[v])]
        k = len(members)
        over = sum(x[a, b] for a, b in combinations(members, 2))
        over -= (k // cap) * math.comb(cap, 2) + math.comb(k % cap, 2)
        if over > threshold and over / math.sqrt(math.comb(k, 2)) > best + 1e-12:
            best, found = over / math.sqrt(math.comb(k, 2)), (sorted(members), over)
    return found
