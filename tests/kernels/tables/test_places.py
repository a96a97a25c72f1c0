"""Ids to numbers, pairs to components: beside numpy and plain loops."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.tables.places import (
    fingerprints,
    mark_ids,
    merge_duplicates,
    place_elements,
    rank_ids,
    sort_rows,
    unlisted_pairs,
)
from relatum.kernels.tables.records import Components


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


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_rows_are_sorted_and_duplicates_merged(rows, kind):
    rng = np.random.default_rng(rows)
    low = (10 + rng.integers(0, rows, 400)).astype(kind)
    high = rng.integers(0, 30, 400).astype(kind)
    score = rng.integers(0, 3, 400).astype(float)
    order = np.lexsort((score, high, low))
    a, b, w = sort_rows(low, high, score, 10, rows)
    assert a.dtype == b.dtype == kind
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


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 64, 65, 97, 128, 1000])
def test_rows_of_any_length_are_sorted(length):
    rng = np.random.default_rng(length)
    low, high = np.full(length, 2), rng.integers(0, 1 + length // 3, length)
    score = rng.integers(-2, 3, length) / 2
    order = np.lexsort((score, high))
    a, b, w = sort_rows(low, high, score, 0, 4)
    assert a.tolist() == low.tolist()
    assert b.tolist() == high[order].tolist()
    assert w.tolist() == score[order].tolist()


def components(groups):
    """Three components, of three, two and four elements, with evidence in the last one."""
    return Components(
        np.array([0, 3, 5, 9]),
        np.array([0, 1, 2, 3]),
        np.array([0, 0, 0], np.int32),
        np.array([2, 1, 3], np.int32),
        np.array([1.5, -2.0, 0.25]),
        np.array([0, 0, 0, 2]),
        np.array([[0, 1, 1], [1, 3, 0]], np.int32),
        groups,
        np.empty(0, np.int64),
    )


@pytest.mark.parametrize("grouped", [False, True])
def test_fingerprints_are_those_of_the_plain_loop(grouped):
    groups = np.array([5, -1, 5, 1, 1, 7, -1, 7, 7]) if grouped else np.empty(0, np.int64)
    c, keys = components(groups), np.arange(9, dtype=np.uint64) ** 21
    bits, out = c.log_odds.view(np.uint64), np.empty(3, np.uint64)
    fingerprints(c, keys, bits, 2**32 - 3, out)
    assert out.tolist() == naive.component_hashes(c, keys, bits, 2**32 - 3)


def test_unlisted_pairs_are_the_rest():
    batch = components(np.empty(0, np.int64))
    low, high = unlisted_pairs(batch, 3)
    assert sorted(zip(low.tolist(), high.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert len(unlisted_pairs(batch, 4)[0]) == 2 + 5
