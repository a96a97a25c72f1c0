"""Reductions make a problem smaller without loss, and lift proofs back.

Pairs that large log-odds decide become evidence (`exclusions`), large log-odds of fixed pairs are
set aside (`constants`). Clusterings contract what is known to be related and fall into components
(`base` says what a reduction is); linear orders close their evidence, merge alike elements and
fall into strongly connected components (`orders`). `connected` finds the components of pairs.
This room imports problem, proof and kernels, and no solver. Begin with `base`.
"""

from __future__ import annotations

from relatum.problem import Problem
from relatum.solvers.reductions.base import Bound, Reduced, Reduction
from relatum.solvers.reductions.components import Components
from relatum.solvers.reductions.connected import BLOCK, connected
from relatum.solvers.reductions.constants import Constants
from relatum.solvers.reductions.contraction import Contraction, groups_of_must_links
from relatum.solvers.reductions.exclusions import Exclusions
from relatum.solvers.reductions.orders import Plan, closed_evidence, imply_steps, plan_of
from relatum.solvers.reductions.parts import checkable, lost_by_prices

__all__ = [
    "BLOCK",
    "REDUCTIONS",
    "Bound",
    "Components",
    "Constants",
    "Contraction",
    "Exclusions",
    "Plan",
    "Reduced",
    "Reduction",
    "checkable",
    "closed_evidence",
    "connected",
    "first_reduction",
    "groups_of_must_links",
    "imply_steps",
    "lost_by_prices",
    "plan_of",
]

# In the order in which they are tried.
REDUCTIONS: tuple[Reduction, ...] = (Exclusions(), Constants(), Contraction(), Components())


def first_reduction(problem: Problem, done: frozenset[str], decompose: bool) -> Reduction | None:
    """Return the first reduction that applies and has not been used on this problem.

    Without `decompose`, those that make it smaller are left out.
    """
    for reduction in REDUCTIONS:
        wanted = (decompose or reduction.always) and reduction.name not in done
        if wanted and reduction.accepts(problem):
            return reduction
    return None
