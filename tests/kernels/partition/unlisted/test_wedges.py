"""Triangles over pairs that are not listed: what they use up is what they write down."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.packing import compressed_pairs
from relatum.kernels.partition.unlisted.wedges import enter_keys, pack_wedges


def graph_of(pairs, n):
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    return compressed_pairs(i, j, n)


def table_of(pairs, n, room=1000.0):
    """Return an empty table of pairs with the listed ones entered."""
    keys, used = np.full(4096, -1, dtype=np.int64), np.append(np.zeros(4096), room)
    enter_keys(keys, used, np.array([a * n + b for a, b in pairs]))
    return keys, used


@pytest.mark.parametrize(("crossings", "want"), [(1, [[1, 0, 3], [2, 0, 3]]), (0, [[1, 0, 2]])])
def test_wedges_along_a_partition_change_sets_as_often_as_said(crossings, want):
    # a star: 0 is related to 1 and 2, of its own set, and to 3, of another
    pairs, labels = [(0, 1), (0, 2), (0, 3)], np.array([0, 0, 0, 1])
    keys, used = np.full(64, -1, dtype=np.int64), np.append(np.zeros(64), 30.0)
    enter_keys(keys, used, np.array([1, 2, 3]))
    index, y = np.empty((10, 3), np.int32), np.empty(10)
    residual, limits = np.array([2.0, 3.0, 4.0]), (-1.0, 10, crossings)
    count = pack_wedges(graph_of(pairs, 4), residual, labels, limits, (keys, used), index, y, 0)
    assert index[:count].tolist() == want
    assert (y[:count] == 1.0).all()


def test_wedges_use_unlisted_pairs_up_to_the_background():
    # a star: 0 is related to 1, 2, 3; pairs among these are not listed
    pairs = [(0, 1), (0, 2), (0, 3)]
    graph = graph_of(pairs, 4)
    residual = np.array([2.0, 3.0, 4.0])
    keys, used = np.full(64, -1, dtype=np.int64), np.append(np.zeros(64), 30.0)
    enter_keys(keys, used, np.array([0 * 4 + 1, 0 * 4 + 2, 0 * 4 + 3]))
    index, y = np.empty((10, 3), np.int32), np.empty(10)
    count = pack_wedges(
        graph, residual, np.zeros(4, np.int64), (-1.5, 10, 0), (keys, used), index, y, 0
    )
    # 1-2 takes 1.5, 1-3 the half bit left of 0-1, 2-3 takes 1.5
    assert y[:count].tolist() == [1.5, 0.5, 1.5]
    assert index[:count].tolist() == [[1, 0, 2], [1, 0, 3], [2, 0, 3]]
    np.testing.assert_allclose(residual, [0.0, 0.0, 2.0])


@pytest.mark.parametrize("seed", range(12))
def test_wedges_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n, crossings = 16, seed % 2
    labels = rng.integers(0, 3, n)
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.5]
    c = rng.normal(size=len(pairs)) + 0.5
    index, y, residual = np.empty((900, 3), np.int32), np.empty(900), c.copy()
    table, limits = table_of(pairs, n), (-0.4, 10**6, crossings)
    count = pack_wedges(graph_of(pairs, n), residual, labels, limits, table, index, y, 0)
    left, want = naive.pack_wedges(c, pairs, labels, -0.4, crossings)
    assert count > 3
    assert [tuple(row) for row in index[:count].tolist()] == [row for row, _ in want]
    np.testing.assert_allclose(y[:count], [m for _, m in want], atol=1e-12)
    np.testing.assert_allclose(residual, left, atol=1e-12)


def test_a_table_that_is_full_takes_no_more_pairs():
    pairs, residual = [(0, 1), (0, 2), (0, 3)], np.array([2.0, 3.0, 4.0])
    index, y = np.empty((10, 3), np.int32), np.empty(10)
    table = table_of(pairs, 4, room=1.0)
    labels = np.zeros(4, np.int64)
    limits = (-1.0, 10, 0)
    assert pack_wedges(graph_of(pairs, 4), residual, labels, limits, table, index, y, 0) == 1
