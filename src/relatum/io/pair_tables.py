"""Tables of scored pairs: CSV and TSV, Parquet and Arrow (with pyarrow)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError, MissingDependencyError
from relatum.io.text import read_text

__all__ = ["read_pair_table", "read_rows"]


def read_rows(path: str | Path) -> tuple[list[str], list[list[str]]]:
    """Return (column names, rows) of a CSV or TSV file with a heading."""
    lines = read_text(path).splitlines()
    if not lines:
        raise DataError(f"{path} is empty; the first line names the columns.")
    delimiter = "\t" if lines[0].count("\t") > lines[0].count(",") else ","
    rows = list(csv.reader(lines, delimiter=delimiter))
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=2):
        if row and len(row) != len(names):
            raise DataError(
                f"{path}, line {number}: {len(names)} columns are named in line 1, but there are "
                f"{len(row)} here."
            )
    return names, [row for row in rows[1:] if row]


class _Table:
    """A table of text columns, with numbers where they are asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.columns, self._rows = read_rows(path)

    def __getitem__(self, name: str) -> NDArray[Any]:
        k = self.columns.index(name)
        words = [row[k].strip() for row in self._rows]
        if name.startswith("unique_id") or not words:
            return _ids(words)
        return self._numbers(words)

    def _numbers(self, words: list[str]) -> NDArray[Any]:
        try:
            return np.array(words, dtype=np.float64)
        except ValueError:
            pass
        for number, word in enumerate(words, start=2):
            try:
                float(word)
            except ValueError:
                if number == 2 or not _is_number(words[0]):
                    return _ids(words)  # a column of names, not of numbers
                raise DataError(f"{self.path}, line {number}: {word!r} is not a number.") from None
        return np.array(words)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _ids(words: list[str]) -> NDArray[Any]:
    """Whole numbers where all ids are such, else text."""
    if words and all(w.lstrip("-").isdigit() for w in words):
        return np.array([int(w) for w in words])
    return np.array(words, dtype=object)


def read_pair_table(path: str | Path) -> Any:
    """Read a table of scored pairs for `Problem.from_table`.

    Parameters
    ----------
    path : str or Path
        ``.csv`` or ``.tsv`` (also gzipped), ``.parquet``, ``.arrow`` or ``.feather``.
    """
    suffix = Path(path).suffix
    if suffix not in (".parquet", ".arrow", ".feather"):
        return _Table(path)
    try:
        import pyarrow as pa
        import pyarrow.feather as feather
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingDependencyError(
            f"Reading {path} needs the package pyarrow; install relatum[frames], or save the table "
            "as CSV."
        ) from None
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    try:
        return parquet.read_table(path) if suffix == ".parquet" else feather.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
