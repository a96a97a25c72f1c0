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


@pytest.mark.parametrize("n", [3, 32, 33, 70])  # lanes that are not full, full, and several
def test_of_triangles_that_tie_the_first_in_turn_is_taken(n):
    x = random_point(n, n)
    index, violation = violated_triangles(x, 0.1)
    want = []
    for a in range(n):
        for b in range(a + 1, n):
            turn = (np.arange(n) + a * 7919 + b * 104729) % n
            turn = turn[(turn != a) & (turn != b)]
            for p, q in ((a, b), (b, a)):
                found = (x[a, b] - 1.0) + (x[q, turn] - x[p, turn])
                if found.max() > 0.1:
                    want.append((p, q, turn[found.argmax()], found.max()))
    assert [(*row, v) for row, v in zip(index.tolist(), violation, strict=True)] == want


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


@pytest.mark.parametrize("n", [33, 45])
def test_odd_cycles_among_many_nodes_are_shortest(n):
    x = metric_point(n, n + 1)
    nodes = np.arange(1, n + 1)
    for source in (0, n - 1):
        walk, length = shortest_odd_cycle(x, 0, nodes, source, 0.9)
        assert length == pytest.approx(naive.shortest_odd_walk(x, 0, nodes[source], 0.9))
        cycle = nodes[walk]
        rim = x[cycle, np.roll(cycle, -1)].sum()
        assert length == pytest.approx(len(cycle) / 2 + rim - x[0, cycle].sum())


@pytest.mark.parametrize("seed", range(4))
def test_wheels_are_shortest_around_sources_of_least_priority(seed):
    rng = np.random.default_rng(seed)
    x = np.triu(rng.random((14, 14)) < 0.8, 1) * 0.5  # halves satisfy every triangle
    x += x.T
    priority = rng.random(14)
    index, violation = violated_wheels(x, np.arange(14), priority, 0.01, 12)
    assert len(index)
    for row, v in zip(index, violation, strict=True):
        centre, cycle = row[0], row[1:][row[1:] >= 0].tolist()
        assert len(set(cycle)) == len(cycle) >= 3
        rim = x[cycle, np.roll(cycle, -1)].sum()
        assert v == pytest.approx(x[centre, cycle].sum() - rim - len(cycle) // 2)
        near = np.flatnonzero(x[centre])
        near = near[np.argsort(priority[near])]
        small = x[np.ix_([centre, *near], [centre, *near])]
        sources = [k for k, u in enumerate(near[:8], 1) if u in cycle]
        lengths = [naive.shortest_odd_walk(small, 0, k, 0.49) for k in sources]
        assert min(abs(0.5 - length - v) for length in lengths) < 1e-12


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


@pytest.mark.parametrize("n", [32, 50])
def test_two_partition_ascent_among_many_elements_is_that_of_the_twin(n):
    rng = np.random.default_rng(n)
    x = np.triu(rng.random((n, n)), 1)
    x += x.T
    sides = np.zeros(n, dtype=np.int8)
    f = ascend_two_partition(x, n - 1, 4, 8, sides)
    want, assignment = naive.ascend_two_partition(x, n - 1, 4, 8)
    assert f == pytest.approx(want)
    assert sides.tolist() == [assignment.get(v, 0) for v in range(n)]


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
