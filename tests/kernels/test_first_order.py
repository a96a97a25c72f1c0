"""The first-order kernels against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import naive
from relatum.kernels.first_order import activity, iterate, price, scaled_norm


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


@pytest.mark.parametrize("seed", range(3))
def test_the_norm_is_that_of_the_scaled_matrix(seed):
    rng = np.random.default_rng(seed)
    rows, matrix = random_rows(rng, 7, 6, 4)
    sides, box = rng.random((3, 10)) + 0.1, rng.random((4, 7)) + 0.1
    scaled = np.sqrt(sides[2])[:, None] * matrix * np.sqrt(box[3])
    v = rng.random(7) + 0.1
    for rounds in (1, 12):
        direction = v.copy()
        norm = scaled_norm(rows, sides, box, direction, rounds)
        want = v
        for _ in range(rounds):
            length = np.linalg.norm(scaled.T @ scaled @ want)
            want = scaled.T @ scaled @ want / length
        np.testing.assert_allclose(direction, want, atol=1e-12)
        assert norm == pytest.approx(np.sqrt(length))
    assert scaled_norm(rows, sides, box, v, 1000) == pytest.approx(np.linalg.norm(scaled, 2))
    nothing = (rows[0][:0], np.zeros(2, np.int64), rows[2][:0], rows[3][:0])
    assert scaled_norm(nothing, sides, box, v, 3) == 0.0


def test_many_columns_are_iterated_as_few_are():
    """Columns go in blocks; copies of one problem side by side must do what it does alone."""
    rng = np.random.default_rng(3)
    n, copies = 8, 200
    (triples, start, column, data), matrix = random_rows(rng, n, 9, 4)
    shift = n * np.arange(copies, dtype=np.int32)
    many = (
        (triples + shift[:, None, None]).reshape(-1, 3),
        np.append(0, np.cumsum(np.tile(np.diff(start), copies))),
        (column + shift[:, None]).ravel(),
        np.tile(data, copies),
    )
    box = np.stack([rng.normal(size=n), np.zeros(n), np.ones(n), 1 / np.abs(matrix).sum(axis=0)])
    length = np.abs(matrix).sum(axis=1)
    sides = np.stack([np.full(13, -np.inf), np.ones(13), 1 / length])
    found = []
    for rows, k in (((triples, start, column, data), 1), (many, copies)):
        wide = np.tile(sides, k)
        if k > 1:  # all triples come before the general rows
            wide = np.concatenate([np.tile(sides[:, :9], k), np.tile(sides[:, 9:], k)], axis=1)
        x, y = np.full(n * k, 0.5), np.zeros(13 * k)
        control = np.array([0.7, 0.9, 0.0, 0.7])
        iterate(rows, wide, np.tile(box, k), x, y, control, 40)
        found.append((x, control[0]))
    np.testing.assert_allclose(found[1][0].reshape(copies, n), [found[0][0]] * copies, atol=1e-8)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-6)
