"""Relations whose properties speak of mirror pairs only: each pair is decided on its own."""

from __future__ import annotations

import math

import numpy as np

from relatum.problem import DENSE_LIMIT, NAMED_SETS, RELATIONS, FeasibleSet, Problem, Relation
from relatum.proof import Leaf, Rounded
from relatum.proof.checker import dense_view
from relatum.solvers.control import Control
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
    if problem.contradicts_itself:
        return Outcome(None, -math.inf, Leaf(infeasible=True))
    view = dense_view(problem, Rounded())
    bound = view.best(view.residual(()))
    if bound == -math.inf:
        return Outcome(None, -math.inf, Leaf(infeasible=True))
    c, state = view.scores, view.state
    y = np.where(state < 0, c > 0, state == 1)
    if view.homogeneous:
        i, j = view.upper
        best = np.full(len(i), -math.inf)
        f, b = state[i, j], state[j, i]
        for xf, xb in view.states():
            total = c[i, j] * xf + c[j, i] * xb
            better = ((f < 0) | (f == xf)) & ((b < 0) | (b == xb)) & (total > best)
            best = np.where(better, total, best)
            y[i[better], j[better]] = xf
            y[j[better], i[better]] = xb
    relation = Relation(y)
    return Outcome(relation, max(problem.value(relation), float(bound)), Leaf())


register(
    Solver(
        name="threshold",
        summary="RELATIONS, and properties of mirror pairs: each pair is decided on its own.",
        proves=True,
        refuses=_refuses,
        run=solve,
        rank=lambda problem, prove: 0.0,
    )
)
