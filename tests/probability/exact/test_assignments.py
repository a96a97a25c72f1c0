from __future__ import annotations

import math

import numpy as np
import pytest

import relatum as rt
from relatum.probability.exact.assignments import Assignment, refusal
from relatum.probability.exact.weights import split
from relatum.probability.methods import Task
from relatum.solvers import Control


def test_equal_scores_count_bijections_and_injections():
    n = 11
    p = rt.probabilities(rt.Problem(np.zeros((n, n)), rt.BIJECTIONS))
    assert p.log2_normalizer == pytest.approx(math.log2(math.factorial(n)), rel=1e-14)
    assert p.matrix() == pytest.approx(np.full((n, n), 1 / n))
    p = rt.probabilities(rt.Problem(np.zeros((4, 60)), rt.INJECTIONS))
    assert p.log2_normalizer == pytest.approx(math.log2(math.perm(60, 4)), rel=1e-14)


def test_the_permanent_is_a_sum_over_bijections():
    rng = np.random.default_rng(0)
    bits = rng.normal(size=(8, 8)) * 10
    p = rt.probabilities(rt.Problem(bits, rt.BIJECTIONS))
    w, n = np.exp2(bits), 8
    permanent = 0.0  # by Ryser's formula
    for mask in range(1, 1 << n):
        own = [b for b in range(n) if mask >> b & 1]
        permanent += (-1) ** (n - len(own)) * np.prod(w[:, own].sum(axis=1))
    assert p.log2_normalizer == pytest.approx(math.log2(permanent), rel=1e-6)
    assert p.matrix().sum(axis=0) == pytest.approx(np.ones(n))
    assert p.matrix().sum(axis=1) == pytest.approx(np.ones(n))


def test_blocks_of_rows_make_no_difference():
    rng = np.random.default_rng(1)
    m, e = split(rng.normal(size=(23, 4)))
    given = Assignment(m, e, np.ones(23, np.bool_), again=False, covers=False)
    assert given.block == 4
    layers = given.layers(Control())
    assert len(layers) == 7
    p = given.probabilities(layers, Control())
    turned = Assignment(
        np.ascontiguousarray(m.T), np.ascontiguousarray(e.T), np.ones(4, np.bool_), False, False
    )
    if turned.shape[1] <= 23:
        small = rt.probabilities(
            rt.Problem(np.log2(m) + e, rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE)
        ).matrix()
        assert p == pytest.approx(small, abs=1e-12)
    columns = given.draw(layers, 500, rng)
    frequency = (columns[:, :, None] == np.arange(4)).mean(axis=0)
    assert np.abs(frequency - p).max() < 0.12
    assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in columns)


def test_what_is_too_large_is_refused():
    assert refusal(Task(rt.Problem(np.zeros((12, 12)), rt.BIJECTIONS))) is None
    told = refusal(Task(rt.Problem(np.zeros((40, 25)), rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE)))
    assert "and these are 25 and 40" in (told or "")
