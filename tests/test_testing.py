"""The conformance suite finds what it is meant to find, and every solver passes it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.problem.relation import Partition, Relation
from relatum.proof.certificate import Leaf
from relatum.solvers.registry import SOLVERS, Outcome, Solver
from relatum.testing import brute_force, check_solver, random_problems


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_registered_solver_conforms(name):
    count = 12 if SOLVERS[name].decompose else 60 if name == "matching" else 20
    assert check_solver(name, count=count) > 10


def test_brute_force_equals_the_naive_one():
    rng = np.random.default_rng(0)
    for name, names in naive.NAMED.items():
        c = rng.normal(size=(3, 3))
        problem = rt.Problem(c, getattr(rt, name) & rt.evidence(unrelated=[(0, 1)]))
        ys = naive.feasible(names, (3, 3), unrelated=[(0, 1)])
        value, relation = brute_force(problem)
        assert value == pytest.approx(naive.best_value(c, ys))
        assert (relation is None) == (len(ys) == 0)


def test_random_problems_are_varied_and_repeatable():
    problems = list(random_problems(rt.EQUIVALENCES, 42))
    again = list(random_problems(rt.EQUIVALENCES, 42))
    assert [p.log_odds.tolist() for p in problems] == [p.log_odds.tolist() for p in again]
    assert any(len(p.evidence) for p in problems)
    assert any(p.feasible.cap for p in problems)
    assert any(p.feasible.groups for p in problems)
    assert any(not len(p.evidence) for p in problems)


def singletons(problem, control):
    return Outcome(Partition(np.arange(problem.n)))


def all_in_one(problem, control):
    return Outcome(Partition(np.zeros(problem.n)), 1e6, Leaf())


def too_sure(problem, control):
    relation = Partition(np.arange(problem.n))
    return Outcome(relation, problem.value(relation), Leaf())


def gives_up(problem, control):
    return Outcome(None, -math.inf, Leaf(infeasible=True))


def not_an_equivalence(problem, control):
    return Outcome(Relation(np.triu(np.ones(problem.shape))), 1e6, Leaf())


@pytest.mark.parametrize(
    ("run", "proves", "message"),
    [
        (singletons, True, "not proved"),
        (all_in_one, False, "not verified"),
        (too_sure, True, "not verified"),
        (gives_up, True, "not verified"),
        (not_an_equivalence, False, "not a partition"),
    ],
)
def test_broken_solvers_are_found(monkeypatch, run, proves, message):
    def refuses(problem):
        return None if problem.feasible.structure == rt.EQUIVALENCES else "solves equivalences"

    broken = Solver("broken", "It is broken.", proves, refuses, run, lambda p, prove: math.inf)
    monkeypatch.setitem(SOLVERS, "broken", broken)
    with pytest.raises((AssertionError, rt.errors.RelationError), match=message):
        check_solver("broken", count=30)


def test_a_heuristic_that_keeps_its_promises_passes(monkeypatch):
    def refuses(problem):
        plain = problem.feasible == rt.EQUIVALENCES
        return None if plain else "solves equivalences"

    honest = Solver("honest", "Singletons.", False, refuses, singletons, lambda p, prove: math.inf)
    monkeypatch.setitem(SOLVERS, "honest", honest)
    assert check_solver("honest", count=20) > 5
    nothing = Solver("none", "None.", False, lambda p: "takes none", singletons, lambda p, q: 0.0)
    monkeypatch.setitem(SOLVERS, "none", nothing)
    with pytest.raises(AssertionError, match="accepts none"):
        check_solver("none", count=1)
