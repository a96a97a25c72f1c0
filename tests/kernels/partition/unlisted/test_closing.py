"""Longer paths over pairs that are not listed: those of the plain twin, tight for the partition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive
from relatum.kernels.partition.packing import compressed_pairs
from relatum.kernels.partition.unlisted.closing import close_between, close_inside
from relatum.kernels.partition.unlisted.wedges import enter_keys


class Case:
    """A random sparse problem with sets, and room for rows."""

    def __init__(self, seed, background=-0.3, n=24, rows=900):
        rng = np.random.default_rng(seed)
        self.n, self.background = n, background
        self.labels = rng.integers(0, 2 + seed % 2, n)
        self.pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.25]
        self.c = rng.normal(size=len(self.pairs)) + 0.8
        i, j = np.array(self.pairs, dtype=np.int64).T.copy()
        self.graph = compressed_pairs(i, j, n)
        self.table = np.full(4096, -1, dtype=np.int64), np.append(np.zeros(4096), 1000.0)
        enter_keys(*self.table, i * n + j)
        self.rows = np.empty((rows, 6), np.int32), np.empty(rows), 0
        self.residual = self.c.copy()
        over = np.flatnonzero((self.c > 0) & (self.labels[i] != self.labels[j]))
        self.ends = np.column_stack([over, i[over], j[over]])

    def close(self, between, least, longest, reached=10**3, probes=10**6):
        """Pack; return paths with multipliers."""
        limits = self.background, least, longest, reached, probes
        state = self.graph, self.residual, self.labels
        if between:
            count = close_between(*state, self.ends, limits, self.table, self.rows)
        else:
            count = close_inside(*state, limits, self.table, *self.rows)
        paths = [tuple(row[row >= 0].tolist()) for row in self.rows[0][:count]]
        return list(zip(paths, self.rows[1][:count].tolist(), strict=True))


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_paths_are_those_of_the_twin(seed, between):
    case = Case(seed)
    least, longest = [0.0, 0.05][seed % 2], 2 + seed % 3
    reached, probes = [(10**3, 10**6), (5, 7)][seed // 2 % 2]
    given = case.c, case.pairs, case.labels, case.background
    if between:
        left, want = naive.close_between(*given, least, longest, reached, probes)
    else:
        left, want = naive.close_inside(*given, least, longest, reached)
    found = case.close(between, least, longest, reached, probes)
    assert len(found) >= 3
    assert [path for path, _ in found] == [path for path, _ in want]
    np.testing.assert_allclose([m for _, m in found], [m for _, m in want], atol=1e-12)
    np.testing.assert_allclose(case.residual, left, atol=1e-12)


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_tight_and_what_they_use_up_is_there(seed, between):
    case = Case(seed)
    number = {pair: k for k, pair in enumerate(case.pairs)}
    found, closed = case.close(between, 0.0, 4), {}
    back = case.residual.copy()
    for path, m in found:
        related = [case.labels[a] == case.labels[b] for a, b in pairwise(path)]
        assert sum(related) == len(related) - between
        assert len(set(path)) == len(path) >= 3
        for a, b in pairwise(path):
            back[number[min(a, b), max(a, b)]] += m
        ends = min(path[0], path[-1]), max(path[0], path[-1])
        if ends in number:
            back[number[ends]] -= m
        else:
            closed[ends] = closed.get(ends, 0.0) + m
    np.testing.assert_allclose(back, case.c, atol=1e-12)
    assert (np.sign(case.residual) * np.sign(case.c) >= 0).all()
    assert max(closed.values()) <= -case.background + 1e-12


def test_what_has_no_room_is_left_out():
    case = Case(1, rows=3)
    assert len(case.close(True, 0.0, 3)) == 3
    assert len(Case(1).close(True, 0.0, 3)) > 3
