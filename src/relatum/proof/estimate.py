"""Estimates: the relation found, its value, and how far from optimal it can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from numpy.typing import NDArray

from relatum.errors import RelationError
from relatum.html import card, picture
from relatum.problem import Problem, Relation
from relatum.proof.certificate import Certificate

PairOfNames: TypeAlias = tuple[NDArray[Any] | None, NDArray[Any] | None]

# What OPTIMAL means: no feasible relation has a value, summed up exactly, that is more than so
# many bits above that of the estimate's relation. It does not grow with the values, so that
# what all relations have in common, however large, makes nothing optimal.
OPTIMAL_GAP = 2.0**-20
DRAWN = 300  # elements of the largest problem that an estimate keeps for its picture in notebooks


class Status(Enum):
    """What is known at the end, each with a sentence that says so.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.Status.FEASIBLE.sentence
    'The relation is feasible; a more probable one may exist.'
    >>> [status.name for status in rt.Status]
    ['OPTIMAL', 'FEASIBLE', 'BOUND_ONLY', 'INFEASIBLE']
    """

    OPTIMAL = "No feasible relation is more probable."
    FEASIBLE = "The relation is feasible; a more probable one may exist."
    BOUND_ONLY = "No feasible relation was found in time, but the bound holds."
    INFEASIBLE = "No relation satisfies the properties and the evidence."

    @property
    def sentence(self) -> str:
        """The status as a sentence."""
        return self.value


@dataclass(frozen=True)
class Estimate:
    """The result of inference.

    Attributes
    ----------
    status : Status
    relation : Relation or None
        The best relation found.
    value : float
        The sum of the log-odds of its related pairs, in bits; -inf without a relation.
    bound : float
        No feasible relation has a larger value; +inf if nothing is known.
    certificate : Certificate or None
        What `relatum.verify` needs to re-prove the bound.
    solver : str
        The solver that found the relation.
    message : str
        A sentence for people; for INFEASIBLE it names the evidence that conflicts.
    stats : mapping
        Seconds, nodes, rows and whatever else the solver counted.
    names : (array or None, array or None) or None
        What the problem calls the elements of A and of B; no part of what is proved.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> e = rt.infer(problem, prove=True)
    >>> e.relation.labels.tolist(), e.value, e.bound, e.gap
    ([0, 0, 0], 6.0, 6.0, 0.0)
    >>> e.status.name, e.message
    ('OPTIMAL', 'No feasible relation is more probable.')
    """

    status: Status
    relation: Relation | None
    value: float
    bound: float
    certificate: Certificate | None = None
    solver: str = ""
    message: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)
    names: PairOfNames | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stats", MappingProxyType(dict(self.stats)))
        if not self.message:
            object.__setattr__(self, "message", self.status.sentence)

    @property
    def gap(self) -> float:
        """Bound minus value, in bits.

        No feasible relation is more than 2**gap times as probable as this one. Where an
        optimum is so large that the next float is more than `OPTIMAL_GAP` away, the gap is that.
        """
        if self.status is Status.INFEASIBLE:
            return math.nan
        gap = max(0.0, self.bound - self.value)
        next_to = self.bound <= math.nextafter(self.value, math.inf)
        return min(gap, OPTIMAL_GAP) if self.status is Status.OPTIMAL and next_to else gap

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the relation as columns, elements by the names that the problem gives them.

        See `Relation.table`.

        Examples
        --------
        >>> import relatum as rt
        >>> e = rt.infer(rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES, names=["a", "b", "c"]))
        >>> {key: column.tolist() for key, column in e.table().items()}
        {'element': ['a', 'b', 'c'], 'set': [0, 0, 0]}
        """
        return self._found().table(self.names)

    def to_pandas(self) -> Any:
        """Return the relation as a pandas Series by name: sets, ranks or images of elements.

        Of relations of no such kind, a DataFrame of the related pairs.
        """
        return self._found().to_pandas(self.names)

    def to_polars(self) -> Any:
        """Return `table` as a polars DataFrame."""
        return self._found().to_polars(self.names)

    def _found(self) -> Relation:
        if self.relation is None:
            raise RelationError(f"The estimate has no relation: {self.message}")
        return self.relation

    def drawn_with(self, problem: Problem) -> Estimate:
        """Let notebooks draw the relation over the log-odds of a problem, if that is small."""
        if max(problem.shape) <= DRAWN:
            object.__setattr__(self, "_problem", problem)
        return self

    def _repr_html_(self) -> str:
        seconds = float(self.stats.get("seconds", 0.0))
        rows = [
            ("value", f"{self.value:.6g} bits"),
            ("bound", f"{self.bound:.6g} bits"),
            ("gap", f"{self.gap:.3g} bits"),
            ("solver", f"{self.solver}, {seconds:.2f} s"),
        ]
        if self.relation is None:
            return card(f"Estimate: {self.status.name}", [self.message], rows[-1:])
        sentences = [self.message]
        if self.status is not Status.OPTIMAL and math.isfinite(self.gap):
            sentences.append(f"None is more than 2^{self.gap:.3g} times as probable.")
        rows.insert(0, ("relation", repr(self.relation)))
        problem, image = getattr(self, "_problem", None), ""
        if problem is not None:
            told = f"The log-odds, with {self.relation!r} drawn over them"
            image = picture(lambda plots: plots.relation(problem, self), told)
        return card(f"Estimate: {self.status.name}", sentences, rows, image)

    def __repr__(self) -> str:
        return (
            f"Estimate({self.status.name}, value={self.value:.6g}, bound={self.bound:.6g}, "
            f"gap={self.gap:.3g} bits, solver={self.solver!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.status, self.relation, self.value, self.bound, self.certificate)
        return Estimate, (*fields, self.solver, self.message, dict(self.stats), self.names)


def closes(value: float | Fraction, bound: float | Fraction) -> bool:
    """Say whether a bound is close enough to a value to call it optimal: within `OPTIMAL_GAP`.

    The two are compared exactly; to compare exact values, give fractions.
    """
    if math.isinf(value) or math.isinf(bound):
        return bound <= value
    return Fraction(bound) - Fraction(value) <= Fraction(OPTIMAL_GAP)
