"""The branch-and-cut against brute force, and what it does when it cannot finish."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.lp.highs import HighsProgram
from relatum.lp.protocol import LPResult
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.general.branch_and_cut import BranchAndCut


def run(problem, engine=HighsProgram, **control):
    return BranchAndCut(problem, Control(**control), engine).run()


@pytest.mark.parametrize("seed", range(8))
def test_any_intersection_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        names = [n for n in naive.ALL_PROPERTIES if rng.random() < 0.3]
        feasible = rt.FeasibleSet(rt.problem.feasible._SIMPLE[n] for n in names)
        cap = int(rng.integers(1, 4)) if rng.random() < 0.3 else None
        feasible = feasible if cap is None else feasible & rt.at_most(cap)
        c = rng.integers(-3, 4, (3, 3)) * 1.0 if rng.random() < 0.5 else rng.normal(size=(3, 3))
        problem = rt.Problem(c, feasible)
        outcome = run(problem)
        check_certificate(problem, Certificate(outcome.bound, outcome.proof))
        ys = naive.feasible(names, (3, 3), cap=cap)
        best = naive.best_value(c, ys)
        if len(ys) == 0:
            assert outcome.bound == -math.inf
            continue
        assert problem.feasible.contains(outcome.relation)
        assert problem.value(outcome.relation) == pytest.approx(best, abs=1e-6)
        assert outcome.bound == pytest.approx(best, abs=1e-6)


def test_integer_scores_are_proved_without_a_gap():
    rng = np.random.default_rng(0)
    for _ in range(5):
        problem = rt.Problem(rng.integers(-9, 10, (7, 7)).astype(float), rt.PARTIAL_ORDERS)
        outcome = run(problem)
        assert outcome.bound == problem.value(outcome.relation)
        check_certificate(problem, Certificate(outcome.bound, outcome.proof))


class Stops(HighsProgram):
    """An engine that gives up with a point that means nothing."""

    def solve(self, time_limit):
        result = super().solve(time_limit)
        return LPResult("stopped", np.ones_like(result.x), np.zeros_like(result.multipliers))


class SaysInfeasible(HighsProgram):
    """An engine that calls everything infeasible."""

    def solve(self, time_limit):
        result = super().solve(time_limit)
        return LPResult("infeasible", result.x, np.zeros_like(result.multipliers))


class Sloppy(HighsProgram):
    """An engine whose multipliers are off."""

    def solve(self, time_limit):
        result = super().solve(time_limit)
        rng = np.random.default_rng(len(result.x))
        noise = rng.exponential(size=len(result.multipliers))
        return LPResult(result.status, result.x, result.multipliers + 0.1 * noise)


@pytest.mark.parametrize("engine", [Stops, SaysInfeasible, Sloppy])
def test_bounds_hold_whatever_the_engine_does(engine):
    rng = np.random.default_rng(1)
    for name in ("PARTIAL_ORDERS", "PREORDERS", "INJECTIONS", "EQUIVALENCES"):
        for _ in range(4):
            c = rng.normal(size=(3, 3))
            problem = rt.Problem(c, getattr(rt, name))
            best = naive.best_value(c, naive.members(naive.NAMED[name], 3, 3))
            outcome = run(problem, engine, time_limit=2.0)
            check_certificate(problem, Certificate(outcome.bound, outcome.proof))
            assert outcome.bound >= best - 1e-9
            if outcome.relation is not None:
                assert problem.feasible.contains(outcome.relation)


def test_what_the_monitor_hears_is_true():
    heard = []
    problem = rt.Problem(np.random.default_rng(2).normal(size=(9, 9)), rt.PARTIAL_ORDERS)
    best = run(problem)
    run(problem, monitor=heard.append)
    optimum = problem.value(best.relation)
    assert heard
    for progress in heard:
        assert progress.value <= optimum + 1e-6
        assert progress.bound >= optimum - 1e-6
        assert progress.rows > 0


def test_a_start_is_used():
    problem = rt.Problem(np.random.default_rng(3).normal(size=(8, 8)), rt.PREORDERS)
    best = run(problem).relation
    outcome = run(problem, start=best, time_limit=1e-9)
    assert outcome.relation == best


@pytest.mark.parametrize(
    "feasible",
    [rt.EQUIVALENCES, rt.EQUIVALENCES & rt.at_most(3), rt.PREORDERS, rt.LINEAR_ORDERS, rt.MAPS],
    ids=str,
)
@pytest.mark.parametrize("n", [120, 240])
def test_there_is_a_relation_though_time_is_up_before_anything_is_searched(feasible, n):
    """So large that not all pairs are decided between two looks at the clock."""
    rng = np.random.default_rng(n)
    facts = rt.evidence([(0, 1)] if feasible == rt.MAPS else [(0, 1), (1, 2)], [(3, 5)])
    problem = rt.Problem(rng.normal(size=(n, n)), feasible & facts)
    outcome = run(problem, time_limit=1e-9)
    assert problem.feasible.contains(outcome.relation)
    estimate = rt.infer(problem, solver="branch_and_cut", time_limit=1e-9)
    assert estimate.status is rt.Status.FEASIBLE
    rt.verify(problem, estimate)
