"""Certificates: what a solver leaves behind so that anyone can re-prove its bound.

The relaxation of a problem by rows a_r x <= b_r has, for **any** multipliers y >= 0, the
bound ``b y + max over x of (c - A'y) x``, where the maximum is taken pair by pair over the
states that evidence, fixings and the pairwise properties leave open. Nothing about it
depends on how, or how accurately, the multipliers were found.

A certificate is a tree of such statements: `Leaf` (a bound, or a proof that nothing is
feasible), `Branch` (a pair is related or it is not), `Fix` (a pair takes one value, because
the other value's bound is no better than claimed), `Imply` (a row leaves a pair one value),
`Decompose` (disjoint sets of elements, bounded one by one), `Contract` (elements known
to be related are one), `Prices` (a price for each element that no set is worth more than),
`Merge` (elements of an order that are alike are one) and `SubsetOrder` (a part that the
checker orders itself). Rows are named by family and
index; see `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet


@dataclass(frozen=True)
class SparseRows:
    """Rows a_r x <= b_r with integer coefficients, in compressed form.

    Row r holds the terms start[r] ... start[r + 1] - 1; term t is coefficient[t] times the
    pair (a[t], b[t]). A pair may occur more than once in a row; its terms add up.
    """

    start: Index
    a: Index
    b: Index
    coefficient: Index
    rhs: Index

    def __len__(self) -> int:
        return len(self.rhs)

    def row_of_term(self) -> Index:
        """Return the row number of each term."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))


def regular_rows(a: Any, b: Any, coefficient: Any, rhs: Any) -> SparseRows:
    """Rows with equally many terms each: a, b and coefficient of shape (r, t)."""
    a, b, coefficient = np.broadcast_arrays(a, b, coefficient)
    r, t = a.shape
    start = np.arange(0, r * t + 1, t, dtype=np.int64) if t else np.zeros(r + 1, dtype=np.int64)
    return SparseRows(
        start,
        np.ascontiguousarray(a, dtype=np.int64).reshape(-1),
        np.ascontiguousarray(b, dtype=np.int64).reshape(-1),
        np.ascontiguousarray(coefficient, dtype=np.int64).reshape(-1),
        np.broadcast_to(np.asarray(rhs, dtype=np.int64), r).copy(),
    )


@dataclass(frozen=True)
class Family:
    """A family of valid rows.

    Attributes
    ----------
    name : str
    width : int or None
        Columns of the index array; None if rows differ in length (padded with -1).
    rows : callable (index, shape) -> SparseRows
        Writes the rows down.
    valid : callable (feasible, index, shape) -> bool
        Whether every relation of the feasible set satisfies these rows.
    doc : str
        The row as a formula.
    """

    name: str
    width: int | None
    rows: Callable[[Index, tuple[int, int]], SparseRows]
    valid: Callable[[FeasibleSet, Index, tuple[int, int]], bool]
    doc: str


FAMILIES: dict[str, Family] = {}


def register_family(family: Family) -> None:
    """Make a family known to certificates; a name can be taken once."""
    if family.name in FAMILIES:
        raise CertificateError(f"The family of rows {family.name!r} is registered already.")
    FAMILIES[family.name] = family


def _needs(*names: str) -> Callable[[FeasibleSet, Index, tuple[int, int]], bool]:
    return lambda feasible, index, shape: feasible.has(*names)


def _needs_two(name: str) -> Callable[[FeasibleSet, Index, tuple[int, int]], bool]:
    """Rows about two different elements: for one element they would say something else."""
    return lambda feasible, index, shape: (
        feasible.has(name) and bool((index[:, 0] != index[:, 1]).all())
    )


