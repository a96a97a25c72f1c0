"""Problems that fall into parts: the parts are solved, and what is put together is of the whole."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from relatum.errors import SolverError
from relatum.solvers import Control, better_start, choose_any, divided, general, solve_divided


@pytest.mark.parametrize("prove", [False, True])
def test_parts_put_together_are_what_brute_force_finds(prove):
    rng = np.random.default_rng(4)
    for _ in range(10):
        scores = np.full((5, 5), -3.0)
        cut = int(rng.integers(1, 5))
        scores[:cut, :cut] = rng.normal(size=(cut, cut))
        scores[cut:, cut:] = rng.normal(size=(5 - cut, 5 - cut))
        problem = rt.Problem(scores, rt.EQUIVALENCES)
        outcome = solve_divided(problem, Control(prove=prove))
        best = max(
            float(scores[np.equal.outer(labels, labels)].sum())
            for labels in itertools.product(range(5), repeat=5)
        )
        assert problem.value(outcome.relation) == pytest.approx(best)
        assert float(outcome.bound) == pytest.approx(best)


def test_what_no_solver_takes_begins_with_smaller_sets(monkeypatch):
    """One that only the general solver would take, if it took as many pairs."""
    monkeypatch.setattr(general.solver, "SETTINGS", replace(general.solver.SETTINGS, most_pairs=0))
    problem = rt.Problem(np.random.default_rng(0).normal(size=(4, 4)), rt.TRANSITIVE)
    assert choose_any(problem, "auto", False).name == "neighbours"
    found = solve_divided(problem, Control()).relation
    smaller = rt.infer(problem.with_feasible(rt.PREORDERS), prove=True).relation
    assert problem.feasible.contains(found)
    assert problem.value(found) >= problem.value(smaller) - 1e-9
    with pytest.raises(SolverError, match="at most 0 pairs"):
        choose_any(problem, "branch_and_cut", False)


def test_a_known_relation_that_is_better_is_kept():
    problem = rt.Problem([3.0, -1.0, -1.0], rt.EQUIVALENCES)
    outcome = solve_divided(problem, Control())
    apart, together = rt.Partition([0, 1, 2]), outcome.relation
    worse = divided.Outcome(apart, outcome.bound)
    assert better_start(problem, together, worse).relation is together
    assert better_start(problem, apart, outcome) is outcome
    assert better_start(problem, None, worse) is worse
    nothing = divided.Outcome(None, -math.inf)
    assert better_start(problem, together, nothing) is nothing


def test_monitors_hear_of_the_whole_problem_whatever_its_parts():
    rng = np.random.default_rng(8)
    blocks = [rng.normal(size=(n, n)) for n in (4, 9, 12)]
    scores = np.full((25, 25), -50.0)
    at = 0
    for block in blocks:
        scores[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    heard = []
    e = rt.infer(problem, solver="branch_and_cut", prove=True, monitor=heard.append)
    assert e.status is rt.Status.OPTIMAL
    assert len(heard) >= 2
    for progress in heard:
        assert progress.value <= e.value + 1e-9
        assert progress.bound >= e.value - 1e-9
    assert heard[-1].value == e.value


def test_all_parts_are_searched_as_without_a_proof_before_any_is_proved(monkeypatch):
    rng = np.random.default_rng(3)
    c = np.full((100, 100), -1.0)
    c[:50, :50], c[50:, 50:] = rng.normal(size=(2, 50, 50))
    problem = rt.Problem(c, rt.EQUIVALENCES)
    plain, seen = rt.infer(problem, time_limit=60.0), []
    prove_parts = divided._prove_parts

    def watched(reduced, found, *args):
        values = [p.value(o.relation) for p, o in zip(reduced.parts, found, strict=True)]
        seen.append(float(reduced.constant) + sum(values))
        return prove_parts(reduced, found, *args)

    monkeypatch.setattr(divided, "_prove_parts", watched)
    proved = rt.infer(problem, prove=True, time_limit=1.0)
    assert seen == [pytest.approx(plain.value)]
    assert proved.value >= plain.value - 1e-9
    assert rt.verify(problem, proved)
