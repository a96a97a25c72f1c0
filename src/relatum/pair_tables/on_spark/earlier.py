"""Clusters of an earlier run on Spark: their ids are kept where sets persist, changes are told.

As `relatum.pair_tables.previous` does it in memory. Most clusters overlap with one earlier cluster,
and that one with no other: these keep their ids where the table is. Overlaps of clusters that were
split or merged are brought to the driver, and are taken by falling size there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as fn

from relatum.errors import DataError
from relatum.pair_tables.columns import Columns
from relatum.pair_tables.on_spark.known import once, values_of
from relatum.pair_tables.on_spark.star_components import computed
from relatum.pair_tables.previous import Changes


def read_earlier(pairs: Any, columns: Columns, previous: Any) -> Any:
    """Return earlier clusters as a frame of columns node and value; each node once."""
    if isinstance(previous, str | Path):
        raise DataError(
            "previous= on Spark is a DataFrame, a table or a mapping from ids, got a path; read "
            "it with spark.read."
        )
    if not isinstance(previous, Mapping):
        names = list(getattr(previous, "column_names", previous.columns))
        ids = [n for n in (columns.source_name, columns.id_name) if n is not None]
        missing = [n for n in [*ids, "cluster_id"] if n not in names]
        if missing:
            raise DataError(
                f"previous= is a mapping from ids, or a table with the columns "
                f"{', '.join([*ids, 'cluster_id'])}; it has no column {missing[0]!r}."
            )
        if hasattr(previous, "to_pandas"):  # of Arrow or polars
            previous = previous.to_pandas()
        previous = previous[[*ids, "cluster_id"]]
    return once(values_of(pairs, columns, previous, "previous"), "previous")


def keep_ids(clusters: Any, earlier: Any) -> tuple[Any, Changes]:
    """Return clusters under the ids of earlier ones where sets persist, and what changed.

    Parameters
    ----------
    clusters : DataFrame
        Columns ``_node``, ``cluster_id`` and others.
    earlier : DataFrame
        Columns ``node`` and ``value``.
    """
    clusters, earlier = _of_one_type(clusters, earlier)
    both = clusters.join(earlier, fn.col("_node") == fn.col("node"), "left").drop("node")
    both = computed(both)
    kept, counts = _kept(both, earlier)
    named = both.join(kept, "cluster_id", "left")
    named = _with_fresh_names(named, clusters, earlier)
    named = computed(named)
    moved = named.where("value IS NOT NULL AND NOT value <=> cluster_id").count()
    new = named.where("value IS NULL").count()
    here = named.select(fn.col("_node").alias("node"))
    gone = earlier.join(here, "node", "left_anti").count()
    return named.select(*clusters.columns), Changes(*counts, moved, new, gone)


def _of_one_type(clusters: Any, earlier: Any) -> tuple[Any, Any]:
    kinds = [
        f.schema[c].dataType.simpleString()
        for f, c in ((clusters, "cluster_id"), (earlier, "value"))
    ]
    if kinds[0] == kinds[1]:
        return clusters, earlier
    whole = {"tinyint", "smallint", "int", "bigint"}
    common = "bigint" if set(kinds) <= whole else "string"
    cast = fn.col("cluster_id").cast(common)
    return clusters.withColumn("cluster_id", cast), earlier.withColumn(
        "value", fn.col("value").cast(common)
    )


def _kept(both: Any, earlier: Any) -> tuple[Any, tuple[int, int, int]]:
    """Return (cluster_id, kept) of clusters that keep an id, and how many are unchanged, ..."""
    overlaps = both.where("value IS NOT NULL").groupBy("cluster_id", "value").count()
    for name, key in (("parts", "value"), ("sources", "cluster_id")):
        overlaps = overlaps.withColumn(name, fn.count("*").over(Window.partitionBy(key)))
    sizes = both.groupBy("cluster_id").agg(fn.count("*").alias("size"))
    before = earlier.groupBy("value").agg(fn.count("*").alias("before"))
    overlaps = computed(overlaps.join(sizes, "cluster_id").join(before, "value"))
    unchanged = overlaps.where("count = size AND count = before").count()
    split = overlaps.where("parts > 1").select("value").distinct().count()
    merged = overlaps.where("sources > 1").select("cluster_id").distinct().count()
    alone = overlaps.where("parts = 1 AND sources = 1").select("cluster_id", "value")
    doubtful = overlaps.where("parts > 1 OR sources > 1")
    rows = [(r["count"], r["value"], r["cluster_id"]) for r in doubtful.collect()]
    taken: dict[Any, Any] = {}
    for _, value, cluster in sorted(rows, key=lambda r: (-r[0], r[1], r[2])):
        if cluster not in taken and value not in taken.values():
            taken[cluster] = value
    kept = alone
    if taken:
        schema = alone.schema
        kept = alone.union(alone.sparkSession.createDataFrame(list(taken.items()), schema))
    return kept.withColumnRenamed("value", "kept"), (unchanged, split, merged)


def _with_fresh_names(named: Any, clusters: Any, earlier: Any) -> Any:
    """Give kept ids, and new ones where the id of a fresh cluster was that of an earlier one."""
    used = earlier.select(fn.col("value").alias("cluster_id")).distinct()
    fresh = named.where("kept IS NULL").select("cluster_id").distinct()
    clash = sorted(r[0] for r in fresh.join(used, "cluster_id").collect())
    if clash:
        kind = clusters.schema["cluster_id"].dataType.simpleString()
        every = clusters.select("cluster_id").union(used)
        names = _unused_numbers(every, clash) if kind != "string" else _unused_texts(every, clash)
        rows = list(zip(clash, names, strict=True))
        table = named.sparkSession.createDataFrame(rows, f"cluster_id {kind}, anew {kind}")
        named = named.join(table, "cluster_id", "left")
        return named.withColumn("cluster_id", fn.coalesce("kept", "anew", "cluster_id"))
    return named.withColumn("cluster_id", fn.coalesce("kept", "cluster_id"))


def _unused_numbers(every: Any, clash: list[Any]) -> list[int]:
    top = int(every.agg(fn.max("cluster_id")).first()[0])
    return list(range(top + 1, top + 1 + len(clash)))


def _unused_texts(every: Any, clash: list[str]) -> list[str]:
    ends = every.where(fn.col("cluster_id").rlike("~[0-9]+$")).distinct()
    used = {r[0] for r in ends.collect()}
    names = []
    for text in clash:
        k = 2
        while f"{text}~{k}" in used:
            k += 1
        used.add(f"{text}~{k}")
        names.append(f"{text}~{k}")
    return names
