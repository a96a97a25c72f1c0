"""Clusters of a table of scored pairs, on the engine that holds it."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from relatum.errors import DataError
from relatum.pair_tables.columns import Columns, find_columns, refuse
from relatum.pair_tables.on_duckdb.engine import read_pairs, run
from relatum.pair_tables.on_duckdb.known import Reader
from relatum.pair_tables.on_duckdb.reading import (
    Source,
    column_names,
    open_table,
    parse_memory,
    require_duckdb,
)
from relatum.pair_tables.on_duckdb.work import Known, Outcome, Work
from relatum.pair_tables.previous import assign_ids, changes_of, kept_clusters
from relatum.pair_tables.result import Clusters, Summary, in_engine_of, write_table
from relatum.pair_tables.scoring import block_recall, learned_background, pairwise_f1
from relatum.pair_tables.solve.component import Settings, usual_search

__all__ = ["cluster_pairs"]


def cluster_pairs(
    pairs: Any,
    *,
    background: float | Literal["learned"] = -4.0,
    evidence: Any = None,
    one_per_group: Any = None,
    max_size: int | None = None,
    score_missing: Callable[[Any, Any], Any] | None = None,
    labels: Any = None,
    previous: Any = None,
    prove: bool = False,
    time_limit: float = 60.0,
    odd_rows: Literal["refuse", "handle"] = "refuse",
    left: str = "unique_id_l",
    right: str = "unique_id_r",
    log_odds: str | None = None,
    probability: str | None = None,
    engine: Literal["auto", "duckdb", "spark"] = "auto",
    memory_limit: str | int = "2GB",
    threads: int | None = None,
    search: int | None = None,
    output: str | Path | None = None,
    monitor: Callable[[str, int, int], Any] | None = None,
) -> Clusters:
    """Find the most probable clusters of the elements of a table of scored pairs.

    Parameters
    ----------
    pairs : table
        A DuckDB relation, a path or glob of Parquet or CSV files, a pandas, polars or pyarrow
        table, or a Spark DataFrame. Columns are named as Splink names them, see
        `relatum.pair_tables.columns`.
    background : float or "learned"
        Log-odds, in bits and at most 0, of pairs that nobody scored. "learned" takes them
        from `labels`.
    evidence : mapping or table, optional
        ``{"related": [(id, id), ...], "unrelated": [...]}``, or a table of pairs of ids with a
        column ``related``.
    one_per_group : str, mapping or table, optional
        No cluster holds two elements of one group. A name such as "source_dataset" stands for
        the columns ``source_dataset_l`` and ``source_dataset_r``; otherwise ids to groups.
    max_size : int, optional
        The largest cluster allowed.
    score_missing : callable (ids, ids) -> bits, optional
        Scores every pair inside a component that is not listed; see `PairScorer`. Components
        of more than 2000 elements fall back on the background.
    labels : mapping or table, optional
        True entities of some elements: for the learned background, the share of true pairs
        that were scored, and the F1 of the result.
    previous : table, path or Clusters, optional
        Clusters of an earlier run: their ids are kept where sets persist, the search starts
        from them, and components that have not changed are not solved again.
    prove : bool
        Prove optimality, spending up to `time_limit` seconds on a component.
    time_limit : float
    odd_rows : {"refuse", "handle"}
        What to do with rows without ids or usable scores, and with contradictory scores.
    left, right, log_odds, probability : str, optional
        Names of columns.
    engine : {"auto", "duckdb", "spark"}
        "auto" takes Spark for Spark DataFrames and DuckDB for everything else. On Spark there
        are neither `labels`, `previous` nor `output`, and `memory_limit` is that of its tasks.
    memory_limit : str or int
        For DuckDB and the batches; about 100 bytes an element come on top.
    threads : int, optional
        All processors by default. The result does not depend on it.
    search : int, optional
        Effort for small components that stay open, see `relatum.pair_tables.usual_search`.
    output : path, optional
        Also write the clusters to a .parquet or .csv file, whole or not at all.
    monitor : callable (stage, done, total), optional

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import pyarrow as pa
    >>> pairs = pa.table({"unique_id_l": ["a", "b", "c"], "unique_id_r": ["b", "c", "d"],
    ...                   "match_weight": [7.0, 6.0, 1.0]})
    >>> found = cluster_pairs(pairs)
    >>> found.table["cluster_id"].to_pylist(), found.summary.gap
    (['a', 'a', 'a', 'd'], 0.0)
    """
    from relatum.pair_tables.engines import on_spark, spark_asked

    first = 0.0 if background == "learned" else float(background)
    settings = Settings(first, max_size, prove, time_limit)
    if spark_asked(pairs, engine):
        learned = background if background == "learned" else None
        refused = {"labels": labels, "previous": previous, "output": output, "background": learned}
        given = {"evidence": evidence, "one_per_group": one_per_group, "search": search}
        given["score_missing"] = score_missing
        names = (left, right, log_odds, probability)
        return on_spark(pairs, names, settings, odd_rows, given, refused)
    request = _Request(
        pairs,
        settings,
        learned=background == "learned",
        evidence=evidence,
        groups=one_per_group,
        score_missing=score_missing,
        labels=labels,
        previous=previous.table if isinstance(previous, Clusters) else previous,
        odd_rows=odd_rows,
        names=(left, right, log_odds, probability),
        memory=parse_memory(memory_limit),
        threads=threads or os.cpu_count() or 1,
        search=search,
        monitor=monitor,
    )
    return request.run(output)


@dataclass(eq=False)
class _Request:
    """One call of `cluster_pairs` on DuckDB."""

    pairs: Any
    settings: Settings
    learned: bool
    evidence: Any
    groups: Any
    score_missing: Any
    labels: Any
    previous: Any
    odd_rows: str
    names: tuple[str, str, str | None, str | None]
    memory: int
    threads: int
    search: int | None
    monitor: Any

    def run(self, output: str | Path | None) -> Clusters:
        if self.odd_rows not in ("refuse", "handle"):
            raise DataError(f'odd_rows is "refuse" or "handle", got {self.odd_rows!r}.')
        if self.learned and self.labels is None:
            raise DataError('background="learned" needs labels=: entities of some elements.')
        duckdb = require_duckdb()
        with tempfile.TemporaryDirectory(prefix="relatum-") as name:
            folder = Path(name)
            con = duckdb.connect()
            try:
                table, summary = self._cluster(con, folder)
            finally:
                con.close()
        if output is not None:
            write_table(output, table)
        return Clusters(in_engine_of(self.pairs, table, duckdb), summary)

    def _open(self, con: Any, folder: Path) -> Columns:
        share = max(64 << 20, self.memory // 2)
        con.execute(f"SET memory_limit='{share}B'; SET threads={self.threads}")
        con.execute(f"SET temp_directory='{folder / 'spill'}'")
        con.execute("SET preserve_insertion_order=false")
        open_table(con, self.pairs, "pairs", folder)
        names = column_names(con, "pairs")
        return find_columns(names, *self.names)

    def _cluster(self, con: Any, folder: Path) -> tuple[Any, Summary]:
        source = Source(con, self._open(con, folder), self.memory // 8)
        work = Work(self.settings, self.memory // 2, folder, self.threads, monitor=self.monitor)
        with work.stage("read"):
            source.check(self.odd_rows)
            source.number()
        with work.stage("known"):
            reader = Reader(source, folder)
            known = Known(reader.evidence(self.evidence), self._groups(reader))
            labels = None if self.labels is None else reader.values(self.labels, "labels")[0]
            earlier = self._earlier(reader, known)
        with work.stage("components"):
            spool, roots = read_pairs(source, known, work)
        facts: dict[str, Any] = {}
        if labels is not None:
            with work.stage("labels"):
                facts["block_recall"] = block_recall(spool, labels)
                if self.learned:
                    bits = learned_background(spool, labels)
                    work.settings = replace(work.settings, background=bits)
        search = usual_search(spool.count) if self.search is None else self.search
        work.settings = replace(work.settings, search=search)
        ids = source.id_table()
        work.score_missing = self._scorer(ids)
        described = (work.settings.background, self.settings.max_size, search)
        work.seed = zlib.crc32(repr((described, self.score_missing is not None)).encode())
        found = run(source, known, work, spool, roots)
        source.counts |= {"duplicates": int(found.totals.pop("duplicates"))}
        source.counts |= {"contradictory": int(found.totals.pop("contradictory"))}
        self._refuse_contradiction(source, found.totals.pop("contradiction"), ids)
        with work.stage("write"):
            table, changes = self._table(source.columns, ids, found, earlier)
        if labels is not None:
            facts["f1"] = pairwise_f1(found.first, labels)
        totals = found.totals | facts | {"rows": source.rows, "odd_rows": dict(source.counts)}
        totals |= {"background": work.settings.background, "changes": changes}
        return table, Summary.of(totals | {"seconds": dict(work.seconds)})

    def _groups(self, reader: Reader) -> Any:
        if self.groups is None:
            return None
        if isinstance(self.groups, str):
            return reader.group_column(self.groups)
        return reader.values(self.groups, "one_per_group")[0]

    def _earlier(self, reader: Reader, known: Known) -> Any:
        """Read earlier clusters; return (cluster of each element, ids, clusters of gone ones)."""
        if self.previous is None:
            return None
        column = None if isinstance(self.previous, Mapping) else "cluster_id"
        known.start, ids = reader.values(self.previous, "previous", column)
        gone = reader.unknown
        if not isinstance(self.previous, Mapping):
            con = reader.source.con
            names = column_names(con, "given_table")
            if {"component", "cluster_gap"} <= set(names):
                self._prints(reader, known)
        return known.start, ids, gone

    def _prints(self, reader: Reader, known: Known) -> None:
        own, _ = reader._columns_of("previous", "cluster_id")
        con, n = reader.source.con, reader.source.numbering.n
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE printed AS SELECT {own} AS id, component, cluster_gap, "
            "row_number() OVER () AS row FROM given_table"
        )
        numbers = reader.source.look_up("SELECT id, row FROM printed")
        got = con.sql("SELECT component, cluster_gap FROM printed ORDER BY row").fetchnumpy()
        inside = numbers >= 0
        known.prints, known.gaps = np.zeros(n, dtype=np.uint64), np.zeros(n)
        prints = np.asarray(np.ma.filled(got["component"], 0), dtype=np.int64)
        known.prints[numbers[inside]] = prints[inside].view(np.uint64)
        known.gaps[numbers[inside]] = np.asarray(got["cluster_gap"], dtype=np.float64)[inside]

    def _scorer(self, ids: Any) -> Any:
        if self.score_missing is None:
            return None
        given = self.score_missing

        def score(a: Any, b: Any) -> Any:
            bits = np.asarray(given(_taken(ids, a), _taken(ids, b)), dtype=np.float64)
            if bits.shape != a.shape or not np.isfinite(bits).all():
                odd = np.count_nonzero(~np.isfinite(bits))
                raise DataError(
                    f"score_missing returns one finite number of bits a pair: for {len(a)} pairs "
                    f"it returned shape {bits.shape}, {odd} not finite."
                )
            return bits

        return score

    def _refuse_contradiction(self, source: Source, where: Any, ids: Any) -> None:
        if where is None or self.odd_rows != "refuse":
            return
        rows = [tuple(r.values()) for r in ids.take(list(where)).to_pylist()]
        refuse(source.counts, {"contradictory": [f"the pair {rows[0]}, {rows[1]}"]})

    def _table(self, columns: Columns, ids: Any, found: Outcome, earlier: Any) -> Any:
        import pyarrow as pa

        names = _cluster_names(columns, ids)
        changes = None
        if earlier is None:
            cluster = names.take(pa.array(found.first))
        else:
            start, old, gone = earlier
            kept = kept_clusters(found.first, start)
            changes = changes_of(found.first, start, kept, gone)
            cluster = assign_ids(names, found.first, kept, old)
        table = ids.append_column("cluster_id", cluster)
        table = table.append_column("cluster_size", pa.array(found.size))
        table = table.append_column("cluster_gap", pa.array(found.gap))
        return table.append_column("component", pa.array(found.prints.view(np.int64))), changes


def _cluster_names(columns: Columns, ids: Any) -> Any:
    """Return element ids as ids of clusters: integers and texts as they are, others as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    own = ids[columns.id_name].combine_chunks()
    if columns.source_name is not None:
        source = ids[columns.source_name].combine_chunks().cast(pa.string())
        return pc.binary_join_element_wise(source, own.cast(pa.string()), "-__-")
    if pa.types.is_integer(own.type) or pa.types.is_string(own.type):
        return own
    return own.cast(pa.string())


def _taken(ids: Any, numbers: Any) -> Any:
    """Return ids by number: an array, or of (source, id) tuples."""
    rows = ids.take(numbers)
    if rows.num_columns == 1:
        return rows.column(0).to_numpy()
    out = np.empty(len(numbers), dtype=object)
    out[:] = list(zip(*(c.to_pylist() for c in rows.columns), strict=True))
    return out
