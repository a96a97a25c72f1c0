"""Solvers answer: each takes a problem and returns a relation, perhaps a bound with its proof.

One room per family (`direct`, `partition`, `order`, `general`), and what all share: `registry`
says which solver may take which problem, `control` carries limits and progress, `reductions`
make problems smaller without loss, and `divided` applies them and solves the parts. Solvers
import `problem`, `proof`, `lp` and kernels. Begin with `registry`, then
`direct.threshold`, the shortest solver.
"""

# Importing a module registers its solvers.
from relatum.solvers import direct, general, order, partition
from relatum.solvers.control import (
    Control,
    Monitor,
    Progress,
    outer_control,
    polite_interrupts,
    within,
)
from relatum.solvers.divided import better_start, choose_any, solve_divided
from relatum.solvers.registry import SOLVERS, Outcome, Solver, choose, register, solver_named
from relatum.solvers.trivial_bound import trivial_bound

__all__ = [
    "SOLVERS",
    "Control",
    "Monitor",
    "Outcome",
    "Progress",
    "Solver",
    "better_start",
    "choose",
    "choose_any",
    "direct",
    "general",
    "order",
    "outer_control",
    "partition",
    "polite_interrupts",
    "register",
    "solve_divided",
    "solver_named",
    "trivial_bound",
    "within",
]
