"""Elements, components and records in a DuckDB table: pages of them, filters and search.

Everything that lists or looks for something asks here, so that a table of millions of records is
paged through and never held in Python.
"""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.pair_tables import Origin

LONGEST = 300  # letters of a cell that is shown; all of it where it is asked for
FOUND = 50  # elements that a search lists
USUAL_IDS = ("unique_id", "id")
ORDERS = {
    "doubt": "sure, n DESC, root",
    "size": "n DESC, root",
    "gap": "gap DESC, n DESC, root",
    "answers": "answers DESC, sure, root",
}


@dataclass(frozen=True)
class Row:
    """A component in a list."""

    root: int
    n: int
    clusters: int
    gap: float
    sure: float  # the least confidence of its clusters
    answers: int
    first: int  # its first element, and the id of that
    name: str


@dataclass(frozen=True)
class Filter:
    """Which components are listed, and in which order."""

    least: int = 2
    most: int | None = None
    sure: float = 1.0  # at most this sure
    answered: bool = False
    order: str = "doubt"

    def condition(self) -> tuple[str, list[Any]]:
        """Return a condition of SQL, and its parameters."""
        parts, given = ["n >= ?", "sure <= ?"], [self.least, self.sure]
        if self.most is not None:
            parts.append("n <= ?")
            given.append(self.most)
        if self.answered:
            parts.append("answers > 0")
        return " AND ".join(parts), given


