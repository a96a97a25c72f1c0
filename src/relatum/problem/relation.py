"""Relations between finite sets, as immutable values.

A relation is a set of pairs ab with a in A and b in B. `Relation` holds its 01-matrix;
the compact kinds (`Map`, `PartialMap`, `Partition`, `LinearOrder`, `WeakOrder`) hold one
number per element and make the matrix on demand. Two relations are equal when they relate
the same pairs, whatever their kind.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Flags, Index
from relatum.errors import RelationError
from relatum.problem.arguments import plain_array, shown, whole_number
from relatum.problem.memory import require_memory
from relatum.problem.tabular import Tabular

Kind = TypeVar("Kind", bound="Relation")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array after switching off writing."""
    array.flags.writeable = False
    return array


def _column_weights(n: int) -> NDArray[np.uint64]:
    """Mix 0..n-1 into well-spread 64-bit numbers (the finaliser of SplitMix64)."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _integers(values: ArrayLike, what: str) -> Index:
    array = plain_array(values, what, RelationError)
    if array.dtype.kind == "f" and array.dtype.itemsize != 8:
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    if array.ndim != 1 or array.size == 0:
        raise RelationError(
            f"{what} must be a non-empty vector, one entry per element, got shape {array.shape}."
        )
    whole = array.dtype.kind == "f" and bool(np.isfinite(array).all())
    whole = whole and np.array_equal(array, np.round(array))
    if array.dtype.kind not in "iub" and not whole:
        raise RelationError(f"{what} must be integers, got dtype {array.dtype}.")
    if array.dtype.kind in "uf" and not abs(array).max() < 2**63:
        raise RelationError(f"{what} must be integers of 64 bits, got {array.max()}.")
    return array.astype(np.int64)


class Relation(Tabular):
    """A relation between A and B, given by its 01-matrix.

    Parameters
    ----------
    matrix : array-like of shape (n_a, n_b)
        Zeros and ones (or booleans); entry ab is one iff a is related to b.

    Examples
    --------
    >>> r = Relation([[1, 1], [0, 1]])
    >>> r.pairs().tolist()
    [[0, 0], [0, 1], [1, 1]]
    >>> r == LinearOrder.from_order([0, 1])
    True
    """

    __slots__ = ("_hash", "_matrix", "shape")

    kind: ClassVar[str] = "relation"
    # what the relation is held as, and the attribute that holds it
    _form: ClassVar[tuple[str, str]] = ("matrix", "_matrix")
    shape: tuple[int, int]
    _matrix: Flags
    _hash: int | None

    def __init__(self, matrix: ArrayLike) -> None:
        array = plain_array(matrix, "The rows of a relation's matrix", RelationError)
        if array.ndim != 2 or 0 in array.shape:
            raise RelationError(
                f"A relation's matrix has two non-empty axes (A and B), got shape {array.shape}."
            )
        if array.dtype != np.bool_:
            if array.dtype.kind not in "iuf" or not ((array == 0) | (array == 1)).all():
                raise RelationError(
                    "A relation's matrix holds zeros and ones only; threshold log-odds with "
                    "`matrix > 0` first."
                )
            array = array.astype(np.bool_)
        self._set(array.copy(), (int(array.shape[0]), int(array.shape[1])))

    def matrix(self) -> Flags:
        """Return the 01-matrix as a read-only boolean array."""
        return self._matrix

    def pairs(self) -> Index:
        """Return the related pairs, one row each, in lexicographic order."""
        return np.argwhere(self.matrix()).astype(np.int64)

    def _require_matrix(self) -> None:
        """Refuse to make a matrix that does not fit into memory."""
        require_memory(
            self.shape[0] * self.shape[1],
            f"The matrix of a relation of {self.shape[0]} x {self.shape[1]} elements",
            f"work with its {self._form[0]}, one number per element ({type(self).__name__}."
            f"{self._form[1]})",
            RelationError,
        )

    @property
    def n_pairs(self) -> int:
        """How many pairs are related."""
        return int(np.count_nonzero(self.matrix()))

    def to(self, kind: type[Any]) -> Any:
        """Convert to another kind, checking that the relation is one.

        Raises
        ------
        RelationError
            If the relation is not of that kind; the message names a pair that shows it.
        """
        if not (isinstance(kind, type) and issubclass(kind, Relation)):
            raise RelationError(f"A kind of relation is one such as Partition, got {shown(kind)}.")
        if isinstance(self, kind):
            return self
        return kind.from_matrix(self.matrix())

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Build the relation from its 01-matrix, checking that it is of this kind."""
        return cls(matrix)

    def _fingerprint(self) -> NDArray[np.uint64]:
        """One number per element of A that depends on its related set only."""
        weights = _column_weights(self.shape[1])
        with np.errstate(over="ignore"):
            sums = np.where(self._matrix, weights, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        return np.asarray(sums, dtype=np.uint64)

    def __hash__(self) -> int:
        if self._hash is None:
            code = hash((self.shape, self._fingerprint().tobytes()))
            object.__setattr__(self, "_hash", code)
        return hash(self._hash)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relation):
            return NotImplemented
        if self.shape != other.shape:
            return False
        if self._form == other._form:
            return bool(np.array_equal(self._array, other._array))
        return hash(self) == hash(other) and bool(np.array_equal(self.matrix(), other.matrix()))

    def __contains__(self, pair: object) -> bool:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            return False
        a, b = pair
        if not all(isinstance(x, int | np.integer) for x in pair):
            return False
        return (
            0 <= a < self.shape[0]
            and 0 <= b < self.shape[1]
            and bool(self.matrix()[int(a), int(b)])
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, {self.n_pairs} related pairs)"

    @property
    def _array(self) -> NDArray[Any]:
        """The one array that makes the relation."""
        found: NDArray[Any] = getattr(self, self._form[1])
        return found

    def _set(self, array: NDArray[Any], shape: tuple[int, int]) -> None:
        """Set the one array that makes the relation; called once, at construction."""
        object.__setattr__(self, self._form[1], read_only(array))
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "_hash", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Relations are immutable; cannot set {name!r}. Build a new one.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._array,)


