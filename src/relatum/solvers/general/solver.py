"""Registration of the general branch-and-cut, on HiGHS and on SCIP's LP solver."""

from __future__ import annotations

import math
from functools import partial

from relatum.lp import engine_named
from relatum.problem import Problem
from relatum.solvers.control import Control
from relatum.solvers.general.branch_and_cut import SETTINGS, BranchAndCut
from relatum.solvers.registry import Outcome, Solver, register


def _refuses(problem: Problem) -> str | None:
    pairs = problem.shape[0] * problem.shape[1]
    if pairs > SETTINGS.most_pairs:
        return f"takes at most {SETTINGS.most_pairs} pairs, and there are {pairs}"
    return None


def _run(engine: str, problem: Problem, control: Control) -> Outcome:
    return BranchAndCut(problem, control, engine_named(engine)).run()


register(
    Solver(
        name="branch_and_cut",
        summary="Branch-and-cut on HiGHS linear programs, for any intersection of properties.",
        proves=True,
        refuses=_refuses,
        run=partial(_run, "highs"),
        rank=lambda problem, prove: 100.0,
        decompose=True,
    )
)
register(
    Solver(
        name="branch_and_cut_scip",
        summary="The same branch-and-cut on SCIP's linear programs (extra `scip`).",
        proves=True,
        refuses=_refuses,
        run=partial(_run, "scip"),
        rank=lambda problem, prove: math.inf,
        decompose=True,
    )
)
