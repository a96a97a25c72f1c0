"""Steps of the semidefinite relaxation, against their plain twins."""

from __future__ import annotations

import numpy as np

from naive.partition import semidefinite as naive
from relatum.kernels.partition.two_partitions import advance, bound_of

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


def test_a_step_without_rows_is_that_of_the_twin():
    x, y, u, scores = matrices(1, 6, 4)
    want = naive.advance(*(m.astype(float) for m in (x, y, u, scores)), 1.6)
    advance(x, y, u, scores, NONE, np.empty(0), 1.6, 2)
    upper = np.triu_indices(6)
    assert np.allclose(y[upper], want[0][upper], atol=1e-5)
    assert np.allclose(u[upper], want[1][upper], atol=1e-5)


def test_many_sweeps_satisfy_a_row_as_its_price_says():
    n = 3
    x = np.array([[1, 0.9, 0.1], [0.9, 1, 0.8], [0.1, 0.8, 1]], np.float32)
    y, u, prices = x.copy(), np.zeros((n, n), np.float32), np.zeros(1)
    advance(x, y, u, np.zeros((n, n), np.float32), triangle(n), prices, 1.0, 50)
    # 0.9 + 0.8 - 0.1 - 1 = 0.6 is too much: each pair gives a third
    assert np.allclose([y[0, 1], y[1, 2], y[0, 2], prices[0]], [0.7, 0.6, 0.3, 0.2], atol=1e-5)
