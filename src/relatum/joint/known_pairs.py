"""The pairs of a joint problem: which are known, what each weighs, and how they are laid out.

Pairs come as a matrix (every ab of A x B, as the paper sums them) or as the upper triangle,
row by row, of a set in which the mirror pair follows: equivalence relations (x_ba = x_ab) and
linear orders (x_ba = 1 - x_ab). All arrays here have one entry per pair, in that layout.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats
from relatum.errors import DataError, EvidenceError, ProblemError
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    FeasibleSet,
    Problem,
    Relation,
    condensed_size,
    numbered_evidence,
    plain_array,
    shown,
)
from relatum.proof import Propagator, find_conflict

CLOSURE_LIMIT = 1_000_000  # pairs up to which the consequences of evidence are worked out
Layout = Literal["matrix", "triangle"]


class PairTable:
    """Pairs, what is known of them, and their weights in D_x.

    Parameters
    ----------
    shape : (int, int)
    layout : "matrix" or "triangle"
    feasible : FeasibleSet
        With the evidence.
    unknown_weight : float
        The weight of pairs that the evidence leaves open.
    balance : None or "balanced"
        Whether related and unrelated known pairs are given the same total weight.
    empty : bool array, optional
        Pairs without features (such as a diagonal): of no account for the balance.

    Attributes
    ----------
    a, b : int64 arrays
        The pairs.
    closed : int8 array of shape (|A|, |B|)
        What is known of every pair, consequences included: 1 related, 0 unrelated, -1 unknown.
    state : int8 array
        The same in the layout: 1 known to be related, 0 known to be unrelated, -1 unknown.
    weights : float64 array
    """

    def __init__(
        self,
        shape: tuple[int, int],
        layout: Layout,
        feasible: FeasibleSet,
        unknown_weight: float = 1.0,
        balance: str | None = None,
        empty: Flags | None = None,
    ) -> None:
        feasible.check(shape)
        self.shape, self.layout, self.feasible = shape, layout, feasible
        if layout == "triangle":
            a, b = np.triu_indices(shape[0], 1)
        else:
            a, b = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
        self.a, self.b = a.astype(np.int64), b.astype(np.int64)
        self.closed = self._closed_state()
        self.state: NDArray[np.int8] = self.closed[self.a, self.b]
        self.unknown = self.state < 0
        self.unknown_weight = unknown_weight
        self.empty = np.zeros(len(a), dtype=np.bool_) if empty is None else empty
        self.weights = self._weights(balance)

    def _closed_state(self) -> NDArray[np.int8]:
        """Return what evidence and properties say of every pair, consequences included."""
        problem = Problem(np.zeros(self.shape), self.feasible)
        small = self.shape[0] * self.shape[1] <= CLOSURE_LIMIT
        if not small and not problem.contradicts_itself:
            return problem.state
        conflict = find_conflict(problem)
        if conflict is not None:
            raise EvidenceError(conflict.message)
        return Propagator(self.feasible).close_all(problem.state).state

    def _weights(self, balance: str | None) -> Floats:
        weights = np.where(self.unknown, self.unknown_weight, 1.0)
        if balance is None:
            return weights
        yes, no = (self.state == 1) & ~self.empty, (self.state == 0) & ~self.empty
        if not yes.any() or not no.any():
            raise EvidenceError(
                "balance='balanced' gives related and unrelated evidence the same total weight, "
                f"but there are {yes.sum()} related and {no.sum()} unrelated known pairs; give "
                "evidence of both kinds, or use balance=None."
            )
        half = (int(yes.sum()) + int(no.sum())) / 2
        weights[yes], weights[no] = half / yes.sum(), half / no.sum()
        return weights

    @property
    def known_weights(self) -> Floats:
        """The weights, with unknown pairs left out."""
        return np.where(self.unknown, 0.0, self.weights)

    def problem(self, scores: Floats) -> Problem:
        """Return the inference problem with these scores."""
        if self.layout == "matrix":
            return Problem(scores.reshape(self.shape), self.feasible)
        if self.feasible.has("symmetric"):
            return Problem(scores, self.feasible)
        matrix = np.zeros(self.shape)
        matrix[self.a, self.b] = scores
        return Problem(matrix, self.feasible)

    def targets(self, relation: Relation) -> Floats:
        """Return the relation as a vector of zeros and ones."""
        return np.asarray(relation.matrix()[self.a, self.b], dtype=np.float64)

    @property
    def decided(self) -> Floats:
        """The known pairs as zeros and ones; unknown pairs are zero."""
        return np.asarray(self.state == 1, dtype=np.float64)


def layout_of(entries: tuple[int, ...], feasible: FeasibleSet) -> tuple[tuple[int, int], Layout]:
    """Read shape and layout from the shape of an array with one entry per pair."""
    if len(entries) == 2:
        return (int(entries[0]), int(entries[1])), "matrix"
    mirrored = feasible.has("symmetric") or feasible.has("antisymmetric", "connex")
    if len(entries) == 1 and mirrored:
        n = condensed_size(entries[0])
        return (n, n), "triangle"
    raise ProblemError(
        "Classes or features of pairs are given for a matrix |A| x |B| of pairs, or, for "
        "symmetric sets and linear orders, for the pairs of the upper triangle, row by row; got "
        f"{len(entries)} axes of pairs, {entries}, for {feasible}."
    )


def partial_evidence(labels: Any, feasible: FeasibleSet) -> FeasibleSet:
    """Evidence from one label per element, -1 where it is unknown.

    Parameters
    ----------
    labels : integer array of shape (n,)
        For maps: the image of every element. For equivalence relations: the number of its
        set, such that equal labels are related and different ones are not. For linear orders:
        its place; elements with a place are ordered by it.
    feasible : FeasibleSet
        Within MAPS (or partial maps), EQUIVALENCES or LINEAR_ORDERS.

    Returns
    -------
    FeasibleSet
        The evidence alone, to be intersected or passed as ``evidence=``.

    Examples
    --------
    >>> partial_evidence([0, -1, 0, 1], EQUIVALENCES)
    evidence(related=[(0, 2)], unrelated=[(0, 3), (2, 3)])
    >>> from relatum.problem import MAPS
    >>> partial_evidence([2, -1, 0], MAPS)
    evidence(related=[(0, 2), (2, 0)])
    """
    if not isinstance(feasible, FeasibleSet):
        raise DataError(f"A feasible set is one such as EQUIVALENCES, got {shown(feasible)}.")
    y = plain_array(labels, "Partial labels", DataError)
    if y.ndim != 1 or y.dtype.kind not in "iu" or (y.size and y.min() < -1):
        raise DataError(
            "Partial labels are one integer per element, -1 where unknown; got "
            f"{y.ndim} axes of type {y.dtype}."
        )
    known = np.flatnonzero(y >= 0)
    if feasible <= EQUIVALENCES or feasible <= LINEAR_ORDERS:
        i, j = np.triu_indices(len(known), 1)
        a, b = known[i], known[j]
        if feasible <= EQUIVALENCES:
            same = y[a] == y[b]
            pairs = np.column_stack([a, b])
            return numbered_evidence(pairs[same], pairs[~same])
        if len(np.unique(y[known])) < len(known):
            raise DataError(
                "In a linear order no two elements share a place; use -1 where it is unknown."
            )
        first = y[a] < y[b]
        return numbered_evidence(np.column_stack([np.where(first, a, b), np.where(first, b, a)]))
    if feasible.has("unique_image"):
        return numbered_evidence(np.column_stack([known, y[known]]))
    raise DataError(
        f"Partial labels say what is known of maps, equivalence relations and linear orders, not "
        f"of {feasible}; give pairs with relatum.evidence(related=..., unrelated=...)."
    )
