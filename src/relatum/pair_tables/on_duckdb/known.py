"""What users know of the elements of a table, by id: evidence, groups, labels, earlier clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.errors import DataError, EvidenceError
from relatum.pair_tables.columns import Columns, no_evidence_column
from relatum.pair_tables.on_duckdb.reading import (
    Source,
    _quoted,
    arrow_of,
    column_names,
    open_table,
)

__all__ = ["Reader", "evidence_pairs"]


def evidence_pairs(evidence: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """Return pairs of ids known to be related, and not, from a mapping."""
    unknown = set(evidence) - {"related", "unrelated"}
    if unknown:
        raise EvidenceError(
            "evidence is {'related': [(id, id), ...], 'unrelated': [...]}, or a table of pairs of "
            f"ids with a column 'related'; got the key {sorted(map(str, unknown))[0]!r}."
        )
    return [tuple(p) for p in evidence.get("related", ())], [
        tuple(p) for p in evidence.get("unrelated", ())
    ]


@dataclass(eq=False)
class Reader:
    """Reads what is known into arrays by element number.

    Parameters
    ----------
    source : Source
        Numbered.
    folder : Path
        For temporary files.
    """

    source: Source
    folder: Path

    @property
    def columns(self) -> Columns:
        """The columns of the table of pairs."""
        return self.source.columns

    def _ids(self, ids: list[Any]) -> Any:
        import pyarrow as pa

        if self.columns.source_left is None:
            return pa.array(ids)
        return pa.array([{"source": s, "id": k} for s, k in ids])

    def _numbers(self, ids: list[Any]) -> Index:
        import pyarrow as pa

        if not ids:
            return np.empty(0, dtype=np.int64)
        table = pa.table({"id": self._ids(ids), "row": np.arange(len(ids))})
        self.source.con.register("asked", table)
        return self.source.look_up("SELECT id, row FROM asked")

    def evidence(self, evidence: Any) -> Index:
        """Return rows (element, element, 1 or 0)."""
        if evidence is None:
            return np.empty((0, 3), dtype=np.int64)
        if isinstance(evidence, Mapping):
            yes, no = evidence_pairs(evidence)
        else:
            yes, no = self._evidence_table(evidence)
        pairs = yes + no
        sign = np.repeat([1, 0], [len(yes), len(no)])
        flat = [end for pair in pairs for end in pair]
        numbers = self._numbers(flat)
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
        con, c = self.source.con, self.columns
        open_table(con, table, "evidence_table", self.folder)
        names = column_names(con, "evidence_table")
        missing = [n for n in (c.left, c.right, "related") if n not in names]
        if missing:
            raise no_evidence_column(missing[0], names)
        query = f"SELECT {self.source.left}, {self.source.right}, related::INT FROM evidence_table"
        found: dict[int, list[Any]] = {1: [], 0: []}
        for a, b, related in con.execute(query).fetchall():
            if self.columns.source_left is not None:
                a, b = tuple(a.values()), tuple(b.values())
            found[int(bool(related))].append((a, b))
        return found[1], found[0]

    def values(self, given: Any, what: str, column: str | None = None) -> tuple[Index, Any]:
        """Return a code for each element, -1 where there is none, and the value of each code.

        Parameters
        ----------
        given : mapping of ids, or table
        what : str
            Names the argument in errors.
        column : str, optional
            The column of a table that holds the values; the only other one by default.
        """
        import pyarrow as pa

        con = self.source.con
        if isinstance(given, Mapping):
            table = pa.table(
                {"id": self._ids(list(given)), "value": pa.array(list(given.values()))}
            )
            con.register("given_table", table)
            own, value = "id", "value"
        else:
            open_table(con, given, "given_table", self.folder)
            own, value = self._columns_of(what, column)
        return self._codes(f"SELECT {own} AS id, {value} AS value FROM given_table", what)

    def _columns_of(self, what: str, column: str | None) -> tuple[str, str]:
        c = self.columns
        con = self.source.con
        names = column_names(con, "given_table")
        ids = [c.id_name] if c.source_name is None else [c.source_name, c.id_name]
        others = [n for n in names if n not in ids]
        if column is None and len(others) == 1:
            column = others[0]
        missing = [n for n in [*ids, column or "label"] if n not in names]
        if missing:
            raise DataError(
                f"{what}= is a mapping from ids, or a table with the columns "
                f"{', '.join([*ids, column or 'label'])}; it has no column {missing[0]!r}."
            )
        own = _quoted(c.id_name)
        if c.source_name is not None:
            own = f"{{'source': {_quoted(c.source_name)}, 'id': {own}}}"
        return own, _quoted(column or "label")

    def group_column(self, name: str) -> Index:
        """Return the groups that columns ``name_l`` and ``name_r`` of the pairs give."""
        con = self.source.con
        names = column_names(con, "pairs")
        for ending in ("_l", "_r"):
            if name + ending not in names:
                raise DataError(
                    f"one_per_group={name!r} names the columns {name}_l and {name}_r; the table of "
                    f"pairs has no column {name + ending!r}."
                )
        s = self.source
        query = (
            f"SELECT {s.left} AS id, {_quoted(name + '_l')} AS value FROM pairs WHERE {s._both} "
            f"UNION SELECT {s.right}, {_quoted(name + '_r')} FROM pairs WHERE {s._both}"
        )
        return self._codes(query, "one_per_group")[0]

    def _codes(self, query: str, what: str) -> tuple[Index, Any]:
        con = self.source.con
        con.execute(
            "CREATE OR REPLACE TEMP TABLE coded AS SELECT id, value, "
            "(dense_rank() OVER (ORDER BY value)) - 1 AS code, row_number() OVER () AS row "
            f"FROM ({query}) WHERE value IS NOT NULL AND id IS NOT NULL"
        )
        numbers = self.source.look_up("SELECT id, row FROM coded")
        codes = np.asarray(
            con.sql("SELECT code FROM coded ORDER BY row").fetchnumpy()["code"], dtype=np.int64
        )
        values = arrow_of(con, "SELECT DISTINCT code, value FROM coded ORDER BY code")
        out = np.full(self.source.numbering.n, -1, dtype=np.int64)
        known = numbers >= 0
        out[numbers[known]] = codes[known]
        if (out[numbers[known]] != codes[known]).any():
            bad = int(numbers[known][np.flatnonzero(out[numbers[known]] != codes[known])[0]])
            row = tuple(self.source.id_table().slice(bad, 1).to_pylist()[0].values())
            raise DataError(f"{what}= gives the element {row} two values; give it one.")
        self.unknown = codes[~known]
        return out, values["value"].combine_chunks()