def _distinct_neighbours(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    ok = (index[:, 0] != index[:, 1]).all() and (index[:, 1] != index[:, 2]).all()
    return bool(ok) and feasible.has("transitive")


def _caps(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    cap = 1 if feasible.has("unique_image") else feasible.cap
    return cap is not None and bool((index[:, 1] >= cap).all())


def _transitive_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    a, b, c = index.T
    pairs_a, pairs_b = np.column_stack([a, b, a]), np.column_stack([b, c, c])
    return regular_rows(pairs_a, pairs_b, np.array([[1, 1, -1]]), 1)


def _two_pairs(first: int, second: int, rhs: int) -> Callable[..., SparseRows]:
    def rows(index: Index, shape: tuple[int, int]) -> SparseRows:
        return regular_rows(index, index[:, ::-1], np.array([[first, second]]), rhs)

    return rows


def _line_rows(axis: int, sign: int) -> Callable[..., SparseRows]:
    """Rows over all pairs of one element of A (axis 0) or of B (axis 1)."""

    def rows(index: Index, shape: tuple[int, int]) -> SparseRows:
        along = np.arange(shape[1 - axis])[None, :]
        own, other = np.broadcast_arrays(index[:, :1], along)
        a, b = (own, other) if axis == 0 else (other, own)
        rhs = index[:, 1] if index.shape[1] > 1 else sign
        return regular_rows(a, b, np.int64(sign), rhs)

    return rows


for _family in (
    Family("transitive", 3, _transitive_rows, _distinct_neighbours, "x_ab + x_bc - x_ac <= 1"),
    Family("symmetric", 2, _two_pairs(1, -1, 0), _needs("symmetric"), "x_ab - x_ba <= 0"),
    Family(
        "antisymmetric", 2, _two_pairs(1, 1, 1), _needs_two("antisymmetric"), "x_ab + x_ba <= 1"
    ),
    Family("connex", 2, _two_pairs(-1, -1, -1), _needs_two("connex"), "-x_ab - x_ba <= -1"),
    Family("has_image", 1, _line_rows(0, -1), _needs("has_image"), "-sum_b x_ab <= -1"),
    Family("at_most", 2, _line_rows(0, 1), _caps, "sum_b x_ab <= k"),
    Family("has_preimage", 1, _line_rows(1, -1), _needs("has_preimage"), "-sum_a x_ab <= -1"),
    Family("unique_preimage", 1, _line_rows(1, 1), _needs("unique_preimage"), "sum_a x_ab <= 1"),
):
    register_family(_family)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Rows of one family with their multipliers.

    Attributes
    ----------
    family : str
        A key of `FAMILIES`.
    index : int64 array of shape (r, width)
    multipliers : float64 array of shape (r,)
        Non-negative.
    """

    family: str
    index: Index
    multipliers: Floats

    def __post_init__(self) -> None:
        index = np.atleast_2d(np.asarray(self.index, dtype=np.int64))
        multipliers = np.asarray(self.multipliers, dtype=np.float64)
        if multipliers.shape != (len(index),):
            raise CertificateError(
                f"Cuts of family {self.family!r} have {len(index)} rows but "
                f"{multipliers.size} multipliers."
            )
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "multipliers", multipliers)

    def __len__(self) -> int:
        return len(self.index)

    def positive(self) -> Cuts:
        """Drop the rows whose multiplier is zero."""
        keep = self.multipliers > 0
        return Cuts(self.family, self.index[keep], self.multipliers[keep])


@dataclass(frozen=True, eq=False)
class Leaf:
    """A bound by multipliers; with ``infeasible``, a proof that no relation is left.

    In an infeasible leaf the log-odds count as zero, and the bound must be negative.
    """

    cuts: tuple[Cuts, ...] = ()
    infeasible: bool = False


@dataclass(frozen=True, eq=False)
class Branch:
    """A pair is unrelated, or it is related; each case has its own proof."""

    pair: tuple[int, int]
    unrelated: Proof
    related: Proof


@dataclass(frozen=True, eq=False)
class Fix:
    """Pairs whose other value is bounded, by these multipliers, by what is claimed anyway."""

    cuts: tuple[Cuts, ...]
    pairs: Index
    values: Flags
    then: Proof


@dataclass(frozen=True, eq=False)
class Imply:
    """Pairs that a row each leaves one value, given the pairs fixed so far, in this order.

    ``families[t]`` and ``rows[t]`` (padded with -1) name the row that implies
    ``values[t]`` for ``pairs[t]``.
    """

    families: tuple[str, ...]
    rows: Index
    pairs: Index
    values: Flags
    then: Proof


@dataclass(frozen=True, eq=False)
class Decompose:
    """Disjoint sets of elements with a proof each; the other pairs are bounded one by one.

    ``parts`` holds, for each set, its elements, the bound claimed for the problem on those
    elements alone (in their order), and its proof.
    """

    parts: tuple[tuple[Index, float, Proof], ...]


@dataclass(frozen=True, eq=False)
class Contract:
    """Elements with equal labels are related already; the proof is about the sets of them.

    Valid for equivalence relations. Set g of the contracted problem is {a: labels[a] = g}.
    """

    labels: Index
    then: Proof


@dataclass(frozen=True, eq=False)
class Prices:
    """A price for each element; no set of the partition has more than its elements' prices.

    Valid for equivalence relations, useful where a cap on the size of sets leaves few of
    them, or where two groups leave single elements and pairs only, however many. The log-odds
    are those that rows with multipliers leave, c - A'y. Every element is in one set, so the sum
    of all prices, and b y, bound every partition.
    """

    cuts: tuple[Cuts, ...]
    prices: Floats


@dataclass(frozen=True, eq=False)
class Merge:
    """Elements with equal labels are alike, so that some best order has them side by side.

    Valid for linear orders. Alike are elements without fixed pairs that score the same with
    every third element, in both directions, and the same in either order of the two. Set g
    of the merged problem is {a: labels[a] = g}; pairs within a set are its diagonal.
    """

    labels: Index
    then: Proof


@dataclass(frozen=True, eq=False)
class SubsetOrder:
    """A linear order so constrained that the checker goes through it itself.

    It follows the subsets of elements that may begin an order worth more than is claimed.
    """


Proof = Leaf | Branch | Fix | Imply | Decompose | Contract | Prices | Merge | SubsetOrder


@dataclass(frozen=True, eq=False)
class Certificate:
    """A bound and its proof.

    Attributes
    ----------
    bound : float
        No feasible relation has a larger value; -inf says that there is none.
    proof : Proof

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> certificate = rt.infer(problem, prove=True).certificate
    >>> certificate.bound
    6.0
    """

    bound: float
    proof: Proof = field(default_factory=Leaf)

    def counts(self) -> dict[str, int]:
        """Count nodes, and rows by family, for people who read certificates."""
        totals: dict[str, int] = {"leaves": 0, "branches": 0, "fixed": 0}
        todo: list[Proof] = [self.proof]
        while todo:
            proof = todo.pop()
            totals["leaves"] += isinstance(proof, Leaf | Prices | SubsetOrder)
            totals["branches"] += isinstance(proof, Branch)
            totals["fixed"] += len(proof.pairs) if isinstance(proof, Fix | Imply) else 0
            for cuts in getattr(proof, "cuts", ()):
                totals[cuts.family] = totals.get(cuts.family, 0) + len(cuts)
            todo += children(proof)
        return totals


def children(proof: Proof) -> list[Proof]:
    """Return the proofs that a proof rests on, in the order of its fields."""
    values = [getattr(proof, f.name) for f in fields(proof)]
    if isinstance(proof, Decompose):
        values = [value for part in proof.parts for value in part]
    return [value for value in values if isinstance(value, Proof)]
