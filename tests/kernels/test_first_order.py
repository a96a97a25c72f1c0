"""The first-order kernels against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import naive
from relatum.kernels.first_order import activity, iterate, price


def random_rows(rng, n, n_triples, n_general):
    triples = np.array([rng.choice(n, 3, replace=False) for _ in range(n_triples)], dtype=np.int32)
    triples = triples.reshape(-1, 3)
    dense = rng.integers(-2, 3, (n_general, n)) * (rng.random((n_general, n)) < 0.5)
    dense[0] = 1  # every column is in a row
    dense[:, 0] = 1
    general = sparse.csr_array(dense.astype(np.float64))
    matrix = np.zeros((n_triples + n_general, n))
    for r, (i, j, k) in enumerate(triples):
        matrix[r, [i, j]] += 1
        matrix[r, k] -= 1
    matrix[n_triples:] = dense
    start, column = general.indptr.astype(np.int64), general.indices.astype(np.int32)
    return (triples, start, column, general.data), matrix


@pytest.mark.parametrize("seed", range(5))
def test_products_are_those_of_the_dense_matrix(seed):
    rng = np.random.default_rng(seed)
    rows, matrix = random_rows(rng, 7, 6, 4)
    x, y = rng.random(7), rng.normal(size=10)
    np.testing.assert_allclose(activity(rows, x), matrix @ x, atol=1e-12)
    np.testing.assert_allclose(price(rows, y, 7), matrix.T @ y, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_iterations_are_those_of_the_plain_twin(seed):
    rng = np.random.default_rng(seed)
    n = 8
    rows, matrix = random_rows(rng, n, 9, 4)
    low = np.where(rng.random(13) < 0.5, -np.inf, -1.0)
    high = np.where(rng.random(13) < 0.2, np.inf, 1.0)
    high[low == -np.inf] = 1.0
    c = rng.normal(size=n)
    degree = np.abs(matrix).sum(axis=0)
    box = np.stack([c, np.zeros(n), np.ones(n), 1 / degree])
    sides = np.stack([low, high, 1 / np.abs(matrix).sum(axis=1)])
    x, y = rng.random(n), np.zeros(13)
    want = naive.halpern_pdhg(matrix, low, high, box[:3], x.copy(), y.copy(), 0.7, 0.9, 40)
    control = np.array([0.7, 0.9, 0.0, 0.7])
    iterate(rows, sides, box, x, y, control, 40)
    np.testing.assert_allclose(x, want[0], atol=1e-8)
    np.testing.assert_allclose(y, want[1], atol=1e-8)
    np.testing.assert_allclose(control[0], want[2], rtol=1e-6)
    assert control[2] == 40
