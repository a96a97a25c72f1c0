"""All partitions of a few elements, and what a partition is worth and obeys."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np


@cache
def all_partitions(n):
    """Every partition of n elements, as restricted growth strings."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*row, k] for row in labels for k in range(max(row) + 2)]
    return np.array(labels)


def best_partition(weights, allowed):
    """Largest sum of weights over pairs with equal labels, over the allowed partitions."""
    labels = all_partitions(len(weights))
    labels = labels[[allowed(row) for row in labels]]
    if len(labels) == 0:
        return -np.inf
    i, j = np.triu_indices(len(weights), 1)
    return float(((labels[:, i] == labels[:, j]) @ weights[i, j]).max())


def obeys(labels, sizes, cap, cannot, groups):
    """Whether no set is too large, holds a forbidden pair, or two elements of one group.

    ``groups`` are pairs (element, group).
    """
    totals = {}
    for v, c in enumerate(labels):
        totals[c] = totals.get(c, 0) + int(sizes[v])
    if max(totals.values()) > cap:
        return False
    if any(labels[u] == labels[v] for u, v in cannot):
        return False
    places = [(labels[v], g) for v, g in groups]
    return len(set(places)) == len(places)


def value_inside(weights, labels):
    """Sum of the weights of pairs with equal labels."""
    pairs = combinations(range(len(labels)), 2)
    return sum(weights[a, b] for a, b in pairs if labels[a] == labels[b])
