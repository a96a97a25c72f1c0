"""Annealing keeps the table right, and samples sets with the probabilities it says."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import free_rules, random_rules, random_weights
from relatum.kernels.partition.anneal import anneal_sweeps
from relatum.kernels.partition.dense import load_labels, partition_value
from relatum.kernels.partition.records import new_state
from relatum.kernels.randomness import seed_state

GUMBELS = np.random.default_rng(0).gumbel(size=4096)


def degrees(temperatures, gumbels, dtype):
    """Temperatures and variates of the type of sums; products of integers have 16 bits more."""
    if dtype == np.int16:
        return np.rint(32 * temperatures).astype(dtype), np.rint(2048 * gumbels).astype(dtype)
    return temperatures.astype(dtype), gumbels.astype(dtype)


@pytest.mark.parametrize("kind", range(8))
def test_change_of_value_is_right_and_rules_are_kept(kind):
    rng = np.random.default_rng(kind)
    n = 20
    weights = random_weights(rng, n)
    rules, cannot, groups = random_rules(rng, n, kind)
    state = new_state(rules, n)
    load_labels(weights, rules, state, np.arange(n))
    change = anneal_sweeps(
        weights, rules, state, np.linspace(3, 0.1, 40), GUMBELS, seed_state(kind)
    )
    assert partition_value(weights, state.labels) == pytest.approx(change, abs=1e-9)
    assert state.own == pytest.approx(state.table[state.labels, np.arange(n)])
    for v in range(n):
        expected = naive.set_sums(weights, state.labels, state.labels[v], v)
        assert state.own[v] == pytest.approx(expected, abs=1e-9)
    assert naive.obeys(state.labels.tolist(), rules.sizes, rules.cap, cannot, groups)


@pytest.mark.parametrize("kind", range(10))
@pytest.mark.parametrize(
    ("n", "dtype"),
    [(9, np.float64), (70, np.float64), (70, np.float32), (16, np.int16), (70, np.int16)],
)
def test_equals_a_plain_annealing(kind, n, dtype):
    rng = np.random.default_rng([kind, n])
    weights = random_weights(rng, n, ties=True).astype(dtype)  # integers: sums are exact
    rules, cannot, groups = random_rules(rng, n, kind)
    capacity = n if n < 10 or kind % 3 else 8
    start = np.arange(n) if capacity == n else first_labels(rules, cannot, groups, capacity)
    if start is None:
        capacity, start = n, np.arange(n)
    state, seed = new_state(rules, capacity, dtype), seed_state(kind)
    load_labels(weights, rules, state, start)
    temperatures, gumbels = degrees(np.linspace(4.0, 0.3, 6), GUMBELS[:300], dtype)

    def allowed(labels, v, c):
        moved = list(labels)
        moved[v] = c
        return naive.obeys(moved, rules.sizes, rules.cap, cannot, groups)

    expected = naive.anneal_partition(
        weights, start.tolist(), capacity, temperatures, gumbels, int(seed[0]), allowed
    )
    anneal_sweeps(weights, rules, state, temperatures, gumbels, seed)
    assert state.labels.tolist() == expected
    assert expected != start.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("n", [300, 523])
def test_wide_blocks_equal_a_plain_annealing(n, dtype):
    rng = np.random.default_rng(n)
    weights = random_weights(rng, n, ties=True).astype(dtype)
    start, rules, seed = rng.integers(0, 4, n), free_rules(n), seed_state(n)
    state = new_state(rules, 5, dtype)
    load_labels(weights, rules, state, start)
    temperatures, gumbels = degrees(np.full(1, 20.0), GUMBELS[:301], dtype)
    expected = naive.anneal_partition(
        weights, start.tolist(), 5, temperatures, gumbels, int(seed[0]), lambda *_: True
    )
    anneal_sweeps(weights, rules, state, temperatures, gumbels, seed)
    assert state.labels.tolist() == expected
    assert expected != start.tolist()


def first_labels(rules, cannot, groups, capacity):
    """Put every element into the first of some sets that may hold it; None if there is none."""
    labels = [-1 - v for v in range(len(rules.sizes))]
    for v in range(len(labels)):
        for c in range(capacity):
            labels[v] = c
            if naive.obeys(labels, rules.sizes, rules.cap, cannot, groups):
                break
        else:
            return None
    return np.array(labels)


def test_two_elements_are_related_with_the_right_odds():
    weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    rules, together, sweeps = free_rules(2), 0, 4000
    state, random_state = new_state(rules, 2), seed_state(7)
    load_labels(weights, rules, state, np.array([0, 1]))
    for _ in range(sweeps):
        anneal_sweeps(weights, rules, state, np.array([2.0]), GUMBELS, random_state)
        together += state.labels[0] == state.labels[1]
    odds = np.exp(1.0 / 2.0)
    expected = odds / (1 + odds)
    assert abs(together / sweeps - expected) < 0.06


def test_integers_keep_the_table_right_and_tell_the_change():
    n = 61
    rng = np.random.default_rng(3)
    weights = np.triu(rng.integers(-100, 101, (n, n)), 1).astype(np.int16)
    weights += weights.T
    rules, start = free_rules(n), rng.integers(0, 6, n)
    state = new_state(rules, 9, np.int16)
    load_labels(weights, rules, state, start)
    schedule, gumbels = degrees(np.linspace(200, 20, 30), GUMBELS, np.int16)
    change = anneal_sweeps(weights, rules, state, schedule, gumbels, seed_state(3))
    exact = weights.astype(np.float64)
    assert change == partition_value(exact, state.labels) - partition_value(exact, start)
    for v in range(n):
        for c in set(state.labels.tolist()):
            assert state.table[c, v] == naive.set_sums(exact, state.labels, c, v)
    assert (state.own == state.table[state.labels, np.arange(n)]).all()
    assert change > 0


def test_the_same_seed_gives_the_same_partition():
    weights = random_weights(np.random.default_rng(1), 40).astype(np.float32)
    rules = free_rules(40)
    found = []
    for seed in (5, 5, 6):
        state = new_state(rules, 10)
        load_labels(weights, rules, state, np.zeros(40, np.int64))
        anneal_sweeps(weights, rules, state, np.full(20, 2.0), GUMBELS, seed_state(seed))
        found.append(state.labels.tolist())
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elements_stay_where_no_set_can_be_compared(dtype):
    n = 70
    rules, start = free_rules(n), np.arange(n) % 9
    state = new_state(rules, 12, dtype)
    load_labels(np.zeros((n, n), dtype), rules, state, start)
    state.table[:] = np.nan
    gumbels, temperatures = GUMBELS.astype(dtype), np.ones(3, dtype)
    anneal_sweeps(np.zeros((n, n), dtype), rules, state, temperatures, gumbels, seed_state(0))
    assert state.labels.tolist() == start.tolist()
