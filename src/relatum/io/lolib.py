"""Linear-ordering instances in the format of LOLIB, plain or gzipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.text import read_text

__all__ = ["read_lolib"]


def read_lolib(path: str | Path) -> NDArray[np.float64]:
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
    """
    lines = read_text(path).splitlines()
    header = _header_line(lines, path)
    n = int(lines[header].split()[0])
    if n < 1:
        raise DataError(f"{path}, line {header + 1}: the number of elements is {n}, not positive.")
    numbers: list[float] = [*_numbers(lines[header].split()[1:], path, header)]
    for k in range(header + 1, len(lines)):
        numbers += _numbers(lines[k].split(), path, k)
    if len(numbers) != n * n:
        raise DataError(
            f"{path}: a matrix of {n} x {n} entries is announced in line {header + 1}, which are "
            f"{n * n} numbers, but {len(numbers)} follow."
        )
    matrix = np.array(numbers, dtype=np.float64).reshape(n, n)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _header_line(lines: list[str], path: str | Path) -> int:
    """Find the line that begins with n; lines of words before it are comments."""
    for k, line in enumerate(lines):
        words = line.split()
        if words and words[0].lstrip("-").isdigit():
            return k
    raise DataError(f"{path}: no line begins with the number of elements.")


def _numbers(words: list[str], path: str | Path, line: int) -> list[float]:
    out = []
    for word in words:
        try:
            out.append(float(word))
        except ValueError:
            raise DataError(f"{path}, line {line + 1}: {word!r} is not a number.") from None
        if not np.isfinite(out[-1]):
            raise DataError(f"{path}, line {line + 1}: {word!r} is not finite.")
    return out
