"""Relations whose properties speak of mirror pairs only: each pair is decided on its own."""

from __future__ import annotations

import math

from relatum.problem import DENSE_LIMIT, NAMED_SETS, RELATIONS, FeasibleSet, Problem, Relation
from relatum.proof import Leaf, checked_slack
from relatum.solvers.control import Control
from relatum.solvers.pair_states import PairStates
from relatum.solvers.registry import Outcome, Solver, register

_PAIRWISE = ("reflexive", "symmetric", "antisymmetric", "connex")


def _refuses(problem: Problem) -> str | None:
    feasible = problem.feasible
    own: FeasibleSet = RELATIONS
    for name in _PAIRWISE:
        if feasible.has(name):
            own = own & NAMED_SETS[name.upper()]
    if not own.names >= feasible.names or (feasible.cap or math.inf) < problem.shape[1]:
        return "decides every pair on its own, and the properties tie pairs together"
    if problem.shape[0] * problem.shape[1] > DENSE_LIMIT:
        return "needs the dense matrix, which does not fit"
    return None


def solve(problem: Problem, control: Control) -> Outcome:
    """Take the best open state of every pair; ties go to fewer related pairs."""
    c = problem.dense()
    states = PairStates(problem, c)
    if states.empty:
        return Outcome(None, -math.inf, Leaf(infeasible=True))
    relation = Relation(states.related)
    bound = problem.exact_value(relation) + checked_slack(problem)
    return Outcome(relation, bound, Leaf())


register(
    Solver(
        name="threshold",
        summary="RELATIONS, and properties of mirror pairs: each pair is decided on its own.",
        proves=True,
        refuses=_refuses,
        run=solve,
        rank=lambda problem, prove: 0.0,
        exact=True,
    )
)
