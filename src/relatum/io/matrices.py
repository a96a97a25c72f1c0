"""Matrices of log-odds: ``.npy`` and ``.npz`` arrays, or a line of numbers per row."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.io.files.reading import as_path, numbered_lines, open_to_read
from relatum.io.files.writing import floats_of, numbers_as_text, write_atomically, write_lines
from relatum.io.listed_pairs import numbers_of
from relatum.problem import plain_array, require_memory

DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, TokenError, NotImplementedError, TypeError)


def read_matrix(path: str | Path) -> Floats:
    """Read a matrix: an ``.npy`` file, or a line of numbers per row, with blanks or commas.

    Of an ``.npz`` archive, the array ``log_odds`` or ``costs`` is read, or the only one. Arrays
    may have one axis: the upper triangle of a symmetric matrix, row by row.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> rt.io.write_matrix(path, [[0.0, 2.0], [-3.0, 0.0]])
    >>> rt.io.read_matrix(path).tolist()
    [[0.0, 2.0], [-3.0, 0.0]]
    """
    if as_path(path).suffix in (".npy", ".npz"):
        return _array(path)
    rows: list[Floats] = []
    size = as_path(path).stat().st_size if as_path(path).is_file() else 0
    require_memory(  # a number takes two letters or more, and eight bytes, twice
        8 * size,
        f"{path}: a matrix of {size} letters",
        "write it as .npy, which takes half as much, or list only the pairs that count",
        DataError,
    )
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
            _require_memory(file, path)
            found = np.load(file, allow_pickle=False)
            array = found if isinstance(found, np.ndarray) else _of_archive(found, path)
        except (ValueError, EOFError, MemoryError, OSError, SyntaxError, *DAMAGE) as error:
            if isinstance(error, DataError):
                raise
            told = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
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
    if f"{chosen[0]}.npy" in archive.zip.namelist():
        with archive.zip.open(f"{chosen[0]}.npy") as file:
            _require_memory(file, path)
    return np.asarray(archive[chosen[0]])


def _require_memory(file: Any, path: str | Path) -> None:
    """Refuse an array whose header announces more than there is memory for."""
    if file.read(4) != b"\x93NUM":  # an archive: its arrays are looked at one by one
        file.seek(0)
        return
    file.seek(0)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the format")
    read = np.lib.format.read_array_header_1_0
    shape, _, kind = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    require_memory(
        math.prod(shape) * kind.itemsize,
        f"{path}: an array of {' x '.join(map(str, shape)) or 'one'} entries",
        "is it the right file? List only the pairs that count (--format pairs)",
        DataError,
    )
    file.seek(0)


def write_matrix(path: str | Path, matrix: ArrayLike) -> None:
    """Write a matrix so that `read_matrix` reads it back.

    Parameters
    ----------
    path : str or Path
        ``.npy``, or text (gzipped if the name ends in ``.gz``); written whole or not at all.
    matrix : array-like of two axes

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> rt.io.write_matrix(path, [[0.0, 2.0], [-3.0, 0.0]])
    >>> rt.io.read_matrix(path).tolist()
    [[0.0, 2.0], [-3.0, 0.0]]
    """
    array = plain_array(matrix, "The rows of a matrix", DataError)
    if array.dtype.kind not in "biuf":
        raise DataError(f"A matrix of log-odds holds numbers, got dtype {array.dtype}.")
    array = floats_of(array)
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"A matrix has rows and columns, got shape {array.shape}.")
    if as_path(path).suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        write_atomically(path, buffer.getvalue())
        return
    words = numbers_as_text(array, "the matrix")
    width = array.shape[1]
    rows = (" ".join(words[k : k + width]) for k in range(0, len(words), width))
    write_lines(path, rows)
