"""Chains between two sets: gains are true, rules are kept, dense equals sparse."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import random_graph, random_rules, with_sizes
from relatum.kernels.partition.dense import partition_value
from relatum.kernels.partition.kernighan_lin import first_fit, improve_pairs, new_chains
from relatum.kernels.partition.records import SparseGraph, new_occupancy

EMPTY = SparseGraph(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0.0)
NO_ROWS = np.zeros((0, 0))


def run_passes(weights, graph, rules, labels):
    chains = new_chains(rules, labels)
    total, number = 0.0, 1
    while True:
        sets = np.unique(chains.state.labels).astype(np.int64)
        i, j = np.triu_indices(len(sets), 1)
        alone = np.column_stack([sets, np.full(len(sets), -1)])
        pairs = np.concatenate([np.column_stack([sets[i], sets[j]]), alone])
        at, gain = 0, 0.0
        while at < len(pairs):
            at, more = improve_pairs(
                weights, graph, rules, chains, pairs, at, number, (1e-9, len(labels), 50.0)
            )
            gain += more
        total += gain
        if gain == 0.0:
            return chains, total
        number += 1
        assert number < 100


def check_links(chains):
    for c in range(len(chains.first)):
        members, v = [], chains.first[c]
        while v >= 0:
            members.append(int(v))
            v = chains.next[v]
        assert sorted(members) == np.flatnonzero(chains.state.labels == c).tolist()
    assert (chains.local == -1).all()


@pytest.mark.parametrize("kind", range(12))
def test_gains_are_true_and_no_move_or_join_is_left(kind):
    rng = np.random.default_rng(kind)
    n = 12
    graph, dense, listed = random_graph(rng, n, (0.0, -0.3)[kind % 2], density=1.0)
    rules, cannot, groups = random_rules(rng, n, kind)
    weights = with_sizes(graph, listed, dense, rules.sizes)
    plain = (rules.sizes, rules.cap, cannot, groups)
    start = rng.integers(0, 3, n)
    if not naive.obeys(start.tolist(), *plain):
        start = np.arange(n)
    for scores in ((weights, EMPTY), (NO_ROWS, graph)):
        chains, gain = run_passes(*scores, rules, start)
        check_links(chains)
        labels = np.unique(chains.state.labels, return_inverse=True)[1]
        assert naive.obeys(labels.tolist(), *plain)
        value = partition_value(weights, labels)
        assert value == pytest.approx(partition_value(weights, start) + gain)
        trials = [np.where(labels == c, d, labels) for c in set(labels) for d in set(labels)]
        trials += [
            np.where(np.arange(n) == v, c, labels)
            for v in range(n)
            for c in range(labels.max() + 2)
        ]
        for trial in trials:
            if naive.obeys(trial.tolist(), *plain):
                assert partition_value(weights, trial) <= value + 1e-8


def in_order(listed, sizes, labels, a, b):
    """Elements that may change sides, all or by listed pairs, in the order of the kernel."""
    everyone = [v for c in (a, b) for v in naive.of_set(labels, c)]
    small, large = (a, b) if sizes[labels == a].sum() < sizes[labels == b].sum() else (b, a)
    inner = naive.of_set(labels, small)
    border = [u for v in inner for u in np.flatnonzero(listed[v]) if labels[u] == large]
    return everyone, [*inner, *dict.fromkeys(border)] if inner else everyone


@pytest.mark.parametrize("patience", [2, 12])
@pytest.mark.parametrize("kind", range(20))
def test_a_pair_is_improved_like_by_the_plain_algorithm(kind, patience):
    rng = np.random.default_rng(kind)
    n, background = 12, (0.0, -1.0)[kind % 2]
    graph, _, listed = random_graph(rng, n, background, density=0.4)
    rules, cannot, groups = random_rules(rng, n, kind)
    upper = np.triu(rng.integers(-4, 6, (n, n)) * listed, 1)  # integers: sums are exact
    excess = (upper + upper.T).astype(float)
    graph = graph._replace(excess=excess[listed])
    weights = excess + background * np.outer(rules.sizes, rules.sizes)
    start = first_fit(rules, new_occupancy(rules), rng.integers(0, 2, n), 2)
    sets = sorted(set(start.tolist()))

    def allowed(labels, v, c):
        trial = [*labels[:v], c, *labels[v + 1 :]]
        return naive.obeys(trial, rules.sizes, rules.cap, cannot, groups)

    pairs = [(a, b) for a in sets for b in sets if a < b]
    pairs += [(a, len(sets)) for a in sets if len(sets) < n]
    for a, b in pairs:
        everyone, border = in_order(listed, rules.sizes, start, a, b)
        pair = np.array([[a, b if b in sets else -1]])
        for w, g, movable in (
            (weights, EMPTY, everyone),
            (weights.astype(np.float32), EMPTY, everyone),
            (NO_ROWS, graph, border),
        ):
            chains = new_chains(rules, start)
            found = improve_pairs(w, g, rules, chains, pair, 0, 1, (1e-9, patience, 1e9))
            labels, gain = naive.improve_pair(
                weights, start.tolist(), (a, b), movable, allowed, 1e-9, patience
            )
            check_links(chains)
            assert found == (1, gain)
            same = np.equal.outer(chains.state.labels, chains.state.labels)
            assert (same == np.equal.outer(labels, labels)).all()


def test_a_chain_swaps_two_elements_where_no_single_move_gains():
    # two cliques of four that changed one element each; a cap of four forbids single moves
    w = np.full((8, 8), -1.0)
    w[:4, :4] = w[4:, 4:] = 2.0
    start = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    rules = random_rules(np.random.default_rng(0), 8, 0)[0]
    chains, gain = run_passes(w, EMPTY, rules._replace(cap=5), start)
    labels = chains.state.labels
    assert (np.equal.outer(labels, labels) == (w > 0)).all()
    assert gain == pytest.approx(12 * 2.0 - partition_value(w, start))


def test_a_set_is_split_into_two():
    w = np.full((6, 6), -5.0)
    w[:3, :3] = w[3:, 3:] = 1.0
    rules = random_rules(np.random.default_rng(0), 6, 0)[0]
    chains, gain = run_passes(w, EMPTY, rules, np.zeros(6, np.int64))
    labels = chains.state.labels
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]
    assert gain == pytest.approx(45.0)


@pytest.mark.parametrize("kind", range(12))
@pytest.mark.parametrize("tries", [1, 16])
def test_first_fit_equals_the_plain_one(kind, tries):
    rng = np.random.default_rng(kind)
    n = 15
    rules, cannot, groups = random_rules(rng, n, kind)
    components = rng.integers(0, 3, n)
    found = first_fit(rules, new_occupancy(rules), components, tries)
    plain = (rules.sizes, rules.cap, cannot, groups)
    assert naive.obeys(found.tolist(), *plain)
    assert found.tolist() == naive.first_fit(components, tries, *plain)


def test_of_listed_pairs_only_the_border_of_a_large_set_is_looked_at():
    # a path of 30 elements in one set, the last of which belongs to a small set beside it
    n = 33
    pairs = [(v, v + 1, 1.0) for v in range(28)] + [(28, 29, -1.0), (29, 30, 2.0)]
    pairs += [(30, 31, 2.0), (31, 32, 2.0), (30, 32, 2.0)]
    w = np.zeros((n, n))
    for a, b, x in pairs:
        w[a, b] = w[b, a] = x
    rows, columns = np.nonzero(w)
    graph = SparseGraph(
        np.searchsorted(rows, np.arange(n + 1)), columns.astype(np.int32), w[rows, columns], 0.0
    )
    rules = random_rules(np.random.default_rng(0), n, 0)[0]
    start = np.array([0] * 30 + [1] * 3)
    chains, gain = run_passes(NO_ROWS, graph, rules._replace(sizes=np.ones(n, np.int64)), start)
    check_links(chains)
    assert gain == pytest.approx(3.0)
    assert chains.state.labels[29] == chains.state.labels[30] != chains.state.labels[28]
