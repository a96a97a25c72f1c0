"""Tables of records, of whatever kind, as columns that can be compared.

Only the columns that are needed are taken out of a table. Files are read by DuckDB, all cells of
CSV files as texts, so that 007 and 7 stay two codes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.errors import DataError, MissingDependencyError
from relatum.problem import is_missing, shown
from relatum.records.fields import Codes, Column, column_of

USUAL_IDS = ("unique_id", "id")
ROW = "row"  # the name of ids that are numbers of rows
LONGEST = 1_000_000  # bytes of a cell: longer ones are no fields, and take minutes to compare
_WHOLE = re.compile(r"(0|-?[1-9]\d{0,17})\Z")


@dataclass(frozen=True, eq=False)
class Records:
    """Records whose fields can be compared.

    Attributes
    ----------
    ids : Arrow array
        One per record; unique, or unique within a source.
    id_name : str
    columns : mapping of str to Column
    sources : Arrow array or None
        The source of each record.
    source_codes : int64 array or None
        The same as numbers, in the order of the sources' names.
    within_sources : bool
        Whether ids are unique only within a source.
    """

    ids: Any
    id_name: str
    columns: Mapping[str, Column]
    sources: Any = None
    source_codes: Index | None = None
    within_sources: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def id_of(self, row: int) -> Any:
        """Return the id of a record: (source, id) where ids are unique within sources only."""
        own = self.ids[row].as_py()
        return (self.sources[row].as_py(), own) if self.within_sources else own


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "Records are read by the packages duckdb and pyarrow; install relatum[tables]."
        ) from None
    return pyarrow


def arrow_table(records: Any) -> Any:
    """Return a table of records as an Arrow table.

    Parameters
    ----------
    records : pandas, polars or pyarrow table, DuckDB relation, or path of CSV or Parquet files
    """
    pa = _arrow()
    if isinstance(records, str | Path):
        return _file(str(records))
    if isinstance(records, pa.Table):
        return records
    if isinstance(records, pa.RecordBatch):
        return pa.Table.from_batches([records])
    if type(records).__name__ == "DuckDBPyRelation":
        method = getattr(records, "to_arrow_table", None) or records.arrow
        return method()
    module = type(records).__module__.split(".")[0]
    if module == "polars" and hasattr(records, "to_arrow"):
        return records.to_arrow()
    if module == "pandas" and hasattr(records, "columns"):
        columns = {str(name): records[name] for name in records.columns}
        if len(columns) == len(records.columns):
            return pa.table({name: _from_pandas(c, name) for name, c in columns.items()})
        raise DataError("The table of records has several columns of one name; rename them.")
    raise DataError(
        "Records are a pandas, polars or pyarrow table, a DuckDB relation or the path of a CSV or "
        f"Parquet file; got {type(records).__name__}."
    )


def _from_pandas(column: Any, name: str) -> Any:
    pa = _arrow()
    try:
        try:
            return pa.array(column, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            texts = [None if is_missing(value) else str(value) for value in column.tolist()]
            return pa.array(texts, pa.string())  # a column of several types
    except UnicodeEncodeError as error:
        raise DataError(
            f"The column {name!r} holds a text that is not Unicode, half of a surrogate pair: "
            f"{shown(error.object)}; read the table with its right encoding."
        ) from None


def _file(path: str) -> Any:
    _arrow()
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "Files of records are read by the package duckdb; install relatum[tables]."
        ) from None
    quoted = "'" + path.replace("'", "''") + "'"
    text = path.removesuffix(".gz").endswith((".csv", ".tsv", ".txt"))
    if not text and not path.endswith((".parquet", ".pq")):
        raise DataError(f"Records are read from files .csv, .tsv or .parquet, got {path!r}.")
    query = f"read_csv({quoted}, all_varchar=true)" if text else f"read_parquet({quoted})"
    try:
        with duckdb.connect() as con:
            found = con.sql(f"SELECT * FROM {query}")
            return (getattr(found, "to_arrow_table", None) or found.arrow)()
    except duckdb.Error as error:
        if "Maximum line size" in str(error):
            raise DataError(
                f"{path} has a line that is too long for a table of records; leave long texts out, "
                "or give a Parquet file."
            ) from None
        told = " ".join(str(error).split())[:200].rstrip(". ")
        raise DataError(f"{path} cannot be read: {told}; check the path.") from None


def require_columns(table: Any, names: Sequence[str]) -> None:
    """Raise `DataError` if a table lacks a column, or has it twice."""
    have = table.column_names
    for name in names:
        if have.count(name) != 1:
            lacks = f"has no column {name!r}" if name not in have else f"has {name!r} twice"
            raise DataError(
                f"The table of records {lacks}; its columns are {', '.join(have[:50])}."
            )


def _texts(column: Any, name: str) -> Any:
    """Return an Arrow column as texts, null where a value is missing."""
    pa = _arrow()
    pc, kind = pa.compute, column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        parts = [None if v is None else " ".join(map(str, v)) for v in column.to_pylist()]
        return pa.chunked_array([pa.array(parts, pa.string())])
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_finite(column), column, None)
        whole = pc.all(pc.equal(column, pc.round(column))).as_py()
        small = pc.max(pc.abs(column)).as_py()
        if whole and small is not None and small < 2**53:
            column = column.cast(pa.int64())  # 1990.0, as pandas writes 1990 beside missing values
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"The column {name!r} holds values of type {kind}, which cannot be compared as texts; "
            "convert it, or leave it out of fields=."
        ) from None


def _cells(column: Any, name: str) -> Any:
    """Return a column as texts; refuse one with a cell that is no field of a record."""
    pa = _arrow()
    texts = _texts(column, name)
    longest = pa.compute.max(pa.compute.binary_length(texts)).as_py() or 0
    if longest > LONGEST:
        raise DataError(
            f"A field of a record has at most {LONGEST} letters, but one in the column {name!r} "
            f"has {longest}; shorten it, or leave it out of fields=."
        )
    return texts


def _coded(column: Any) -> tuple[list[str | None], Codes]:
    """Return the different values of a column, and which each record has."""
    pa = _arrow()
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = encoded.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return encoded.dictionary.to_pylist(), codes.astype(np.int32)


def read_records(
    table: Any, fields: Mapping[str, str], id_: str | None, source: str | None
) -> Records:
    """Take the columns that are compared, ids and sources out of an Arrow table.

    Parameters
    ----------
    table : Arrow table
    fields : mapping of names to kinds
    id_ : str, optional
        By default ``unique_id`` or ``id``, or else the number of the row.
    source : str, optional
    """
    pa = _arrow()
    named = [name for name in (id_, source) if name is not None]
    require_columns(table, [*fields, *named])
    if id_ is None:
        usual = [name for name in USUAL_IDS if table.column_names.count(name) == 1]
        id_ = next((name for name in usual if name not in fields and name != source), None)
    if id_ is None:
        ids, id_name = pa.array(np.arange(table.num_rows)), ROW
    else:
        ids, id_name = _ids(table.column(id_), id_), id_
    sources = codes = None
    if source is not None:
        sources = _texts(table.column(source), source)
        if sources.null_count:
            raise DataError(f"Every record has a source, but {source!r} is null in some rows.")
        sources = sources.combine_chunks()
        codes = np.unique(_coded(sources)[1], return_inverse=True)[1].astype(np.int64)
    columns = {
        name: column_of(name, kind, *_coded(_cells(table.column(name), name)))
        for name, kind in fields.items()
    }
    within = _unique(ids, sources, id_name)
    return Records(ids, id_name, columns, sources, codes, within)


def _ids(column: Any, name: str) -> Any:
    pa = _arrow()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        raise DataError(f"Every record has an id, but {name!r} is null in some rows.")
    if pa.types.is_nested(column.type):
        raise DataError(
            f"An id is a number or a text, but {name!r} holds values of type {column.type}; name "
            "another column with id=."
        )
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    if pa.types.is_string(column.type) and all(_WHOLE.match(v) for v in column.to_pylist()):
        return column.cast(pa.int64())  # of a CSV file: as a number, since it is written so
    return column


def _unique(ids: Any, sources: Any, name: str) -> bool:
    """Say whether ids are unique only within sources; raise `DataError` if not even there."""
    pa = _arrow()
    if len(ids.unique()) == len(ids):
        return False
    if sources is not None:
        pairs = pa.table({"s": sources, "i": ids}).group_by(["s", "i"]).aggregate([])
        if pairs.num_rows == len(ids):
            return True
    counts = ids.value_counts()
    twice = next(c["values"].as_py() for c in counts if c["counts"].as_py() > 1)
    raise DataError(
        f"Every record has an id of its own, but {shown(twice)} is in {name!r} more than once; "
        "name another column with id=, or say with source= within which ids are unique."
    )


def entity_codes(entity: Any, table: Any, count: int) -> Index:
    """Return entities as numbers, -1 where they are not known.

    Parameters
    ----------
    entity : None, str, or one label per record
        None, NaN or an empty text for records whose entity is not known. The name of a column.
    table : Arrow table
    count : int
        Of records.
    """
    pa = _arrow()
    if entity is None:
        return np.full(count, -1, dtype=np.int64)
    if isinstance(entity, str):
        require_columns(table, [entity])
        values = table.column(entity).to_pylist()
    elif isinstance(entity, pa.Array | pa.ChunkedArray):
        values = entity.to_pylist()
    elif hasattr(entity, "tolist") or hasattr(entity, "to_list"):
        values = entity.tolist() if hasattr(entity, "tolist") else entity.to_list()
    elif isinstance(entity, Sequence):
        values = list(entity)
    else:
        raise DataError(
            "The entities are one label per record, the name of a column, or None; got "
            f"{type(entity).__name__}."
        )
    if len(values) != count:
        raise DataError(
            f"There are {count} records but {len(values)} entities; give one label per record, "
            "None where it is not known."
        )
    number: dict[Any, int] = {}
    out = np.full(count, -1, dtype=np.int64)
    try:
        for k, value in enumerate(values):
            if not is_missing(value) and value != "":
                out[k] = number.setdefault(value, len(number))
    except TypeError:
        raise DataError("An entity is a label such as a number or a text.") from None
    return out
