"""Steps of the semidefinite relaxation, against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest

from naive.partition import semidefinite as naive
from relatum.kernels.partition.two_partitions import advance, bound_of
from relatum.proof import two_partition_rows

NONE = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int8), np.empty(0))


def triangle(n):
    """The row x_01 + x_12 - x_02 <= 1."""
    places = np.array([1, n + 2, 2], np.int32)
    return np.array([0, 3]), places, np.array([1, 1, -1], np.int8), np.ones(1)


def matrices(seed, n, count):
    rng = np.random.default_rng(seed)
    made = [rng.normal(size=(n, n)) for _ in range(count)]
    return [(m + m.T).astype(np.float32) for m in made]


def test_bounds_are_those_of_the_twin():
    z, scores = matrices(0, 5, 2)
    for rows, prices in ((NONE, np.empty(0)), (triangle(5), np.array([0.3]))):
        want = naive.bound_of(z.astype(float), scores.astype(float), rows, prices)
        assert np.isclose(bound_of(z, scores, rows, prices), want, rtol=1e-5)


def some_rows(seed, n, count):
    """2-partition rows of one to three elements on each side, compressed."""
    rng = np.random.default_rng(seed)
    index = np.full((count, 7), -1)
    for row in index:
        left, right = rng.integers(1, 4, 2)
        elements = rng.permutation(n)
        row[:left], row[left + 1 : left + 1 + right] = elements[:left], elements[-right:]
    rows = two_partition_rows(index, (n, n))
    places = np.minimum(rows.a, rows.b) * n + np.maximum(rows.a, rows.b)
    signs, sides = rows.coefficient.astype(np.int8), rows.rhs.astype(float)
    return rows.start, places.astype(np.int32), signs, sides


@pytest.mark.parametrize("sweeps", [0, 1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 30])
def test_steps_are_those_of_the_twin(count, sweeps):
    n = 7
    given = matrices(count, n, 4)
    rows = some_rows(count, n, count) if count else NONE
    prices = np.random.default_rng(sweeps).choice([0.0, 0.1, 0.4], count)
    plain = [np.triu(m).astype(float) for m in given]
    x, y, u, scores = given
    for _ in range(3):
        want = naive.advance(plain, rows, prices, 1.6, sweeps)
        plain[1:3] = want[:2]
        advance(x, y, u, scores, rows, prices, 1.6, sweeps)
        upper = np.triu_indices(n)
        assert np.allclose(y[upper], want[0][upper], atol=1e-4)
        assert np.allclose(u[upper], want[1][upper], atol=1e-4)
        assert np.allclose(prices, want[2], atol=1e-4)
    assert count * sweeps < 30 or (prices > 0).any()  # rows have something to do


def test_many_sweeps_satisfy_a_row_as_its_price_says():
    n = 3
    x = np.array([[1, 0.9, 0.1], [0.9, 1, 0.8], [0.1, 0.8, 1]], np.float32)
    y, u, prices = x.copy(), np.zeros((n, n), np.float32), np.zeros(1)
    advance(x, y, u, np.zeros((n, n), np.float32), triangle(n), prices, 1.0, 50)
    # 0.9 + 0.8 - 0.1 - 1 = 0.6 is too much: each pair gives a third
    assert np.allclose([y[0, 1], y[1, 2], y[0, 2], prices[0]], [0.7, 0.6, 0.3, 0.2], atol=1e-5)
