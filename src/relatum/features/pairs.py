"""Features of pairs: AND and XOR of 01-features of elements, drawn pairs, lazy batches."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.features.checks import (
    checked_fitted,
    checked_seed,
    is_sparse,
    refuse_masked,
    require_binary,
    told_of_input,
)


def pair_features(v_a: Any, v_b: Any) -> Any:
    """01-features of pairs of elements, invariant under transposition.

    For every 01-feature l of elements there are two of pairs: the AND, v_a v_b, in column l,
    and the XOR, v_a + v_b - 2 v_a v_b, in column L + l.

    Parameters
    ----------
    v_a, v_b : {array-like, sparse matrix} of shape (pairs, L), or (L,) for one pair
        01-features of the first and the second elements. Both dense or both sparse.

    Returns
    -------
    uint8 ndarray of shape (pairs, 2 L) or (2 L,), or CSR matrix of such a shape

    Examples
    --------
    >>> from relatum.features import pair_features
    >>> pair_features([1, 1, 0, 0], [1, 0, 1, 0])
    array([1, 0, 0, 0, 0, 1, 1, 0], dtype=uint8)
    """
    if is_sparse(v_a) != is_sparse(v_b):
        raise DataError(
            "pair_features: v_a and v_b must both be dense or both be sparse, "
            "got one of each; convert one of them"
        )
    a, b = _elements(v_a, "v_a"), _elements(v_b, "v_b")
    if a.shape != b.shape:
        raise DataError(
            "pair_features: v_a and v_b must have one row per pair and the same features, got "
            f"shapes {a.shape} and {b.shape}; pick the rows first, as in v[i], v[j]"
        )
    return _and_xor(a, b)


def _elements(v: Any, what: str) -> Any:
    """Check 01-features of elements; return them as uint8, dense or CSR."""
    if not is_sparse(v):
        try:
            v = np.asarray(v)
        except Exception as error:  # also what classes that are not ours raise
            told = " ".join(str(error).split())[:160]
            raise DataError(f"{what} must be a rectangular array of 0 and 1: {told}") from None
        if v.dtype.kind not in "biuf" or v.ndim not in (1, 2):
            raise DataError(
                f"{what} must be a vector or matrix of 0 and 1, got {v.ndim} dimensions of type "
                f"{v.dtype}; encode the data first, for example with BinaryFeatures"
            )
        require_binary(v, what)
        return v.view(np.uint8) if v.dtype == np.bool_ else v.astype(np.uint8, copy=False)
    rows = sparse.csr_matrix(v)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    require_binary(rows, what)
    return rows.astype(np.uint8, copy=False)


def _and_xor(a: Any, b: Any) -> Any:
    if is_sparse(a):
        both = a.multiply(b)
        return sparse.hstack([both, a + b - 2 * both], format="csr", dtype=np.uint8)
    width = a.shape[-1]
    out = np.empty((*a.shape[:-1], 2 * width), dtype=np.uint8)
    np.bitwise_and(a, b, out=out[..., :width])
    np.bitwise_xor(a, b, out=out[..., width:])
    return out


class PairBatches:
    """Features of many pairs, batch by batch: never more than one batch is held.

    Every iteration goes over the same batches in the same order, as ``(x, y)``: the features
    of the batch's pairs, lifted if a lifting is given, and their labels, or None.

    Parameters
    ----------
    v : {array-like, sparse matrix} of shape (elements, L)
        01-features of the elements.
    i, j : array-like of int, of shape (pairs,)
        The pairs: elements i[k] and j[k].
    y : array-like of shape (pairs,), default=None
        Their labels.
    batch_size : int, default=1024
        Pairs per batch; the last batch may be smaller.
    lifting : fitted transformer, default=None
        Applied to the features of every batch, for example a `TensorSketch`.

    Attributes
    ----------
    n_pairs : int
        The number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from relatum.features import PairBatches
    >>> v = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    >>> batches = PairBatches(v, [0, 0, 1], [1, 2, 2], [1, 0, 0], batch_size=2)
    >>> len(batches)
    2
    >>> for x, y in batches:
    ...     print(x.tolist(), y.tolist())
    [[0, 1, 1, 0], [0, 0, 1, 1]] [1, 0]
    [[1, 0, 0, 1]] [0]
    """

    def __init__(
        self,
        v: Any,
        i: ArrayLike,
        j: ArrayLike,
        y: ArrayLike | None = None,
        *,
        batch_size: int = 1024,
        lifting: Any = None,
    ) -> None:
        self.v = _elements(v, "v")
        if self.v.ndim != 2:
            raise DataError(
                f"PairBatches: v must have one row per element, got shape {self.v.shape}; "
                f"pass a matrix"
            )
        self.i, self.j = checked_pairs(i, j, self.v.shape[0])
        self.y = None if y is None else np.asarray(y)
        if self.y is not None and self.y.shape[:1] != self.i.shape:
            raise DataError(
                f"PairBatches: i, j and y must be equally long, got {len(self.i)} in i and "
                f"shape {self.y.shape} of y; pass one entry per pair"
            )
        whole = isinstance(batch_size, int | np.integer) and not isinstance(batch_size, bool)
        if not whole or batch_size < 1:
            got = " ".join(repr(batch_size).split())[:200]
            raise DataError(
                f"PairBatches: batch_size must be a positive integer, got {got}; pass, say, 1024"
            )
        if lifting is not None:
            checked_fitted(lifting)
        self.batch_size = int(batch_size)
        self.lifting = lifting

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return len(self.i)

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-self.n_pairs // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Yield (features, labels or None), batch by batch."""
        for number in range(len(self)):
            yield self[number]

    def __getitem__(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        """Return one batch by its number, without generating any other."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"batch {number} of {len(self)}")
        lo = number % len(self) * self.batch_size
        some = slice(lo, lo + self.batch_size)
        x = _and_xor(self.v[self.i[some]], self.v[self.j[some]])
        if self.lifting is not None:
            x = self.lifting.transform(x)
            x = x if is_sparse(x) else np.asarray(x)  # also where a lifting returns tables
        return x, None if self.y is None else self.y[some]


def checked_pairs(i: ArrayLike, j: ArrayLike, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs of `n` rows of v as indices, equally many and within range."""
    pairs = [_indices(k, n, what) for k, what in ((i, "i"), (j, "j"))]
    if len(pairs[0]) != len(pairs[1]):
        raise DataError(
            f"i and j must be equally long, got {len(pairs[0])} in i and {len(pairs[1])} in j; "
            "pass one entry per pair"
        )
    return pairs[0], pairs[1]


def _indices(k: ArrayLike, n: int, what: str) -> NDArray[np.intp]:
    refuse_masked(k, what)
    with told_of_input():
        index = np.asarray(k)
    if index.size == 0:
        index = index.astype(np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise DataError(
            f"{what} must be a vector of integers, got shape {index.shape} of type "
            f"{index.dtype}; pass indices of rows of v"
        )
    if index.size and not (index.min() >= 0 and index.max() < n):
        culprit = index.min() if index.min() < 0 else index.max()
        raise DataError(
            f"{what} must hold rows of v, 0 to {n - 1}, got {culprit}; pass indices of rows of v"
        )
    return index.astype(np.intp, copy=False)


def count_pairs(labels: ArrayLike) -> tuple[int, int]:
    """Return how many unordered pairs of elements have equal labels, and how many there are."""
    sizes = np.unique(np.asarray(labels), return_counts=True)[1].astype(np.int64)
    n = int(sizes.sum())
    return int((sizes * (sizes - 1) // 2).sum()), n * (n - 1) // 2


def sample_pairs(
    labels: ArrayLike,
    n_pairs: int,
    *,
    stratified: bool = False,
    random_state: Any = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.uint8]]:
    """Draw distinct unordered pairs of distinct elements, uniformly, without replacement.

    Parameters
    ----------
    labels : array-like of shape (elements,)
        Two elements are related iff their labels are equal.
    n_pairs : int
        How many pairs to draw.
    stratified : bool, default=False
        Whether to draw as many related as unrelated pairs (one more unrelated, if odd).
    random_state : int, RandomState, Generator or None, default=None
        Seeds the draw.

    Returns
    -------
    i, j : ndarray of int, of shape (n_pairs,)
        The pairs, in random order, with i < j.
    y : uint8 ndarray of shape (n_pairs,)
        1 iff related.

    Examples
    --------
    >>> from relatum.features import sample_pairs
    >>> i, j, y = sample_pairs([7, 7, 3, 3, 3], 6, stratified=True, random_state=0)
    >>> int(y.sum()), bool((i < j).all())
    (3, True)
    """
    try:
        given = np.asarray(labels)
    except Exception as error:  # also what classes that are not ours raise
        told = " ".join(str(error).split())[:160]
        raise DataError(f"sample_pairs: labels must be a vector, but {told}") from None
    if given.ndim != 1:
        raise DataError(
            f"sample_pairs: labels must be a vector, one per element, got shape {given.shape}; "
            f"pass a vector"
        )
    given_count: Any = n_pairs
    whole = isinstance(given_count, Real) and float(given_count).is_integer()
    if isinstance(n_pairs, bool) or not whole or n_pairs < 0:
        raise DataError(
            f"sample_pairs: n_pairs must be a non-negative integer, got a {type(n_pairs).__name__}"
            f"{f' ({given_count})' if isinstance(given_count, Real) else ''}; pass one"
        )
    rng = checked_seed(random_state)
    if not stratified:
        i, j = _triangle(_draw(rng, len(given) * (len(given) - 1) // 2, n_pairs, "pairs"))
    else:
        n_related = n_pairs // 2
        blocks = [
            _stratum(rng, given, n_related, True),
            _stratum(rng, given, n_pairs - n_related, False),
        ]
        order = rng.permutation(n_pairs)
        i, j = (np.concatenate(side)[order] for side in zip(*blocks, strict=True))
    i, j = np.minimum(i, j), np.maximum(i, j)
    return i, j, (given[i] == given[j]).astype(np.uint8)


def _draw(rng: np.random.Generator, total: int, count: int, what: str) -> Index:
    if count > total:
        raise DataError(
            f"sample_pairs: there are {total} {what}, fewer than the {count} asked for; "
            f"draw fewer, or from more elements"
        )
    if 2 * count > total:
        return rng.permutation(total)[:count].astype(np.int64)
    # Draw with replacement, drop repetitions, top up: memory grows with count, not with total.
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = rng.integers(0, total, size=count - len(drawn) + 16)
        both = np.concatenate([drawn, more])
        drawn = both[np.sort(np.unique(both, return_index=True)[1])]
    return drawn[:count]


def _triangle(code: Index) -> tuple[Index, Index]:
    """Decode j (j - 1) / 2 + i, with i < j."""
    j = ((1.0 + np.sqrt(1.0 + 8.0 * code.astype(np.float64))) / 2.0).astype(np.int64)
    j -= j * (j - 1) // 2 > code  # the square root may be rounded up,
    j += j * (j + 1) // 2 <= code  # or down
    return code - j * (j - 1) // 2, j


def _stratum(
    rng: np.random.Generator, labels: NDArray[Any], count: int, related: bool
) -> tuple[Index, Index]:
    """Draw pairs of equal labels (`related`), or of different ones."""
    _, inverse = np.unique(labels, return_inverse=True)
    sizes = np.bincount(inverse).astype(np.int64)
    order, first = np.argsort(inverse, kind="stable"), np.cumsum(sizes) - sizes
    # An element of class c has a related pair with every earlier element of c, and an unrelated
    # one with every element of an earlier class: all that are sorted before it.
    pairs = sizes * (sizes - 1) // 2 if related else sizes * first
    ends = np.cumsum(pairs)
    what = "related pairs" if related else "unrelated pairs"
    code = _draw(rng, int(ends[-1]) if len(ends) else 0, count, what)
    c = np.searchsorted(ends, code, side="right")
    within = code - (ends[c] - pairs[c])
    if related:
        i, j = _triangle(within)
        return order[first[c] + i], order[first[c] + j]
    later, earlier = np.divmod(within, np.maximum(first[c], 1))
    return order[earlier], order[first[c] + later]
