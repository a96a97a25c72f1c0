"""The registry: choosing, refusing, and saying why."""

from __future__ import annotations

import math

import numpy as np
import pytest

import relatum as rt
from relatum.errors import SolverError
from relatum.solvers.registry import SOLVERS, Outcome, Solver, choose, register, solver_named


def test_every_named_set_has_a_solver_that_proves():
    for name, feasible in rt.problem.NAMED_SETS.items():
        problem = rt.Problem(np.zeros((3, 3)), feasible)
        assert choose(problem, "auto", True).proves, name
        assert choose(problem, "auto", False).refuses(problem) is None


def test_special_solvers_come_first():
    square = np.zeros((3, 3))
    for feasible, name in (
        (rt.RELATIONS, "threshold"),
        (rt.SYMMETRIC, "threshold"),
        (rt.MAPS, "argmax"),
        (rt.PARTIAL_MAPS & rt.evidence([(0, 1)]), "argmax"),
        (rt.INJECTIONS, "assignment"),
        (rt.TRANSITIVE, "branch_and_cut"),
        (rt.INJECTIONS & rt.evidence([(0, 1)]), "branch_and_cut"),
    ):
        assert choose(rt.Problem(square, feasible), "auto", True).name == name, feasible


def test_names_are_taken_once_and_unknown_ones_listed():
    with pytest.raises(SolverError, match="'argmax' is registered already"):
        register(SOLVERS["argmax"])
    with pytest.raises(SolverError) as caught:
        solver_named("nonsense")
    for name in SOLVERS:
        assert name in str(caught.value)


def test_a_refusal_gives_the_reason_and_the_alternatives():
    problem = rt.Problem(np.zeros((3, 3)), rt.PREORDERS)
    with pytest.raises(SolverError) as caught:
        choose(problem, "threshold", False)
    text = str(caught.value)
    assert "'threshold'" in text
    assert "PREORDERS" in text
    assert "properties tie pairs together" in text
    assert "branch_and_cut" in text


def test_if_nothing_fits_every_solver_says_why(monkeypatch):
    only = Solver(
        "picky", "Takes nothing.", False, lambda p: "likes no problem",
        lambda p, c: Outcome(None), lambda p, prove: 0.0,
    )  # fmt: skip
    by_name = Solver(
        "shy", "By name.", False, lambda p: None, lambda p, c: Outcome(None),
        lambda p, prove: math.inf,
    )  # fmt: skip
    for name in list(SOLVERS):
        monkeypatch.delitem(SOLVERS, name)
    monkeypatch.setitem(SOLVERS, "picky", only)
    monkeypatch.setitem(SOLVERS, "shy", by_name)
    problem = rt.Problem(np.zeros((2, 2)))
    with pytest.raises(SolverError) as caught:
        choose(problem, "auto", False)
    assert "picky: it likes no problem" in str(caught.value)
    assert "shy: it runs only by name" in str(caught.value)
    assert choose(problem, "shy", False) is by_name
