"""Positive parts of matrices, against eigendecompositions in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.solvers.partition.noise.positive_part import Projection, ProjectionSettings


def symmetric(n, seed, positive):
    """Return a matrix with so many positive eigenvalues."""
    rng = np.random.default_rng(seed)
    v = np.linalg.qr(rng.normal(size=(n, n)))[0]
    w = np.concatenate([-rng.uniform(0, 10, n - positive), rng.uniform(0, 30, positive)])
    return (v * w) @ v.T


def upper(matrix):
    return np.triu(matrix).astype(np.float32)


def parts(matrix):
    w, v = np.linalg.eigh(matrix)
    return (v * np.maximum(w, 0)) @ v.T, (v * np.maximum(-w, 0)) @ v.T


@pytest.mark.parametrize("positive", [0, 3, 40, 57, 60])
def test_exact_parts(positive):
    matrix = symmetric(60, positive, positive)
    projection = Projection()
    found = projection.exact(upper(matrix))
    above, below = parts(matrix)
    assert np.abs(np.triu(found) - np.triu(above)).max() < 1e-4
    assert np.abs(projection.factor @ projection.factor.T - below).max() < 1e-4


def test_a_matrix_that_changes_little_is_followed():
    matrix, change = symmetric(200, 1, 30), 0.003 * symmetric(200, 2, 100)
    projection = Projection()
    projection.exact(upper(matrix))
    kept = projection.factor
    for _ in range(5):
        matrix = matrix + change
        above = parts(matrix)[0]
        found = projection.followed(upper(matrix))
        error = np.linalg.norm(np.triu(found - above)) / np.linalg.norm(np.triu(above))
        assert error < 0.02
    assert projection.factor is kept  # no eigendecomposition was made
    # and better the longer the matrix stays as it is
    for _ in range(20):
        found = projection.followed(upper(matrix))
    assert np.linalg.norm(np.triu(found - above)) < 0.1 * error * np.linalg.norm(np.triu(above))


def test_more_positive_eigenvalues_than_room_are_found_all_the_same():
    first, second = symmetric(120, 3, 5), symmetric(120, 4, 40)
    projection = Projection(ProjectionSettings(least_spare=2))
    projection.exact(upper(first))
    found = projection.followed(upper(second))
    assert np.abs(np.triu(found) - np.triu(parts(second)[0])).max() < 1e-3


def test_without_a_matrix_before_it_is_exact():
    matrix = symmetric(80, 5, 10)
    found = Projection().followed(upper(matrix))
    assert np.abs(np.triu(found) - np.triu(parts(matrix)[0])).max() < 1e-4
