"""Packing along a partition: the kernels do what their plain twins do."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.guided import (
    leftovers,
    pack_between,
    pack_inside,
    pack_leftovers,
    rooms_inside,
)


def random_case(seed, n=13):
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, 4, n), return_inverse=True)[1].astype(np.int64)
    i, j = np.triu_indices(n, 1)
    c = rng.normal(size=len(i)) * 2 + np.where(labels[i] == labels[j], 1, -1)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    return rng, c, (labels, starts, np.argsort(labels, kind="stable"))


def square(condensed, n):
    out = np.zeros((n, n))
    out[np.triu_indices(n, 1)] = condensed
    return out + out.T


def triangles(rows, count):
    return [
        (tuple(t), round(m, 9)) for t, m in zip(rows[0][:count].tolist(), rows[1], strict=False)
    ]


@pytest.mark.parametrize("between", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_triangles_are_those_of_the_twin(seed, between):
    rng, c, sets = random_case(seed)
    n = len(sets[0])
    order, limits = rng.permutation(n), (3 if seed % 2 else 100, 0.3)
    rows = np.empty((500, 3), np.int32), np.empty(500)
    room, total, positive = rooms_inside(c, sets[0], np.inf)
    assert (total, positive) == (pytest.approx(c[c > 0].sum()), np.count_nonzero(c > 0))
    pack = pack_between if between else pack_inside
    residual = c.copy()
    count = pack(residual, sets, order, limits, room, rows, 0)
    want, found = naive.pack_along(square(c, n), sets[0].tolist(), order, limits, between)
    assert count > 0
    assert triangles(rows, count) == [(t, round(m, 9)) for t, m in found]
    np.testing.assert_allclose(square(residual, n), want, atol=1e-12)
    np.testing.assert_allclose(room, rooms_inside(residual, sets[0], np.inf)[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_tight_for_the_partition_and_conserve_log_odds(seed):
    rng, c, sets = random_case(seed)
    n, labels = len(sets[0]), sets[0]
    rows = np.empty((500, 3), np.int32), np.empty(500)
    room, residual, count = rooms_inside(c, labels, np.inf)[0], c.copy(), 0
    for pack in (pack_inside, pack_between):
        count = pack(residual, sets, rng.permutation(n), (100, 0.0), room, rows, count)
    back = square(residual, n)
    for (a, b, d), m in triangles(rows, count):
        x = [float(labels[p] == labels[q]) for p, q in ((a, b), (b, d), (a, d))]
        assert x[0] + x[1] - x[2] == 1
        for p, q, sign in ((a, b, 1), (b, d, 1), (a, d, -1)):
            back[p, q] += sign * m
            back[q, p] += sign * m
    np.testing.assert_allclose(back, square(c, n), atol=1e-7)
    assert (np.sign(residual) * np.sign(c) >= 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_between_sets_is_packed_by_itself(seed):
    _, c, sets = random_case(seed)
    labels, n = sets[0], len(sets[0])
    lists = leftovers(c, labels)
    near = [lists[1][lists[0][a] : lists[0][a + 1]].tolist() for a in range(n)]
    w = square(c, n)
    assert near == [
        [b for b in range(n) if w[a, b] > 0 and labels[a] != labels[b]] for a in range(n)
    ]
    rows, residual = (np.empty((500, 3), np.int32), np.empty(500)), c.copy()
    count = pack_leftovers(residual, lists, np.arange(n), 100, rows, 0)
    after = square(residual, n)
    gained = np.maximum(c, 0).sum() - np.maximum(residual, 0).sum() - rows[1][:count].sum()
    assert gained == pytest.approx(rows[1][:count].sum())  # a bit for a bit, twice
    for a in range(n):  # no conflict among them is left
        for b in near[a]:
            for d in near[a]:
                assert min(after[a, b], after[a, d], -after[b, d]) <= 1e-12 or b == d
