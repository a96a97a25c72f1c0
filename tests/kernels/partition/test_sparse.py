"""Sparse moves, annealing and contraction equal what the dense matrix says."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import random_graph, random_rules, with_sizes
from relatum.kernels.partition.dense import partition_value
from relatum.kernels.partition.sparse import (
    anneal_sparse,
    contract_sparse,
    move_queued,
    new_sparse_state,
    queue_all,
    relocate_sparse,
    sparse_value,
)
from relatum.kernels.randomness import seed_state

GUMBELS = np.random.default_rng(0).gumbel(size=4096)


def instance(kind, n=14):
    rng = np.random.default_rng(kind)
    graph, dense, listed = random_graph(rng, n, background=(0.0, -0.7, -0.1)[kind % 3])
    rules, cannot, groups = random_rules(rng, n, kind)
    weights = with_sizes(graph, listed, dense, rules.sizes)
    return rng, graph, weights, rules, (rules.sizes, rules.cap, cannot, groups)


def check_state(rules, state):
    labels = state.labels
    for c in range(len(labels)):
        assert state.size[c] == rules.sizes[labels == c].sum()
    free = state.free[: state.counters[0]].tolist()
    assert sorted(free + sorted(set(labels.tolist()))) == list(range(len(labels)))
    assert not state.seen.any()
    assert (state.sums == 0).all()


@pytest.mark.parametrize("kind", range(12))
def test_moves_end_in_a_feasible_local_optimum(kind):
    rng, graph, weights, rules, plain = instance(kind)
    n = len(weights)
    state = new_sparse_state(rules, np.arange(n))
    gain, rounds = 0.0, 0
    while True:
        queue_all(state, rng.permutation(n).astype(np.int32))
        more = 0.0
        while state.counters[2] > 0:
            more += move_queued(graph, rules, state, 1e-9, 5)
        gain += more
        rounds += 1
        if more == 0.0:
            break
    check_state(rules, state)
    labels = np.unique(state.labels, return_inverse=True)[1]
    value = partition_value(weights, labels)
    assert gain == pytest.approx(value)
    assert sparse_value(graph, rules, labels, labels.max() + 1) == pytest.approx(value)
    assert naive.obeys(labels.tolist(), *plain)
    for v in range(n):
        for c in range(labels.max() + 2):
            trial = np.where(np.arange(n) == v, c, labels)
            if naive.obeys(trial.tolist(), *plain):
                assert partition_value(weights, trial) <= value + 1e-8


@pytest.mark.parametrize("kind", range(6))
def test_annealing_accounts_for_its_changes(kind):
    _, graph, weights, rules, plain = instance(kind)
    state = new_sparse_state(rules, np.arange(len(weights)))
    change = anneal_sparse(graph, rules, state, np.linspace(2, 0.05, 50), GUMBELS, seed_state(kind))
    check_state(rules, state)
    assert partition_value(weights, state.labels) == pytest.approx(change)
    assert naive.obeys(state.labels.tolist(), *plain)


def whole_numbers(kind, n=14):
    """An instance whose sums are exact, as lists of neighbours, too, and a test of the rules."""
    rng, graph, _, rules, plain = instance(kind, n)
    background = (0.0, -1.0, 0.0, -2.0)[kind % 4]
    upper = np.triu(rng.integers(-4, 6, (n, n)).astype(float), 1)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    excess = (upper + upper.T)[rows, graph.indices]
    graph = graph._replace(excess=excess, background=background)
    listed = [
        [(int(graph.indices[e]), float(excess[e])) for e in range(begin, end)]
        for begin, end in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    ]

    def allowed(labels, v, c):
        return naive.obeys([*labels[:v], c, *labels[v + 1 :]], *plain)

    return rng, graph, rules, (listed, background, rules.sizes.tolist()), allowed


@pytest.mark.parametrize("kind", range(20))
def test_moves_equal_plain_ones(kind):
    rng, graph, rules, plain, allowed = whole_numbers(kind)
    n = len(rules.sizes)
    order = rng.permutation(n).astype(np.int32)
    state = new_sparse_state(rules, np.arange(n))
    queue_all(state, order)
    while state.counters[2] > 0:
        move_queued(graph, rules, state, 1e-9, 3)
    expected = naive.move_queued(*plain, range(n), order.tolist(), allowed, 1e-9)
    assert state.labels.tolist() == expected


@pytest.mark.parametrize("kind", range(20))
def test_annealing_equals_a_plain_one(kind):
    _, graph, rules, plain, allowed = whole_numbers(kind)
    n, seed, temperatures = len(rules.sizes), seed_state(kind), np.linspace(4.0, 0.3, 8)
    state = new_sparse_state(rules, np.arange(n))
    expected = naive.anneal_listed(
        *plain, range(n), temperatures, GUMBELS[:64], int(seed[0]), allowed
    )
    anneal_sparse(graph, rules, state, temperatures, GUMBELS[:64], seed)
    assert state.labels.tolist() == expected


def test_relocation_reuses_numbers_of_sets():
    rules = random_rules(np.random.default_rng(0), 4, 0)[0]
    state = new_sparse_state(rules, np.array([0, 0, 1, 1]))
    top = state.free[state.counters[0] - 1]
    relocate_sparse(rules, state, 0, top)
    check_state(rules, state)
    relocate_sparse(rules, state, 1, top)
    check_state(rules, state)
    assert state.labels.tolist() == [top, top, 1, 1]


@pytest.mark.parametrize("kind", range(4))
def test_contraction_keeps_values(kind):
    rng, graph, weights, rules, _ = instance(kind)
    cells = np.unique(rng.integers(0, 6, len(weights)), return_inverse=True)[1]
    m = cells.max() + 1
    small = contract_sparse(graph, cells, m)
    sizes = np.bincount(cells, weights=rules.sizes).astype(np.int64)
    expected = naive.contracted(weights, cells)
    for c in range(m):
        for e in range(small.indptr[c], small.indptr[c + 1]):
            d = small.indices[e]
            score = small.excess[e] + graph.background * sizes[c] * sizes[d]
            assert score == pytest.approx(expected[c, d])
    listed = {
        (c, int(d))
        for c in range(m)
        for d in small.indices[small.indptr[c] :][: np.diff(small.indptr)[c]]
    }
    n = len(weights)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    pairs = {(int(cells[a]), int(cells[b])) for a, b in zip(rows, graph.indices, strict=True)}
    assert listed == {(c, d) for c, d in pairs if c != d}
