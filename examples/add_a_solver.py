"""Register an algorithm of your own, and check that it keeps the promises of a solver."""

import math

import numpy as np

import relatum as rt
from relatum.solvers import Outcome, Solver, register


def refuses(problem):
    if problem.feasible == rt.LINEAR_ORDERS:
        return None
    return "orders elements without evidence only"


def by_net_wins(problem, control):
    """Order by the sum of log-odds over all opponents: quick, and often not bad."""
    c = problem.dense()
    order = np.argsort(-(c.sum(axis=1) - c.sum(axis=0)), kind="stable")
    return Outcome(rt.LinearOrder.from_order(order))


register(
    Solver(
        name="net_wins",
        summary="Linear orders by net wins.",
        proves=False,
        refuses=refuses,
        run=by_net_wins,
        rank=lambda problem, prove: math.inf,  # only by name
    )
)
print("conforms on", rt.testing.check_solver("net_wins"), "small problems")

rng = np.random.default_rng(0)
problem = rt.Problem(rng.normal(size=(12, 12)), rt.LINEAR_ORDERS)
for name in ("net_wins", "auto"):
    e = rt.infer(problem, solver=name, prove=name == "auto")
    print(f"{name:9} value {e.value:7.3f}, bound {e.bound:7.3f}, {e.status.name}")
