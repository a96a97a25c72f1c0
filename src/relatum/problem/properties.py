"""Properties of relations: their linear rows, violated rows, membership, fixed pairs.

A property is written, as in the paper, in first-order logic and as rows of integer
arithmetic on the characteristic vector x. Rows are named by a *family* and an index, so
that a certificate can speak of "transitive (3, 1, 4)" and a checker can write the row down
again without trusting anyone:

========================  =======  ==================================================
family                    index    row
========================  =======  ==================================================
``transitive``            a, b, c  x_ab + x_bc - x_ac <= 1   (a != b, b != c)
``symmetric``             a, b     x_ab - x_ba <= 0
``antisymmetric``         a, b     x_ab + x_ba <= 1          (a != b)
``connex``                a, b     -x_ab - x_ba <= -1        (a != b)
``has_image``             a        -sum_b x_ab <= -1
``at_most``               a, k     sum_b x_ab <= k
``has_preimage``          b        -sum_a x_ab <= -1
``unique_preimage``       b        sum_a x_ab <= 1
========================  =======  ==================================================

Transitivity is taken over ordered triples, a = c included: over unordered triples, as
printed in the paper, three elements would admit seven "equivalence relations".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Flags, Floats, Index
from relatum.errors import EvidenceError, FeasibleSetError
from relatum.problem.arguments import (
    MOST_ELEMENTS,
    is_missing,
    labels_array,
    plain_array,
    shown,
    whole_number,
)
from relatum.problem.names import is_counted
from relatum.problem.relation import read_only

Shape = tuple[int, int]
EMPTY_PAIRS: Index = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Property(ABC):
    """One property of relations.

    Attributes
    ----------
    name : str
        The name of the property, and of its family of rows if it has one.
    homogeneous : bool
        Whether it makes sense only for relations on one set (A = B).
    """

    name: ClassVar[str]
    homogeneous: ClassVar[bool] = False

    @abstractmethod
    def contains(self, matrix: Flags) -> bool:
        """Say whether a relation, given by its matrix, has the property."""

    def index(self, shape: Shape) -> Index:
        """Return the indices of all rows of the property, one per line."""
        return np.empty((0, 1), dtype=np.int64)

    def excess(self, x: Floats) -> Floats:
        """Return by how much each row of `index` is broken at x; negative where it holds."""
        return np.empty(0)

    def violated(self, x: Floats, tolerance: float = 1e-6, limit: int = 10_000) -> Index:
        """Return the indices of rows broken at x by more than the tolerance, worst first."""
        shape = (x.shape[0], x.shape[1])
        return _worst(self.index(shape), self.excess(x), tolerance, limit)

    def fixed(self, shape: Shape) -> tuple[Index, Index]:
        """Return the pairs that the property forces (to be related, to be unrelated)."""
        return EMPTY_PAIRS, EMPTY_PAIRS

    def check(self, shape: Shape) -> None:
        """Raise a `FeasibleSetError` if the property cannot be asked of that shape."""
        if self.homogeneous and shape[0] != shape[1]:
            raise FeasibleSetError(
                f"The property {self} is about relations on one set (A = B), but |A| = {shape[0]} "
                f"and |B| = {shape[1]}; use maps or RELATIONS for two different sets."
            )

    @property
    def sentence(self) -> str:
        """The property as the end of the sentence 'and the relation ...'."""
        return f"is {self.name.replace('_', ' ')}"

    def __str__(self) -> str:
        return self.name.upper()


def _ordered_pairs(n: int) -> Index:
    i, j = np.nonzero(~np.eye(n, dtype=np.bool_))
    return np.column_stack([i, j]).astype(np.int64)


def _worst(index: Index, violation: Floats, tolerance: float, limit: int) -> Index:
    """Keep the rows violated by more than the tolerance, worst first."""
    keep = np.flatnonzero(violation > tolerance)
    return index[keep[np.argsort(-violation[keep], kind="stable")][:limit]]


@dataclass(frozen=True)
class Reflexive(Property):
    """Every element is related to itself."""

    name = "reflexive"
    homogeneous = True

    def contains(self, matrix: Flags) -> bool:
        return bool(np.diagonal(matrix).all())

    def fixed(self, shape: Shape) -> tuple[Index, Index]:
        n = np.arange(shape[0], dtype=np.int64)
        return np.column_stack([n, n]), EMPTY_PAIRS


@dataclass(frozen=True)
class Symmetric(Property):
    """If a is related to b, then b is related to a."""

    name = "symmetric"
    homogeneous = True

    def contains(self, matrix: Flags) -> bool:
        return bool(np.array_equal(matrix, matrix.T))

    def index(self, shape: Shape) -> Index:
        return _ordered_pairs(shape[0])

    def excess(self, x: Floats) -> Floats:
        a, b = _ordered_pairs(x.shape[0]).T
        return np.asarray((x - x.T)[a, b])


class _OfUnorderedPairs(Property):
    """A property with one row for every unordered pair of different elements."""

    homogeneous = True

    def index(self, shape: Shape) -> Index:
        return np.column_stack(np.triu_indices(shape[0], 1)).astype(np.int64)


@dataclass(frozen=True)
class Antisymmetric(_OfUnorderedPairs):
    """Of two different elements, at most one is related to the other."""

    name = "antisymmetric"

    def contains(self, matrix: Flags) -> bool:
        both = matrix & matrix.T
        return int(np.count_nonzero(both)) == int(np.count_nonzero(np.diagonal(matrix)))

    def excess(self, x: Floats) -> Floats:
        return np.asarray((x + x.T - 1)[np.triu_indices(len(x), 1)])


@dataclass(frozen=True)
class Connex(_OfUnorderedPairs):
    """Of two different elements, at least one is related to the other."""

    name = "connex"

    def contains(self, matrix: Flags) -> bool:
        return bool((matrix | matrix.T | np.eye(len(matrix), dtype=np.bool_)).all())

    def excess(self, x: Floats) -> Floats:
        return np.asarray((1 - x - x.T)[np.triu_indices(len(x), 1)])


@dataclass(frozen=True)
class Transitive(Property):
    """If a is related to b and b to c, then a is related to c."""

    name = "transitive"
    homogeneous = True

    def contains(self, matrix: Flags) -> bool:
        # kernels are compiled: imported only where used, the rest of this room is plain Python
        from relatum.kernels.separation import first_intransitivity

        return int(first_intransitivity(np.ascontiguousarray(matrix, dtype=np.bool_))[0]) < 0

    def index(self, shape: Shape) -> Index:
        n = shape[0]
        triples = list(permutations(range(n), 3))
        triples += [(a, b, a) for a in range(n) for b in range(n) if a != b]
        return np.array(triples, dtype=np.int64).reshape(-1, 3)

    def violated(self, x: Floats, tolerance: float = 1e-6, limit: int = 10_000) -> Index:
        from relatum.kernels.separation import violated_transitivity

        point = np.ascontiguousarray(x, dtype=np.float64)
        index, _ = violated_transitivity(point, tolerance, limit)
        return np.asarray(index)


class _AtLeastOne(Property):
    """Every element of one set is related to some element of the other."""

    axis: ClassVar[int]  # over which the matrix is summed: 1 for elements of A, 0 for those of B

    def contains(self, matrix: Flags) -> bool:
        return bool(matrix.any(axis=self.axis).all())

    def index(self, shape: Shape) -> Index:
        return np.arange(shape[1 - self.axis], dtype=np.int64)[:, None]

    def excess(self, x: Floats) -> Floats:
        return np.asarray(1 - x.sum(axis=self.axis))


@dataclass(frozen=True)
class HasImage(_AtLeastOne):
    """Every element of A is related to at least one element of B."""

    name = "has_image"
    axis = 1

    @property
    def sentence(self) -> str:
        return "gives every element of A an image"


@dataclass(frozen=True)
class AtMost(Property):
    """Every element of A is related to at most k elements of B.

    For equivalence relations, whose elements are related to themselves, this caps the
    size of each set at k. UNIQUE_IMAGE is the case k = 1.
    """

    k: int
    name = "at_most"

    def __post_init__(self) -> None:
        what = "at_most(k) allows at least one image per element: k"
        k = whole_number(self.k, what, error=FeasibleSetError)
        object.__setattr__(self, "k", k)

    def contains(self, matrix: Flags) -> bool:
        return bool((matrix.sum(axis=1) <= self.k).all())

    def index(self, shape: Shape) -> Index:
        return np.column_stack([np.arange(shape[0]), np.full(shape[0], self.k)]).astype(np.int64)

    def excess(self, x: Floats) -> Floats:
        return np.asarray(x.sum(axis=1) - self.k)

    @property
    def sentence(self) -> str:
        return f"gives no element of A more than {self.k} image{'s' * (self.k > 1)}"

    def __str__(self) -> str:
        return "UNIQUE_IMAGE" if self.k == 1 else f"at_most({self.k})"


@dataclass(frozen=True)
class HasPreimage(_AtLeastOne):
    """Every element of B is related to by at least one element of A."""

    name = "has_preimage"
    axis = 0

    @property
    def sentence(self) -> str:
        return "gives every element of B a preimage"


@dataclass(frozen=True)
class UniquePreimage(Property):
    """Every element of B is related to by at most one element of A."""

    name = "unique_preimage"

    def contains(self, matrix: Flags) -> bool:
        return bool((matrix.sum(axis=0) <= 1).all())

    def index(self, shape: Shape) -> Index:
        return np.arange(shape[1], dtype=np.int64)[:, None]

    def excess(self, x: Floats) -> Floats:
        return np.asarray(x.sum(axis=0) - 1)

    @property
    def sentence(self) -> str:
        return "gives no element of B more than one preimage"


def some_pairs(pairs: Any, what: str) -> Index:
    """Sorted, unique pairs as an int64 array of shape (k, 2)."""
    try:
        given = pairs if isinstance(pairs, np.ndarray) else list(pairs)
    except Exception:
        raise EvidenceError(
            f"Evidence '{what}' is a list of pairs (a, b) of element numbers, got {shown(pairs)}."
        ) from None
    array = plain_array(
        given, f"Pairs (a, b) in the list of pairs '{what}' of evidence", EvidenceError
    )
    if array.size == 0:
        return EMPTY_PAIRS
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise EvidenceError(
            f"Evidence '{what}' is a list of pairs (a, b) of element numbers, got an array of "
            f"shape {array.shape} and dtype {array.dtype}."
        )
    odd = int(array.min()) if array.min() < 0 else int(array.max())
    if not 0 <= odd < MOST_ELEMENTS:
        raise EvidenceError(
            f"Elements are numbered from 0, but evidence '{what}' names {odd}; ids are names of a "
            "problem: names=[...]."
        )
    return read_only(np.unique(array.astype(np.int64), axis=0))


@dataclass(frozen=True, eq=False)
class Evidence(Property):
    """Pairs known to be related and pairs known to be unrelated."""

    related: Index
    unrelated: Index
    name = "evidence"

    def __init__(self, related: Any = (), unrelated: Any = ()) -> None:
        object.__setattr__(self, "related", some_pairs(related, "related"))
        object.__setattr__(self, "unrelated", some_pairs(unrelated, "unrelated"))

    def contains(self, matrix: Flags) -> bool:
        self.check((matrix.shape[0], matrix.shape[1]))
        yes = matrix[self.related[:, 0], self.related[:, 1]].all()
        return bool(yes and not matrix[self.unrelated[:, 0], self.unrelated[:, 1]].any())

    def fixed(self, shape: Shape) -> tuple[Index, Index]:
        return self.related, self.unrelated

    def check(self, shape: Shape) -> None:
        for what, pairs in (("related", self.related), ("unrelated", self.unrelated)):
            out = np.flatnonzero((pairs >= np.array(shape)).any(axis=1))
            if out.size:
                a, b = pairs[out[0]]
                raise EvidenceError(
                    f"Evidence '{what}' names the pair ({a}, {b}), but there are only |A| = "
                    f"{shape[0]} and |B| = {shape[1]} elements, numbered from 0."
                )

    def merged(self, other: Evidence) -> Evidence:
        """Return the evidence that says what both say."""
        return Evidence(
            np.concatenate([self.related, other.related]),
            np.concatenate([self.unrelated, other.unrelated]),
        )

    def facts(self) -> list[tuple[int, int, bool]]:
        """Return every pair with whether it is related."""
        yes = [(a, b, True) for a, b in self.related.tolist()]
        return yes + [(a, b, False) for a, b in self.unrelated.tolist()]

    @classmethod
    def of_facts(cls, facts: Iterable[tuple[int, int, bool]]) -> Evidence:
        """Return the evidence that consists of these facts."""
        facts = list(facts)
        return cls([f[:2] for f in facts if f[2]], [f[:2] for f in facts if not f[2]])

    def implies(self, other: Evidence) -> bool:
        """Say whether every pair of the other evidence is also given here."""
        return len(self.merged(other)) == len(self)

    def __len__(self) -> int:
        return len(self.related) + len(self.unrelated)

    def _key(self) -> tuple[bytes, bytes]:
        return self.related.tobytes(), self.unrelated.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def told(self, names: Any) -> str:
        """Return the evidence as it is written; by names, if elements have `Names`."""

        def part(what: str, pairs: Index) -> str:
            listed = self._listed(what, pairs, names)
            inner = ", ".join(listed[:4])
            return f"{what}=[{inner}{', ...' if len(listed) > 4 else ''}]" if listed else ""

        parts = [part("related", self.related), part("unrelated", self.unrelated)]
        return f"evidence({', '.join(p for p in parts if p)})"

    def _listed(self, what: str, pairs: Index, names: Any) -> list[str]:
        first = pairs[:5].tolist()
        if names is not None:
            first = [(names.of(a, 0), names.of(b, 1)) for a, b in first]
        return [f"({a!r}, {b!r})" for a, b in first]

    def __str__(self) -> str:
        return self.told(None)


@dataclass(frozen=True, eq=False)
class OnePerGroup(Property):
    """No two different elements of one group are related (one record per source).

    Parameters
    ----------
    groups : array-like of shape (n,)
        The group of each element; any hashable labels.
    """

    groups: ArrayLike
    keys: tuple[Any, ...] | None = None  # the index of a pandas Series: names, if there are any
    name = "one_per_group"
    homogeneous = True

    def __post_init__(self) -> None:
        index: Any = getattr(self.groups, "index", None)
        if getattr(index, "is_unique", False) and not is_counted(index):
            object.__setattr__(self, "keys", tuple(index))
        labels = labels_array(self.groups, "The labels of one_per_group", FeasibleSetError)
        if labels.ndim != 1 or labels.size == 0:
            raise FeasibleSetError(
                "one_per_group(groups) takes one group label per element in a vector, got shape "
                f"{labels.shape}."
            )
        missing = np.array([is_missing(x) for x in labels.tolist()])
        if missing.any():
            raise FeasibleSetError(
                f"one_per_group has no label for element {int(np.argmax(missing))} (NaN or None); "
                "an element of no known group needs a label of its own, such as its number."
            )
        try:
            codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        except TypeError:
            raise FeasibleSetError(
                "one_per_group(groups) takes labels of one type that sorts, such as numbers or "
                f"texts, got {shown(labels.tolist())}."
            ) from None
        object.__setattr__(self, "groups", read_only(codes))

    @property
    def codes(self) -> Index:
        """The groups as integers from 0."""
        return np.asarray(self.groups)

    def by_key(self) -> dict[Any, int]:
        """Return the groups by the index that they came with."""
        return dict(zip(self.keys or (), self.codes.tolist(), strict=True))

    def contains(self, matrix: Flags) -> bool:
        self.check((matrix.shape[0], matrix.shape[1]))
        same = self.codes[:, None] == self.codes[None, :]
        return int(np.count_nonzero(matrix & same)) == int(np.count_nonzero(np.diagonal(matrix)))

    def fixed(self, shape: Shape) -> tuple[Index, Index]:
        same = self.codes[:, None] == self.codes[None, :]
        np.fill_diagonal(same, False)
        return EMPTY_PAIRS, np.argwhere(same).astype(np.int64)

    def check(self, shape: Shape) -> None:
        super().check(shape)
        if len(self.codes) != shape[0]:
            raise FeasibleSetError(
                f"one_per_group got {len(self.codes)} group labels for {shape[0]} elements; give "
                "one label per element."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OnePerGroup) or self.keys != other.keys:
            return False
        return bool(np.array_equal(self.codes, other.codes))

    def __hash__(self) -> int:
        return hash(self.codes.tobytes())

    @property
    def sentence(self) -> str:
        return "relates no two elements of one group"

    def __str__(self) -> str:
        return f"one_per_group({len(np.unique(self.codes))} groups)"
