"""Listed pairs with scores: what sparse formats hold, and how their lines are read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.io.files.writing import floats_of, numbers_as_text
from relatum.problem import plain_array, shown, whole_number

MOST_LISTED = 1 << 31  # elements or pairs: more than any file holds
BATCH = 4096  # lines that are turned into numbers at a time


class ListedPairs(NamedTuple):
    """Scored pairs of n elements, for ``Problem.from_pairs(i, j, log_odds, n=n, ...)``.

    Attributes
    ----------
    n : int
    i, j : int64 arrays
    log_odds : float64 array
        Positive: the pair should be in one set.
    optimum : float or None
        The optimum that the file states, in the file's own terms.

    Examples
    --------
    >>> import relatum as rt
    >>> pairs = rt.io.ListedPairs(3, [0, 1], [1, 2], [4.0, -1.0])
    >>> rt.Problem.from_pairs(pairs.i, pairs.j, pairs.log_odds, n=pairs.n, feasible=rt.EQUIVALENCES)
    Problem(2 scored pairs of 3 elements, EQUIVALENCES)
    """

    n: int
    i: Index
    j: Index
    log_odds: Floats
    optimum: float | None = None


Numbered = Sequence[tuple[int, str]]  # lines with their numbers in the file


def numbers_of(lines: Numbered, path: str | Path) -> Floats:
    """All numbers of some lines."""
    try:
        numbers = np.array(" ".join([line for _, line in lines]).split(), dtype=np.float64)
    except ValueError:
        numbers = np.array([np.nan])
    if np.isfinite(numbers).all():
        return numbers
    for number, line in lines:
        for word in line.split():
            try:
                good = np.isfinite(float(word))
            except ValueError:
                good = False
            if not good:
                raise DataError(f"{path}, line {number}: {_short(word)} is not a finite number.")
    return numbers


def numbers_to_the_end(
    lines: Iterator[tuple[int, str]], path: str | Path, before: int, wanted: int, announced: str
) -> Floats:
    """All numbers of the remaining lines, which are ``wanted`` or an error.

    Reading stops at the first lines that have too many.
    """
    found: list[Floats] = []
    count, last = 0, before
    if wanted < 0:
        raise DataError(
            f"{path}, line {before}: {announced}, but more follow in that line. Is the first "
            "number right?"
        )
    while batch := list(islice(lines, BATCH)):
        found.append(numbers_of(batch, path))
        count += len(found[-1])
        last = batch[-1][0]
        if count > wanted:
            raise DataError(
                f"{path}, line {last}: {announced}, but {count} or more follow. Is the first "
                "number right?"
            )
    if count < wanted:
        raise DataError(
            f"{path}, line {last}: {announced}, but {count} follow and the file ends. Is it cut "
            "off?"
        )
    return np.concatenate([np.empty(0), *found])


def counts_of(line: str, path: str | Path, number: int) -> tuple[int, int, float | None] | None:
    """Read ``n m`` or ``n m optimum``; None if it is something else."""
    header = numbers_of([(number, line)], path)
    if len(header) not in (2, 3) or any(
        x < 0 or x != np.floor(x) or x > MOST_LISTED for x in header[:2]
    ):
        return None
    return int(header[0]), int(header[1]), float(header[2]) if len(header) == 3 else None


def pairs_of(
    lines: Numbered, path: str | Path, n: int, optimum: float | None = None
) -> ListedPairs:
    """Read lines ``u v score`` with elements from 0 to n - 1."""
    for number, line in lines:
        if len(line.split()) != 3:
            raise DataError(
                f"{path}, line {number}: a pair is written 'u v score', got {_short(line)}."
            )
    table = numbers_of(lines, path).reshape(-1, 3)
    ends = table[:, :2]
    bad = np.flatnonzero(((ends < 0) | (ends >= n) | (ends != np.floor(ends))).any(axis=1))
    if bad.size:
        number, line = lines[bad[0]]
        raise DataError(
            f"{path}, line {number}: elements are whole numbers from 0 to {n - 1}, got "
            f"{_short(line)}."
        )
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if loops.size:
        number, line = lines[loops[0]]
        raise DataError(
            f"{path}, line {number}: a pair has two different elements, got {_short(line)}."
        )
    i, j = ends.astype(np.int64).T
    return ListedPairs(n, i.copy(), j.copy(), table[:, 2].copy(), optimum)


def checked(pairs: object) -> ListedPairs:
    """Return listed pairs whose arrays fit together, to be written."""
    if not isinstance(pairs, ListedPairs):
        raise DataError(f"Listed pairs are ListedPairs(n, i, j, log_odds), got {shown(pairs)}.")
    n = checked_count(pairs.n)
    i, j = checked_elements(pairs.i, n), checked_elements(pairs.j, n)
    scores = plain_array(pairs.log_odds, "Log-odds", DataError)
    if not (i.shape == j.shape == scores.shape) or scores.dtype.kind not in "biuf":
        raise DataError(
            "i, j and log_odds list one pair per entry, got shapes "
            f"{i.shape}, {j.shape} and {scores.shape} of {scores.dtype}."
        )
    return ListedPairs(n, i, j, floats_of(scores), pairs.optimum)


def checked_count(n: Any) -> int:
    """Return a number of elements that a file may announce."""
    return whole_number(n, "The number of elements, n,", least=0, most=MOST_LISTED, error=DataError)


def checked_elements(elements: Any, n: int | None = None) -> Index:
    """Return elements as whole numbers, from 0 to n - 1 if n is given."""
    array = plain_array(elements, "Elements", DataError)
    array = array.astype(np.int64) if array.size == 0 else array
    good = array.ndim == 1 and array.dtype.kind in "iu"
    if good and array.size:
        low, high = (0, n - 1) if n is not None else (-(2**63), 2**63 - 1)
        good = low <= int(array.min()) <= int(array.max()) <= high
    if not good:
        told = "" if n is None else f" from 0 to {n - 1}"
        raise DataError(
            f"Elements are whole numbers{told} in a vector, got {shown(array.tolist())}."
        )
    return array.astype(np.int64)


def lines_of_pairs(pairs: ListedPairs) -> Iterable[str]:
    """Write lines ``u v score``."""
    scores = numbers_as_text(pairs.log_odds, "the scores")
    ends = zip(pairs.i.tolist(), pairs.j.tolist(), scores, strict=True)
    return (f"{u} {v} {score}" for u, v, score in ends)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