def _confirmed(found: Kind, matrix: Flags) -> Kind:
    """Return a relation after checking that it has a given matrix."""
    differ = np.argwhere(found.matrix() != matrix)
    if len(differ) == 0:
        return found
    a, b = (int(i) for i in differ[0])
    said = "is" if matrix[a, b] else "is not"
    raise RelationError(
        f"The relation is not a {found.kind}: pair ({a}, {b}) {said} related, which contradicts "
        "the rest."
    )


class PartialMap(Relation):
    """A relation in which every element of A has at most one image.

    Parameters
    ----------
    labels : array-like of int, shape (n_a,)
        The image of each element; -1 for none.
    n_labels : int, optional
        |B|; the largest label plus one if not given.

    Examples
    --------
    >>> import relatum as rt
    >>> m = rt.PartialMap([2, -1, 0])
    >>> m.matrix().astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """

    __slots__ = ("labels",)
    kind = "partial map"
    _least_label: ClassVar[int] = -1  # no image, where there may be none
    _form = ("images", "labels")
    labels: Index

    def __init__(self, labels: ArrayLike, n_labels: int | None = None) -> None:
        array = _integers(labels, "The labels of a map")
        top = int(array.max()) + 1
        n_b = max(top, 1)
        if n_labels is not None:
            n_b = whole_number(n_labels, "n_labels, that is |B|,", error=RelationError)
        least = self._least_label
        if array.min() < least or top > n_b or n_b < 1:
            raise RelationError(
                f"Labels of a {self.kind} lie between {least} and n_labels - 1 = {n_b - 1}, "
                f"got values from {array.min()} to {array.max()}."
            )
        self._set(array, (array.size, n_b))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Build from a 01-matrix with at most one related pair per row."""
        y = Relation(matrix).matrix()
        counts = y.sum(axis=1)
        bad = np.flatnonzero((counts > 1) | (counts < cls._least_label + 1))
        if bad.size:
            raise RelationError(
                f"The relation is not a {cls.kind}: element {bad[0]} has {counts[bad[0]]} images."
            )
        return cls(np.where(counts > 0, y.argmax(axis=1), -1), n_labels=y.shape[1])

    def matrix(self) -> Flags:
        self._require_matrix()
        y = np.zeros(self.shape, dtype=np.bool_)
        a = np.flatnonzero(self.labels >= 0)
        y[a, self.labels[a]] = True
        return read_only(y)

    @property
    def n_pairs(self) -> int:
        return int(np.count_nonzero(self.labels >= 0))

    def _fingerprint(self) -> NDArray[np.uint64]:
        weights = _column_weights(self.shape[1])
        return np.where(self.labels >= 0, weights[self.labels], np.uint64(0))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.labels, self.shape[1])


class Map(PartialMap):
    """A relation in which every element of A has exactly one image: a classification.

    Examples
    --------
    >>> Map([2, 0], n_labels=3).matrix().astype(int).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """

    __slots__ = ()
    kind = "map"
    _least_label = 0


class Partition(Relation):
    """An equivalence relation on A, held as one label per element: a clustering.

    Parameters
    ----------
    labels : array-like of int, shape (n,)
        Elements with equal labels are related. Labels are renumbered 0, 1, ... in the
        order of first occurrence, so that equal partitions have equal labels.

    Examples
    --------
    >>> p = Partition([7, 7, 3])
    >>> p.labels.tolist(), [s.tolist() for s in p.sets()]
    ([0, 0, 1], [[0, 1], [2]])
    """

    __slots__ = ("labels",)
    kind = "partition"
    _form = ("sets", "labels")
    labels: Index

    def __init__(self, labels: ArrayLike) -> None:
        array = _integers(labels, "The labels of a partition")
        _, first, inverse = np.unique(array, return_index=True, return_inverse=True)
        number = np.empty(first.size, dtype=np.int64)
        number[np.argsort(first)] = np.arange(first.size)
        self._set(number[inverse], (array.size, array.size))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Build from the 01-matrix of an equivalence relation."""
        y = _square(matrix, cls.kind)
        return _confirmed(cls(y.argmax(axis=1)), y)

    @property
    def n_sets(self) -> int:
        """The number of equivalence classes."""
        return int(self.labels.max()) + 1

    def sizes(self) -> Index:
        """Return the size of each set."""
        return np.bincount(self.labels).astype(np.int64)

    def sets(self) -> list[Index]:
        """Return the equivalence classes as arrays of elements, ordered by first element."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(self.sizes())[:-1])

    def matrix(self) -> Flags:
        self._require_matrix()
        return read_only(self.labels[:, None] == self.labels[None, :])

    @property
    def n_pairs(self) -> int:
        return int((self.sizes() ** 2).sum())

    def _fingerprint(self) -> NDArray[np.uint64]:
        sums = np.zeros(self.n_sets, dtype=np.uint64)
        np.add.at(sums, self.labels, _column_weights(self.shape[0]))
        return sums[self.labels]

    def __repr__(self) -> str:
        return f"Partition(n={self.shape[0]}, {self.n_sets} sets)"


class WeakOrder(Relation):
    """A ranking with ties: a is related to b iff a's rank is at most b's.

    Parameters
    ----------
    ranks : array-like of int, shape (n,)
        Smaller comes first; equal ranks are ties. Renumbered 0, 1, ... without holes.

    Examples
    --------
    >>> import relatum as rt
    >>> w = rt.WeakOrder([0, 1, 1, 4])
    >>> w.ranks.tolist(), [tied.tolist() for tied in w.classes()]
    ([0, 1, 1, 2], [[0], [1, 2], [3]])
    >>> w.matrix().astype(int).tolist()
    [[1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]]
    """

    __slots__ = ("ranks",)
    kind = "weak order"
    _form = ("ranks", "ranks")
    ranks: Index

    def __init__(self, ranks: ArrayLike) -> None:
        array = _integers(ranks, f"The ranks of a {self.kind}")
        _, dense = np.unique(array, return_inverse=True)
        self._set(dense.astype(np.int64), (array.size, array.size))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Build from the 01-matrix of a reflexive, transitive and connex relation."""
        y = _square(matrix, cls.kind)
        return _confirmed(cls(-y.sum(axis=1)), y)

    @property
    def order(self) -> Index:
        """The elements from first to last; ties in the order of their numbers."""
        return np.argsort(self.ranks, kind="stable")

    def classes(self) -> list[Index]:
        """Return the tied classes from first to last."""
        return np.split(self.order, np.cumsum(np.bincount(self.ranks))[:-1])

    def matrix(self) -> Flags:
        self._require_matrix()
        return read_only(self.ranks[:, None] <= self.ranks[None, :])

    @property
    def n_pairs(self) -> int:
        sizes = np.bincount(self.ranks)
        return int((sizes * np.cumsum(sizes[::-1])[::-1]).sum())

    def _fingerprint(self) -> NDArray[np.uint64]:
        sums = np.zeros(int(self.ranks.max()) + 1, dtype=np.uint64)
        np.add.at(sums, self.ranks, _column_weights(self.shape[0]))
        return np.cumsum(sums[::-1], dtype=np.uint64)[::-1][self.ranks]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.order.tolist() if self.shape[0] <= 20 else '...'})"


