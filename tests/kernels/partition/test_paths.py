"""Short paths: those of the plain twin, written down as rows that the point violates."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive
from relatum.kernels.partition.packing import compressed_pairs
from relatum.kernels.partition.paths import HOP, short_paths


def random_point(seed, n=14):
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(n, 1)
    keep = rng.random(len(a)) < 0.35
    a, b = a[keep].astype(np.int64), b[keep].astype(np.int64)
    x = np.where(rng.random(len(a)) < 0.6, 1 - 0.3 * rng.random(len(a)), 0.4 * rng.random(len(a)))
    return rng, (a, b), x, compressed_pairs(a, b, n)


def found_paths(graph, x, sources, limits, width=14):
    index, violation = np.empty((200, width), np.int32), np.empty(200)
    count = short_paths(graph, x, sources, (0, 5), limits, index, violation, 0)
    count = short_paths(graph, x, sources, (5, 14), limits, index, violation, count)
    return [row[row >= 0].tolist() for row in index[:count]], violation[:count]


@pytest.mark.parametrize("seed", range(12))
def test_paths_are_as_violated_as_those_of_the_twin(seed):
    rng, (a, b), x, graph = random_point(seed)
    value = dict(zip(zip(a.tolist(), b.tolist(), strict=True), x.tolist(), strict=True))
    paths, violation = found_paths(graph, x, rng.permutation(14), (0.05, 10**6, 0))
    got = {(min(p[0], p[-1]), max(p[0], p[-1])): v for p, v in zip(paths, violation, strict=True)}
    assert len(got) == len(paths)
    want = naive.violated_paths({pair: 1 - v for pair, v in value.items()}, 0.05, HOP)
    assert {p for p, v in want.items() if v > 0.05 + 14 * HOP} <= set(got) <= set(want)
    assert got == pytest.approx({pair: want[pair] for pair in got}, abs=1e-12)
    for path, v in zip(paths, violation, strict=True):
        inner = sum(value[min(p, q), max(p, q)] for p, q in pairwise(path))
        closing = value[min(path[0], path[-1]), max(path[0], path[-1])]
        assert len(set(path)) == len(path) >= 3
        assert inner - closing - (len(path) - 2) == pytest.approx(v, abs=1e-12)


def test_limits_are_kept():
    _, _, x, graph = random_point(1)
    everything, _ = found_paths(graph, x, np.arange(14), (0.05, 10**6, 0))
    assert max(map(len, everything)) > 3
    short, _ = found_paths(graph, x, np.arange(14), (0.05, 10**6, 0), width=3)
    assert short
    assert max(map(len, short)) == 3
    few, _ = found_paths(graph, x, np.arange(14), (0.05, 8, 0))
    assert len(few) < len(everything)
    index, violation = np.empty((2, 14), np.int32), np.empty(2)
    limits = 0.05, 10**6, 0
    assert short_paths(graph, x, np.arange(14), (0, 14), limits, index, violation, 0) == 2
