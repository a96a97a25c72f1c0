"""Reading tables of pairs with DuckDB: rows checked, ids numbered, pairs in batches.

Whatever the table is (a file, a frame, a relation), it becomes a view ``pairs`` of a DuckDB
connection with its own memory limit and folder for spilling. Elements are numbered in the
order of their ids. Integer ids that are not too far apart are numbered by a bitmap, which
needs one bit for each number of their range; others by a table of ids in DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import DataError, MissingDependencyError
from relatum.kernels.tables.places import mark_ids, rank_ids
from relatum.pair_tables.columns import Columns, bits_of, refuse

__all__ = ["Numbering", "PairBatch", "Source", "parse_memory"]

ROWS = 500_000  # rows of a batch
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20}
UNITS |= {"GIB": 2**30, "TIB": 2**40, "B": 1}
PairBatch = tuple[Index, Index, Floats]


def parse_memory(limit: str | int) -> int:
    """Return a memory limit such as "2GB" in bytes."""
    if isinstance(limit, int):
        return limit
    text = limit.strip().upper()
    for unit in sorted(UNITS, key=len, reverse=True):
        if text.endswith(unit):
            try:
                return int(float(text.removesuffix(unit)) * UNITS[unit])
            except ValueError:
                break
    raise DataError(f"A memory limit is a number and a unit, such as '2GB', got {limit!r}.")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def require_duckdb() -> Any:
    """Import DuckDB, or say which extra installs it."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "Tables of pairs are read by the packages duckdb and pyarrow; install relatum[tables]."
        ) from None
    return duckdb


@dataclass(eq=False)
class Numbering:
    """Numbers for ids: a bitmap of integers, or the table ``ids`` of DuckDB."""

    n: int
    present: NDArray[np.uint64] | None = None
    before: Index | None = None
    lowest: int = 0

    def numbers(self, ids: Index) -> Index:
        """Return the numbers of ids that are present."""
        out = np.empty(len(ids), np.int64)
        rank_ids(self.present, self.before, ids, self.lowest, out)
        return out

    def all_ids(self) -> Index:
        """Return the id of every number."""
        assert self.present is not None
        out, step = [np.empty(0, np.int64)], 1 << 17
        for start in range(0, len(self.present), step):  # eight bytes for each bit of a part
            bits = np.unpackbits(
                self.present[start : start + step].view(np.uint8), bitorder="little"
            )
            out.append(np.flatnonzero(bits) + (64 * start + self.lowest))
        return np.concatenate(out).astype(np.int64)


