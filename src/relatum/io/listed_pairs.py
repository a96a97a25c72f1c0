"""Listed pairs with scores: what sparse formats hold, and how their lines are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError

__all__ = ["ListedPairs", "numbers_of", "pairs_of"]


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
    """

    n: int
    i: NDArray[np.int64]
    j: NDArray[np.int64]
    log_odds: NDArray[np.float64]
    optimum: float | None = None


def numbers_of(lines: Sequence[str], path: str | Path, before: int) -> NDArray[np.float64]:
    """All numbers of some lines; ``before`` lines of the file come before them."""
    try:
        numbers = np.array(" ".join(lines).split(), dtype=np.float64)
    except ValueError:
        numbers = np.array([np.nan])
    if np.isfinite(numbers).all():
        return numbers
    for k, line in enumerate(lines):
        for word in line.split():
            try:
                good = np.isfinite(float(word))
            except ValueError:
                good = False
            if not good:
                raise DataError(f"{path}, line {before + k + 1}: {word!r} is not a finite number.")
    return numbers


def pairs_of(
    lines: Sequence[str], path: str | Path, before: int, n: int, optimum: float | None = None
) -> ListedPairs:
    """Read lines ``u v score`` with elements from 0 to n - 1."""
    for k, line in enumerate(lines):
        if len(line.split()) != 3:
            raise DataError(
                f"{path}, line {before + k + 1}: a pair is written 'u v score', got {line!r}."
            )
    table = numbers_of(lines, path, before).reshape(-1, 3)
    ends = table[:, :2]
    bad = np.flatnonzero(((ends < 0) | (ends >= n) | (ends != np.floor(ends))).any(axis=1))
    if bad.size:
        raise DataError(
            f"{path}, line {before + bad[0] + 1}: elements are whole numbers from 0 to {n - 1}, "
            f"got {lines[bad[0]]!r}."
        )
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if loops.size:
        raise DataError(
            f"{path}, line {before + loops[0] + 1}: a pair has two different elements, got "
            f"{lines[loops[0]]!r}."
        )
    i, j = ends.astype(np.int64).T
    return ListedPairs(n, i.copy(), j.copy(), table[:, 2].copy(), optimum)
