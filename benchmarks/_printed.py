"""The joint problems as the paper prints them, handed to SCIP: a cross-check for tiny sizes.

Nothing of the structure is used: theta and y are variables, D_x + R_sigma is written out pair by
pair, and every row of every property is there from the beginning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relatum.array_types import Flags
from relatum.errors import MissingDependencyError
from relatum.joint.inputs import read_joint_problem
from relatum.joint.known_pairs import PairTable
from relatum.joint.learning import BernoulliLearner, LogisticLearner
from relatum.measures import LN2
from relatum.problem import FeasibleSet, Relation
from relatum.proof import FAMILIES

__all__ = ["PrintedResult", "solve_as_printed"]


@dataclass(frozen=True)
class PrintedResult:
    """What SCIP found.

    Attributes
    ----------
    objective, bound : float
        In bits; the objective is computed anew from the relation and its best theta.
    relation : Relation or None
    finished : bool
        Whether SCIP proved optimality within its limit.
    seconds : float
    """

    objective: float
    bound: float
    relation: Relation | None
    finished: bool
    seconds: float


def solve_as_printed(
    x_or_classes: Any,
    feasible: FeasibleSet,
    *,
    time_limit: float = 60.0,
    **problem: Any,
) -> PrintedResult:
    """Solve the mixed-integer nonlinear program of the paper with SCIP (extra `scip`).

    Parameters
    ----------
    x_or_classes, feasible, **problem
        As in `joint_estimate`: measure, evidence, unknown_weight, balance.
    time_limit : float
        Seconds.
    """
    try:
        from pyscipopt import Model
    except ImportError as error:
        raise MissingDependencyError(
            "SCIP solves the joint problem as printed; install relatum[scip], or use "
            "joint_estimate(..., exact=True), which does not need it."
        ) from error
    table, learner, _ = read_joint_problem(x_or_classes, feasible, **problem)
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", float(time_limit))
    model.setParam("parallel/maxnthreads", 1)
    y = _relation_variables(model, table)
    at = [y[a][b] for a, b in zip(table.a.tolist(), table.b.tolist(), strict=True)]
    if isinstance(learner, BernoulliLearner):
        cost = _bernoulli(model, learner, at)
    elif isinstance(learner, LogisticLearner):
        cost = _logistic(model, learner, at)
    else:
        raise MissingDependencyError("SCIP is given classes or features of pairs only.")
    total = model.addVar("objective", lb=0.0, ub=None)
    model.addCons(total >= cost)
    model.setObjective(total, "minimize")
    model.optimize()
    return _read(model, table, learner, y)


def _relation_variables(model: Any, table: PairTable) -> list[list[Any]]:
    """Add y, fixed where it is known, and every row of the properties."""
    n_a, n_b = table.shape
    state = table.closed
    y = [
        [
            model.addVar(f"y{a}_{b}", vtype="B", lb=int(state[a, b] == 1), ub=int(state[a, b] != 0))
            for b in range(n_b)
        ]
        for a in range(n_a)
    ]
    for p in sorted(table.feasible.complete.properties, key=str):
        if p.name not in FAMILIES:
            continue
        rows = FAMILIES[p.name].rows(p.index(table.shape), table.shape)
        terms: list[list[tuple[int, int, int]]] = [[] for _ in range(len(rows))]
        for r, a, b, k in zip(
            rows.row_of_term().tolist(),
            rows.a.tolist(),
            rows.b.tolist(),
            rows.coefficient.tolist(),
            strict=True,
        ):
            terms[r].append((a, b, k))
        for term, rhs in zip(terms, rows.rhs.tolist(), strict=True):
            model.addCons(sum(k * y[a][b] for a, b, k in term) <= rhs)
    return y


def _bernoulli(model: Any, learner: BernoulliLearner, y: list[Any]) -> Any:
    """D_x + R_sigma of the Bernoulli model, printed pair by pair."""
    from pyscipopt import log

    s = learner.s
    least = s / (learner.totals + 2.0 * s)  # the closed form is never outside these bounds
    theta = [model.addVar(f"theta{j}", lb=low, ub=1.0 - low) for j, low in enumerate(least)]
    cost: Any = sum((-s / LN2) * (log(t) + log(1 - t)) for t in theta)
    for p in np.flatnonzero(learner.has_class & (learner.weights > 0)).tolist():
        t, w = theta[int(learner.code[p])], float(learner.weights[p]) / LN2
        cost = cost + w * ((log(1 - t) - log(t)) * y[p] - log(1 - t))
    return cost


def _logistic(model: Any, learner: LogisticLearner, y: list[Any]) -> Any:
    """D_x + R_sigma of the logistic model, printed pair by pair."""
    from pyscipopt import exp, log

    x, weights = learner.x, learner.weights
    # the prior alone costs no more than theta = 0, which costs a bit per pair
    reach = math.sqrt(2.0 * LN2 * float(weights.sum()) / learner.strength)
    theta = [model.addVar(f"theta{k}", lb=-reach, ub=reach) for k in range(learner.width)]
    cost: Any = sum(learner.strength / (2.0 * LN2) * t * t for t in theta)
    for p in np.flatnonzero(weights > 0).tolist():
        inner = sum(float(v) * t for v, t in zip(x[p], theta, strict=True) if v)
        w = float(weights[p])
        if isinstance(inner, int):  # a pair without features costs one bit
            cost = cost + w
            continue
        cost = cost + w * (log(1 + exp(LN2 * inner)) / LN2 - inner * y[p])
    return cost


def _read(model: Any, table: PairTable, learner: Any, y: list[list[Any]]) -> PrintedResult:
    finished = model.getStatus() == "optimal"
    bound, seconds = float(model.getDualbound()), float(model.getSolvingTime())
    if model.getNSols() == 0:
        return PrintedResult(math.inf, bound, None, finished, seconds)
    best = model.getBestSol()
    matrix: Flags = np.array([[best[v] > 0.5 for v in row] for row in y])
    relation = Relation(matrix)
    targets = table.targets(relation)
    objective = learner.objective(learner.learn(targets), targets)
    return PrintedResult(objective, bound, relation, finished, seconds)
