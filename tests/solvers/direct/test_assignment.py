"""Assignments against brute force and scipy, prices included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import naive
import relatum as rt
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.direct.assignment import solve
from relatum.solvers.registry import SOLVERS

SETS = {
    "INJECTIONS": (rt.INJECTIONS, naive.NAMED["INJECTIONS"]),
    "BIJECTIONS": (rt.BIJECTIONS, naive.NAMED["BIJECTIONS"]),
    "partial": (rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE, ("unique_image", "unique_preimage")),
}


@pytest.mark.parametrize("name", SETS)
def test_it_equals_brute_force_and_its_prices_prove_it(name):
    feasible, names = SETS[name]
    rng = np.random.default_rng(1)
    infeasible = 0
    for number in range(120):
        shape = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        if shape == (4, 4) and number % 4:
            shape = (3, 4)
        c = rng.integers(-2, 3, shape) * 1.0 if number % 2 else rng.normal(size=shape)
        unrelated = [
            (int(rng.integers(shape[0])), int(rng.integers(shape[1])))
            for _ in range(rng.integers(0, 7))
        ]
        problem = rt.Problem(c, feasible & rt.evidence(unrelated=unrelated))
        assert SOLVERS["assignment"].refuses(problem) is None
        outcome = solve(problem, Control())
        check_certificate(problem, Certificate(outcome.bound, outcome.proof))
        ys = naive.feasible(names, shape, unrelated=unrelated)
        if len(ys) == 0:
            infeasible += 1
            assert outcome.bound == -math.inf
            continue
        best = naive.best_value(c, ys)
        assert problem.feasible.contains(outcome.relation)
        assert problem.value(outcome.relation) == pytest.approx(best)
        assert outcome.bound == pytest.approx(best, abs=1e-9)
    assert (infeasible > 5) == (name != "partial")


@pytest.mark.parametrize("shape", [(30, 30), (25, 40)])
def test_larger_ones_equal_scipy_and_verify(shape):
    rng = np.random.default_rng(2)
    for scale in (1.0, 1e6):
        c = rng.normal(size=shape) * scale
        problem = rt.Problem(c, rt.INJECTIONS)
        e = rt.infer(problem, prove=True)
        a, b = linear_sum_assignment(c, maximize=True)
        assert e.value == pytest.approx(c[a, b].sum())
        assert e.status is rt.Status.OPTIMAL
        assert rt.verify(problem, e)


def test_what_it_refuses(monkeypatch):
    refuses = SOLVERS["assignment"].refuses
    c = np.zeros((3, 3))
    assert "solves partial injections" in refuses(rt.Problem(c, rt.MAPS))
    assert "given as related" in refuses(rt.Problem(c, rt.INJECTIONS & rt.evidence([(0, 0)])))
    onto = rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE & rt.HAS_PREIMAGE
    assert "if every element of B has a preimage" in refuses(rt.Problem(c, onto))
    monkeypatch.setattr("relatum.solvers.direct.assignment.DENSE_LIMIT", 8)
    assert "does not fit" in refuses(rt.Problem(c, rt.INJECTIONS))


@pytest.mark.parametrize("name", SETS)
def test_without_time_a_large_matching_is_greedy_feasible_and_bounded(name):
    c = np.random.default_rng(2).normal(size=(520, 520))
    problem = rt.Problem(c, SETS[name][0])
    hasty = rt.infer(problem, solver="assignment", time_limit=1e-9)
    best = rt.infer(problem, solver="assignment")
    assert best.status is rt.Status.OPTIMAL
    assert problem.feasible.contains(hasty.relation)
    assert 0.5 * best.value < hasty.value <= best.value <= hasty.bound
    assert hasty.stats["stopped"]
    assert rt.verify(problem, hasty).ok


def test_without_time_forbidden_pairs_may_leave_no_matching_but_a_bound(monkeypatch):
    free = np.eye(520, dtype=bool)
    free[0, 1] = True  # taken by a greedy choice, which leaves 1 nothing
    c = np.where(free, 1.0, -np.inf)
    c[0, 1] = 2.0
    problem = rt.Problem(c, rt.INJECTIONS)
    assert rt.infer(problem, solver="assignment").value == 520.0
    late = "relatum.solvers.direct.assignment._matched_in_time"
    monkeypatch.setattr(late, lambda weights, control: None)
    assert rt.infer(problem, solver="assignment").status is rt.Status.BOUND_ONLY
