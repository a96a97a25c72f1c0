"""What a reduction is: a smaller problem, or several, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from relatum.problem import Problem, Relation
from relatum.proof import Proof

Bound = float | Fraction  # infinite or exact


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem taken apart.

    Attributes
    ----------
    parts : sequence of Problem
    constant : Fraction
        The value of a relation is the constant plus the values of its parts, up to rounding
        of scores that were added up.
    invert : callable (relations of the parts) -> Relation
    divide : callable (Relation) -> relations of the parts
        For warm starts.
    prove : callable (bounds, proofs of the parts) -> (bound, Proof)
        Of the whole; the bound is one that the proof establishes.
    start : Relation, optional
        A relation of the whole; the proof is one for whoever finds one at least as good.
    without : set of str
        Reductions that are not to be applied to the parts.
    """

    parts: Sequence[Problem]
    constant: Fraction
    invert: Callable[[Sequence[Relation]], Relation]
    divide: Callable[[Relation], Sequence[Relation]]
    prove: Callable[[Sequence[Bound], Sequence[Proof]], tuple[Bound, Proof]]
    start: Relation | None = None
    without: frozenset[str] = frozenset()


def largest(problem: Problem) -> float:
    """Return the largest absolute value of the log-odds that are listed."""
    c = problem.log_odds
    return max(float(c.max()), -float(c.min())) if c.size else 0.0


class Reduction(Protocol):
    """A lossless reduction."""

    name: str
    always: bool  # whether to apply it whatever the solver, and not only if that decomposes

    def accepts(self, problem: Problem) -> bool:
        """Say whether it applies and makes the problem smaller."""

    def apply(self, problem: Problem) -> Reduced:
        """Reduce the problem."""
