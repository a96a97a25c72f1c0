"""What users know of the elements of a table, by id: evidence, groups, labels, earlier clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from relatum.array_types import Flags, Index
from relatum.errors import DataError, EvidenceError
from relatum.pair_tables.columns import (
    evidence_pairs,
    require_evidence_columns,
    require_group_columns,
    two_values,
)
from relatum.pair_tables.on_duckdb.reading import Source, element
from relatum.pair_tables.on_duckdb.tables import arrow_of, column_names, open_table, quoted
from relatum.pair_tables.options import Given
from relatum.pair_tables.previous import Earlier
from relatum.problem import shown

MORE = ("component", "cluster_gap")  # columns of clusters by which later runs know components


def _no_facts() -> Index:
    return np.empty((0, 3), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the elements, by number."""

    # (k, 3): evidence, two elements, the smaller one first, and 1 or 0; sorted, each row once
    fixed: Index = field(default_factory=_no_facts)
    groups: Index | None = None  # (n,): no cluster holds two of one group; -1 for no group
    labels: Index | None = None  # (n,): true entities; -1 for elements without a label
    earlier: Earlier | None = None  # clusters of an earlier run

    @property
    def related(self) -> Index:
        """The pairs known to be related."""
        return self.fixed[self.fixed[:, 2] == 1, :2]

    def may_join(self, i: NDArray[np.integer], j: NDArray[np.integer]) -> Flags:
        """Say which pairs groups leave a choice: of different groups, or of none."""
        if self.groups is None:
            return np.ones(len(i), dtype=np.bool_)
        own = self.groups[i]
        return np.asarray((own != self.groups[j]) | (own < 0))


def _array(values: list[Any], what: str) -> Any:
    """Return an Arrow array, of unsigned integers if some are too large for others."""
    large = any(isinstance(k, int) and k >= 1 << 63 for k in values)
    try:
        return pa.array(values, pa.uint64() if large else None)
    except (pa.ArrowException, OverflowError) as error:
        told = " ".join(str(error).split())[:200].rstrip(". ")
        raise DataError(
            f"{what} are all of one kind that a table has, such as integers of 64 bits or texts "
            f"({told}); give them as a table would hold them."
        ) from None


def read_known(source: Source, given: Given, folder: Path) -> Known:
    """Read what is given into arrays by element number; tables by way of a folder, perhaps."""
    reader = _Reader(source, folder)
    fixed, groups = reader.evidence(given.evidence), None
    if isinstance(given.one_per_group, str):
        groups = reader.group_column(given.one_per_group)
    elif given.one_per_group is not None:
        groups = reader.values(given.one_per_group, "one_per_group").codes
    labels = None if given.labels is None else reader.values(given.labels, "labels").codes
    earlier = None if given.previous is None else reader.earlier(given.previous)
    return Known(fixed, groups, labels, earlier)


@dataclass(frozen=True, eq=False)
class _Values:
    codes: Index  # by element; -1 where nothing is given
    values: Any  # of the codes, an Arrow array
    numbers: Index  # of the elements of the rows given; -1 if the table of pairs has no such id
    given: Index  # codes of these rows


