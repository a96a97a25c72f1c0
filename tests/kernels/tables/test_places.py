"""Ids to numbers, pairs to components: beside numpy and plain loops."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.tables.places import (
    mark_ids,
    merge_duplicates,
    place_elements,
    rank_ids,
    sort_rows,
    unlisted_pairs,
)
from relatum.pair_tables import batch_of


@pytest.mark.parametrize("lowest", [-70, 0, 5])
def test_ranks_are_places_among_sorted_ids(lowest):
    ids = lowest + np.random.default_rng(0).integers(0, 300, 80)
    present = np.zeros(300 // 64 + 1, np.uint64)
    mark_ids(present, ids, lowest)
    before = np.full(len(present) + 1, -1, np.int64)
    ranks = np.empty(len(ids), np.int64)
    rank_ids(present, before, ids, lowest, ranks)
    every, expected = np.unique(ids, return_inverse=True)
    assert ranks.tolist() == expected.tolist()
    assert before[-1] == len(every)


def test_elements_are_placed_by_component_and_number():
    roots = np.array([0, 1, 0, 3, 1, 0])
    place, order, first = np.empty(6, np.int64), np.empty(6, np.int64), np.empty(7, np.int64)
    assert place_elements(roots, place, order, first) == 3
    assert order.tolist() == np.argsort(roots, kind="stable").tolist()
    assert place[order].tolist() == list(range(6))
    assert first[:4].tolist() == [0, 3, 5, 6]


@pytest.mark.parametrize("rows", [3, 40])
def test_rows_are_sorted_and_duplicates_merged(rows):
    rng = np.random.default_rng(rows)
    low, high = 10 + rng.integers(0, rows, 400), rng.integers(0, 30, 400)
    score = rng.integers(0, 3, 400).astype(float)
    order = np.lexsort((score, high, low))
    a, b, w = sort_rows(low, high, score, 10, rows)
    assert a.tolist() == low[order].tolist()
    assert b.tolist() == high[order].tolist()
    assert w.tolist() == score[order].tolist()
    expected = naive.merged_pairs(low.tolist(), high.tolist(), score.tolist())
    odd = np.zeros(3, np.int64)
    kept = merge_duplicates(a, b, w, 1e-6, odd)
    found = {(x, y): z for x, y, z in zip(a[:kept], b[:kept], w[:kept], strict=True)}
    assert found == pytest.approx({k: np.mean(v) for k, v in expected.items()})
    contradictory = [v for v in expected.values() if max(v) > min(v)]
    assert odd[1] == sum(map(len, contradictory))
    assert odd[0] == 400 - len(expected) - sum(len(v) - 1 for v in contradictory)
    assert (a[odd[2]], b[odd[2]]) == min(k for k, v in expected.items() if max(v) > min(v))


def test_unlisted_pairs_are_the_rest():
    component = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    pairs = (np.array([2, 3, 5]), np.array([0, 4, 8]), np.ones(3))
    batch, _ = batch_of(component, pairs)
    low, high = unlisted_pairs(batch, 3)
    assert sorted(zip(low.tolist(), high.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert len(unlisted_pairs(batch, 4)[0]) == 2 + 5
