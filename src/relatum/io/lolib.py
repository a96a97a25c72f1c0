"""Linear-ordering instances in the format of LOLIB, plain or gzipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.io.files.reading import numbered_lines, whole_number
from relatum.io.files.writing import floats_of, numbers_as_text, write_lines
from relatum.io.listed_pairs import numbers_of, numbers_to_the_end
from relatum.problem import plain_array, require_memory


def read_lolib(path: str | Path) -> Floats:
    """Read a matrix: entry ab is worth adding if a comes before b, so maximise.

    The file holds, after optional lines of comment, n and the n x n matrix row by row,
    broken into lines anywhere. The diagonal does not count and is set to zero.

    Parameters
    ----------
    path : str or Path
        Read through gzip if the name ends in ``.gz``.

    Returns
    -------
    float64 array (n, n)
        Log-odds for ``Problem(matrix, LINEAR_ORDERS)``.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "instance.mat"
    >>> rt.io.write_lolib(path, [[0.0, 2.0], [-3.0, 0.0]])
    >>> rt.io.read_lolib(path).tolist()
    [[0.0, 2.0], [-3.0, 0.0]]
    """
    lines = numbered_lines(path)
    split = ((number, line.split()) for number, line in lines)
    number, words = next((s for s in split if whole_number(s[1][0]) is not None), (0, []))
    if not words:  # lines of words before the number are comments
        raise DataError(
            f"{path}, line 1: no line begins with the number of elements; a file of LOLIB holds n "
            "and an n x n matrix."
        )
    n = int(words[0])
    if n < 1:
        raise DataError(f"{path}, line {number}: the number of elements is {n}, not positive.")
    require_memory(
        16 * n * n,
        f"{path}, line {number}: a matrix of {n} x {n} numbers",
        "is the number of elements right? Orders of that size are solved part by part",
        DataError,
    )
    beside = numbers_of([(number, " ".join(words[1:]))], path)
    announced = f"a matrix of {n} x {n} entries is announced in line {number}, which are {n * n}"
    rest = numbers_to_the_end(lines, path, number, n * n - len(beside), f"{announced} numbers")
    matrix = np.concatenate([beside, rest]).reshape(n, n)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def write_lolib(path: str | Path, matrix: ArrayLike) -> None:
    """Write a square matrix so that `read_lolib` reads it back, the diagonal as zeros.

    Parameters
    ----------
    path : str or Path
        Gzipped if the name ends in ``.gz``; written whole or not at all.
    matrix : array-like (n, n)
        Entry ab is worth adding if a comes before b.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "instance.mat"
    >>> rt.io.write_lolib(path, [[0.0, 2.0], [-3.0, 0.0]])
    >>> rt.io.read_lolib(path).tolist()
    [[0.0, 2.0], [-3.0, 0.0]]
    """
    given = plain_array(matrix, "The rows of a matrix", DataError)
    c = floats_of(given) if given.dtype.kind in "biuf" else np.empty(0)
    if c.ndim != 2 or c.shape[0] != c.shape[1] or len(c) == 0:
        raise DataError(
            "LOLIB holds a square matrix of one row or more, got shape "
            f"{given.shape} of {given.dtype}."
        )
    np.fill_diagonal(c, 0.0)
    words = numbers_as_text(c, "the matrix")
    n = len(c)
    rows = (" ".join(words[k * n : (k + 1) * n]) for k in range(n))
    write_lines(path, [str(n), *rows])
