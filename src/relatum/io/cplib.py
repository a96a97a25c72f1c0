"""Clique-partitioning instances in the format of CP-Lib, plain or gzipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.listed_pairs import numbers_of
from relatum.io.text import read_text

__all__ = ["read_cplib"]


def read_cplib(path: str | Path) -> NDArray[np.float64]:
    """Read the scores of all pairs: a pair adds its score if it is in one set, so maximise.

    The file holds n and the n (n - 1) / 2 entries above the diagonal row by row, broken
    into lines anywhere.

    Parameters
    ----------
    path : str or Path
        Read through gzip if the name ends in ``.gz``.

    Returns
    -------
    float64 array (n (n - 1) / 2,)
        Log-odds for ``Problem(scores, EQUIVALENCES)``, in the file's unit.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.
    """
    lines = read_text(path).splitlines()
    numbers = numbers_of(lines, path, 0)
    if numbers.size == 0 or numbers[0] < 1 or numbers[0] != int(numbers[0]):
        got = f"begins with {numbers[0]:g}" if numbers.size else "is empty"
        raise DataError(f"{path}, line 1: a positive number of elements comes first; it {got}.")
    n = int(numbers[0])
    if numbers.size - 1 != n * (n - 1) // 2:
        raise DataError(
            f"{path}: {n} elements are announced, which have {n * (n - 1) // 2} pairs, but "
            f"{numbers.size - 1} scores follow."
        )
    return numbers[1:].copy()
