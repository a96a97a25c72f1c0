"""Tables of scored pairs: CSV and TSV, Parquet and Arrow (with pyarrow)."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats
from relatum.errors import DataError, MissingDependencyError
from relatum.io.files.formulas import guarded, unguarded
from relatum.io.files.reading import as_path, lines_of, open_to_read, whole_number
from relatum.io.files.writing import floats_of, require_writable, write_atomically, write_lines
from relatum.problem import labels_array, plain_array, shown

ARROW_ENDINGS = (".parquet", ".arrow", ".feather")
SPLINK_IDS = ("unique_id_l", "unique_id_r")


def _rows_of(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of a CSV or TSV file, its heading first."""
    lines = lines_of(path)
    first = next(lines, None)
    if first is None:
        raise DataError(f"{path}, line 1: the file is empty; its first line names the columns.")
    delimiter = "\t" if first.count("\t") > first.count(",") else ","

    def with_ends() -> Iterator[str]:
        yield first + "\n"
        for line in lines:
            yield line + "\n"

    reader = csv.reader(with_ends(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, [unguarded(c) if c[:1] == "'" else c for c in row]
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: this is not CSV: {error}. Is the file cut off, or a "
            "quote missing?"
        ) from None


def _heading(rows: Iterator[tuple[int, list[str]]], path: str | Path) -> list[str]:
    names = [name.strip() for name in next(rows)[1]]
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise DataError(f"{path}, line 1: two columns have the name {twice[0][:60]!r}; rename one.")
    return names


def _cells(
    rows: Iterator[tuple[int, list[str]]], names: list[str], path: str | Path
) -> Iterator[tuple[int, list[str]]]:
    for number, row in rows:
        if row and len(row) != len(names):
            raise DataError(
                f"{path}, line {number}: {len(names)} columns are named in line 1, but there are "
                f"{len(row)} here."
            )
        if row:
            yield number, row


def numbered_rows(path: str | Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return (column names, rows with their line) of a CSV or TSV file with a heading."""
    rows = _rows_of(path)
    names = _heading(rows, path)
    return names, list(_cells(rows, names, path))


def read_rows(path: str | Path) -> tuple[list[str], list[list[str]]]:
    """Return (column names, rows) of a CSV or TSV file with a heading."""
    names, rows = numbered_rows(path)
    return names, [row for _, row in rows]


class _Table:
    """A table of text columns, with numbers where they are asked for."""

    def __init__(self, path: str | Path, named: Mapping[str, str]) -> None:
        self.path = path
        rows = _rows_of(path)
        self.columns = _heading(rows, path)
        splink = set(SPLINK_IDS) <= set(self.columns)
        ids_named = {"left", "right"} & set(named)
        if not splink and not ids_named and len(self.columns) != 3:
            raise wrong_columns(f"{path}, line 1", self.columns)
        self._rows = list(_cells(rows, self.columns, path))
        given = tuple(named[k] for k in ("log_odds", "probability") if k in named)
        others = ("match_weight", "match_probability") if splink or ids_named else self.columns[2:]
        self.scores = given or tuple(others)
        by_place = tuple(name for name in self.columns if name not in self.scores)[:2]
        usual = SPLINK_IDS if splink or ids_named else by_place
        self.ids = tuple(named.get(k, d) for k, d in zip(("left", "right"), usual, strict=False))
        lost = [name for name in (*self.ids, *given) if name not in self.columns]
        if lost:
            raise DataError(
                f"{path}, line 1: there is no column {lost[0]!r}; there are "
                f"{', '.join(self.columns[:50])[:200]}."
            )
        self._whole = all(_is_whole(word) for name in self.ids for word in self._words(name))

    def _words(self, name: str) -> list[str]:
        k = self.columns.index(name)
        words = [row[k].strip() for _, row in self._rows]
        if name in self.ids and "" in words:
            raise DataError(
                f"{self.path}, line {self._rows[words.index('')][0]}: the id in column {name!r} "
                "is empty; drop the row or fill it in."
            )
        return words

    def __getitem__(self, name: str) -> NDArray[Any]:
        words = self._words(name)
        if name in self.scores:
            return self._numbers(words)
        if name in self.ids and self._whole:
            return np.array([int(w) for w in words], dtype=np.int64)
        return np.array(words, dtype=object)

    def _numbers(self, words: list[str]) -> Floats:
        with suppress(ValueError):
            numbers = np.array(words, dtype=np.float64)
            if np.isfinite(numbers).all():
                return numbers
        for (number, _), word in zip(self._rows, words, strict=True):
            try:
                found = float(word)
            except ValueError:
                found = math.nan
            if math.isnan(found):
                raise DataError(f"{self.path}, line {number}: {word[:60]!r} is not a number.")
            if math.isinf(found) and any(sign.isdigit() for sign in word):
                raise DataError(
                    f"{self.path}, line {number}: {word[:60]!r} is larger than any number here; "
                    "what is certain is written inf or -inf."
                )
        return np.array(words, dtype=np.float64)


def wrong_columns(where: str, names: Sequence[str]) -> DataError:
    """Return the error for a table that is no table of pairs."""
    return DataError(
        f"{where}: a table of pairs has the columns unique_id_l, unique_id_r and match_weight or "
        "match_probability, or three columns: two ids and log-odds; got "
        f"{len(names)}: {', '.join(names[:50])[:200]}."
    )


def _is_whole(word: str) -> bool:
    """Whether a word is a number as numbers are written: 7, not 007."""
    number = whole_number(word)
    return number is not None and str(number) == word


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            f"{what} needs the package pyarrow; install relatum[frames], or use CSV."
        ) from None
    return pa


def read_pair_table(path: str | Path, columns: Mapping[str, str] | None = None) -> Any:
    """Read a table of scored pairs for `Problem.from_table`.

    Parameters
    ----------
    path : str or Path
        ``.csv`` or ``.tsv`` (also gzipped), ``.parquet``, ``.arrow`` or ``.feather``.
    columns : mapping, optional
        Names of columns: ``left``, ``right``, ``log_odds`` or ``probability``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> rt.io.write_pair_table(path, ["ann", "ann"], ["anne", "bob"], [4.0, -3.0])
    >>> table = rt.io.read_pair_table(path)
    >>> rt.Problem.from_table(table, background=-1.0, feasible=rt.EQUIVALENCES).ids.tolist()
    ['ann', 'anne', 'bob']
    """
    suffix = as_path(path).suffix
    if suffix not in ARROW_ENDINGS:
        return _Table(path, {} if columns is None else columns)
    pa = _pyarrow(f"Reading {path}")
    with open_to_read(path) as file:
        read = pa.parquet.read_table if suffix == ".parquet" else pa.feather.read_table
        try:
            table = read(file)
            if not all(isinstance(name, str) for name in table.column_names):  # decodes them
                raise ValueError("its columns have no names")
            return table
        except (pa.ArrowException, OSError, ValueError) as error:
            told = str(error).splitlines()[0][:200].rstrip(".")
            raise DataError(
                f"{path} cannot be read as {suffix[1:]}: {told}. Is it cut off, or of another "
                "format?"
            ) from None


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Write rows as CSV, quoted where needed; texts never become formulas of spreadsheets."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow([guarded(name) for name in names])
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def write_rows(path: str | Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a CSV file, or with tabs if the name has the ending ``.tsv``."""
    text = csv_text(names, rows, "\t" if ".tsv" in as_path(path).suffixes else ",")
    write_lines(path, [text.removesuffix("\n")])


def write_pair_table(
    path: str | Path, left: ArrayLike, right: ArrayLike, log_odds: ArrayLike
) -> None:
    """Write scored pairs so that `read_pair_table` reads them back.

    Parameters
    ----------
    path : str or Path
        ``.csv`` or ``.tsv`` (also gzipped), ``.parquet``, ``.arrow`` or ``.feather``; written
        whole or not at all.
    left, right : array-like
        Ids, in the columns unique_id_l and unique_id_r.
    log_odds : array-like
        In bits, in the column match_weight; infinite ones are evidence.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> rt.io.write_pair_table(path, ["ann", "ann"], ["anne", "bob"], [4.0, -3.0])
    >>> table = rt.io.read_pair_table(path)
    >>> rt.Problem.from_table(table, background=-1.0, feasible=rt.EQUIVALENCES).ids.tolist()
    ['ann', 'anne', 'bob']
    """
    a, b = (labels_array(ids, "Ids", DataError) for ids in (left, right))
    score = plain_array(log_odds, "Log-odds", DataError)
    if score.dtype.kind not in "biuf" or np.isnan(score).any():
        raise DataError(f"Log-odds are numbers, not NaN, got {shown(score.tolist())}.")
    score = floats_of(score)
    if not (a.shape == b.shape == score.shape) or a.ndim != 1:
        raise DataError(
            "left, right and log_odds have one entry per pair, got shapes "
            f"{a.shape}, {b.shape} and {score.shape}."
        )
    names = [*SPLINK_IDS, "match_weight"]
    suffix = as_path(path).suffix
    if suffix not in ARROW_ENDINGS:
        write_rows(path, names, zip(a.tolist(), b.tolist(), score.tolist(), strict=True))
        return
    pa = _pyarrow(f"Writing {path}")
    require_writable(path)
    try:
        table = pa.table(dict(zip(names, (a.tolist(), b.tolist(), score), strict=True)))
    except (pa.ArrowException, OverflowError) as error:
        told = str(error).splitlines()[0][:200].rstrip(".")
        raise DataError(f"{path}: ids of a column are of one type, but {told}.") from None
    sink = io.BytesIO()
    if suffix == ".parquet":
        pa.parquet.write_table(table, sink)
    else:
        pa.feather.write_feather(table, sink)
    write_atomically(path, sink.getvalue())
