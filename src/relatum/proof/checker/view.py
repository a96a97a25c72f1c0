"""What every view of a problem has: pairs to fix, rows to read, and sums to round down.

A view writes a problem as an array of unknowns in one arithmetic, and says for each whether it
is fixed. The dense one has an unknown for every ordered pair, the sparse one for some unordered
pairs. Whatever a certificate names is checked here before it is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import relatum.proof.partition_rows  # noqa: F401  makes its families known
from relatum.array_types import Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet
from relatum.proof.arithmetic import Arithmetic
from relatum.proof.certificate import FAMILIES, Cuts, SparseRows

Pair = tuple[int, int]
NOTHING = -math.inf  # the bound of an empty set of relations


def rows_of(cut: Cuts, feasible: FeasibleSet, shape: tuple[int, int]) -> SparseRows:
    """Write down the rows of some cuts, refusing what is not valid for the feasible set."""
    family = FAMILIES.get(cut.family)
    if family is None:
        raise CertificateError(f"Unknown family of rows {cut.family!r}.")
    if family.width is not None and cut.index.shape[1] != family.width:
        raise CertificateError(
            f"Rows of family {cut.family!r} have {family.width} indices, got {cut.index.shape[1]}."
        )
    if len(cut) and not family.valid(feasible, cut.index, shape):
        raise CertificateError(
            f"Rows of family {cut.family!r} with these indices are not valid for {feasible}."
        )
    rows = family.rows(cut.index, shape)
    inside = (rows.a >= 0) & (rows.a < shape[0]) & (rows.b >= 0) & (rows.b < shape[1])
    if not inside.all():
        raise CertificateError(f"A row of family {cut.family!r} names an element out of range.")
    return rows


def hereditary(feasible: FeasibleSet) -> FeasibleSet:
    """Return the properties that a relation hands down to every subset of the elements."""
    names = set(feasible.names)
    if "reflexive" not in names:
        names -= {"has_image", "has_preimage"}
    keep = [p for p in feasible.structure.properties if p.name in names or p.name == "at_most"]
    caps = [p for p in feasible.properties if p.name == "at_most"]
    # RELATIONS on one set stay on one set: the caller's shape is square anyway
    return FeasibleSet([*keep, *caps])


def best_single(r: NDArray[Any], state: NDArray[np.int8]) -> NDArray[Any]:
    """Return what each unknown adds at best: its coefficient, or nothing, as it is open to it."""
    zero = r * 0
    return np.where(state == 1, r, np.where(state == 0, zero, np.maximum(zero, r)))


def summed(matrix: NDArray[Any], labels: Index) -> NDArray[Any]:
    """Return the sums of a square matrix over the pairs of elements of every two classes."""
    g = int(labels.max()) + 1
    out = np.zeros((g, g), dtype=matrix.dtype)
    np.add.at(out, (labels[:, None], labels[None, :]), matrix)
    return out


class View:
    """What dense and sparse views share."""

    shape: tuple[int, int]
    feasible: FeasibleSet
    arithmetic: Arithmetic
    empty: bool = False  # whether fixed pairs contradict one another
    _grid: tuple[Any, Any] | None = None

    def copy(self) -> Self:
        """Return a view whose fixed pairs can be changed separately."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def pair(self, pair: Sequence[int]) -> Pair:
        """Check that a pair exists."""
        a, b = int(pair[0]), int(pair[1])
        if not (0 <= a < self.shape[0] and 0 <= b < self.shape[1]):
            raise CertificateError(f"Pair ({a}, {b}) does not exist.")
        return a, b

    def state_of(self, a: int, b: int) -> int:
        """Return 1, 0 or -1: related, unrelated, open."""
        raise NotImplementedError

    def _consequences(self, pair: Sequence[int], value: bool) -> list[tuple[int, int, int]]:
        """Return a pair with its value, and the mirror pair if its value follows."""
        a, b = self.pair(pair)
        todo = [(a, b, int(value))]
        if self.feasible.homogeneous and a != b:
            if self.feasible.has("symmetric"):
                todo.append((b, a, int(value)))
            if value and self.feasible.has("antisymmetric"):
                todo.append((b, a, 0))
            if not value and self.feasible.has("connex"):
                todo.append((b, a, 1))
        return todo

    def _put(self, a: int, b: int, value: int) -> None:
        """Fix one unknown."""
        raise NotImplementedError

    def _unknown(self, a: int, b: int) -> Pair:
        """Return the name of the unknown that a pair of a row is about."""
        return a, b

    def fix(self, pair: Sequence[int], value: bool) -> None:
        """Fix a pair, and its mirror pair if that follows."""
        for a, b, v in self._consequences(pair, value):
            if self.state_of(a, b) == 1 - v:
                self.empty = True
            self._put(a, b, v)

    def fixing(self, pairs: Iterable[Any], values: Iterable[Any]) -> Self:
        """Return a view with some pairs fixed."""
        view = self.copy()
        for pair, value in zip(pairs, values, strict=True):
            view.fix(pair, bool(value))
        return view

    def read(self, cut: Cuts) -> tuple[SparseRows, NDArray[Any], Any]:
        """Return rows, their terms times multipliers, and their right sides times these."""
        rows, y = rows_of(cut, self.feasible, self.shape), cut.multipliers
        if not (np.isfinite(y).all() and (y >= 0).all()):
            raise CertificateError(
                f"A multiplier of family {cut.family!r} is negative or not finite."
            )
        y = self.arithmetic.array(y)
        terms = y[rows.row_of_term()] * rows.coefficient
        return rows, terms, self.arithmetic.total(y * rows.rhs)

    def row_excludes(self, cut: Cuts, pair: Pair, value: bool) -> bool:
        """Say whether one row cannot hold when the pair takes the value."""
        rows = rows_of(cut, self.feasible, self.shape)
        assumed: dict[Pair, int] = {}
        for a, b, v in self._consequences(pair, value):
            if self.state_of(a, b) == 1 - v or assumed.get(self._unknown(a, b), v) != v:
                return True
            assumed[self._unknown(a, b)] = v
        terms: dict[Pair, int] = {}
        for a, b, k in zip(
            rows.a.tolist(), rows.b.tolist(), rows.coefficient.tolist(), strict=True
        ):
            unknown = self._unknown(a, b)
            terms[unknown] = terms.get(unknown, 0) + k
        least = 0
        for unknown, k in terms.items():
            s = assumed.get(unknown, self.state_of(*unknown))
            least += k * s if s >= 0 else min(0, k)
        return least > int(rows.rhs[0])

    def owners(self, parts: Sequence[Index]) -> Index:
        """Return the part of each element, -1 for none; refuse parts that are not disjoint."""
        n = self.shape[0]
        owner = np.full(n, -1, dtype=np.int64)
        for k, elements in enumerate(parts):
            if elements.size == 0 or elements.min() < 0 or elements.max() >= n:
                raise CertificateError("A part of a decomposition names elements out of range.")
            if (owner[elements] >= 0).any() or len(np.unique(elements)) != len(elements):
                raise CertificateError("The parts of a decomposition overlap.")
            owner[elements] = k
        return owner

    def checked_labels(self, given: Any, what: str) -> Index:
        """Return labels of classes of elements, refusing any but one per element from 0 on."""
        labels = np.asarray(given, dtype=np.int64)
        if labels.shape != (self.shape[0],) or labels.min() < 0:
            raise CertificateError(f"{what} needs one label per element, numbered from 0.")
        return labels

    def require_related(self, labels: Index, a: Index, b: Index) -> None:
        """Refuse classes, 0, 1, ..., that the related pairs ab do not connect."""
        from scipy.sparse import coo_array  # slow to import, and not needed to read a bundle
        from scipy.sparse.csgraph import connected_components

        inner = labels[a] == labels[b]
        graph = coo_array((np.ones(int(inner.sum())), (a[inner], b[inner])), shape=self.shape)
        count, _ = connected_components(graph, directed=False)
        if not count == int(labels.max()) + 1 == len(np.unique(labels)):
            raise CertificateError("A contraction joins elements that are not known to be related.")

    def floor(self, bound: Any) -> Any:
        """Round a bound down to the largest value that any relation can have.

        All values differ by multiples of the greatest common divisor of the scores.
        """
        if isinstance(bound, float) and not math.isfinite(bound):
            return bound
        if self._grid is None:
            self._grid = self._find_grid()
        step, offset = self._grid
        if step is None:
            return bound
        if not self.arithmetic.exact:
            bound = math.floor(bound)
        if step == 0:
            return offset
        return offset + (bound - offset) // step * step

    def _find_grid(self) -> tuple[Any, Any]:
        """Return (step, offset) such that all values are offset + k step; step None if unknown."""
        raise NotImplementedError
