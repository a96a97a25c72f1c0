"""Log-odds of pairs in three layouts behind one small interface.

`DenseScores` (a matrix), `CondensedScores` (an upper triangle) and `SparseScores` (listed
pairs and a background). Each sums the log-odds of a relation without making more than it
must, and none changes or copies the caller's array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.errors import ProblemError
from relatum.problem.arguments import plain_array, real_number, require_sizes, shown
from relatum.problem.exact_sums import ExactSum
from relatum.problem.memory import require_memory
from relatum.problem.pair_lists import PairNames, elements_of, shape_of_pairs, without_duplicates

Found = tuple[Index, Index]
BLOCK = 1 << 22  # entries looked at in one go
BYTES_PER_ELEMENT, BYTES_PER_PAIR = 100, 100  # about what it takes to search a sparse problem
GATHERED = 1 << 16  # entries gathered to be added up: they stay in the cache
TILED = 1000  # elements from which on matrices are folded tile by tile


class Scores(Protocol):
    """What a problem asks of its log-odds."""

    @property
    def shape(self) -> tuple[int, int]:
        """(|A|, |B|)."""

    @property
    def log_odds(self) -> NDArray[Any]:
        """The array as given."""

    @property
    def background(self) -> float:
        """The log-odds of unlisted pairs."""

    def sum_over_partition(self, labels: Index) -> ExactSum:
        """Sum over pairs with equal labels."""

    def sum_over_map(self, labels: Index) -> ExactSum:
        """Sum over pairs (a, labels[a])."""

    def sum_over_order(self, order: Index, ranks: Index) -> ExactSum:
        """Sum over pairs (a, b) with ranks[a] <= ranks[b]."""

    def sum_over_matrix(self, matrix: Flags) -> ExactSum:
        """Sum over the pairs that are one in the matrix."""

    def dense(self) -> Floats:
        """Matrix with the same sums over feasible relations."""

    def folded(self) -> tuple[NDArray[Any], float]:
        """Condensed scores of unordered pairs, and the sum of the diagonal."""

    def restrict(self, elements: Index) -> Scores:
        """Scores of the pairs of some elements."""

    def magnitude(self) -> float:
        """Sum of the absolute listed scores, to judge rounding by."""

    def describe(self) -> str:
        """Say in a few words what this is."""


def _float_array(array: NDArray[Any]) -> NDArray[Any]:
    """Keep float32 and float64 as they are; make other numbers float64."""
    if array.dtype in (np.float32, np.float64):
        view = array.view()
    elif array.dtype.kind in "iubf":
        with np.errstate(over="ignore"):  # of numbers that are longer than a float64
            view = array.astype(np.float64)
        if array.dtype.kind == "f" and (np.isinf(view) & np.isfinite(array)).any():
            raise ProblemError(
                f"Log-odds are at most 2**1000 bits in size, got {array.max()!s}; what is certain "
                "is evidence: write inf or -inf."
            )
    else:
        raise ProblemError(
            f"Log-odds are real numbers in bits, got dtype {array.dtype}; convert them first."
        )
    view.flags.writeable = False
    return view


def _blocks(n_rows: int, width: int, size: int = BLOCK) -> Iterator[slice]:
    step = max(1, size // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(n_rows, start + step))


def _sum_of_sizes(values: NDArray[Any]) -> float:
    """Return the sum of absolute values, without a copy of all of them."""
    return math.fsum(
        float(np.abs(values[rows]).sum(dtype=np.float64)) for rows in _blocks(len(values), 1)
    )


def _sets_by_size(labels: Index) -> tuple[Index, list[Index]]:
    """Return the elements that are alone in their set, and the sets of several."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    several = [order[s : s + k] for s, k in zip(starts, sizes, strict=True) if k > 1]
    return order[starts[sizes == 1]], several


def _nan_error(where: str) -> ProblemError:
    return ProblemError(
        f"Log-odds must not be NaN, but {where} is. Use 0.0 for 'no opinion', or leave the pair "
        "out and give a `background` (Problem.from_pairs)."
    )


def condensed_size(length: int) -> int:
    """Return n such that n (n - 1) / 2 is the length, or raise."""
    n = (1 + math.isqrt(1 + 8 * length)) // 2
    if n * (n - 1) // 2 != length or length < 1:
        raise ProblemError(
            f"A condensed upper triangle has n (n - 1) / 2 entries (1, 3, 6, ...), got {length}."
        )
    return n