class Catalogue:
    """The tables of one review.

    Parameters
    ----------
    origin : Origin
        Of the clusters.
    confidence : float array (n,)
        How sure the cluster of each element is.
    records : table or path, optional
    id_ : str, optional
        The column of ids of the records.
    """

    def __init__(
        self, origin: Origin, confidence: Floats, records: Any = None, id_: str | None = None
    ) -> None:
        import duckdb

        self.folder = Path(tempfile.mkdtemp(prefix="relatum-review-"))
        weakref.finalize(self, rmtree, self.folder, ignore_errors=True)
        self.con = duckdb.connect(str(self.folder / "review.duckdb"))
        self.con.execute("SET memory_limit='1GB'")
        self.con.execute(f"SET temp_directory='{self.folder / 'spill'}'")
        self._mutex = threading.Lock()
        self._elements(origin, confidence)
        self.fields: list[str] = []
        self.unknown = 0
        if records is not None:
            self._records(records, id_)

    def _elements(self, origin: Origin, confidence: Floats) -> None:
        import pyarrow as pa

        c, whole = origin.columns, origin.whole
        self.with_source = c.source_name is not None
        codes = whole["cluster_id"].combine_chunks().dictionary_encode().indices
        cluster = np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)
        table = {
            "element": np.arange(whole.num_rows, dtype=np.int64),
            "id": whole[c.id_name],
            "root": np.asarray(origin.roots, np.int64),
            "cluster": cluster,
            "gap": whole["cluster_gap"],
            "sure": confidence,
        }
        if c.source_name is not None:
            table["source"] = whole[c.source_name]
        self.con.register("given", pa.table(table))
        source = "source::VARCHAR AS source, " if self.with_source else ""
        self.con.execute(
            f"CREATE TABLE elements AS SELECT element, {source}id::VARCHAR AS id, root, cluster, "
            "gap, sure FROM given ORDER BY element"
        )
        self.con.unregister("given")
        self.con.execute(
            "CREATE TABLE components AS SELECT root, count(*) AS n, count(DISTINCT cluster) AS "
            "clusters, max(gap) AS gap, min(sure) AS sure, 0 AS answers, min(element) AS first "
            "FROM elements GROUP BY root ORDER BY root"
        )
        self.con.execute(
            "CREATE TABLE sizes AS SELECT k AS size, count(*) AS clusters FROM "
            "(SELECT count(*) AS k FROM elements GROUP BY cluster) GROUP BY k"
        )

    def _records(self, records: Any, id_: str | None) -> None:
        self._open_records(records)
        names = [str(name) for name in self.con.table("given_records").columns]
        own = self._id_column(names, id_)
        source = None
        if self.with_source:
            source = next((n for n in ("source_dataset", "source") if n in names), None)
            if source is None:
                raise DataError(
                    "Ids are unique within a source, but the records have no column "
                    f"'source_dataset' or 'source'; their columns are {', '.join(names[:30])}."
                )
        self.fields = [n for n in names if n not in (own, source)]
        cells = "".join(f", r.{_quoted(n)}::VARCHAR AS f{k}" for k, n in enumerate(self.fields))
        join = f"e.id = r.{_quoted(own)}::VARCHAR"
        if source is not None:
            join += f" AND e.source = r.{_quoted(source)}::VARCHAR"
        self._run(
            f"CREATE TABLE records AS SELECT e.element{cells} FROM given_records r JOIN elements e "
            f"ON {join} ORDER BY e.element",
            records,
        )
        found = self._one("SELECT count(DISTINCT element) FROM records")
        self.unknown = int(self._one("SELECT count(*) FROM elements")) - int(found)
        if not found:
            raise DataError(
                f"No record has an id of the table of pairs in its column {own!r}; name the "
                "column of ids."
            )

    def _open_records(self, records: Any) -> None:
        """Make the records known as a view; cells of CSV files stay texts."""
        from relatum.pair_tables.on_duckdb import open_table

        path = str(records) if isinstance(records, str | Path) else ""
        if path.removesuffix(".gz").endswith((".csv", ".tsv", ".txt")):
            if not Path(path).is_file():
                raise DataError(f"There is no file {path}.")
            literal = "'" + path.replace("'", "''") + "'"
            query = f"SELECT * FROM read_csv({literal}, all_varchar=true)"
            self._run(f"CREATE VIEW given_records AS {query}", records)
        else:
            open_table(self.con, records, "given_records", self.folder, what="A table of records")

    def _run(self, query: str, records: Any) -> None:
        """Run a query that reads the records; say so if they cannot be read."""
        import duckdb

        try:
            self.con.execute(query)
        except duckdb.Error as error:
            what = str(records) if isinstance(records, str | Path) else "The table of records"
            told = " ".join(str(error).split())[:300]
            raise DataError(f"{what} cannot be read: {told}") from None

    def _id_column(self, names: list[str], id_: str | None) -> str:
        wanted = (id_,) if id_ is not None else USUAL_IDS
        own = next((n for n in wanted if n in names), None)
        if own is None:
            raise DataError(
                f"The table of records has no column {' or '.join(map(repr, wanted))} of ids; its "
                f"columns are {', '.join(names[:30])}; name the column of ids."
            )
        return own

    def _one(self, query: str, given: Sequence[Any] = ()) -> Any:
        return self.con.execute(query, list(given)).fetchall()[0][0]

    def _all(self, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._mutex:
            return list(self.con.execute(query, list(given)).fetchall())

    def close(self) -> None:
        """Close the tables, and delete them; nothing can be asked any more."""
        with self._mutex:
            self.con.close()
            del self.con  # DuckDB complains about connections that outlive everything else
            rmtree(self.folder, ignore_errors=True)

    # --- what is asked

    def components(self, wanted: Filter, offset: int, count: int) -> tuple[list[Row], int]:
        """Return some components as they are listed, and how many there are in all."""
        condition, given = wanted.condition()
        total = self._all(f"SELECT count(*) FROM components WHERE {condition}", given)[0][0]
        rows = self._all(
            "SELECT root, n, clusters, gap, sure, answers, first, (SELECT id FROM elements WHERE "
            f"element = components.first) FROM components WHERE {condition} "
            f"ORDER BY {ORDERS[wanted.order]} LIMIT ? OFFSET ?",
            [*given, count, offset],
        )
        return [Row(*row) for row in rows], int(total)

    def search(self, text: str) -> list[tuple[int, str, int, str]]:
        """Return elements whose id or record holds a text: (element, id, root, what it says)."""
        wanted = text.strip().lower()
        if not wanted:
            return []
        exact = "SELECT element FROM elements WHERE lower(id) = ?"
        holds = "SELECT element FROM elements WHERE contains(lower(id), ?)"
        if self.fields:
            every = ", ".join(f"f{k}" for k in range(len(self.fields)))
            holds += (
                " UNION SELECT element FROM records WHERE "
                f"contains(lower(concat_ws(' ', {every})), ?)"
            )
        rows = self._all(
            f"SELECT e.element, e.id, e.root FROM elements e JOIN (SELECT element, min(rank) AS "
            f"rank FROM (SELECT element, 0 AS rank FROM ({exact}) UNION ALL "
            f"(SELECT element, 1 FROM ({holds}) LIMIT {20 * FOUND})) GROUP BY element) f "
            f"ON e.element = f.element ORDER BY f.rank, e.element LIMIT {FOUND}",
            [wanted, wanted, *([wanted] if self.fields else [])],
        )
        told = self.records([row[0] for row in rows])
        return [
            (int(e), str(i), int(r), " · ".join(v for v in told.get(e, {}).values() if v))
            for e, i, r in rows
        ]

    def records(self, elements: Sequence[int], whole: bool = False) -> dict[int, dict[str, str]]:
        """Return the records of elements: names of fields to texts, cut unless they are whole."""
        if not self.fields or not len(elements):
            return {}
        most = 1 << 20 if whole else LONGEST
        cells = ", ".join(f"left(f{k}, {most + 1})" for k in range(len(self.fields)))
        own = [int(e) for e in elements]
        rows = self._all(
            f"SELECT element, {cells} FROM records WHERE element BETWEEN ? AND ? AND element IN "
            f"(SELECT unnest(?::BIGINT[]))",
            [min(own), max(own), own],
        )
        return {
            row[0]: {
                name: _shortened(cell, most)
                for name, cell in zip(self.fields, row[1:], strict=True)
            }
            for row in rows
        }

    def numbers(self, keys: Sequence[Any]) -> dict[Any, int]:
        """Return the numbers of elements by their ids as texts, or by (source, id)."""
        if not keys:
            return {}
        own = list(dict.fromkeys(keys))
        if self.with_source:
            rows = self._all(
                "SELECT source, id, element FROM elements WHERE id IN "
                "(SELECT unnest(?::VARCHAR[]))",
                [[str(key[1]) for key in own]],
            )
            found = {(s, i): int(e) for s, i, e in rows}
        else:
            rows = self._all(
                "SELECT id, element FROM elements WHERE id IN (SELECT unnest(?::VARCHAR[]))", [own]
            )
            found = {i: int(e) for i, e in rows}
        return {key: found[key] for key in own if key in found}

    def keys(self, elements: Sequence[int]) -> dict[int, Any]:
        """Return the ids of elements as texts, or (source, id)."""
        source = "source, " if self.with_source else ""
        rows = self._all(
            f"SELECT element, {source}id FROM elements WHERE element IN "
            "(SELECT unnest(?::BIGINT[]))",
            [[int(e) for e in elements]],
        )
        return {int(row[0]): row[1] if len(row) == 2 else tuple(row[1:]) for row in rows}

    def sizes(self) -> dict[int, int]:
        """Return how many clusters there are of each size, as the table was clustered."""
        return {int(k): int(c) for k, c in self._all("SELECT size, clusters FROM sizes ORDER BY 1")}

    def most_to_tell(self, least: float, large: int, doubt: float) -> list[tuple[int, float, int]]:
        """Return components that may have something to tell, those with most of it first.

        Of a component of n elements, a question may put up to n * n / 4 pairs right, if its
        clusters are wrong. Of large ones, where sums over all clusterings are too sure, this is
        taken to be as probable as `doubt` at least.

        Parameters
        ----------
        least : float
            Pairs that should be put right.
        large : int
            Elements of what is not large.
        doubt : float

        Returns
        -------
        list of (root, pairs, elements)
        """
        rows = self._all(
            "SELECT root, pairs, n FROM (SELECT root, n, n * n / 4 * least(0.5, greatest(1 - sure, "
            "CASE WHEN n > ? THEN ? ELSE 0 END)) AS pairs FROM components WHERE n > 1) "
            "WHERE pairs > ? ORDER BY pairs DESC, root",
            [large, doubt, least],
        )
        return [(int(root), float(pairs), int(n)) for root, pairs, n in rows]

    # --- what changes

    def update(self, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
        """Set columns of components: n, clusters, gap, sure, answers."""
        with self._mutex:
            for root, values in rows:
                names = ", ".join(f"{name} = ?" for name in values)
                self.con.execute(
                    f"UPDATE components SET {names} WHERE root = ?", [*values.values(), root]
                )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shortened(cell: str | None, most: int) -> str:
    if cell is None:
        return ""
    return cell if len(cell) <= most else cell[:most] + "…"


def spans_of(roots: Index) -> tuple[Index, Index, Index]:
    """Return elements by component, the roots, and where each component begins and ends."""
    order = np.argsort(roots, kind="stable")
    own = roots[order]
    starts = np.flatnonzero(np.append(True, own[1:] != own[:-1])[: len(own)])
    return order, own[starts], np.append(starts, len(own))