@dataclass(eq=False)
class Source:
    """A table of pairs in DuckDB.

    Parameters
    ----------
    con : DuckDB connection
        With a view ``pairs``.
    columns : Columns
    memory : int
        Bytes that a bitmap of ids may take.
    """

    con: Any
    columns: Columns
    memory: int
    counts: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    numbering: Numbering = field(default_factory=lambda: Numbering(0))

    def __post_init__(self) -> None:
        c = self.columns
        left, right = _quoted(c.left), _quoted(c.right)
        self.left, self.right = left, right
        if c.source_left is not None and c.source_right is not None:
            pattern = "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE "
            pattern += "{{'source': {0}, 'id': {1}}} END"
            self.left = pattern.format(_quoted(c.source_left), left)
            self.right = pattern.format(_quoted(c.source_right), right)
        self.score = f"{_quoted(c.score)}::DOUBLE"

    # --- rows that are not as they should be

    def _conditions(self) -> dict[str, str]:
        bad = f"{self.score} IS NULL OR isnan({self.score})"
        certain = f"isinf({self.score})"
        out = {
            "null_ids": f"({self.left}) IS NULL OR ({self.right}) IS NULL",
            "null_scores": bad,
            "out_of_range": "FALSE",
            "self_pairs": f"({self.left}) = ({self.right})",
            "certain": certain,
        }
        if self.columns.is_probability:
            out["out_of_range"] = f"NOT ({bad}) AND NOT ({self.score} BETWEEN 0 AND 1)"
            out["certain"] = f"{self.score} IN (0, 1)"
        return out

    def check(self, odd_rows: str) -> None:
        """Count rows by kind; refuse those that must be, showing some."""
        kinds = self._conditions()
        parts = ", ".join(f"count(*) FILTER ({rule})" for rule in kinds.values())
        try:
            found = self.con.execute(f"SELECT count(*), {parts} FROM pairs").fetchall()[0]
        except Exception as error:
            if type(error).__module__.split(".")[0] not in ("duckdb", "_duckdb"):
                raise
            first = str(error).splitlines()[0]
            raise DataError(
                f"The table of pairs cannot be read as columns {self.columns.names()} with one "
                f"number a row in {self.columns.score!r}: {first}"
            ) from None
        self.rows = int(found[0])
        self.counts = {kind: int(k) for kind, k in zip(kinds, found[1:], strict=True)}
        if odd_rows == "refuse":
            refuse(self.counts, {k: self.examples(kinds[k]) for k in kinds if self.counts[k]})

    def examples(self, condition: str) -> list[dict[str, Any]]:
        """Return a few rows for which a condition holds."""
        names = ", ".join(map(_quoted, self.columns.names()))
        query = f"SELECT {names} FROM pairs WHERE {condition} LIMIT 5"
        rows = self.con.execute(query).fetchall()
        return [dict(zip(self.columns.names(), row, strict=True)) for row in rows]

    # --- numbers for ids

    @property
    def _both(self) -> str:
        return f"({self.left}) IS NOT NULL AND ({self.right}) IS NOT NULL"

    def number(self, more: str = "") -> int:
        """Give the ids numbers and return how many there are.

        ``more`` is a query for further ids, which are elements too.
        """
        kinds = self.con.execute(
            f"SELECT typeof(any_value({self.left})), typeof(any_value({self.right})), "
            f"min({self.left}), max({self.left}), min({self.right}), max({self.right}) "
            f"FROM pairs WHERE {self._both}"
        ).fetchall()[0]
        if kinds[0] in INTEGERS and kinds[1] in INTEGERS and not more:
            lowest, highest = min(kinds[2], kinds[4]), max(kinds[3], kinds[5])
            if (highest - lowest) // 4 <= self.memory:
                return self._number_by_bitmap(lowest, highest)
        return self._number_by_table(more)

    def _number_by_bitmap(self, lowest: int, highest: int) -> int:
        words = (highest - lowest) // 64 + 1
        present = np.zeros(words, np.uint64)
        for a, b in self._read(f"{self.left}::BIGINT", f"{self.right}::BIGINT"):
            mark_ids(present, a, lowest)
            mark_ids(present, b, lowest)
        before = np.full(words + 1, -1, np.int64)
        rank_ids(present, before, np.empty(0, np.int64), lowest, np.empty(0, np.int64))
        self.numbering = Numbering(int(before[-1]), present, before, lowest)
        return self.numbering.n

    def _number_by_table(self, more: str) -> int:
        union = f" UNION {more}" if more else ""
        self.con.execute(
            "CREATE OR REPLACE TEMP TABLE ids AS SELECT id, (row_number() OVER (ORDER BY id)) - 1 "
            f"AS k FROM (SELECT {self.left} AS id FROM pairs WHERE {self._both} "
            f"UNION SELECT {self.right} FROM pairs WHERE {self._both}{union})"
        )
        n = int(self.con.execute("SELECT count(*) FROM ids").fetchall()[0][0])
        self.numbering = Numbering(n)
        return n

    def _read(self, *expressions: str, joins: str = "") -> Iterator[list[NDArray[Any]]]:
        query = f"SELECT {', '.join(expressions)} FROM pairs {joins} WHERE {self._both}"
        for batch in reader(self.con, query):
            yield [np.ascontiguousarray(c.to_numpy(zero_copy_only=False)) for c in batch.columns]

    def batches(self, *more: str) -> Iterator[tuple[PairBatch, list[NDArray[Any]]]]:
        """Yield (numbers, numbers, bits; NaN where not usable), and further columns, of rows."""
        joins, ends = "", (f"{self.left}::BIGINT", f"{self.right}::BIGINT")
        if self.numbering.present is None:
            joins = f"JOIN ids l ON l.id = ({self.left}) JOIN ids r ON r.id = ({self.right})"
            ends = ("l.k", "r.k")
        for a, b, score, *others in self._read(*ends, self.score, *more, joins=joins):
            if self.numbering.present is not None:
                a, b = self.numbering.numbers(a), self.numbering.numbers(b)
            bits = bits_of(score, self.columns.is_probability)
            yield (a, b, bits), others

    def look_up(self, query: str) -> Index:
        """Return the numbers of the ids in a query's column ``id``, in order; -1 if unknown."""
        if self.numbering.present is None:
            joined = f"SELECT ids.k FROM ({query}) q LEFT JOIN ids ON ids.id = q.id ORDER BY q.row"
            found = self.con.sql(joined).fetchnumpy()["k"]
            return np.ma.filled(found, -1).astype(np.int64)
        got = self.con.sql(f"SELECT id::BIGINT AS id FROM ({query}) ORDER BY row").fetchnumpy()
        ids = np.asarray(np.ma.filled(got["id"], self.numbering.lowest - 1), dtype=np.int64)
        inside = (ids >= self.numbering.lowest) & (ids - self.numbering.lowest < self._span)
        out = np.full(len(ids), -1, dtype=np.int64)
        if inside.any():
            own = ids[inside] - self.numbering.lowest
            words = self.numbering.present[own >> 6]
            known = (words >> (own & 63).astype(np.uint64)) & np.uint64(1) == 1
            ranks = self.numbering.numbers(ids[inside])
            out[inside] = np.where(known, ranks, -1)
        return out

    @property
    def _span(self) -> int:
        assert self.numbering.present is not None
        return 64 * len(self.numbering.present)

    def id_table(self) -> Any:
        """Return an Arrow table of ids in the order of their numbers: source, if any, and id."""
        import pyarrow as pa

        c = self.columns
        if self.numbering.present is not None:
            kind = arrow_of(self.con, f"SELECT {self.left} FROM pairs LIMIT 0")
            ids = pa.array(self.numbering.all_ids()).cast(kind.schema.field(0).type)
            return pa.table({c.id_name: ids})
        own = f"id AS {_quoted(c.id_name)}"
        if c.source_name is not None:
            own = f"id.source AS {_quoted(c.source_name)}, id.id AS {_quoted(c.id_name)}"
        return arrow_of(self.con, f"SELECT {own} FROM ids ORDER BY k")

    def keys(self) -> NDArray[np.uint64]:
        """Return a hash of each id, the same in every run."""
        if self.numbering.present is not None:
            return self.numbering.all_ids().view(np.uint64)
        found = self.con.sql("SELECT hash(id::VARCHAR) AS h FROM ids ORDER BY k").fetchnumpy()
        return np.asarray(found["h"], dtype=np.uint64)


