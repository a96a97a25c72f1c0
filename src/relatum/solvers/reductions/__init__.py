"""Lossless reductions: accepts, apply, invert."""

from __future__ import annotations

from relatum.problem import Problem
from relatum.solvers.reductions.base import Reduced, Reduction
from relatum.solvers.reductions.components import Components
from relatum.solvers.reductions.contraction import Contraction

__all__ = ["REDUCTIONS", "Components", "Contraction", "Reduced", "Reduction", "first_reduction"]

# In the order in which they are tried.
REDUCTIONS: tuple[Reduction, ...] = (Contraction(), Components())


def first_reduction(problem: Problem, done: frozenset[str]) -> Reduction | None:
    """Return the first reduction that applies and has not been used on this problem."""
    for reduction in REDUCTIONS:
        if reduction.name not in done and reduction.accepts(problem):
            return reduction
    return None
