"""Pair tables on Apache Spark: the pairs stay where they are, the clusters are made there.

Rows are checked and pairs made unique by the DataFrame API; components come from
`star_components`; components share tasks of about ``Tuning.task_pairs`` pairs, and every engine
solves them by the same function, `relatum.pair_tables.solve_batch`. Nothing but counts and sums
reaches the driver.

Every step is a deterministic function of its input, and Spark repeats what a lost task or Python
worker had done; what a lost machine had done as well, if the session has a checkpoint folder.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pyspark.sql import functions as fn

from relatum.pair_tables.columns import Columns
from relatum.pair_tables.on_spark.components import (
    Linked,
    Units,
    link_pairs,
    numbers_of,
    sizes_of,
    split_giants,
)
from relatum.pair_tables.on_spark.earlier import keep_ids, read_earlier
from relatum.pair_tables.on_spark.frame_task import SCORED, solve_frame
from relatum.pair_tables.on_spark.known import Known, read_known
from relatum.pair_tables.on_spark.labels import background_of, block_recall, pairwise_f1
from relatum.pair_tables.on_spark.reading import Source, read_source
from relatum.pair_tables.on_spark.star_components import computed
from relatum.pair_tables.options import Given, Plan, Settings
from relatum.pair_tables.result import Clusters, Summary

STATISTICS = ("value", "bound", "cut", "added", "elements", "pieces", "scored", "unscored")


def cluster(given: Given, plan: Plan) -> Clusters:
    """Find clusters of the elements of a Spark DataFrame of scored pairs.

    Parameters
    ----------
    given : Given
    plan : Plan

    Returns
    -------
    Clusters
        Whose table is a Spark DataFrame: the id (and its source, if any), ``cluster_id``,
        ``cluster_size``, ``cluster_gap`` (of its component, in bits).
    """
    columns = given.columns(given.pairs.columns)
    known = read_known(given, columns)
    source = read_source(given, columns)
    recall, learned = _from_labels(source, known, plan)
    settings = plan.final(given.pairs.count, learned)
    linked = link_pairs(source, known)
    units = split_giants(linked, known, settings.tuning.most_task_pairs)
    found = _solved(units.rows, columns, settings, given.score_missing)
    found = source.nodes.join(found, "node", "full")  # elements in no component are alone
    clusters = computed(_named(_with_gaps(found, linked, units), columns))
    numbers = _numbers(clusters, linked, units)
    numbers |= {"rows": source.rows, "odd_rows": source.odd_rows, "block_recall": recall}
    if given.previous is not None:
        earlier = read_earlier(given.pairs, columns, given.previous)
        clusters, numbers["changes"] = keep_ids(clusters, earlier)
    if known.labels is not None:
        numbers["f1"] = pairwise_f1(clusters.withColumnRenamed("_node", "node"), known.labels)
    wanted = [c for c in clusters.columns if not c.startswith("_")]
    summary = Summary(**numbers, background=settings.background)
    return Clusters(clusters.select(*wanted), summary)


def _from_labels(source: Source, known: Known, plan: Plan) -> tuple[float | None, float | None]:
    """Return block recall and learned background, of labelled elements."""
    if known.labels is None:
        return None, None
    recall = block_recall(source, known.labels)
    return recall, background_of(source, known.labels) if plan.learn_background else None


def _solved(rows: Any, columns: Columns, settings: Settings, score_missing: Any) -> Any:
    """Return the elements of components with their clusters."""
    sizes, share = sizes_of(rows), settings.tuning.task_pairs
    total = sizes.agg(fn.sum("_count")).first()[0] or 0
    shared = fn.pmod(fn.xxhash64("component"), fn.lit(max(1, -(-int(total) // share))))
    task = fn.when(fn.col("_count") > share, fn.col("component")).otherwise(shared)
    keyed = rows.join(sizes, "component").withColumn("task", task).drop("_count", "origin")
    key = fn.col("id")
    if columns.source_left is not None:
        key = fn.struct("source", "id")
        for end in ("a", "b"):
            keyed = keyed.withColumn(f"source_{end}", fn.col(f"{end}.source"))
            keyed = keyed.withColumn(end, fn.col(f"{end}.id"))
    solve = partial(solve_frame, settings=settings, score_missing=score_missing)
    found = computed(keyed.groupBy("task").applyInPandas(solve, _schema(keyed)))
    return found.withColumn("node", key).drop("id")


def _schema(keyed: Any) -> str:
    """Return the columns of `solve_frame`."""
    kind = keyed.schema["a"].dataType.simpleString()
    ids = f"id {kind}, first {kind}"
    if "source_a" in keyed.columns:
        source = keyed.schema["source_a"].dataType.simpleString()
        ids = f"source {source}, first_source {source}, {ids}"
    numbers = ", ".join(f"{name} double" for name in STATISTICS)
    return f"{ids}, size long, gap double, {numbers}"


def _with_gaps(found: Any, linked: Linked, units: Units) -> Any:
    """Give elements of components that were split the gap of the whole component."""
    if units.lost is None:
        return found
    found = found.join(numbers_of(linked.roots, "node", "origin"), "node", "left")
    inner = fn.sum(fn.col("bound") - fn.col("value")).alias("inner")
    whole = found.groupBy("origin").agg(inner).join(units.lost, "origin")
    total = fn.coalesce("inner", fn.lit(0.0)) + fn.col("bits")
    found = found.join(whole.select("origin", total.alias("whole")), "origin", "left")
    return found.withColumn("gap", fn.coalesce("whole", "gap"))


def _named(found: Any, columns: Columns) -> Any:
    """Return the columns of the result, and those of the summary (with an underscore)."""
    name, first = fn.col("node"), fn.col("first")
    own: list[Any] = [name.alias(columns.id_name)]
    if columns.source_name is not None:
        own = [
            fn.col("node.source").alias(columns.source_name),
            fn.col("node.id").alias(columns.id_name),
        ]
        name = fn.concat_ws("-__-", "node.source", fn.col("node.id").cast("string"))
        first = fn.concat_ws("-__-", "first_source", first.cast("string"))
    return found.select(
        *own,
        fn.when(fn.col("size").isNull(), name).otherwise(first).alias("cluster_id"),
        fn.coalesce("size", fn.lit(1)).cast("long").alias("cluster_size"),
        fn.coalesce("gap", fn.lit(0.0)).alias("cluster_gap"),
        fn.col("node").alias("_node"),
        *[fn.col(c).alias(f"_{c}") for c in STATISTICS],
    )


def _numbers(clusters: Any, linked: Linked, units: Units) -> dict[str, Any]:
    """Return the numbers of the summary."""
    row = clusters.agg(
        fn.count(fn.lit(1)).alias("elements"),
        fn.sum(1.0 / fn.col("cluster_size")).alias("clusters"),
        fn.sum("_value").alias("value"),
        fn.sum("_bound").alias("bound"),
        fn.sum("_cut").alias("pairs_cut"),
        fn.sum("_added").alias("pairs_added"),
        fn.sum("_scored").alias("pairs_scored"),
        fn.sum("_unscored").alias("components_left_unscored"),
        fn.max("cluster_size").alias("largest_cluster"),
        fn.count("_value").alias("components_solved"),
        fn.count(fn.when(fn.col("_pieces") > 1, 1)).alias("components_split"),
        fn.sum(fn.when(fn.col("_pieces") > 1, fn.col("_pieces"))).alias("pieces"),
    ).first()
    out: dict[str, Any] = {k: (0 if v is None else v) for k, v in row.asDict().items()}
    out = {k: v if k in ("value", "bound") else round(v) for k, v in out.items()}
    held = units.rows.where(f"kind = {SCORED} AND bits > 0").count()
    out["pairs_cut"] += linked.positive - held
    if units.lost is not None:
        out["bound"] += float(units.lost.agg(fn.sum("bits")).first()[0] or 0.0)
        out["pieces"] += out["components_solved"] - linked.components + units.split
    out["components_split"] += units.split
    out["components"] = linked.components + out["elements"] - linked.elements
    return out | {"largest_component": linked.largest}
