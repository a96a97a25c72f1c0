"""Separation kernels against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.cuts import (
    ascend_two_partition,
    choose_unlike,
    shortest_odd_cycle,
    violated_triangles,
    violated_two_partitions,
    violated_wheels,
)


def random_point(seed, n):
    rng = np.random.default_rng(seed)
    x = np.triu(rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], (n, n)) * rng.random(), 1)
    return x + x.T


def metric_point(seed, n):
    """A point that satisfies every triangle: an average of partitions."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (4, n))
    x = (labels[:, :, None] == labels[:, None, :]).mean(axis=0)
    np.fill_diagonal(x, 0.0)
    return x


@pytest.mark.parametrize("seed", range(10))
def test_triangles_are_the_worst_at_each_end_of_each_pair(seed):
    x = random_point(seed, 8)
    index, violation = violated_triangles(x, 0.1)
    want = naive.violated_triangles(x, 0.1)
    assert {(int(a), int(b)) for a, b, _ in index} == set(want)
    for (a, b, c), v in zip(index, violation, strict=True):
        assert v == pytest.approx(want[a, b])
        assert v == pytest.approx(x[a, b] + x[b, c] - x[a, c] - 1)


@pytest.mark.parametrize("seed", range(10))
def test_odd_cycles_are_shortest(seed):
    x = metric_point(seed, 7)
    nodes = np.arange(1, 7)
    for source in range(6):
        walk, length = shortest_odd_cycle(x, 0, nodes, source, 0.9)
        want = naive.shortest_odd_walk(x, 0, nodes[source], 0.9)
        assert length == pytest.approx(want)
        if len(walk):
            assert len(walk) % 2 == 1
            assert walk[-1] == source or source in walk


def test_wheels_have_the_violation_they_claim():
    # the classic point: spokes 1/2, no rim, violates the 5-wheel by 1/2
    x = np.zeros((6, 6))
    x[0, 1:] = x[1:, 0] = 0.5
    x[1, 2] = x[2, 3] = x[3, 4] = x[4, 5] = x[1, 5] = 0.0
    chords = [(1, 3), (1, 4), (2, 4), (2, 5), (3, 5)]
    for a, b in chords:
        x[a, b] = x[b, a] = 0.5
    index, violation = violated_wheels(x, np.arange(6), np.arange(6.0), 0.01, 8)
    assert violation.max() == pytest.approx(0.5)
    for row, v in zip(index, violation, strict=True):
        cycle = row[1:][row[1:] >= 0]
        rim = x[cycle, np.roll(cycle, -1)].sum()
        assert v == pytest.approx(x[row[0], cycle].sum() - rim - len(cycle) // 2)


@pytest.mark.parametrize("seed", range(12))
def test_two_partition_ascent_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    x = np.triu(rng.random((7, 7)), 1)
    x += x.T
    sides = np.zeros(7, dtype=np.int8)
    f = ascend_two_partition(x, 1, 4, 6, sides)
    want, assignment = naive.ascend_two_partition(x, 1, 4, 6)
    assert f == pytest.approx(want)
    assert sides.tolist() == [assignment.get(v, 0) for v in range(7)]


@pytest.mark.parametrize("seed", range(6))
def test_two_partitions_have_the_violation_they_claim(seed):
    x = metric_point(seed, 9) * 0.6 + 0.2 * (1 - np.eye(9))
    pairs = np.column_stack(np.triu_indices(9, 1))
    found, violation = violated_two_partitions(x, pairs, -2.0, 8)
    assert len(found)
    for sides, v in zip(found, violation, strict=True):
        s, t = np.flatnonzero(sides == 1), np.flatnonzero(sides == 2)
        assert v == pytest.approx(naive.two_partition_violation(x, s, t))


@pytest.mark.parametrize("parallel", [0.2, 0.6, 0.9])
def test_unlike_rows_are_chosen_as_by_cosines(parallel):
    rng = np.random.default_rng(5)
    sides = rng.integers(0, 3, (30, 8)).astype(np.int8)
    i, j = np.triu_indices(8, 1)
    z = np.where(sides == 2, 1, np.where(sides == 1, -1, 0))
    rows = -(z[:, i] * z[:, j]).astype(float)
    keep = (rows != 0).any(axis=1)
    sides, rows = sides[keep], rows[keep]
    norms = np.sqrt((rows**2).sum(axis=1))
    got = choose_unlike(sides, norms, 10, parallel)
    assert got.tolist() == naive.unlike_rows(rows, 10, parallel)
