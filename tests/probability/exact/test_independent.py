from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.probability.exact.independent import refusal
from relatum.probability.methods import Task


def test_relations_are_logistic():
    scores = np.random.default_rng(0).normal(size=(40, 30)) * 20
    p = rt.probabilities(rt.Problem(scores, rt.RELATIONS))
    assert p.matrix() == pytest.approx(1 / (1 + 2.0**-scores), rel=1e-14)
    assert p.log2_normalizer == pytest.approx(np.log2(1 + 2.0**scores).sum(), rel=1e-12)


def test_tournaments_are_logistic_in_differences():
    scores = np.random.default_rng(1).normal(size=(50, 50))
    p = rt.probabilities(rt.Problem(scores, rt.ANTISYMMETRIC & rt.CONNEX)).matrix()
    off = ~np.eye(50, dtype=bool)
    assert p[off] == pytest.approx((1 / (1 + 2.0 ** (scores.T - scores)))[off], rel=1e-13)
    assert np.diagonal(p) == pytest.approx(1 / (1 + 2.0 ** -np.diagonal(scores)))


def test_symmetric_draws_are_symmetric():
    problem = rt.Problem(np.random.default_rng(2).normal(size=(9, 9)), rt.SYMMETRIC)
    drawn = rt.sample(problem, 400, seed=1)
    assert all(problem.feasible.contains(y) for y in drawn)
    frequency = np.mean([y.matrix() for y in drawn], axis=0)
    assert np.abs(frequency - rt.probabilities(problem).matrix()).max() < 0.12


def test_any_size_is_taken():
    assert refusal(Task(rt.Problem(np.zeros((300, 300)), rt.RELATIONS))) is None
