"""Tables of every kind made known to a DuckDB connection, with a memory limit of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from relatum.errors import DataError
from relatum.io.files import GUARDED
from relatum.pair_tables.options import Tuning

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
LEAST_MEMORY = 64 << 20  # bytes that DuckDB needs to read a file at all


def connect(folder: Path, memory: int, threads: int) -> Any:
    """Return a connection that takes about `memory` bytes and spills to a folder."""
    con = duckdb.connect()
    con.execute(f"SET memory_limit='{max(LEAST_MEMORY, memory)}B'; SET threads={threads}")
    con.execute(f"SET temp_directory='{folder / 'spill'}'")
    con.execute("SET preserve_insertion_order=false")
    return con


def ids_at(ids: Any, rows: Any) -> Any:
    """Return some rows of an Arrow table of ids: an array, or one of (source, id) tuples."""
    rows = ids.take(rows)
    if rows.num_columns == 1:
        return rows.column(0).to_numpy()
    out = np.empty(rows.num_rows, dtype=object)
    out[:] = list(zip(*(c.to_pylist() for c in rows.columns), strict=True))
    return out


def quoted(name: str) -> str:
    """Return a column's name as SQL reads it, whatever signs it has."""
    return '"' + name.replace('"', '""') + '"'


def arrow_reader(con: Any, query: str, rows: int = Tuning.read_rows) -> Any:
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


def open_table(
    con: Any, table: Any, name: str, folder: Path, *, what: str = "A table of pairs"
) -> None:
    """Make a table, file or glob known to a connection as a view; an error says `what` it is."""
    if isinstance(table, str | Path):
        source = _codes_as_text(con, _file(str(table)))
        con.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT {_unguarded(con, source)}")
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
            f"{what} is a DuckDB relation, a path or glob of Parquet or CSV files, a pandas, "
            f"polars or pyarrow table, or a Spark DataFrame; got {type(table).__name__}."
        ) from error


def _codes_as_text(con: Any, source: str) -> str:
    """Read the columns of a CSV file as text that number their rows 001, 002, ...

    Taken for integers, 001 and 1 would be one element. If ids on one side are text, all are.
    """
    if not source.startswith("read_csv("):
        return source
    found = con.sql(f"SELECT * FROM {source} LIMIT 0")
    kinds = {n: str(kind) for n, kind in zip(found.columns, found.types, strict=True)}
    whole = [name for name, kind in kinds.items() if kind in INTEGERS]
    if not whole:
        return source
    text = source.removesuffix(")") + ", all_varchar=true)"
    padded = ", ".join(
        f"bool_or(regexp_matches({quoted(column)}, '^[+-]?0[0-9]'))" for column in whole
    )
    row = con.execute(f"SELECT {padded} FROM {text}").fetchall()[0]
    codes = [column for column, found in zip(whole, row, strict=True) if found]
    texts = {name for name, kind in kinds.items() if kind == "VARCHAR"} | {*codes}
    mates = {name[:-2] + {"_l": "_r", "_r": "_l"}.get(name[-2:], "") for name in texts}
    codes += [column for column in whole if column in mates - {*codes}]  # ids of the same kind
    if not codes:
        return source
    types = ", ".join(_literal(column) + ": 'VARCHAR'" for column in codes)
    return source.removesuffix(")") + f", types={{{types}}})"


def require_certain(con: Any, table: Any, score: str) -> None:
    """Refuse numbers in CSV files that are infinite only because they are too large, as 1e999."""
    source = _file(str(table)) if isinstance(table, str | Path) else ""
    if not source.startswith("read_csv("):
        return
    text, column = source.removesuffix(")") + ", all_varchar=true)", quoted(score)
    found = con.execute(
        f"SELECT {column} FROM {text} WHERE isinf(TRY_CAST({column} AS DOUBLE)) "
        f"AND regexp_matches({column}, '[0-9]') LIMIT 1"
    ).fetchall()
    if found:
        raise DataError(
            f"{table}: the score {found[0][0][:60]!r} is larger than any number here; what is "
            "certain is written inf or -inf."
        )


def _unguarded(con: Any, source: str) -> str:
    """Return what to select: texts of CSV files without the apostrophe that keeps them texts."""
    if not source.startswith("read_csv("):
        return f"* FROM {source}"
    found = con.sql(f"SELECT * FROM {source} LIMIT 0")
    kinds = zip(found.columns, found.types, strict=True)
    texts = [quoted(column) for column, kind in kinds if str(kind) == "VARCHAR"]
    mark = f"'''') AND regexp_matches({{0}}, {_literal('^(' + GUARDED + ')')})"
    cells = [
        f"CASE WHEN starts_with({text}, {mark.format(text)} THEN substr({text}, 2) "
        f"ELSE {text} END AS {text}"
        for text in texts
    ]
    replaced = f" REPLACE ({', '.join(cells)})" if cells else ""
    return f"*{replaced} FROM {source}"


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
