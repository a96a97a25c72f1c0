"""The first partitions of an exact search: feasible, and never worse."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.solvers.partition.arrays import square
from relatum.solvers.partition.exact.opening import PartitionIncumbent


def incumbent(seed=0, cap=8, integers=False):
    rng = np.random.default_rng(seed)
    c = rng.integers(-3, 4, 28).astype(float) if integers else rng.normal(size=28)
    weights = square(c, 8)
    state = np.full((8, 8), -1, dtype=np.int8)
    state[2, 3] = state[3, 2] = 0
    state[0, 7] = state[7, 0] = 1
    linked = np.array([0, 1, 2, 3, 4, 5, 6, 0])

    def allowed(row):
        return row[2] != row[3] and row[0] == row[7] and np.bincount(row).max() <= cap

    return PartitionIncumbent(weights, state, linked, 1.5, cap), weights, allowed


@pytest.mark.parametrize("cap", [2, 3, 8])
def test_search_respects_rules_and_finds_the_optimum(cap):
    for seed in range(5):
        found, weights, allowed = incumbent(seed, cap)
        found.search(400, seed)
        assert allowed(found.labels)
        want = naive.best_partition(weights, allowed) + 1.5
        assert found.value == pytest.approx(want)


def test_starts_and_points_are_taken_only_if_better_and_feasible():
    found, _, _ = incumbent()
    found.search(400, 0)
    best, labels = found.value, found.labels
    found.start(np.arange(8))  # separates 0 and 7, which are linked
    found.start(np.zeros(8, dtype=np.int64))  # joins 2 and 3, which is forbidden
    assert found.value == best
    assert found.labels.tolist() == labels.tolist()
    again, _, _ = incumbent()
    x = (labels[:, None] == labels[None, :]).astype(float)
    np.fill_diagonal(x, 0.0)
    again.round(x, np.arange(8), 5, 0)
    assert again.value >= best - 1e-9
