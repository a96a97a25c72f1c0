"""The table of sums equals its definition after any moves; searches end in local optima."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import random_rules, random_weights
from relatum.kernels.partition.dense import (
    contract_dense,
    exchange_sweep,
    insert,
    join_sets,
    load_labels,
    move_sweeps,
    partition_value,
    relocate,
    relocate_loosely,
)
from relatum.kernels.partition.records import grow_state, new_state
from relatum.kernels.partition.rules import RulesView, SetsView, can_enter


def check_state(weights, rules, state):
    """Everything the state holds, recomputed."""
    labels = state.labels
    used = sorted(set(labels.tolist()))
    assert sorted(state.slots[: state.counters[0]].tolist()) == used
    assert sorted(state.slots.tolist()) == list(range(len(state.size)))
    assert (state.slots[state.place] == np.arange(len(state.size))).all()
    for c in range(len(state.size)):
        assert state.size[c] == rules.sizes[labels == c].sum()
        if c not in used:
            assert (state.table[c] == 0).all()
            continue
        for v in range(len(labels)):
            expected = naive.set_sums(weights, labels, c, v)
            assert state.table[c, v] == pytest.approx(expected, abs=1e-5)
    held = {(int(labels[v]), g) for v in range(len(labels)) for g in groups_of(rules, v)}
    keys = {divmod(int(k), rules.n_groups) for k in state.occupied if k >= 0}
    assert keys == held


def groups_of(rules, v):
    return rules.group_idx[rules.group_ptr[v] : rules.group_ptr[v + 1]].tolist()


def filled(weights, rules, rng, capacity=3):
    state = new_state(rules, capacity)
    order, at = rng.permutation(len(weights)), 0
    while at < len(order):
        at = insert(weights, rules, state, order, at)
        if at < len(order):
            state = grow_state(state, min(len(order), 2 * len(state.size)))
    return state


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", range(6))
def test_random_moves_keep_the_table_right(kind, dtype):
    rng = np.random.default_rng(kind)
    n = 12
    weights = random_weights(rng, n).astype(dtype)
    rules, cannot, groups = random_rules(rng, n, kind)
    state = filled(weights, rules, rng)
    check_state(weights, rules, state)
    assert naive.obeys(state.labels.tolist(), rules.sizes, rules.cap, cannot, groups)
    state = grow_state(state, n)
    value = partition_value(weights, state.labels)
    for step in range(60):
        v, c = int(rng.integers(n)), int(rng.integers(n))
        if c == state.labels[v]:
            continue
        sets = SetsView(state.labels, state.size, state.occupied)
        if can_enter(RulesView(rules), sets, v, c):
            value += state.table[c, v] - state.table[state.labels[v], v]
            (relocate if step % 3 else relocate_loosely)(weights, rules, state, v, c)
            state.own[:] = state.own if step % 3 else state.table[state.labels, np.arange(n)]
    check_state(weights, rules, state)
    assert state.own == pytest.approx(state.table[state.labels, np.arange(n)], abs=1e-5)
    plain = sum(naive.set_sums(weights, state.labels, state.labels[v], v) for v in range(n)) / 2
    assert value == pytest.approx(plain, abs=1e-5)
    assert partition_value(weights, state.labels) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("kind", range(12))
def test_moves_and_joins_end_in_a_feasible_local_optimum(kind):
    rng = np.random.default_rng(kind)
    n = 11
    weights = random_weights(rng, n, ties=kind % 2 == 0)
    rules, cannot, groups = random_rules(rng, n, kind)
    plain = (rules.sizes, rules.cap, cannot, groups)
    state = new_state(rules, n)
    load_labels(weights, rules, state, np.arange(n))
    used = None
    while used is None or join_sets(rules, state, 1e-9, 2) > 0:
        used = move_sweeps(weights, rules, state, 1e-9, 0, 100)
        assert used < 100
    check_state(weights, rules, state)
    labels = np.unique(state.labels, return_inverse=True)[1]
    assert naive.obeys(labels.tolist(), *plain)
    now = naive.contracted(weights, labels).diagonal().sum()
    sets = range(labels.max() + 2)
    trials = [np.where(np.arange(n) == v, c, labels) for v in range(n) for c in sets]
    trials += [np.where(labels == c, d, labels) for c in sets for d in sets]
    for trial in trials:
        if naive.obeys(trial.tolist(), *plain):
            assert partition_value(weights, trial) <= now + 1e-8


@pytest.mark.parametrize("kind", range(12))
def test_joins_equal_plain_ones(kind):
    rng = np.random.default_rng(kind)
    n = 48
    weights = random_weights(rng, n)
    rules, cannot, groups = random_rules(rng, n, kind)
    state = new_state(rules, n)
    load_labels(weights, rules, state, np.arange(n))
    joins = join_sets(rules, state, 1e-9, 1)
    check_state(weights, rules, state)
    expected = naive.join_greedily(weights, rules.sizes, rules.cap, cannot, groups)
    assert (np.equal.outer(state.labels, state.labels) == np.equal.outer(expected, expected)).all()
    assert joins == n - len(set(expected))


def test_a_full_table_asks_for_room():
    weights = -np.ones((5, 5))
    rules = random_rules(np.random.default_rng(0), 5, 0)[0]
    state = new_state(rules, 2)
    assert insert(weights, rules, state, np.arange(5), 0) == 2
    assert state.counters[1] > 0
    state = grow_state(state, 5)
    assert insert(weights, rules, state, np.arange(5), 2) == 5
    assert len(set(state.labels.tolist())) == 5


def test_contraction_equals_the_plain_one():
    rng = np.random.default_rng(3)
    weights = random_weights(rng, 10)
    labels = np.unique(rng.integers(0, 4, 10), return_inverse=True)[1]
    found = contract_dense(weights, labels, labels.max() + 1)
    assert found == pytest.approx(naive.contracted(weights, labels))
    assert np.trace(found) == pytest.approx(partition_value(weights, labels))


@pytest.mark.parametrize("kind", range(30))
def test_exchanges_keep_the_state_right_and_end_where_none_gains(kind):
    rng = np.random.default_rng(kind)
    n = 10
    weights = random_weights(rng, n, ties=kind % 2 == 0)
    rules, cannot, groups = random_rules(rng, n, kind)
    state = filled(weights, rules, rng, capacity=n)
    plain = rules.sizes, rules.cap, cannot, groups
    count, value = 1, partition_value(weights, state.labels)
    while count:
        expected = naive.gaining_exchange(weights, state.labels, *plain, 1e-9)
        count = exchange_sweep(weights, rules, state, 1e-9)
        assert (count > 0) == (expected is not None)
        assert naive.obeys(state.labels.tolist(), *plain)
        check_state(weights, rules, state)
        assert state.own == pytest.approx(state.table[state.labels, np.arange(n)], abs=1e-9)
        after = partition_value(weights, state.labels)
        assert after > value if count else after == value
        value = after
