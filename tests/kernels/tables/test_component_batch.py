"""Batches of small components: bounds hold, subsets are enumerated rightly."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.polish import value_of
from relatum.kernels.tables.component_batch import best_of_subsets, triangle_bound


def random_weights(seed, n):
    rng = np.random.default_rng(seed)
    w = np.triu(rng.normal(size=(n, n)), 1)
    return w + w.T


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cap", [2, 4, 100])
def test_subsets_give_the_best_partition(seed, cap):
    n = 2 + seed % 5
    w, sizes = random_weights(seed, n), np.random.default_rng(seed).integers(1, 3, n)
    labels = np.empty(n, np.int64)
    value = best_of_subsets(w, sizes, cap, labels)
    assert value == pytest.approx(value_of(w, labels))
    assert np.bincount(labels, weights=sizes).max() <= cap
    assert value == pytest.approx(naive.best_capped_partition(w, sizes, cap))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("passes", [1, 3])
def test_packed_triangles_bound_every_partition(seed, passes):
    n = 3 + seed % 5
    w = random_weights(seed, n)
    bound = triangle_bound(w.copy(), passes)
    best = naive.best_capped_partition(w, np.ones(n, np.int64), n)
    assert best - 1e-9 <= bound <= np.triu(np.maximum(w, 0)).sum() + 1e-9


def test_one_conflict_is_packed_exactly():
    w = np.array([[0, 3.0, 2.0], [3.0, 0, -4.0], [2.0, -4.0, 0]])
    assert triangle_bound(w.copy(), 3) == 3.0
