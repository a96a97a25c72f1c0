"""Lists of pairs as users give them: elements, how many there are, and pairs listed twice."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Index
from relatum.errors import ProblemError
from relatum.problem.arguments import MOST_ELEMENTS, plain_array, shown, whole_number

NUMBERED = 1 << 20  # elements that may be numbered with holes, however few pairs there are
SPREAD = 64  # times as many as the ends of all pairs: further apart, numbers are ids


class PairNames:
    """How errors name pairs: by ids where there are any, else by numbers."""

    def __init__(self, ids: NDArray[Any] | None = None, ordered: bool = True) -> None:
        self.ids = ids
        self.sameness = "" if ordered else " ((a, b) and (b, a) are one pair of a symmetric set)"

    def __call__(self, a: Any, b: Any) -> str:
        if self.ids is None:
            return f"({a}, {b})"
        names = (x.item() if isinstance(x, np.generic) else x for x in self.ids[[a, b]])
        return f"({', '.join(shown(x) for x in names)})"


def elements_of(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return elements as a vector of integers from 0; uint64 stays what it is."""
    array = plain_array(values, f"The elements in {name!r}")
    odd = array.dtype.kind in "fO" and not isinstance(values, np.ndarray) and array.ndim == 1
    if odd and all(isinstance(x, int | np.integer) for x in values):  # type: ignore[union-attr]
        with suppress(OverflowError):  # numpy makes floats of int64 and uint64 together
            array = np.array(values, dtype=np.uint64)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ProblemError(
            f"'{name}' lists elements as integers from 0, got an array of shape {array.shape} and "
            f"dtype {array.dtype}; for ids of other types use Problem.from_table."
        )
    if array.size and int(array.min()) < 0:
        raise ProblemError(f"'{name}' lists elements from 0, got {int(array.min())}.")
    return array if array.size else array.astype(np.int64)


def are_ids(i: NDArray[Any], j: NDArray[Any]) -> bool:
    """Say whether elements are numbered so far apart that the numbers count nothing."""
    largest = max((int(x.max()) for x in (i, j) if x.size), default=0)
    return largest >= min(MOST_ELEMENTS, max(NUMBERED, SPREAD * (i.size + j.size)))


def shape_of_pairs(
    a: NDArray[Any], b: NDArray[Any], n: int | tuple[int, int] | None
) -> tuple[int, int]:
    """Return how many elements A and B have, as `n` says or as the pairs tell."""
    top_a = int(a.max()) + 1 if a.size else 0
    top_b = int(b.max()) + 1 if b.size else 0
    if n is None:
        if a.size == 0:
            raise ProblemError("Without any pairs, give the number of elements: n=...")
        shape = max(top_a, top_b), max(top_a, top_b)
        if are_ids(a, b):
            raise ProblemError(
                f"The largest number of an element is {shape[0] - 1}, but only {a.size} pairs are "
                "listed; give n= if there are so many elements, or list ids (Problem.from_table)."
            )
    elif isinstance(n, tuple):
        if len(n) != 2:
            raise ProblemError(f"n is a number of elements, or two: (|A|, |B|), got {shown(n)}.")
        shape = whole_number(n[0], "|A|, in n,"), whole_number(n[1], "|B|, in n,")
    else:
        shape = (whole_number(n, "The number of elements, n,"),) * 2
    if top_a > shape[0] or top_b > shape[1]:
        k = int(np.argmax((a >= shape[0]) | (b >= shape[1])))
        raise ProblemError(
            f"Pair number {k} is ({a[k]}, {b[k]}), but there are only {shape[0]} and {shape[1]} "
            "elements (numbered from 0); give a larger n=."
        )
    return shape


def without_duplicates(
    a: Index,
    b: Index,
    c: NDArray[Any],
    width: int,
    combine: Literal["sum"] | None,
    names: PairNames,
) -> tuple[Index, Index, NDArray[Any]]:
    """Sort pairs; add up, or refuse, those listed more than once."""
    key = a * width + b
    order = np.argsort(key, kind="stable")
    a, b, c, key = a[order], b[order], c[order], key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    if len(first) == len(key):
        return a, b, c
    if combine is None:
        k = int(np.flatnonzero(np.diff(key) == 0)[0])
        raise ProblemError(
            f"{len(key) - len(first)} pairs are listed more than once{names.sameness}, the first "
            f'is {names(a[k], b[k])}, with {c[k]:g} and {c[k + 1]:g} bits; pass combine="sum" to '
            "add their log-odds up, or drop the repeats."
        )
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.add.reduceat(c.astype(np.float64), first)
    if np.isnan(sums).any():
        k = int(first[np.flatnonzero(np.isnan(sums))[0]])
        raise ProblemError(
            f"Pair {names(a[k], b[k])} is listed both with +inf and with -inf; drop one of them."
        )
    return a[first], b[first], sums
