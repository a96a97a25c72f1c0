"""Matrices of log-odds: ``.npy`` and ``.npz`` arrays, or a line of numbers per row."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.io.files.reading import numbered_lines, open_to_read
from relatum.io.files.writing import numbers_as_text, write_atomically, write_lines
from relatum.io.listed_pairs import numbers_of

DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError)


def read_matrix(path: str | Path) -> Floats:
    """Read a matrix: an ``.npy`` file, or a line of numbers per row, with blanks or commas.

    Of an ``.npz`` archive, the array ``log_odds`` or ``costs`` is read, or the only one. Arrays
    may have one axis: the upper triangle of a symmetric matrix, row by row.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.
    """
    if Path(path).suffix in (".npy", ".npz"):
        return _array(path)
    rows: list[Floats] = []
    for number, line in numbered_lines(path):
        rows.append(numbers_of([(number, line.replace(",", " "))], path))
        if len(rows[-1]) != len(rows[0]):
            raise DataError(
                f"{path}, line {number}: {len(rows[-1])} numbers, but {len(rows[0])} in the first "
                "row."
            )
    if not rows:
        raise DataError(f"{path}, line 1: the file is empty; a matrix has a line per row.")
    return np.array(rows)


def _array(path: str | Path) -> Floats:
    with open_to_read(path) as file:
        if file.read(4) not in (b"\x93NUM", b"PK\x03\x04"):
            raise DataError(f"{path} is not an array of numpy; write one with numpy.save.")
        file.seek(0)
        try:
            found = np.load(file, allow_pickle=False)
            array = found if isinstance(found, np.ndarray) else _of_archive(found, path)
        except (ValueError, EOFError, MemoryError, SyntaxError, OSError, *DAMAGE) as error:
            if isinstance(error, DataError):
                raise
            told = str(error).splitlines()[0][:200].rstrip(".")
            raise DataError(
                f"{path} is not a whole array of numpy: {told}. Write it again with numpy.save."
            ) from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{path}: log-odds are numbers, but the array has type {array.dtype}.")
    return np.asarray(array)


def _of_archive(archive: Any, path: str | Path) -> NDArray[Any]:
    names = archive.files
    chosen = [n for n in ("log_odds", "costs") if n in names] or (names if len(names) == 1 else [])
    if not chosen:
        raise DataError(
            f"{path} holds the arrays {', '.join(names)[:200]}; name the one with log-odds "
            "'log_odds'."
        )
    return np.asarray(archive[chosen[0]])


def write_matrix(path: str | Path, matrix: ArrayLike) -> None:
    """Write a matrix so that `read_matrix` reads it back.

    Parameters
    ----------
    path : str or Path
        ``.npy``, or text (gzipped if the name ends in ``.gz``); written whole or not at all.
    matrix : array-like of two axes
    """
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"A matrix has rows and columns, got shape {array.shape}.")
    if Path(path).suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        write_atomically(path, buffer.getvalue())
        return
    words = numbers_as_text(array, "the matrix")
    width = array.shape[1]
    rows = (" ".join(words[k : k + width]) for k in range(0, len(words), width))
    write_lines(path, rows)
