"""Sparse searches: feasible, improving, and right about values."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import random_graph, random_rules, with_sizes
from relatum.kernels.partition.dense import partition_value
from relatum.solvers.partition.search.sparse import SparseSearch, recombine


@pytest.mark.parametrize("kind", range(8))
def test_every_search_is_feasible_and_improves(kind):
    rng = np.random.default_rng(kind)
    graph, dense, listed = random_graph(rng, 40, (0.0, -0.5)[kind % 2], density=0.2)
    rules, cannot, groups = random_rules(rng, 40, kind)
    weights = with_sizes(graph, listed, dense, rules.sizes)
    search = SparseSearch(graph, rules, lambda: False)
    settled = search.settle(np.arange(40), rng)
    climbed = search.climb(np.arange(40), rng)
    annealed = search.anneal(climbed, 0.5, 50, 1)
    child = recombine(search, [climbed, annealed], 20, 2)
    for labels in (settled, climbed, annealed, child):
        assert naive.obeys(labels.tolist(), rules.sizes, rules.cap, cannot, groups)
        assert search.value(labels) == pytest.approx(partition_value(weights, labels))
        assert search.value(labels) >= 0.0
    again = search.climb(climbed, rng)
    assert search.value(again) >= search.value(climbed) - 1e-9


def test_joins_of_whole_sets_are_found_by_contraction():
    # two triangles, each pair between them weakly positive: no single element gains by moving
    n, rng = 6, np.random.default_rng(0)
    dense = np.full((n, n), 0.3)
    dense[:3, :3] = dense[3:, 3:] = 5.0
    graph, _, _ = random_graph(rng, n, 0.0, density=1.0)
    rows = np.repeat(np.arange(n), n - 1)
    graph.excess[:] = dense[rows, graph.indices]
    search = SparseSearch(graph, random_rules(rng, n, 0)[0], lambda: False)
    start = np.array([0, 0, 0, 1, 1, 1])
    assert (search.settle(start, rng) == start).all()
    assert len(set(search.climb(start, rng).tolist())) == 1


def test_stopping_at_once_returns_the_start():
    rng = np.random.default_rng(1)
    graph, _, _ = random_graph(rng, 20, 0.0)
    search = SparseSearch(graph, random_rules(rng, 20, 0)[0], lambda: True)
    start = np.arange(20) // 2
    assert (search.climb(start, rng) == start).all()
    assert (search.anneal(start, 1.0, 10, 0) == start).all()