def reader(con: Any, query: str, rows: int = ROWS) -> Any:
    """Return an Arrow reader of a query's result, in batches."""
    found = con.sql(query)
    method = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
    return method(rows)


def arrow_of(con: Any, query: str) -> Any:
    """Return a query's result as an Arrow table."""
    found = con.sql(query)
    method = getattr(found, "to_arrow_table", None) or found.arrow
    return method()


def column_names(con: Any, view: str) -> list[str]:
    """Return the names of a view's columns."""
    return [str(name) for name in con.table(view).columns]


def open_table(con: Any, table: Any, name: str, folder: Path) -> None:
    """Make a table, file or glob known to a connection as a view."""
    if isinstance(table, str | Path):
        source = _codes_as_text(con, _file(str(table)))
        con.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {source}")
        return
    if type(table).__name__ == "DuckDBPyRelation":  # of another connection: by way of a file
        path = folder / f"{name}.parquet"
        table.write_parquet(str(path))
        con.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {_file(str(path))}")
        return
    if hasattr(table, "to_arrow"):  # polars
        table = table.to_arrow()
    try:
        con.register(name, table)
    except Exception as error:
        raise DataError(
            "A table of pairs is a DuckDB relation, a path or glob of Parquet or CSV files, a "
            f"pandas, polars or pyarrow table, or a Spark DataFrame; got {type(table).__name__}."
        ) from error


def _codes_as_text(con: Any, source: str) -> str:
    """Read the columns of a CSV file as text that number their rows 001, 002, ...

    Taken for integers, 001 and 1 would be one element.
    """
    if not source.startswith("read_csv("):
        return source
    found = con.sql(f"SELECT * FROM {source} LIMIT 0")
    whole = [n for n, kind in zip(found.columns, found.types, strict=True) if str(kind) in INTEGERS]
    if not whole:
        return source
    text = source.removesuffix(")") + ", all_varchar=true)"
    padded = ", ".join(
        f"bool_or(regexp_matches({_quoted(column)}, '^[+-]?0[0-9]'))" for column in whole
    )
    row = con.execute(f"SELECT {padded} FROM {text}").fetchall()[0]
    codes = [column for column, found in zip(whole, row, strict=True) if found]
    if not codes:
        return source
    types = ", ".join(_literal(column) + ": 'VARCHAR'" for column in codes)
    return source.removesuffix(")") + f", types={{{types}}})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _file(path: str) -> str:
    function = "read_parquet"
    if any(path.removesuffix(".gz").endswith(end) for end in (".csv", ".tsv", ".txt")):
        function = "read_csv"
    elif not path.endswith(".parquet"):
        raise DataError(f"{path} ends in .parquet, .csv or .tsv (also .gz), as pair tables do.")
    if not any(sign in path for sign in "*?[") and not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    return f"{function}({_literal(path)})"
