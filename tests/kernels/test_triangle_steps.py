"""Steps on triangles in single precision, against the textbook, and the rows they find."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.first_order import iterate, scaled_norm
from relatum.kernels.triangle_steps import (
    bound_of_triangles,
    iterate_triangles,
    violated_along,
)


def random_triples(rng, columns, count):
    triples = np.array([rng.choice(columns, 3, replace=False) for _ in range(count)], np.int32)
    matrix = np.zeros((count, columns))
    np.add.at(matrix, (np.arange(count), triples[:, 0]), 1)
    np.add.at(matrix, (np.arange(count), triples[:, 1]), 1)
    np.add.at(matrix, (np.arange(count), triples[:, 2]), -1)
    return triples, matrix


def start(c, x):
    columns = np.zeros((7, len(c)), dtype=np.float32)
    columns[0], columns[2] = c, x
    return columns


@pytest.mark.parametrize("seed", range(12))
def test_iterations_are_those_of_the_plain_twin(seed):
    rng = np.random.default_rng(seed)
    triples, matrix = random_triples(rng, 9, 30)
    c, x, y = rng.normal(size=9), rng.random(9), rng.random(30).astype(np.float32)
    columns, control = start(c, x), np.array([0.7, 0.0, 0.7])
    degree = np.maximum(np.abs(matrix).sum(axis=0), 1)
    rows = triples, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
    sides = np.stack([np.full(30, -np.inf), np.ones(30), np.full(30, 1 / 3)])
    box = np.stack([c, np.zeros(9), np.ones(9), 1 / degree])
    leading = (1 + 0.001 * ((np.arange(9) * 7919) % 1000)) / 3
    scale = max(0.99, 0.99 / (1.05 * scaled_norm(rows, sides, box, leading, 12)))
    want = naive.halpern_pdhg(
        matrix, np.full(30, -np.inf), np.ones(30), box[:3], x.copy(), y.astype(float), 0.7, scale, 9
    )
    iterate_triangles(triples, columns, y, control, 9)
    np.testing.assert_allclose(columns[2], want[0], atol=2e-4)
    np.testing.assert_allclose(y, want[1], atol=2e-4)
    assert control[0] == pytest.approx(want[2], rel=1e-3)
    assert control[1] == 9


@pytest.mark.parametrize("seed", range(4))
def test_many_iterations_solve_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    triples, matrix = random_triples(rng, 40, 300)
    c = rng.normal(size=40) + 0.5
    columns, y = start(c, c > 0), np.zeros(300, np.float32)
    iterate_triangles(triples, columns, y, np.array([1.0, 0.0, 1.0]), 3000)
    rows = triples, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
    sides = np.stack([np.full(300, -np.inf), np.ones(300), np.full(300, 1 / 3)])
    degree = np.maximum(np.abs(matrix).sum(axis=0), 1)
    box = np.stack([c, np.zeros(40), np.ones(40), 1 / degree])
    x, prices = (c > 0).astype(float), np.zeros(300)
    iterate(rows, sides, box, x, prices, np.array([1.0, 0.99, 0.0, 1.0]), 3000)
    best = prices.sum() + np.maximum(c - matrix.T @ prices, 0).sum()
    assert bound_of_triangles(c, triples, y) == pytest.approx(best, rel=1e-4)
    assert c @ columns[2] == pytest.approx(best, rel=1e-3)


def test_the_bound_is_that_of_the_matrix():
    rng = np.random.default_rng(3)
    triples, matrix = random_triples(rng, 12, 40)
    c, y = rng.normal(size=12), rng.random(40).astype(np.float32)
    want = y.astype(float).sum() + np.maximum(c - matrix.T @ y.astype(float), 0).sum()
    assert bound_of_triangles(c, triples, y) == pytest.approx(want, rel=1e-12)
    assert bound_of_triangles(c, triples[:0], y[:0]) == pytest.approx(np.maximum(c, 0).sum())


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_the_worst_of_each_pair_along_the_partition(seed):
    rng = np.random.default_rng(seed)
    n = 12 if seed < 9 else 50  # with full lanes
    labels = np.sort(rng.integers(0, 3, n))
    labels = np.unique(labels, return_inverse=True)[1]
    x = np.triu(rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], (n, n)), 1)
    x += x.T
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    flat = x[np.triu_indices(n, 1)].astype(np.float32)
    index, violation = violated_along(flat, starts, 0.1)
    want = naive.violated_along(x, labels, 0.1)
    assert len(index) == len(want)
    assert sorted(violation.tolist()) == pytest.approx(sorted(want.values()))
    for (a, b, c), v in zip(index.tolist(), violation, strict=True):
        assert len({a, b, c}) == 3
        assert labels[b] == labels[c]
        assert a < c or labels[a] != labels[b]
        assert v == pytest.approx(x[a, b] + x[b, c] - x[a, c] - 1)
        assert v == pytest.approx(want[a, b]) or v == pytest.approx(want[c, b])
