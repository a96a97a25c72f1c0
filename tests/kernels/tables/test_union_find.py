"""Union-find over batches of pairs, beside scipy and a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import naive
from relatum.kernels.tables.union_find import count_edges, find_roots, join_pairs, join_pairs_capped


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n, m = 60, 40
    i, j = rng.integers(0, n, (2, m))
    parent = np.arange(n)
    for part in (slice(0, 15), slice(15, m)):
        join_pairs(parent, i[part], j[part])
    find_roots(parent)
    labels = connected_components(coo_array((np.ones(m), (i, j)), shape=(n, n)), directed=False)[1]
    smallest = [np.flatnonzero(labels == c)[0] for c in labels]
    assert parent.tolist() == smallest
    counts = np.zeros(n, np.int64)
    count_edges(parent, i, j, counts)
    assert counts.sum() == m
    assert counts[parent[i[0]]] == np.count_nonzero(labels[i] == labels[i[0]])


@pytest.mark.parametrize("seed", range(5))
def test_capped_joins_are_those_of_the_plain_loop(seed):
    rng = np.random.default_rng(seed)
    n, m = 40, 80
    i, j = rng.integers(0, n, (2, m))
    parent, elements = np.arange(n), np.ones(n, np.int64)
    join_pairs_capped(parent, elements, i, j, 7)
    find_roots(parent)
    assert parent.tolist() == naive.join_capped(n, i.tolist(), j.tolist(), 7)
    assert np.bincount(parent).max() <= 7


@pytest.mark.parametrize("kind", ["<i4", "<i8"])
def test_pairs_inside_sets_are_counted_in_records_too(kind):
    rng = np.random.default_rng(3)
    parent = np.array([0, 0, 2, 2, 0, 5])
    rows = np.zeros(50, np.dtype([("i", kind), ("j", kind), ("w", "<f8")]))
    rows["i"], rows["j"] = rng.integers(0, 6, (2, 50))
    counts = np.zeros(6, np.int64)
    count_edges(parent, rows["i"], rows["j"], counts)
    ends = zip(rows["i"].tolist(), rows["j"].tolist(), strict=True)
    inside = [parent[i] for i, j in ends if parent[i] == parent[j]]
    assert counts.tolist() == [inside.count(r) for r in range(6)]
