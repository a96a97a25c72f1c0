"""Pair tables on Apache Spark: the pairs stay where they are, the clusters are made there.

Rows are checked and pairs made unique by the DataFrame API; components come from
`star_components`; components share tasks of about `TASK_PAIRS` pairs, and every engine solves
them by the same function, `relatum.pair_tables.solve_batch`. Nothing but counts and sums
reaches the driver.

Every step is a deterministic function of its input, and Spark repeats what a lost task or Python
worker had done; what a lost machine had done as well, if the session has a checkpoint folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial, reduce
from typing import Any

from relatum.errors import MissingDependencyError
from relatum.pair_tables.columns import CERTAIN, REFUSED, SAME, Columns, refuse
from relatum.pair_tables.on_spark.frame_task import RELATED, SCORED, UNRELATED, solve_frame
from relatum.pair_tables.on_spark.known import Extras, element, extras_of, quoted
from relatum.pair_tables.on_spark.star_components import computed, star_components
from relatum.pair_tables.solve.component import Settings

__all__ = ["Extras", "SparkOptions", "cluster_spark", "extras_of", "is_spark_frame"]

TASK_PAIRS = 200_000
MOST_TASK_PAIRS = 4_000_000
STATISTICS = ("value", "bound", "cut", "added", "elements", "pieces", "scored", "unscored")


@dataclass(frozen=True)
class SparkOptions:
    """How the work is divided into tasks.

    Attributes
    ----------
    task_pairs : int
        Components are put together to tasks of about this many pairs.
    most_task_pairs : int
        Components with more are split, along their weakest pairs, before they reach a task. A
        task needs about 400 bytes for each pair.
    """

    task_pairs: int = TASK_PAIRS
    most_task_pairs: int = MOST_TASK_PAIRS


def is_spark_frame(table: object) -> bool:
    """Say whether `table` is a DataFrame of Spark, without importing it."""
    return any(c.__module__.startswith("pyspark.sql") for c in type(table).__mro__)


def cluster_spark(
    pairs: Any,
    columns: Columns,
    settings: Settings,
    extras: Extras | None = None,
    odd_rows: str = "refuse",
    options: SparkOptions | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Cluster the elements of a Spark DataFrame of scored pairs.

    Parameters
    ----------
    pairs : Spark DataFrame
    columns : Columns
    settings : Settings
    extras : Extras, optional
    odd_rows : {"refuse", "handle"}
        See `relatum.pair_tables.columns`.
    options : SparkOptions, optional

    Returns
    -------
    clusters : Spark DataFrame
        Columns: the id (and its source, if any), ``cluster_id``, ``cluster_size``,
        ``cluster_gap`` (of its component, in bits).
    summary : dict
    """
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "Clustering a Spark DataFrame needs the package pyspark; install relatum[spark]."
        ) from None
    task = _Run(columns, settings, extras or Extras(), options or SparkOptions())
    return task.run(pairs, odd_rows)


