"""Reductions make a problem smaller without loss, and lift proofs back.

Clusterings contract what is known to be related and fall into components (`base` says what a
reduction is); linear orders close their evidence, merge alike elements and fall into strongly
connected components (`orders`). `connected` finds the components of pairs. This room imports
problem, proof and kernels, and no solver. Begin with `base`.
"""

from __future__ import annotations

from relatum.problem import Problem
from relatum.solvers.reductions.base import Reduced, Reduction
from relatum.solvers.reductions.components import Components
from relatum.solvers.reductions.connected import BLOCK, connected
from relatum.solvers.reductions.contraction import Contraction
from relatum.solvers.reductions.orders import Plan, closed_evidence, imply_steps, plan_of

__all__ = [
    "BLOCK",
    "REDUCTIONS",
    "Components",
    "Contraction",
    "Plan",
    "Reduced",
    "Reduction",
    "closed_evidence",
    "connected",
    "first_reduction",
    "imply_steps",
    "plan_of",
]

# In the order in which they are tried.
REDUCTIONS: tuple[Reduction, ...] = (Contraction(), Components())


def first_reduction(problem: Problem, done: frozenset[str]) -> Reduction | None:
    """Return the first reduction that applies and has not been used on this problem."""
    for reduction in REDUCTIONS:
        if reduction.name not in done and reduction.accepts(problem):
            return reduction
    return None
