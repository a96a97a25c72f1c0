"""Folding adds the two scores of every unordered pair, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.folding import fold_square, unfold

TILE = 64  # of the kernel


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, TILE, 2 * TILE + 5])
def test_pairs_are_those_of_the_matrix_and_its_mirror(n, dtype):
    c = np.random.default_rng(n).normal(size=(n, n)).astype(dtype)
    out = np.empty(n * (n - 1) // 2)
    fold_square(c, out)
    wide = c.astype(np.float64)
    np.testing.assert_array_equal(out, (wide + wide.T)[np.triu_indices(n, 1)])


def test_matrices_and_triangles_may_have_any_layout_and_be_read_only():
    n = TILE + 3
    wide = np.random.default_rng(0).normal(size=(2 * n, 3 * n))
    for c in (wide[:n, :n], wide[::2, ::-3], np.asfortranarray(wide[:n, :n])):
        c.flags.writeable = False
        out, square = np.empty(n * (n - 1)), np.zeros((n, n))
        fold_square(c, out[: len(out) // 2])
        np.testing.assert_array_equal(out[: len(out) // 2], (c + c.T)[np.triu_indices(n, 1)])
        triangle = np.repeat(out[: len(out) // 2], 2)[::2]
        triangle.flags.writeable = False
        unfold(triangle, square)
        np.testing.assert_array_equal(square, (c + c.T) * ~np.eye(n, dtype=bool))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, TILE, 2 * TILE + 5])
def test_unfolding_writes_both_triangles_and_leaves_the_diagonal(n, dtype):
    condensed = np.random.default_rng(n).normal(size=n * (n - 1) // 2).astype(dtype)
    out, expected = np.full((n, n), 7.0, dtype), np.full((n, n), 7.0, dtype)
    unfold(condensed, out)
    i, j = np.triu_indices(n, 1)
    expected[i, j] = expected[j, i] = condensed
    np.testing.assert_array_equal(out, expected)
