"""Greedy contraction equals the plain one, with sizes, background and rules."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import random_graph, random_rules, with_sizes
from relatum.kernels.partition.greedy import contract_greedily, grow_greedy, new_greedy


def contract(graph, rules, steps):
    state = new_greedy(graph, rules, 1e-9)
    code = 1
    while code > 0:
        code = contract_greedily(graph, rules, state, 1e-9, steps)
        if code == 2:
            state = grow_greedy(state)
    return state


@pytest.mark.parametrize("kind", range(30))
def test_equals_the_plain_algorithm(kind):
    rng = np.random.default_rng(kind)
    n = 10
    graph, dense, listed = random_graph(rng, n, (0.0, -0.05, -0.4)[kind % 3], density=0.8)
    rules, cannot, groups = random_rules(rng, n, kind)
    weights = with_sizes(graph, listed, dense, rules.sizes)
    state = contract(graph, rules, steps=3)
    expected = naive.join_greedily(weights, rules.sizes, rules.cap, cannot, groups)
    same = np.equal.outer(state.labels, state.labels)
    assert (same == np.equal.outer(expected, expected)).all()
    assert state.counters[1] == len(set(expected))


def test_a_full_heap_grows():
    rng = np.random.default_rng(1)
    graph = random_graph(rng, 40, -0.01, density=1.0)[0]
    rules = random_rules(rng, 40, 0)[0]
    state = new_greedy(graph, rules, 1e-9)
    used = int(state.counters[0])
    tight = state._replace(
        heap_loss=state.heap_loss[:used].copy(), heap_pair=state.heap_pair[:used].copy()
    )
    code, grown = 1, 0
    while code > 0:
        code = contract_greedily(graph, rules, tight, 1e-9, 1000)
        if code == 2:
            tight, grown = grow_greedy(tight), grown + 1
    assert grown > 0
    expected = contract(graph, rules, 1000).labels
    assert tight.labels.tolist() == expected.tolist()
