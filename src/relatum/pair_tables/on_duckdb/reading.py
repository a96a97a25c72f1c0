"""Reading tables of pairs with DuckDB: rows checked, ids numbered, pairs in batches.

Whatever the table is (a file, a frame, a relation), it becomes a view ``pairs`` of a DuckDB
connection. Elements are numbered in the order of their ids. Integer ids that are not too far
apart are numbered by a bitmap, which needs one bit for each number of their range; others by a
table of ids in DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.kernels.tables.places import mark_ids, rank_ids
from relatum.pair_tables.columns import (
    MOST_BITS,
    Columns,
    arrow_numbers,
    bits_of,
    numbers_of,
    refuse,
)
from relatum.pair_tables.on_duckdb.store import Workspace
from relatum.pair_tables.on_duckdb.tables import (
    INTEGERS,
    arrow_of,
    arrow_reader,
    column_names,
    open_table,
    quoted,
    require_certain,
)
from relatum.pair_tables.options import Given


@dataclass(frozen=True, eq=False)
class View:
    """The view ``pairs`` of a connection, and what is read from it as SQL expressions."""

    con: Any
    columns: Columns
    left: str  # the left element: its id, or a struct of source and id; null if one is null
    right: str  # the right element
    score: str  # as it stands in the table
    named: str  # whether a row names two elements

    def read(self, *expressions: str, joins: str = "") -> Iterator[list[NDArray[Any]]]:
        """Yield columns of the rows that name two elements, in batches."""
        query = f"SELECT {', '.join(expressions)} FROM pairs {joins} WHERE {self.named}"
        for batch in arrow_reader(self.con, query):
            yield [numbers_of(c) for c in batch.columns]


def open_pairs(con: Any, given: Given, folder: Path) -> View:
    """Make the table of pairs known to a connection, and find its columns."""
    open_table(con, given.pairs, "pairs", folder)
    c = given.columns(column_names(con, "pairs"))
    left, right = element(c.left, c.source_left), element(c.right, c.source_right)
    named = f"({left}) IS NOT NULL AND ({right}) IS NOT NULL"
    return View(con, c, left, right, f"{quoted(c.score)}::DOUBLE", named)


def element(name: str, source: str | None) -> str:
    """Return an element as one expression: an id, or a struct of source and id."""
    own = quoted(name)
    if source is None:
        return own
    null = f"{quoted(source)} IS NULL OR {own} IS NULL"
    return f"CASE WHEN {null} THEN NULL ELSE {{'source': {quoted(source)}, 'id': {own}}} END"


@dataclass(frozen=True, eq=False)
class Source:
    """A table whose elements have numbers; the table ``ids`` holds each id and its number ``k``."""

    view: View
    n: int  # how many elements there are
    rows: int  # how many rows
    odd_rows: Mapping[str, int]  # how many by kind, see `relatum.pair_tables.columns`

    def batches(self) -> Iterator[tuple[Index, Index, Floats]]:
        """Yield the numbers of both elements, and the bits (NaN where not usable), of rows."""
        for a, b, score in self._numbered_rows():
            yield a, b, bits_of(score, self.view.columns.is_probability)

    def _numbered_rows(self) -> Iterator[list[NDArray[Any]]]:
        left, right = self.view.left, self.view.right
        joins = f"JOIN ids l ON l.id = ({left}) JOIN ids r ON r.id = ({right})"
        return self.view.read("l.k", "r.k", self.view.score, joins=joins)

    def look_up(self, query: str) -> Index:
        """Return the numbers of the ids in a query's column ``id``, by ``row``; -1 if unknown."""
        kind = self.view.con.execute("SELECT typeof(any_value(id)) FROM ids").fetchall()[0][0]
        own = self._converted(f"({query})", kind)
        joined = f"SELECT ids.k FROM {own} q LEFT JOIN ids ON ids.id = q.id ORDER BY q.row"
        return np.ma.filled(self._asked(joined, "k"), -1).astype(np.int64)

    def _converted(self, query: str, kind: str) -> str:
        """Return a query with the same rows and ids of a type; null where they would be others.

        Comparing 1 with texts, DuckDB would find "1" and "01"; and it takes 1.4 for 1.
        """
        found = self.view.con.execute(f"SELECT typeof(any_value(id)) FROM {query}").fetchall()
        if '"NULL"' in (kind, found[0][0]):  # there are none
            return f"(SELECT NULL AS id, row FROM {query})"
        cast = f"TRY_CAST(id AS {kind})"
        same = f"CASE WHEN TRY_CAST({cast} AS {found[0][0]}) = id THEN {cast} END"
        return f"(SELECT {same} AS id, row FROM {query})"

    def _asked(self, query: str, column: str) -> NDArray[Any]:
        """Return a column of a query about ids that somebody else named."""
        try:
            return np.ma.asarray(self.view.con.sql(query).fetchnumpy()[column])
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise DataError(f"Ids are not of the type of those in the table: {first}") from None

    def ids(self) -> Any:
        """Return an Arrow table of ids in the order of their numbers: source, if any, and id."""
        c = self.view.columns
        own = f"id AS {quoted(c.id_name)}"
        if c.source_name is not None:
            own = f"id.source AS {quoted(c.source_name)}, id.id AS {quoted(c.id_name)}"
        return arrow_of(self.view.con, f"SELECT {own} FROM ids ORDER BY k")

    def keys(self) -> NDArray[np.uint64]:
        """Return a hash of each id, the same in every run."""
        found = self.view.con.sql("SELECT hash(id::VARCHAR) AS h FROM ids ORDER BY k").fetchnumpy()
        return np.asarray(found["h"], dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Bitmap(Source):
    """A source whose ids are integers, numbered by a bitmap of their range."""

    present: NDArray[np.uint64]  # words of 64 bits, from the lowest id on
    before: Index  # how many bits are set before each word
    lowest: int

    def _ranks(self, ids: Index) -> Index:
        out = np.empty(len(ids), np.int64)
        rank_ids(self.present, self.before, ids, self.lowest, out)
        return out

    def _all(self) -> Index:
        out, step = [np.empty(0, np.int64)], 1 << 17
        for start in range(0, len(self.present), step):  # eight bytes for each bit of a part
            words = self.present[start : start + step].view(np.uint8)
            bits = np.unpackbits(words, bitorder="little")
            out.append(np.flatnonzero(bits) + (64 * start + self.lowest))
        return np.concatenate(out).astype(np.int64)

    def _numbered_rows(self) -> Iterator[list[NDArray[Any]]]:
        view = self.view
        rows = view.read(f"{view.left}::BIGINT", f"{view.right}::BIGINT", view.score)
        for a, b, score in rows:
            yield [self._ranks(a), self._ranks(b), score]

    def look_up(self, query: str) -> Index:
        own_type = self._converted(f"({query})", "BIGINT")
        found = self._asked(f"SELECT id::BIGINT AS id FROM {own_type} ORDER BY row", "id")
        own = np.asarray(np.ma.filled(found, self.lowest - 1), dtype=np.int64) - self.lowest
        inside = (own >= 0) & (own < 64 * len(self.present))
        out = np.full(len(own), -1, dtype=np.int64)
        own = own[inside]
        known = (self.present[own >> 6] >> (own & 63).astype(np.uint64)) & np.uint64(1) == 1
        out[inside] = np.where(known, self._ranks(own + self.lowest), -1)
        return out

    def ids(self) -> Any:
        kind = arrow_of(self.view.con, f"SELECT {self.view.left} FROM pairs LIMIT 0")
        ids = arrow_numbers(self._all()).cast(kind.schema.field(0).type)
        return pa.table({self.view.columns.id_name: ids})

    def keys(self) -> NDArray[np.uint64]:
        return self._all().view(np.uint64)


def read_source(con: Any, given: Given, space: Workspace) -> Source:
    """Check the rows of a table of pairs, and number its elements."""
    view = open_pairs(con, given, space.folder)
    rows, counts = _check_rows(view, given)
    if counts["certain"]:  # rarely, so that text is read once more
        require_certain(con, given.pairs, view.columns.score)
    return _number_ids(view, rows, counts, space.share)


def _check_rows(view: View, given: Given) -> tuple[int, dict[str, int]]:
    """Count rows, and the odd ones by kind; refuse those that must be, showing some."""
    kinds = _conditions(view)
    parts = ", ".join(f"count(*) FILTER ({rule})" for rule in kinds.values())
    parts += f", {_spread(view)}"
    try:
        found = view.con.execute(f"SELECT count(*), {parts} FROM pairs").fetchall()[0]
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise DataError(
            f"The table of pairs cannot be read as columns {view.columns.names()} with one "
            f"number per row in {view.columns.score!r}: {first}"
        ) from None
    counts = {kind: int(k) for kind, k in zip(kinds, found[1:-4], strict=True)}
    given.require_log_odds(view.columns, found[-4:], int(found[0]))
    if given.odd_rows == "refuse":
        refuse(counts, {k: _examples(view, kinds[k]) for k in kinds if counts[k]})
    return int(found[0]), counts


def _spread(view: View) -> str:
    """Return the least and most of all scores, and of those between 0 and 1."""
    known = f"FILTER (NOT isnan({view.score}))"
    between = f"FILTER ({view.score} > 0 AND {view.score} < 1)"
    ends = (f"{end}({view.score}) {some}" for some in (known, between) for end in ("min", "max"))
    return ", ".join(ends)


def _conditions(view: View) -> dict[str, str]:
    """Return the condition of each kind of odd rows that can be told row by row."""
    bad = f"{view.score} IS NULL OR isnan({view.score})"
    certain = f"isinf({view.score})"
    out_of_range = f"NOT ({bad}) AND NOT {certain} AND abs({view.score}) > {MOST_BITS!r}"
    if view.columns.is_probability:
        out_of_range = f"NOT ({bad}) AND NOT ({view.score} BETWEEN 0 AND 1)"
        certain = f"{view.score} IN (0, 1)"
    return {
        "null_ids": f"({view.left}) IS NULL OR ({view.right}) IS NULL",
        "null_scores": bad,
        "out_of_range": out_of_range,
        "self_pairs": f"({view.left}) = ({view.right})",
        "certain": certain,
    }


def _examples(view: View, condition: str) -> list[dict[str, Any]]:
    names = view.columns.names()
    query = f"SELECT {', '.join(map(quoted, names))} FROM pairs WHERE {condition} LIMIT 5"
    return [dict(zip(names, row, strict=True)) for row in view.con.execute(query).fetchall()]


def _number_ids(view: View, rows: int, odd_rows: Mapping[str, int], memory: int) -> Source:
    """Give elements numbers; a bitmap of ids may take `memory` bytes."""
    left, right = view.left, view.right
    kinds = view.con.execute(
        f"SELECT typeof(any_value({left})), typeof(any_value({right})), "
        f"min({left}), max({left}), min({right}), max({right}) FROM pairs WHERE {view.named}"
    ).fetchall()[0]
    _require_one_type(kinds[0], kinds[1], view.columns)
    if kinds[0] in INTEGERS and kinds[1] in INTEGERS and kinds[2] is not None:
        lowest, highest = min(kinds[2], kinds[4]), max(kinds[3], kinds[5])
        if (highest - lowest) // 4 <= memory:
            present, before = _bitmap(view, lowest, highest)
            return Bitmap(view, int(before[-1]), rows, odd_rows, present, before, lowest)
    view.con.execute(
        "CREATE OR REPLACE TEMP TABLE ids AS SELECT id, (row_number() OVER (ORDER BY id)) - 1 "
        f"AS k FROM (SELECT {left} AS id FROM pairs WHERE {view.named} "
        f"UNION SELECT {right} FROM pairs WHERE {view.named})"
    )
    n = int(view.con.execute("SELECT count(*) FROM ids").fetchall()[0][0])
    return Source(view, n, rows, odd_rows)


def _require_one_type(left: str, right: str, columns: Columns) -> None:
    """Refuse ids of types that are compared after a conversion: 1, "1" and "01" would be one."""
    if _comparable(left) != _comparable(right):
        raise DataError(
            f"Ids are of one type, but those in {columns.left!r} are {left} and those in "
            f"{columns.right!r} {right}; convert one of them."
        )


def _comparable(kind: str) -> str:
    """Return a type of DuckDB but for what does not matter: widths of integers, enumerations."""
    kind = re.sub(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)", "VARCHAR", kind)
    return re.sub(r"\bU?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?\b", "INTEGER", kind)


def _bitmap(view: View, lowest: int, highest: int) -> tuple[NDArray[np.uint64], Index]:
    words = (highest - lowest) // 64 + 1
    present = np.zeros(words, np.uint64)
    for ends in view.read(f"{view.left}::BIGINT", f"{view.right}::BIGINT"):
        for ids in ends:
            mark_ids(present, ids, lowest)
    before = np.full(words + 1, -1, np.int64)
    none = np.empty(0, np.int64)
    rank_ids(present, before, none, lowest, none)
    return present, before
