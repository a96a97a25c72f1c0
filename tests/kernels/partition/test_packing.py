"""Packing kernels: what they subtract is what they write down."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive
from relatum.kernels.partition.packing import compressed_pairs, pack_paths, pack_triangles


@pytest.mark.parametrize("seed", range(8))
def test_triangles_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n = 9
    c = rng.normal(size=n * (n - 1) // 2).round(3)
    order = rng.permutation(n)
    residual = c.copy()
    index, y = np.empty((500, 3), np.int32), np.empty(500)
    count = pack_triangles(residual, n, order, 1000, 0.1, index, y, 0)
    want_residual, want = naive.pack_triangles(c, n, order, 0.1)
    assert [(*index[k].tolist(), round(y[k], 9)) for k in range(count)] == [
        (*row, round(m, 9)) for row, m in want
    ]
    np.testing.assert_allclose(residual, want_residual, atol=1e-12)


def graph_of(pairs, n):
    pointer, neighbour, edge = [0], [], []
    for v in range(n):
        for end in (0, 1):
            for k, pair in enumerate(pairs):
                if pair[end] == v:
                    neighbour.append(pair[1 - end])
                    edge.append(k)
        pointer.append(len(neighbour))
    return np.array(pointer), np.array(neighbour, np.int32), np.array(edge, np.int32)


@pytest.mark.parametrize("seed", range(4))
def test_compressed_pairs_are_the_lists_of_every_element(seed):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, 9, (2, 30))
    for found, want in zip(
        compressed_pairs(i, j, 9), graph_of([*zip(i, j, strict=True)], 9), strict=True
    ):
        np.testing.assert_array_equal(found, want)
        assert found.dtype == want.dtype


@pytest.mark.parametrize("seed", range(8))
def test_paths_of_two_pairs_are_those_that_a_search_finds_first(seed):
    rng = np.random.default_rng(seed)
    n = 14
    labels = rng.integers(0, 1 + seed % 3, n)
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.6]
    c = rng.normal(size=len(pairs)) + 0.3
    bad = np.array([(k, *pairs[k]) for k in np.flatnonzero(c < -0.1)], dtype=np.int64)
    index, y = np.empty((500, 3), np.int32), np.empty(500)
    residual, graph = c.copy(), graph_of(pairs, n)
    count = pack_paths(graph, residual, labels, bad, (0.1, 2, 10**6), index, y, 0)
    left, want = naive.pack_two_pairs(c, pairs, labels, 0.1)
    assert count > 3 or seed % 3
    assert [tuple(row) for row in index[:count].tolist()] == [row for row, _ in want]
    np.testing.assert_allclose(y[:count], [m for _, m in want])
    np.testing.assert_allclose(residual, left)


@pytest.mark.parametrize("seed", range(8))
def test_paths_conserve_log_odds_and_leave_no_short_conflict(seed):
    rng = np.random.default_rng(seed)
    n, longest = 12, 4
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.4]
    c = rng.normal(size=len(pairs)) + 0.3
    number = {p: k for k, p in enumerate(pairs)}
    graph = graph_of(pairs, n)
    residual = c.copy()
    bad = [(k, *pairs[k]) for k in range(len(pairs)) if c[k] < 0]
    ends = np.array(bad, dtype=np.int64).reshape(-1, 3)
    index, y = np.empty((500, longest + 1), np.int32), np.empty(500)
    count = pack_paths(
        graph, residual, np.zeros(n, np.int64), ends, (0.0, longest, 10**6), index, y, 0
    )
    back = residual.copy()
    for row, m in zip(index[:count], y[:count], strict=True):
        path = row[row >= 0].tolist()
        assert len(set(path)) == len(path) >= 3
        for a, b in pairwise(path):
            back[number[min(a, b), max(a, b)]] += m
        back[number[min(path[0], path[-1]), max(path[0], path[-1])]] -= m
    np.testing.assert_allclose(back, c, atol=1e-12)
    assert (np.sign(residual) * np.sign(c) >= 0).all()
    positive = [pairs[k] for k in range(len(pairs)) if residual[k] > 0]
    for k, a, b in bad:
        if residual[k] < 0:
            assert naive.hops(positive, n, a, b) > longest


@pytest.mark.parametrize("seed", range(8))
def test_paths_along_a_partition_are_tight_and_leave_no_other(seed):
    rng = np.random.default_rng(seed)
    n, longest = 12, 5
    labels = rng.integers(0, 3, n)
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.4]
    c = np.array([rng.normal() + (0.5 if labels[a] == labels[b] else -0.2) for a, b in pairs])
    bad = [(k, *pairs[k]) for k in range(len(pairs)) if c[k] < 0]
    ends = np.array(bad, dtype=np.int64).reshape(-1, 3)
    index, y = np.empty((500, longest + 1), np.int32), np.empty(500)
    residual, limits = c.copy(), (0.0, longest, 10**6)
    count = pack_paths(graph_of(pairs, n), residual, labels, ends, limits, index, y, 0)
    assert count > 0
    for row in index[:count]:
        path = row[row >= 0].tolist()
        x = [int(labels[a] == labels[b]) for a, b in pairwise(path)]
        assert len(set(path)) == len(path) >= 3
        assert sum(x) - int(labels[path[0]] == labels[path[-1]]) == len(x) - 1
    assert np.maximum(c, 0).sum() - np.maximum(residual, 0).sum() == pytest.approx(
        sum(m * (np.count_nonzero(row >= 0) - 1) for row, m in zip(index[:count], y, strict=False))
    )
    positive = [pairs[k] for k in range(len(pairs)) if residual[k] > 0]
    for k, a, b in bad:
        if residual[k] < 0:
            assert naive.hops_along(positive, labels, a, b) > longest
