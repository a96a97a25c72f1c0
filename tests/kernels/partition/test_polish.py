"""The small local search: its bookkeeping, and that it ends in local optima."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.polish import perturb_and_polish, polish, value_of


def random_weights(seed, n):
    rng = np.random.default_rng(seed)
    w = np.triu(rng.normal(size=(n, n)), 1)
    return w + w.T


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("cap", [3, 9])
def test_polish_ends_where_no_move_and_no_join_gains(seed, cap):
    rng = np.random.default_rng(seed)
    w, sizes = random_weights(seed, 8), rng.integers(1, 3, 8)
    labels = np.arange(8)
    before = value_of(w, labels)
    held, gained = polish(w, sizes, cap, labels, 1e-9)
    assert value_of(w, labels) == pytest.approx(before + gained)
    assert np.bincount(labels, weights=sizes, minlength=9) == pytest.approx(held)
    assert held.max() <= cap
    compact = np.unique(labels, return_inverse=True)[1]
    assert naive.move_or_join_gains(w, compact, sizes, cap) <= 1e-8
    if cap < sizes.sum():
        assert naive.gaining_exchange(w, compact, sizes, cap, [], [], 1e-8) is None


@pytest.mark.parametrize("seed", range(5))
def test_search_reports_its_gain_and_is_deterministic(seed):
    w, sizes = random_weights(seed, 12), np.ones(12, dtype=np.int64)
    first, second = np.arange(12), np.arange(12)
    gained = perturb_and_polish(w, sizes, 12, first, 1e-9, 50, 7)
    perturb_and_polish(w, sizes, 12, second, 1e-9, 50, 7)
    assert value_of(w, first) == pytest.approx(gained)
    assert first.tolist() == second.tolist()
    once = np.arange(12)
    _, less = polish(w, sizes, 12, once, 1e-9)
    assert gained >= less - 1e-9


def test_search_finds_the_optimum_of_small_problems():
    for seed in range(10):
        w = random_weights(seed, 8)
        labels = np.arange(8)
        gained = perturb_and_polish(w, np.ones(8, np.int64), 8, labels, 1e-9, 300, 1)
        assert gained == pytest.approx(naive.best_partition(w, lambda row: True))