@dataclass(eq=False)
class _Run:
    columns: Columns
    settings: Settings
    extras: Extras
    options: SparkOptions
    counts: dict[str, int] = field(default_factory=dict)
    lost: list[Any] = field(default_factory=list)  # positive bits that splitting gave up

    def run(self, pairs: Any, odd_rows: str) -> tuple[Any, dict[str, Any]]:
        listed, nodes = self.checked(pairs, odd_rows)
        roots, rounds = self.components(listed)
        rows = self.rows_of(listed, roots)
        rows = self.bounded(rows)
        clusters = computed(self._named(self._gaps(self.solved(rows, nodes), roots)))
        summary = self.summary(clusters, rows)
        summary["star_rounds"] = rounds
        wanted = [c for c in clusters.columns if not c.startswith("_")]
        return clusters.select(*wanted), summary

    # --- rows that are not as they should be

    def checked(self, pairs: Any, odd_rows: str) -> tuple[Any, Any]:
        """Return pairs a < b with bits, each once, and all elements."""
        from pyspark.sql import functions as fn

        read = computed(self._read(pairs))
        flags = {
            "null_ids": fn.col("a").isNull() | fn.col("b").isNull(),
            "null_scores": fn.col("score").isNull(),
            "out_of_range": fn.col("score").isNotNull() & fn.col("bits").isNull(),
            "self_pairs": fn.col("a") == fn.col("b"),
            "certain": fn.abs("bits") == CERTAIN,
        }
        sums = [fn.sum(flag.cast("long")).alias(name) for name, flag in flags.items()]
        first = read.agg(fn.count(fn.lit(1)).alias("rows"), *sums).first()
        self.counts = {k: int(v or 0) for k, v in first.asDict().items()}
        good = read.where("a IS NOT NULL AND b IS NOT NULL AND bits IS NOT NULL")
        ends = good.where("a != b").select(
            fn.least("a", "b").alias("a"), fn.greatest("a", "b").alias("b"), "bits"
        )
        listed = ends.groupBy("a", "b").agg(
            fn.avg("bits").alias("bits"),
            fn.count("bits").alias("_rows"),
            (fn.max("bits") - fn.min("bits") > SAME).alias("_odd"),
        )
        listed = computed(listed)
        odd = fn.sum(fn.when(fn.col("_odd"), fn.col("_rows")))
        again = fn.sum(fn.when(~fn.col("_odd"), fn.col("_rows") - 1))
        extra = listed.agg(odd.alias("contradictory"), again.alias("duplicates"), fn.count("a"))
        row = extra.first()
        self.counts |= {"contradictory": int(row[0] or 0), "duplicates": int(row[1] or 0)}
        self.counts["pairs"] = int(row[2])
        if odd_rows == "refuse":
            self._refuse(read, listed, flags)
        named = read.where("a IS NOT NULL AND b IS NOT NULL")
        nodes = named.select(fn.explode(fn.array("a", "b")).alias("node")).distinct()
        return self._grouped(listed.drop("_rows", "_odd")), nodes

    def _grouped(self, rows: Any) -> Any:
        """Add the groups of both elements, if there are groups."""
        from pyspark.sql import functions as fn

        if self.extras.groups is None:
            return rows
        for end in ("a", "b"):
            codes = self.extras.groups.select(
                fn.col("node").alias(end), fn.col("group_code").alias(f"group_{end}")
            )
            rows = rows.join(codes, end, "left")
        return rows

    def _read(self, pairs: Any) -> Any:
        from pyspark.sql import functions as fn

        names = self.columns
        score = fn.col(quoted(names.score)).cast("double")
        score = fn.when(fn.isnan(score), None).otherwise(score)
        bits = score
        if names.is_probability:
            bits = fn.when((score > 0) & (score < 1), fn.log2(score) - fn.log2(1 - score))
            bits = bits.when(score == 1, CERTAIN).when(score == 0, -CERTAIN)
        infinite = fn.abs(bits) == float("inf")
        bits = fn.when(infinite, fn.signum(bits) * CERTAIN).otherwise(bits)
        ends = (
            element(names.left, names.source_left).alias("a"),
            element(names.right, names.source_right).alias("b"),
        )
        return pairs.select(*ends, score.alias("score"), bits.alias("bits"))

    def _refuse(self, read: Any, listed: Any, flags: Mapping[str, Any]) -> None:
        examples = {}
        for kind in REFUSED:
            if self.counts.get(kind):
                rows = listed.where("_odd") if kind == "contradictory" else read.where(flags[kind])
                examples[kind] = [row.asDict() for row in rows.limit(3).collect()]
        refuse(self.counts, examples)

    # --- components

    def components(self, listed: Any) -> tuple[Any, int]:
        """Return the roots of components; positive pairs that groups forbid connect nothing."""
        from pyspark.sql import functions as fn

        positive = listed.where("bits > 0")
        self.counts["positive"] = positive.count()
        if self.extras.groups is not None:
            positive = positive.where("NOT (group_a <=> group_b) OR group_a IS NULL")
        edges = positive.select("a", "b")
        if self.extras.related is not None:
            edges = edges.union(self.extras.related.select("a", "b"))
        roots, rounds = star_components(edges)
        sizes = roots.groupBy("root").count()
        row = sizes.agg(fn.max("count"), fn.count("root"), fn.sum("count")).first()
        self.counts["largest"], self.counts["connected"] = int(row[0] or 0) + 1, int(row[1])
        self.counts["linked"] = int(row[2] or 0) + int(row[1])
        return roots, rounds

    def rows_of(self, listed: Any, roots: Any) -> Any:
        """Return the rows of tasks: pairs inside components, and what is known of them."""
        from pyspark.sql import functions as fn

        rows = listed.withColumn("kind", fn.lit(SCORED))
        for known, kind in ((self.extras.related, RELATED), (self.extras.unrelated, UNRELATED)):
            if known is not None:
                ends = known.select(fn.least("a", "b").alias("a"), fn.greatest("a", "b").alias("b"))
                marked = ends.distinct().withColumn("bits", fn.lit(0.0))
                rows = rows.unionByName(self._grouped(marked.withColumn("kind", fn.lit(kind))))
        return computed(_inside(rows, roots))

    def bounded(self, rows: Any) -> Any:
        """Split components that no task may hold, ever more strongly, until there are none.

        Pairs of at most 1, 2, 4, ... bits no longer connect. Elements known to be related stay
        together, whatever their number.
        """
        from pyspark.sql import functions as fn

        most = self.options.most_task_pairs
        sizes, largest = _sizes(rows)
        self.counts["largest_pairs"] = largest
        rows = rows.withColumn("origin", fn.col("component"))
        threshold = 1.0
        while largest > most and threshold <= 2 * CERTAIN:
            giant = sizes.where(fn.col("_count") > most).select("component")
            if not self.lost:
                self.counts["split"] = giant.count()
            inside = rows.join(giant, "component")
            strong = (fn.col("bits") > threshold) | (fn.col("kind") == RELATED)
            if self.extras.groups is not None:
                strong &= ~fn.col("group_a").eqNullSafe(fn.col("group_b")) | fn.isnull("group_a")
            roots, _ = star_components(inside.where(strong).select("a", "b"))
            pieces = computed(_inside(inside.drop("component"), roots))
            kept = pieces.select("a", "b", "kind")
            lost = inside.join(kept, ["a", "b", "kind"], "left_anti")
            lost = lost.where(f"kind = {SCORED} AND bits > 0").groupBy("origin")
            self.lost.append(computed(lost.agg(fn.sum("bits").alias("bits"))))
            rest = rows.join(giant, "component", "left_anti")
            rows = computed(rest.unionByName(pieces))
            sizes, largest = _sizes(rows)
            threshold *= 2.0
        return rows

    # --- clusters

    def solved(self, rows: Any, nodes: Any) -> Any:
        """Return all elements with their clusters; those in no component are alone."""
        from pyspark.sql import functions as fn

        sizes, _ = _sizes(rows)
        total = sizes.agg(fn.sum("_count")).first()[0] or 0
        tasks = max(1, -(-int(total) // self.options.task_pairs))
        shared = fn.pmod(fn.xxhash64("component"), fn.lit(tasks))
        own = fn.col("_count") > self.options.task_pairs
        keyed = rows.join(sizes, "component").withColumn(
            "task", fn.when(own, fn.col("component")).otherwise(shared)
        )
        has_source = self.columns.source_left is not None
        for end in ("a", "b"):
            if has_source:
                keyed = keyed.withColumn(f"source_{end}", fn.col(f"{end}.source"))
                keyed = keyed.withColumn(end, fn.col(f"{end}.id"))
        solve = partial(
            solve_frame, settings=self.settings, score_missing=self.extras.score_missing
        )
        found = keyed.drop("_count", "origin").groupBy("task").applyInPandas(solve, _schema(keyed))
        key = fn.struct("source", "id") if has_source else fn.col("id")
        found = computed(found)
        return nodes.join(found.withColumn("node", key).drop("id"), "node", "full")

    def _gaps(self, found: Any, roots: Any) -> Any:
        """Give elements of components that were split the gap of the whole component."""
        from pyspark.sql import functions as fn

        if not self.lost:
            return found
        lost = reduce(lambda a, b: a.unionByName(b), self.lost)
        lost = lost.groupBy("origin").agg(fn.sum("bits").alias("lost"))
        found = found.join(_numbers(roots, "node", "origin"), "node", "left")
        inner = found.groupBy("origin").agg(
            fn.sum(fn.col("bound") - fn.col("value")).alias("inner")
        )
        whole = inner.join(lost, "origin").withColumn(
            "whole", fn.coalesce("inner", fn.lit(0.0)) + fn.col("lost")
        )
        found = found.join(whole.select("origin", "whole"), "origin", "left")
        return found.withColumn("gap", fn.coalesce("whole", "gap"))

    def _named(self, found: Any) -> Any:
        """Return the columns of the result, and those of the summary (with an underscore)."""
        from pyspark.sql import functions as fn

        name, first = fn.col("node"), fn.col("first")
        own: list[Any] = [name.alias(self.columns.id_name)]
        if self.columns.source_name is not None:
            own = [
                fn.col("node.source").alias(self.columns.source_name),
                fn.col("node.id").alias(self.columns.id_name),
            ]
            name = fn.concat_ws("-__-", "node.source", fn.col("node.id").cast("string"))
            first = fn.concat_ws("-__-", "first_source", first.cast("string"))
        return found.select(
            *own,
            fn.when(fn.col("size").isNull(), name).otherwise(first).alias("cluster_id"),
            fn.coalesce("size", fn.lit(1)).cast("long").alias("cluster_size"),
            fn.coalesce("gap", fn.lit(0.0)).alias("cluster_gap"),
            *[fn.col(c).alias(f"_{c}") for c in STATISTICS],
        )

    def summary(self, clusters: Any, rows: Any) -> dict[str, Any]:
        from pyspark.sql import functions as fn

        total = clusters.agg(
            fn.count(fn.lit(1)).alias("elements"),
            fn.sum(1.0 / fn.col("cluster_size")).alias("clusters"),
            fn.sum("_value").alias("value"),
            fn.sum("_bound").alias("bound"),
            fn.sum("_cut").alias("pairs_cut"),
            fn.sum("_added").alias("pairs_added"),
            fn.sum("_scored").alias("pairs_scored"),
            fn.sum("_unscored").alias("components_left_unscored"),
            fn.max("cluster_size").alias("largest_cluster"),
            fn.count("_value").alias("parts"),
            fn.count(fn.when(fn.col("_pieces") > 1, 1)).alias("components_split"),
            fn.sum(fn.when(fn.col("_pieces") > 1, fn.col("_pieces"))).alias("pieces"),
        ).first()
        out: dict[str, Any] = {k: (0 if v is None else v) for k, v in total.asDict().items()}
        out = {k: v if k in ("value", "bound") else round(v) for k, v in out.items()}
        held = rows.where(f"kind = {SCORED} AND bits > 0").count()
        out["bound"] += sum(float(f.agg(fn.sum("bits")).first()[0] or 0.0) for f in self.lost)
        out["gap"] = max(0.0, out["bound"] - out["value"])
        out["pairs_cut"] += self.counts.pop("positive") - held
        parts, connected = out.pop("parts"), self.counts.pop("connected")
        if self.lost:
            out["pieces"] += parts - connected + self.counts["split"]
        out["components"] = connected + out["elements"] - self.counts.pop("linked")
        out["largest_component"] = self.counts.pop("largest")
        out["components_split"] += self.counts.pop("split", 0)
        out["largest_component_pairs"] = self.counts.pop("largest_pairs")
        out["pairs"], out["rows"] = self.counts.pop("pairs"), self.counts.pop("rows")
        out["components_solved"] = parts
        return out | {"odd_rows": self.counts, "tasks": asdict(self.options)}


def _numbers(roots: Any, node: str, number: str) -> Any:
    """Return the number of the component of every node, under the names given."""
    from pyspark.sql import functions as fn

    every = roots.unionByName(roots.select(fn.col("root").alias("node"), "root").distinct())
    return every.select(fn.col("node").alias(node), fn.xxhash64("root").alias(number))


def _inside(rows: Any, roots: Any) -> Any:
    """Return the rows within a component, and its number."""
    joined = rows.join(_numbers(roots, "a", "component"), "a")
    joined = joined.join(_numbers(roots, "b", "component_b"), "b")
    return joined.where("component = component_b").drop("component_b")


def _sizes(rows: Any) -> tuple[Any, int]:
    """Return the number of rows of every component, and the largest."""
    from pyspark.sql import functions as fn

    sizes = rows.groupBy("component").agg(fn.count("a").alias("_count"))
    return sizes, int(sizes.agg(fn.max("_count")).first()[0] or 0)


def _schema(keyed: Any) -> str:
    """Return the columns of `solve_frame`."""
    kind = keyed.schema["a"].dataType.simpleString()
    ids = f"id {kind}, first {kind}"
    if "source_a" in keyed.columns:
        source = keyed.schema["source_a"].dataType.simpleString()
        ids = f"source {source}, id {kind}, first_source {source}, first {kind}"
    numbers = ", ".join(f"{name} double" for name in STATISTICS)
    return f"{ids}, size long, gap double, {numbers}"
