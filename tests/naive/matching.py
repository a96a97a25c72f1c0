"""The heaviest matching of two sides by its definition, and one augmenting path after the other."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np


def heaviest(weights):
    """Largest sum over pairs of rows and columns, each in one pair at most: all ways are tried."""
    w = np.maximum(np.asarray(weights, dtype=float), 0.0)
    if w.shape[0] > w.shape[1]:
        w = w.T
    rows = range(len(w))
    return max(sum(w[a, b] for a, b in zip(rows, own, strict=True)) for own in _ways(*w.shape))


@cache
def _ways(n, m):
    return list(permutations(range(m), n))


def matched_by_paths(weights):
    """Match row by row, each along the path that gains most, found by Bellman and Ford.

    Returns the column of each row, or -1, where weights are positive.
    """
    n = len(weights)
    mate = np.full(n, -1)
    for root in range(n):
        gain, way = {root: 0.0}, {root: [root]}
        for _ in range(n):
            for a in list(gain):
                for b in np.flatnonzero(weights[a] > 0):
                    owner = np.flatnonzero(mate == b)
                    if not len(owner) or int(owner[0]) in way[a]:
                        continue
                    c = int(owner[0])
                    total = gain[a] + weights[a, b] - weights[c, b]
                    if total > gain.get(c, -np.inf) + 1e-12:
                        gain[c], way[c] = total, [*way[a], c]
        best, end, last = 0.0, None, -1
        for a, total in gain.items():
            if total > best + 1e-12:
                best, end, last = total, a, -1
            for b in np.flatnonzero(weights[a] > 0):
                if b not in mate and total + weights[a, b] > best + 1e-12:
                    best, end, last = total + weights[a, b], a, b
        if end is None:
            continue
        path = way[end]
        taken = [mate[c] for c in path[1:]]  # each takes what the next one had
        for a, b in zip(path, [*taken, last], strict=True):
            mate[a] = b
    return mate
