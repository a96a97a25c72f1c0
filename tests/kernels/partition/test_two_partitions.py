"""Separation of 2-partition rows against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.two_partitions import (
    ascend_two_partition,
    choose_unlike,
    violated_two_partitions,
)


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
    labels = np.random.default_rng(seed).integers(0, 3, (4, 9))
    average = (labels[:, :, None] == labels[:, None, :]).mean(axis=0)  # no triangle is violated
    x = (0.6 * average + 0.2) * (1 - np.eye(9))
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


@pytest.mark.parametrize("parallel", [0.21, 0.61, 0.91])
def test_unlike_rows_of_few_of_many_elements_are_chosen_as_by_cosines(parallel):
    n, rng = 40, np.random.default_rng(6)
    sides = np.zeros((400, n), dtype=np.int8)
    for row in sides:
        some = rng.choice(n, rng.integers(2, 7), replace=False) // rng.integers(1, 6)
        row[some] = rng.integers(1, 3, len(some))
    sides = sides[(sides > 0).sum(axis=1) > 1]
    i, j = np.triu_indices(n, 1)
    z = np.where(sides == 2, 1, np.where(sides == 1, -1, 0))
    rows = -(z[:, i] * z[:, j]).astype(float)
    norms = np.sqrt((rows**2).sum(axis=1))
    got = choose_unlike(sides, norms, 150, parallel).tolist()
    assert got == naive.unlike_rows(rows, 150, parallel)
    assert got != list(range(len(got)))
