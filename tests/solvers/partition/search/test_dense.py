"""Dense searches: recombination, contraction, and stopping at any time."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import free_rules, random_rules, random_weights
from relatum.kernels.randomness import seed_state
from relatum.solvers.partition.search import dense
from relatum.solvers.partition.search.dense import DenseSearch, crossover, intersection
from relatum.solvers.partition.search.effort import SETTINGS


@pytest.mark.parametrize("first", [0, 1])
def test_crossover_takes_whole_sets_of_the_parents(first):
    rng = np.random.default_rng(first)
    for _ in range(20):
        a, b = (np.unique(rng.integers(0, 4, 30), return_inverse=True)[1] for _ in range(2))
        child = crossover(a, b, first)
        taken = (a, b) if first == 0 else (b, a)
        left = np.ones(30, bool)
        for c in range(child.max() + 1):
            counts = np.bincount(taken[c % 2][left])
            members = child == c
            assert members.sum() == counts.max()
            assert len(set(taken[c % 2][members])) == 1
            left &= ~members
        assert (child[left] == -1).all()


def test_intersection_relates_what_both_relate():
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    c = intersection(a, b)
    expected = np.equal.outer(a, a) & np.equal.outer(b, b)
    assert (np.equal.outer(c, c) == expected).all()


@pytest.mark.parametrize("kind", range(6))
def test_every_search_is_feasible_and_improves(kind):
    rng = np.random.default_rng(kind)
    weights = random_weights(rng, 40)
    rules, cannot, groups = random_rules(rng, 40, kind)
    search = DenseSearch(weights, rules)
    start = search.complete(np.full(40, -1), (0,))
    first = search.value(start.labels)
    improved = search.improve(start)
    better = search.value(improved.labels)
    annealed = search.anneal(improved, 0.1, 50, 1)
    assert better >= first - 1e-9
    for state in (improved, annealed):
        assert naive.obeys(state.labels.tolist(), rules.sizes, rules.cap, cannot, groups)


@pytest.mark.parametrize("kind", range(12))
def test_greedy_joins_equal_the_plain_ones(kind):
    rng = np.random.default_rng(kind)
    weights = random_weights(rng, 11)
    rules, cannot, groups = random_rules(rng, 11, kind)
    labels = DenseSearch(weights, rules).joined().labels
    expected = naive.join_greedily(weights, rules.sizes, rules.cap, cannot, groups)
    assert (np.equal.outer(labels, labels) == np.equal.outer(expected, expected)).all()


@pytest.mark.parametrize("kind", range(6))
def test_regrouping_moves_groups_that_no_element_leaves_alone(kind):
    rng = np.random.default_rng(kind)
    weights = random_weights(rng, 40)
    rules, cannot, groups = random_rules(rng, 40, kind)
    search = DenseSearch(weights, rules)
    a = search.improve(search.complete(np.full(40, -1), (0,))).labels.astype(np.int64)
    b = search.joined().labels.astype(np.int64)
    state = search.regroup(a, intersection(a, b), (0.1, 0.05), 40, kind)
    assert naive.obeys(state.labels.tolist(), rules.sizes, rules.cap, cannot, groups)
    # two halves of a set, each torn between two sets: only a move of the half gains
    torn = np.full((6, 6), -2.0)
    torn[:2, :2] = torn[2:, 2:] = 3.0
    free = DenseSearch(torn, free_rules(6))
    apart = free.regroup(np.zeros(6, np.int64), np.array([0, 0, 1, 1, 1, 1]), (0.1, 0.05), 40, 0)
    assert len(set(apart.labels[:2])) == len(set(apart.labels[2:])) == 1
    assert apart.labels[0] != apart.labels[2]


def test_stopping_at_once_still_gives_a_partition():
    search = DenseSearch(np.ones((30, 30)), free_rules(30), lambda: True)
    state = search.complete(np.full(30, -1), (0,))
    assert (search.improve(state).labels >= 0).all()


def test_values_of_contracted_searches_add_up():
    rng = np.random.default_rng(2)
    search = DenseSearch(random_weights(rng, 20), free_rules(20))
    cells = np.unique(rng.integers(0, 8, 20), return_inverse=True)[1]
    small = search.contracted(cells)
    labels = rng.integers(0, 3, small.n)
    inside = search.value(cells)
    assert small.value(labels) + inside == pytest.approx(search.value(labels[cells]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("power", [-90, 0, 90])
def test_scaling_all_scores_changes_nothing(dtype, power):
    """By powers of two, which floats scale by exactly; squares of these leave their range."""
    weights = random_weights(np.random.default_rng(5), 60).astype(dtype)
    found = []
    for scale in (1.0, 2.0**power):
        search = DenseSearch(weights * dtype(scale), free_rules(60))
        state = search.anneal(search.complete(np.arange(60), (0,)), 2.0, 40, 3)
        found.append((search.noise / scale, search.found(state)[1].tolist()))
    assert found[0][0] == pytest.approx(found[1][0])
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("size", [1e37, 1e40, 1e160, 1e300])
def test_scores_too_large_for_single_precision_are_searched_in_double(size):
    weights = random_weights(np.random.default_rng(6), 40)
    plain, large = DenseSearch(weights, free_rules(40)), DenseSearch(weights * size, free_rules(40))
    state = large.anneal(large.complete(np.arange(40), (0,)), 2.0, 40, 3)
    assert np.isfinite(large.noise)
    assert plain.value(large.found(state)[1]) > plain.value(np.arange(40))


@pytest.mark.parametrize("kind", ["integers", "Gaussian", "sparse", "tiny"])
def test_integers_of_annealing_hold_every_sum_and_every_noise(kind):
    n, rng = SETTINGS.coarse, np.random.default_rng(8)
    weights = random_weights(rng, n)
    if kind == "integers":
        weights = np.rint(100 * weights)
    elif kind == "sparse":  # rows of few scores: their noise is large beside their sums
        weights[np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 1] = 0.0
    elif kind == "tiny":
        weights *= 1e-200
    np.fill_diagonal(weights, 1e9)  # does not count
    search = DenseSearch(weights, free_rules(n))
    coarse, gumbels, unit, degrees = search._annealed
    assert coarse.dtype == np.int16
    off = weights - np.diag(np.diag(weights))
    assert np.abs(coarse * unit - off).max() <= 0.5001 * unit
    sums = np.abs(coarse.astype(np.int64)).sum(axis=1)
    assert sums.max() + (32767 * int(np.abs(gumbels.astype(int)).max()) >> 16) < 32767
    assert 0.3 * degrees < 32767  # the temperatures that are used differ from one another
    labels = rng.integers(0, 5, n)
    state = search.loose(labels, 8)
    assert search.loose_value(state) == pytest.approx(search.value(labels), abs=0.5 * n**2 * unit)
    gain = search.sweep(state, np.linspace(0.15, 0.05, 20), seed_state(1))
    now = search.loose_value(search.loose(state.labels.astype(np.int64), 8))
    assert now == pytest.approx(search.loose_value(state))
    assert now == pytest.approx(search.loose_value(search.loose(labels, 8)) + gain)


def test_scores_that_outweigh_the_others_are_not_rounded_to_integers():
    n = SETTINGS.coarse
    weights = random_weights(np.random.default_rng(9), n)
    weights[0, 1:40] = weights[1:40, 0] = -1e4
    search = DenseSearch(weights, free_rules(n))
    assert search._annealed.weights.dtype == np.float32
    assert search._annealed.unit == 1.0


@pytest.mark.slow
def test_integers_anneal_as_well_as_single_precision(monkeypatch):
    n = SETTINGS.coarse
    weights = random_weights(np.random.default_rng(10), n)
    search = DenseSearch(weights, free_rules(n))
    assert search._annealed.weights.dtype == np.int16
    monkeypatch.setattr(dense, "LARGEST_COARSE_SUM", 1)  # nothing fits
    single = DenseSearch(weights, free_rules(n))
    assert single._annealed.weights.dtype == np.float32
    start = np.zeros(n, np.int64)
    values = [
        [s.found(s.anneal(s.complete(start, (0,)), 0.15, 200, seed))[0] for seed in range(20)]
        for s in (search, single)
    ]
    spread = np.std(values[1])
    assert np.mean(values[0]) == pytest.approx(np.mean(values[1]), abs=1.2 * spread)


def test_noise_is_told_by_how_little_of_what_is_positive_is_in_sets():
    rng = np.random.default_rng(5)
    flat = random_weights(rng, 60)
    search = DenseSearch(flat, free_rules(60))
    value = search.found(search.improve(search.joined()))[0]
    positive = np.maximum(flat, 0).sum() / 2
    assert value < positive / 2 / 1.35
    assert search.is_noise(value)
    assert not search.is_noise(positive / 2 / 1.3)
    assert not search.is_noise(0.0)
    # what is on the diagonal counts for nothing
    assert DenseSearch(flat + 50 * np.eye(60), free_rules(60)).is_noise(value)
    rules = free_rules(60)._replace(cap=3)
    assert not DenseSearch(flat, rules).is_noise(value)
