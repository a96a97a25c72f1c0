"""Separation kernels against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.cuts import (
    shortest_odd_cycle,
    violated_triangles,
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
