"""What every method hands back: marginals of pairs, the normalizer, draws, and how they came.

A `Posterior` is the record between the methods, which compute, and `Probabilities`, which users
see. Marginals answer for any pairs; how they are stored is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from relatum.array_types import Floats, Index
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    MAPS,
    PARTIAL_MAPS,
    WEAK_ORDERS,
    FeasibleSet,
    LinearOrder,
    Map,
    PartialMap,
    Partition,
    Relation,
    WeakOrder,
)


class Marginals(Protocol):
    """Probabilities of pairs."""

    def pairs(self, i: Index, j: Index) -> tuple[Floats, Floats]:
        """Return the probabilities of pairs (i, j), and their standard errors."""


class DenseMarginals:
    """A matrix of probabilities, and one of their standard errors unless they are exact."""

    def __init__(self, matrix: Floats, error: Floats | None = None) -> None:
        self.matrix, self.error = np.clip(matrix, 0.0, 1.0), error

    def pairs(self, i: Index, j: Index) -> tuple[Floats, Floats]:
        error = np.zeros(len(i)) if self.error is None else self.error[i, j]
        return self.matrix[i, j], error


class BlockMarginals:
    """A matrix for every block of elements; elements of different blocks are unrelated.

    Parameters
    ----------
    block : (n,) array
        The block of each element.
    place : (n,) array
        Its row in the block's matrix; several elements may share one.
    matrices : sequence of square arrays
    """

    def __init__(self, block: Index, place: Index, matrices: Sequence[Floats]) -> None:
        sizes = np.array([len(m) for m in matrices], dtype=np.int64)
        self.block, self.place, self.sizes = block, place, sizes
        self.starts = np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.int64)
        entries = np.concatenate([m.ravel() for m in matrices]) if matrices else np.empty(0)
        self.entries = np.clip(entries, 0.0, 1.0)

    def pairs(self, i: Index, j: Index) -> tuple[Floats, Floats]:
        own = self.block[i]
        inside = own == self.block[j]
        at = self.starts[own] + self.place[i] * self.sizes[own]
        at += np.where(inside, self.place[j], 0)
        return np.where(inside, self.entries[at], 0.0), np.zeros(len(i))


Draw = Callable[[int, np.random.Generator], list[Relation]]
Sets = Callable[[Sequence[Index]], Floats]


@dataclass(frozen=True, eq=False)
class Posterior:
    """The measure conditional on the feasible set, as far as a method found it.

    Attributes
    ----------
    marginals : Marginals
    normalizer : Fraction or None
        The log2 of the sum of 2^value over the feasible relations, in bits.
    exact : bool
        Whether nothing but rounding is between these numbers and the truth.
    method : str
        Which method found them, in a word or two.
    draw : callable (count, generator) -> list of relations
    normalizer_error : float
        Standard error of the normalizer, in bits.
    sets : callable (list of arrays of elements) -> probabilities, or None
        For clusterings: that each is exactly one of the sets.
    ranks : array or None
        For linear orders: the probability of element a at place k, in row a and column k.
    blocks : array or None
        A number per element: elements of different blocks were not allowed to be related.
    diagnostics : mapping
        What a method has to say of its work; a key "warning" is shown to users.
    """

    marginals: Marginals
    normalizer: Fraction | None
    exact: bool
    method: str
    draw: Draw
    normalizer_error: float = 0.0
    sets: Sets | None = None
    ranks: Floats | None = None
    blocks: Index | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


_KINDS: tuple[tuple[FeasibleSet, type[Relation]], ...] = (
    (EQUIVALENCES, Partition),
    (LINEAR_ORDERS, LinearOrder),
    (WEAK_ORDERS, WeakOrder),
    (MAPS, Map),
    (PARTIAL_MAPS, PartialMap),
)


def kind_of(feasible: FeasibleSet) -> type[Relation]:
    """Return the most compact kind that every relation of a feasible set is of."""
    structure = feasible.structure
    return next((kind for larger, kind in _KINDS if structure <= larger), Relation)