def condensed_places(a: Any, b: Any, n: int) -> Index:
    """Return the places of unordered pairs of n elements in a condensed upper triangle."""
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    return np.asarray(low * (2 * n - low - 1) // 2 + high - low - 1)


class DenseScores:
    """A matrix of log-odds."""

    background = 0.0

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.log_odds = matrix
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))

    @classmethod
    def from_array(cls, array: NDArray[Any]) -> tuple[DenseScores, Found]:
        """Check a matrix; infinite entries become zeros and are returned as evidence."""
        if 0 in array.shape:
            raise ProblemError(f"A and B are non-empty, got log-odds of shape {array.shape}.")
        c = _float_array(array)
        infinite = False
        for rows in _blocks(*c.shape):
            block = c[rows]
            if np.isfinite(block).all():
                require_sizes(block, c.size)
                continue
            bad = np.argwhere(np.isnan(block))
            if len(bad):
                raise _nan_error(f"that of pair ({bad[0][0] + rows.start}, {bad[0][1]})")
            require_sizes(block[np.isfinite(block)], c.size)
            infinite = True
        if not infinite:
            return cls(c), (np.empty((0, 2), np.int64), np.empty((0, 2), np.int64))
        found = np.argwhere(np.isposinf(c)), np.argwhere(np.isneginf(c))
        return cls(np.where(np.isinf(c), c.dtype.type(0), c)), found

    def sum_over_partition(self, labels: Index) -> ExactSum:
        total = ExactSum()
        alone, several = _sets_by_size(labels)
        total.add(self.log_odds[alone, alone])
        for s in several:
            for rows in _blocks(len(s), len(s), GATHERED):
                total.add(self.log_odds[np.ix_(s[rows], s)])
        return total

    def sum_over_map(self, labels: Index) -> ExactSum:
        return ExactSum(self.log_odds[np.arange(len(labels)), labels])

    def sum_over_order(self, order: Index, ranks: Index) -> ExactSum:
        if len(order) <= TILED:
            return self.sum_over_matrix(ranks[:, None] <= ranks[None, :])
        first = np.searchsorted(ranks[order], ranks[order])
        total = ExactSum()
        for p, a in enumerate(order):
            total.add(self.log_odds[a, order[first[p] :]])
        return total

    def sum_over_matrix(self, matrix: Flags) -> ExactSum:
        total = ExactSum()
        for rows in _blocks(*self.shape, GATHERED):
            total.add(self.log_odds[rows][matrix[rows]])
        return total

    def dense(self) -> Floats:
        return np.asarray(self.log_odds, dtype=np.float64)

    def folded(self) -> tuple[NDArray[Any], float]:
        c, n = self.log_odds, self.shape[0]
        out = np.empty(n * (n - 1) // 2)  # in float64: the sum of two float32 may not be one
        if n < TILED:
            wide = c.astype(np.float64)
            out[:] = (wide + wide.T)[np.triu_indices(n, 1)]
        else:
            from relatum.kernels.folding import fold_square  # compiled, only where it is used

            fold_square(c, out)
        return out, float(np.diagonal(c).sum(dtype=np.float64))

    def restrict(self, elements: Index) -> DenseScores:
        return DenseScores(self.log_odds[np.ix_(elements, elements)])

    def magnitude(self) -> float:
        return math.fsum(
            float(np.abs(self.log_odds[rows]).sum(dtype=np.float64))
            for rows in _blocks(*self.shape)
        )

    def describe(self) -> str:
        return f"{self.shape[0]} x {self.shape[1]} log-odds"


class CondensedScores:
    """Log-odds of unordered pairs, row by row above the diagonal."""

    background = 0.0

    def __init__(self, upper: NDArray[Any]) -> None:
        n = condensed_size(len(upper)) if len(upper) else 1
        self.log_odds = upper
        self.shape = (n, n)

    @classmethod
    def from_array(cls, array: NDArray[Any]) -> tuple[CondensedScores, Found]:
        """Check an upper triangle; infinite entries become zeros and evidence."""
        n = condensed_size(len(array))
        c = _float_array(array)
        bad = np.flatnonzero(~np.isfinite(c))
        pairs = _unordered(bad, n)
        nan = np.isnan(c[bad])
        if nan.any():
            a, b = pairs[nan][0]
            raise _nan_error(f"that of pair ({a}, {b})")
        found = pairs[c[bad] > 0], pairs[c[bad] < 0]
        if len(bad):
            c = np.where(np.isinf(c), c.dtype.type(0), c)
        require_sizes(c)
        return cls(c), found

    def _rows(self) -> Iterator[tuple[int, NDArray[Any]]]:
        n, start = self.shape[0], 0
        for a in range(n - 1):
            yield a, self.log_odds[start : start + n - 1 - a]
            start += n - 1 - a

    def sum_over_partition(self, labels: Index) -> ExactSum:
        total, n = ExactSum(), self.shape[0]
        for s in _sets_by_size(labels)[1]:
            for k, a in enumerate(s[:-1].tolist()):  # the row of a begins with pair a, a + 1
                total.add(self.log_odds[a * (2 * n - a - 3) // 2 - 1 + s[k + 1 :]])
        return total

    def sum_over_map(self, labels: Index) -> ExactSum:
        # a symmetric map relates both directions of a pair: count the one above the diagonal
        own = np.flatnonzero(labels > np.arange(len(labels)))
        return ExactSum(self.log_odds[condensed_places(own, labels[own], self.shape[0])])

    def sum_over_order(self, order: Index, ranks: Index) -> ExactSum:
        return self.sum_over_matrix(ranks[:, None] <= ranks[None, :])

    def sum_over_matrix(self, matrix: Flags) -> ExactSum:
        total = ExactSum()
        for a, row in self._rows():
            total.add(row[matrix[a, a + 1 :]])
        return total

    def dense(self) -> Floats:
        c = np.zeros(self.shape)
        for a, row in self._rows():
            c[a, a + 1 :] = row
        return c

    def folded(self) -> tuple[NDArray[Any], float]:
        return self.log_odds, 0.0

    def restrict(self, elements: Index) -> CondensedScores:
        i, j = np.triu_indices(len(elements), 1)
        places = condensed_places(elements[i], elements[j], self.shape[0])
        return CondensedScores(self.log_odds[places])

    def magnitude(self) -> float:
        return _sum_of_sizes(self.log_odds)

    def describe(self) -> str:
        return f"{len(self.log_odds)} unordered pairs of {self.shape[0]} elements"


@dataclass(eq=False, repr=False)
class SparseScores:
    """Listed pairs and a background for the rest.

    Attributes
    ----------
    i, j : int64 arrays
        The listed pairs in lexicographic order; i < j or i = j if `kind` is "unordered".
    log_odds : float array
        Their scores.
    background : float
        The score of every pair off the list: unordered pairs once, the diagonal never
        (except that of "bipartite" pairs, which have none).
    """

    i: Index
    j: Index
    log_odds: NDArray[Any]
    shape: tuple[int, int]
    background: float
    kind: Literal["unordered", "ordered", "bipartite"]

    @classmethod
    def from_pairs(
        cls,
        i: ArrayLike,
        j: ArrayLike,
        log_odds: ArrayLike,
        n: int | tuple[int, int] | None,
        background: float,
        kind: Literal["unordered", "ordered", "bipartite"],
        combine: Literal["sum"] | None,
        ids: NDArray[Any] | None = None,
    ) -> tuple[SparseScores, Found]:
        """Check listed pairs; infinite scores are returned as evidence.

        Errors speak of elements by their `ids`, if there are any.
        """
        if combine is not None and not (isinstance(combine, str) and combine == "sum"):
            raise ProblemError(f'combine is "sum" or None, got {shown(combine)}.')
        a, b = (elements_of(x, name) for x, name in ((i, "i"), (j, "j")))
        c = _float_array(plain_array(log_odds, "Log-odds"))
        if not (a.shape == b.shape == c.shape):
            raise ProblemError(
                "i, j and log_odds list one pair per entry and are equally long, got lengths "
                f"{a.size}, {b.size} and {c.size}."
            )
        shape = shape_of_pairs(a, b, n)
        needed = BYTES_PER_ELEMENT * max(shape) + BYTES_PER_PAIR * a.size
        require_memory(
            needed,
            f"A problem of {max(shape)} elements and {a.size} listed pairs",
            "elements that no pair names need not be counted (Problem.from_table), and tables "
            "larger than memory are for cluster_pairs, on DuckDB",
        )
        a, b = a.astype(np.int64), b.astype(np.int64)
        background = real_number(background, "The background, in bits,")
        require_sizes(np.array([background]))
        names = PairNames(ids, kind != "unordered")
        if np.isnan(c).any():
            k = int(np.flatnonzero(np.isnan(c))[0])
            raise _nan_error(f"that of pair {names(a[k], b[k])}")
        if kind == "unordered":
            a, b = np.minimum(a, b), np.maximum(a, b)
        require_sizes(c[np.isfinite(c)])
        a, b, c = without_duplicates(a, b, c, shape[1], combine, names)
        infinite = np.isinf(c)
        pairs = np.column_stack([a, b])
        found = pairs[infinite & (c > 0)], pairs[infinite & (c < 0)]
        if infinite.any():
            c = np.where(infinite, c.dtype.type(0), c)
        require_sizes(c)
        return cls(a, b, c, shape, background, kind), found

    def _n_unlisted(self, n_pairs: int, listed: Flags) -> int:
        """How many of n_pairs off the diagonal are not listed."""
        if self.kind == "bipartite":
            return n_pairs - int(np.count_nonzero(listed))
        return n_pairs - int(np.count_nonzero(listed & (self.i != self.j)))

    def _sum(self, listed: Flags, n_pairs: int) -> ExactSum:
        total = ExactSum(self.log_odds[listed])
        if self.background != 0.0:
            total.add_times(self.background, self._n_unlisted(n_pairs, listed))
        return total

    def sum_over_partition(self, labels: Index) -> ExactSum:
        sizes = np.bincount(labels).astype(np.int64)
        pairs = int((sizes * (sizes - 1)).sum())
        if self.kind == "bipartite":
            pairs += len(labels)
        return self._sum(
            labels[self.i] == labels[self.j], pairs // 2 if self.kind == "unordered" else pairs
        )

    def sum_over_map(self, labels: Index) -> ExactSum:
        n_pairs = len(labels)
        if self.kind != "bipartite":
            n_pairs -= int(np.count_nonzero(labels == np.arange(len(labels))))
        if self.kind == "unordered":
            n_pairs //= 2
        return self._sum(labels[self.i] == self.j, n_pairs)

    def sum_over_order(self, order: Index, ranks: Index) -> ExactSum:
        sizes = np.bincount(ranks).astype(np.int64)
        n = len(ranks)
        pairs = (n * n - int((sizes**2).sum())) // 2 + int((sizes * (sizes - 1)).sum())
        if self.kind == "unordered":
            pairs = n * (n - 1) // 2
        elif self.kind == "bipartite":
            pairs += n
        return self._sum(ranks[self.i] <= ranks[self.j], pairs)

    def sum_over_matrix(self, matrix: Flags) -> ExactSum:
        pairs = int(np.count_nonzero(matrix))
        if self.kind != "bipartite":
            pairs -= int(np.count_nonzero(np.diagonal(matrix)))
        if self.kind == "unordered":
            pairs //= 2
        return self._sum(matrix[self.i, self.j], pairs)

    def dense(self) -> Floats:
        c = np.full(self.shape, self.background)
        if self.kind == "unordered":
            c[np.tril_indices(self.shape[0])] = 0.0
        elif self.kind == "ordered":
            np.fill_diagonal(c, 0.0)
        c[self.i, self.j] = self.log_odds
        return c

    def folded(self) -> tuple[NDArray[Any], float]:
        return DenseScores(self.dense()).folded()

    def restrict(self, elements: Index) -> SparseScores:
        number = np.full(self.shape[0], -1, dtype=np.int64)
        number[elements] = np.arange(len(elements))
        a, b = number[self.i], number[self.j]
        keep = (a >= 0) & (b >= 0)
        a, b, c = a[keep], b[keep], self.log_odds[keep]
        if self.kind == "unordered":
            a, b = np.minimum(a, b), np.maximum(a, b)
        order = np.lexsort((b, a))
        n = len(elements)
        return SparseScores(a[order], b[order], c[order], (n, n), self.background, self.kind)

    def magnitude(self) -> float:
        return _sum_of_sizes(self.log_odds)

    def describe(self) -> str:
        rest = f", background {self.background:g}" if self.background else ""
        return f"{len(self.i)} scored pairs of {self.shape[0]} elements{rest}"


def _unordered(index: Index, n: int) -> Index:
    """Index (a, b) with a < b at places of a condensed upper triangle."""
    starts = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])
    a = np.searchsorted(starts, index, side="right") - 1
    return np.column_stack([a, index - starts[a] + a + 1]).astype(np.int64)
