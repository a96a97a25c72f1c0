"""Exact probabilities against all feasible relations, one by one, over every family."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from naive import probability as naive
from probability.random_problems import FAMILIES, random_problem
from relatum.errors import ProblemError


def check(family, seed, larger=0):
    problem, scores, ys = random_problem(family, seed, larger)
    if len(ys) == 0:
        with pytest.raises(ProblemError, match="So none has a probability"):
            rt.probabilities(problem)
        return 0.0
    found = rt.probabilities(problem, time_limit=600.0)
    p, bits = naive.distribution(scores, ys)
    assert found.exact
    expected = np.tensordot(p, ys.astype(float), axes=1)
    error = float(np.abs(found.matrix() - expected).max())
    assert error < 1e-10
    assert found.log2_normalizer == pytest.approx(bits, rel=1e-13, abs=1e-10)
    best = int(p.argmax())
    assert 2.0 ** found.of(rt.Relation(ys[best])) == pytest.approx(p[best], rel=1e-9)
    for drawn in found.sample(3, seed=seed):
        assert problem.feasible.contains(drawn)
    return error


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_to_enumeration(family):
    for seed in range(12):
        check(family, seed)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_equal_to_enumeration_often(family):
    for seed in range(100, 200):
        check(family, seed)
