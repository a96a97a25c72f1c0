"""Clique-partitioning instances in the format of CP-Lib, plain or gzipped."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.io.files.reading import numbered_lines
from relatum.io.files.writing import floats_of, numbers_as_text, write_lines
from relatum.io.listed_pairs import numbers_of, numbers_to_the_end
from relatum.problem import plain_array, require_memory


def read_cplib(path: str | Path) -> Floats:
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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.txt"
    >>> rt.io.write_cplib(path, [4.0, 3.0, -1.0])
    >>> rt.io.read_cplib(path).tolist()
    [4.0, 3.0, -1.0]
    """
    lines = numbered_lines(path)
    number, line = next(lines, (1, ""))
    first = numbers_of([(number, line)], path)
    if first.size == 0 or not 1 <= first[0] <= 1e9 or first[0] != int(first[0]):
        got = f"begins with {first[0]:g}" if first.size else "is empty"
        raise DataError(
            f"{path}, line {number}: a positive number of elements comes first; the file {got}."
        )
    n = int(first[0])
    pairs = n * (n - 1) // 2
    require_memory(
        16 * pairs,
        f"{path}, line {number}: a list of all {pairs} pairs of {n} elements",
        "is the number of elements right? List only the pairs that count (--format pairs)",
        DataError,
    )
    announced = f"{n} elements are announced, which have {pairs} pairs"
    rest = numbers_to_the_end(lines, path, number, pairs + 1 - first.size, announced)
    return np.concatenate([first[1:], rest])


def write_cplib(path: str | Path, scores: ArrayLike) -> None:
    """Write the scores of all pairs so that `read_cplib` reads them back.

    Parameters
    ----------
    path : str or Path
        Gzipped if the name ends in ``.gz``; written whole or not at all.
    scores : array-like (n (n - 1) / 2,)
        The upper triangle, row by row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.txt"
    >>> rt.io.write_cplib(path, [4.0, 3.0, -1.0])
    >>> rt.io.read_cplib(path).tolist()
    [4.0, 3.0, -1.0]
    """
    given = plain_array(scores, "The scores", DataError)
    upper = floats_of(given) if given.dtype.kind in "biuf" else np.empty((0, 0))
    n = (1 + math.isqrt(1 + 8 * upper.size)) // 2
    if upper.ndim != 1 or n * (n - 1) // 2 != upper.size:
        raise DataError(
            f"CP-Lib holds an upper triangle of n (n - 1) / 2 scores, got shape "
            f"{given.shape} of {given.dtype}."
        )
    words = numbers_as_text(upper, "the scores")
    ends = np.cumsum([0, *range(n - 1, 0, -1)]).tolist()
    rows = (" ".join(words[a:b]) for a, b in pairwise(ends))
    write_lines(path, [str(n), *rows])