class LinearOrder(WeakOrder):
    """A ranking without ties: a is related to b iff a comes before b or is b.

    Parameters
    ----------
    ranks : array-like of int, shape (n,)
        The place of each element, all different; see `from_order` for the inverse.

    Examples
    --------
    >>> LinearOrder.from_order([2, 0, 1]).ranks.tolist()
    [1, 2, 0]
    """

    __slots__ = ()
    kind = "linear order"

    def __init__(self, ranks: ArrayLike) -> None:
        super().__init__(ranks)
        if int(self.ranks.max()) + 1 != self.ranks.size:
            tied = int(np.bincount(self.ranks).argmax())
            raise RelationError(
                f"A linear order has no ties, but elements {np.flatnonzero(self.ranks == tied)} "
                "share a rank; use WeakOrder for rankings with ties."
            )

    @classmethod
    def trusted(cls, ranks: Index) -> Self:
        """Build from ranks known to be a permutation of 0 ... n - 1, without checking."""
        order = cls.__new__(cls)
        order._set(ranks, (ranks.size, ranks.size))
        return order

    @classmethod
    def from_order(cls, order: ArrayLike) -> Self:
        """Build from the elements listed from first to last."""
        array = _integers(order, "The order")
        if not np.array_equal(np.sort(array), np.arange(array.size)):
            raise RelationError(
                "An order lists each of the elements 0 ... n - 1 exactly once, got "
                f"{array.tolist() if array.size <= 20 else f'{array.size} entries'}."
            )
        ranks = np.empty_like(array)
        ranks[array] = np.arange(array.size)
        return cls(ranks)


def _square(matrix: ArrayLike, kind: str) -> Flags:
    y = Relation(matrix).matrix()
    if y.shape[0] != y.shape[1]:
        raise RelationError(f"A {kind} is a relation on one set, got a matrix of shape {y.shape}.")
    return y
