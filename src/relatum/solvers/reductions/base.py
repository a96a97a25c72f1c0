"""What a reduction is: a smaller problem, or several, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from relatum.problem import Problem, Relation
from relatum.proof import Proof


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem taken apart.

    Attributes
    ----------
    parts : sequence of Problem
    constant : float
        The value of a relation is the constant plus the values of its parts.
    invert : callable (relations of the parts) -> Relation
    divide : callable (Relation) -> relations of the parts
        For warm starts.
    prove : callable (bounds, proofs of the parts) -> Proof
    error : float
        What rounding may have taken from the constant and the scores of the parts; a bound
        of the whole is at most the constant plus the bounds of the parts plus this.
    """

    parts: Sequence[Problem]
    constant: float
    invert: Callable[[Sequence[Relation]], Relation]
    divide: Callable[[Relation], Sequence[Relation]]
    prove: Callable[[Sequence[float], Sequence[Proof]], Proof]
    error: float = 0.0


class Reduction(Protocol):
    """A lossless reduction."""

    name: str

    def accepts(self, problem: Problem) -> bool:
        """Say whether it applies and makes the problem smaller."""

    def apply(self, problem: Problem) -> Reduced:
        """Reduce the problem."""