@dataclass(frozen=True, eq=False)
class _Reader:
    source: Source
    folder: Path

    @property
    def con(self) -> Any:
        return self.source.view.con

    def _ids(self, ids: list[Any], what: str) -> Any:
        if self.source.view.columns.source_left is None:
            return _array(ids, f"Ids in {what}")
        for k in ids:
            if not (isinstance(k, tuple | list) and len(k) == 2):
                raise DataError(
                    f"The table of pairs has sources, so that ids in {what} are pairs "
                    f"(source, id), got {shown(k)}."
                )
        sources = _array([s for s, _ in ids], f"Sources in {what}")
        own = _array([k for _, k in ids], f"Ids in {what}")
        return pa.StructArray.from_arrays([sources, own], ["source", "id"])

    def _numbers(self, ids: list[Any], what: str) -> Index:
        if not ids:
            return np.empty(0, dtype=np.int64)
        asked = pa.table({"id": self._ids(ids, what), "row": np.arange(len(ids))})
        self.con.register("asked", asked)
        return self.source.look_up("SELECT id, row FROM asked")

    # --- evidence

    def evidence(self, evidence: Any) -> Index:
        """Return rows (element, element, 1 or 0)."""
        if evidence is None:
            return _no_facts()
        mapping = isinstance(evidence, Mapping)
        yes, no = evidence_pairs(evidence) if mapping else self._evidence_table(evidence)
        pairs = yes + no
        sign = np.repeat([1, 0], [len(yes), len(no)])
        flat = [end for pair in pairs for end in pair]
        numbers = self._numbers(flat, "evidence=")
        if (numbers < 0).any():
            lost = flat[int(np.flatnonzero(numbers < 0)[0])]
            raise EvidenceError(
                f"Evidence names {lost!r}, which is in no row of the table of pairs; drop that "
                "evidence, or add a row that lists the element."
            )
        ends = numbers.reshape(-1, 2)
        bad = np.flatnonzero((ends[:, 0] == ends[:, 1]) & (sign == 0))
        if len(bad):
            raise EvidenceError(f"{pairs[bad[0]][0]!r} is related to itself; drop that evidence.")
        keep = ends[:, 0] != ends[:, 1]
        return np.unique(np.column_stack([np.sort(ends, axis=1), sign])[keep], axis=0)

    def _evidence_table(self, table: Any) -> tuple[list[Any], list[Any]]:
        what = "Evidence is {'related': [(id, id), ...], 'unrelated': [...]}, or a table; a table"
        open_table(self.con, table, "evidence_table", self.folder, what=what)
        view = self.source.view
        require_evidence_columns(view.columns, column_names(self.con, "evidence_table"))
        query = f"SELECT {view.left}, {view.right}, related::INT FROM evidence_table"
        found: dict[int, list[Any]] = {1: [], 0: []}
        for a, b, related in self.con.execute(query).fetchall():
            if view.columns.source_left is not None:
                a, b = tuple(a.values()), tuple(b.values())
            found[int(bool(related))].append((a, b))
        return found[1], found[0]

    # --- a value per element

    def values(self, given: Any, what: str, column: str | None = None) -> _Values:
        """Read a mapping of ids, or a table: its column, or else the only one besides ids."""
        own, value, more = "id", "value", ""
        if isinstance(given, Mapping):
            ids = self._ids(list(given), f"{what}=")
            values = _array(list(given.values()), f"Values in {what}=")
            self.con.register("given_table", pa.table({"id": ids, "value": values}))
        else:
            rule = f"{what}= is a mapping of ids, or a table; a table"
            open_table(self.con, given, "given_table", self.folder, what=rule)
            own, value = self._columns_of(what, column)
            if set(MORE) <= set(column_names(self.con, "given_table")):
                more = "".join(f", {name}" for name in MORE)
        return self._codes(f"SELECT {own} AS id, {value} AS value{more} FROM given_table", what)

    def _columns_of(self, what: str, column: str | None) -> tuple[str, str]:
        c = self.source.view.columns
        names = column_names(self.con, "given_table")
        ids = [name for name in (c.source_name, c.id_name) if name is not None]
        others = [n for n in names if n not in ids]
        if column is None:
            column = others[0] if len(others) == 1 else "label"
        missing = [n for n in [*ids, column] if n not in names]
        if missing:
            raise DataError(
                f"{what}= is a mapping from ids, or a table with the columns "
                f"{', '.join([*ids, column])}; it has no column {missing[0]!r}."
            )
        return element(c.id_name, c.source_name), quoted(column)

    def group_column(self, name: str) -> Index:
        """Return the groups that columns ``name_l`` and ``name_r`` of the pairs give."""
        left, right = require_group_columns(name, column_names(self.con, "pairs"))
        view = self.source.view
        query = (
            f"SELECT {view.left} AS id, {quoted(left)} AS value FROM pairs WHERE {view.named} "
            f"UNION SELECT {view.right}, {quoted(right)} FROM pairs WHERE {view.named}"
        )
        return self._codes(query, "one_per_group").codes

    def _codes(self, query: str, what: str) -> _Values:
        con = self.con
        kind = str(con.sql(f"SELECT value FROM ({query}) LIMIT 0").types[0])
        if kind in ("DOUBLE", "FLOAT"):  # not a number: not known
            query = f"SELECT * FROM ({query}) WHERE NOT isnan(value)"
        con.execute(
            "CREATE OR REPLACE TEMP TABLE coded AS SELECT *, "
            "(dense_rank() OVER (ORDER BY value)) - 1 AS code, row_number() OVER () AS row "
            f"FROM ({query}) WHERE value IS NOT NULL AND id IS NOT NULL"
        )
        numbers = self.source.look_up("SELECT id, row FROM coded")
        given = con.sql("SELECT code FROM coded ORDER BY row").fetchnumpy()["code"]
        given = np.asarray(given, dtype=np.int64)
        values = arrow_of(con, "SELECT DISTINCT code, value FROM coded ORDER BY code")
        known = numbers >= 0
        codes = np.full(self.source.n, -1, dtype=np.int64)
        codes[numbers[known]] = given[known]
        twice = np.flatnonzero(known)[codes[numbers[known]] != given[known]]
        if len(twice):
            row = self.source.ids().slice(int(numbers[twice[0]]), 1).to_pylist()[0]
            raise two_values(what, tuple(row.values()))
        return _Values(codes, values["value"].combine_chunks(), numbers, given)

    # --- earlier clusters

    def earlier(self, previous: Any) -> Earlier:
        """Read earlier clusters and, from a table that has them, hashes and gaps of components."""
        mapping = isinstance(previous, Mapping)
        found = self.values(previous, "previous", None if mapping else "cluster_id")
        clusters = (found.codes, found.values, found.given[found.numbers < 0])
        if not set(MORE) <= set(column_names(self.con, "coded")):
            return Earlier(*clusters)
        got = self.con.sql("SELECT component, cluster_gap FROM coded ORDER BY row").fetchnumpy()
        inside = found.numbers >= 0
        hashes, gaps = np.zeros(self.source.n, dtype=np.uint64), np.zeros(self.source.n)
        given = np.asarray(np.ma.filled(got["component"], 0), dtype=np.int64)
        hashes[found.numbers[inside]] = given[inside].view(np.uint64)
        gaps[found.numbers[inside]] = np.asarray(got["cluster_gap"], dtype=np.float64)[inside]
        return Earlier(*clusters, hashes, gaps)
