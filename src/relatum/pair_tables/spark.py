"""Pair tables on Apache Spark: the pairs stay where they are, the clusters are made there.

Rows are checked and pairs made unique by the DataFrame API; components come from
`relatum.pair_tables.star_components`; components share tasks of about `TASK_PAIRS` pairs, and
every engine solves them by the same function, `relatum.pair_tables.solve_batch`. Nothing but
counts and sums reaches the driver.

Every step is a deterministic function of its input, and Spark repeats what a lost task or Python
worker had done; what a lost machine had done as well, if the session has a checkpoint folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from relatum.errors import MissingDependencyError
from relatum.pair_tables.columns import CERTAIN, REFUSED, SAME, Columns, refuse
from relatum.pair_tables.component import Settings
from relatum.pair_tables.frame_task import RELATED, SCORED, UNRELATED, solve_frame
from relatum.pair_tables.star_components import computed, star_components

__all__ = ["SparkOptions", "cluster_spark", "is_spark_frame"]

TASK_PAIRS = 200_000
MOST_TASK_PAIRS = 4_000_000
STATISTICS = ("value", "bound", "cut", "added", "elements", "pieces")


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


@dataclass(frozen=True)
class Extras:
    """What is known besides the scores, as Spark DataFrames.

    Attributes
    ----------
    related, unrelated : DataFrame with columns ``a`` and ``b``, or None
    groups : DataFrame with columns ``node`` and ``group_code`` (integers), or None
    """

    related: Any = None
    unrelated: Any = None
    groups: Any = None


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

    def run(self, pairs: Any, odd_rows: str) -> tuple[Any, dict[str, Any]]:
        listed, nodes = self.checked(pairs, odd_rows)
        roots, rounds = self.components(listed)
        rows = self.rows_of(listed, roots)
        rows, between = self.bounded(rows)
        clusters = computed(self.solved(rows, nodes))
        summary = self.summary(clusters, between)
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
        return listed.drop("_rows", "_odd"), good.select(
            fn.explode(fn.array("a", "b")).alias("node")
        ).distinct()

    def _read(self, pairs: Any) -> Any:
        from pyspark.sql import functions as fn

        names = self.columns
        score = fn.col(_quoted(names.score)).cast("double")
        score = fn.when(fn.isnan(score), None).otherwise(score)
        bits = score
        if names.is_probability:
            bits = fn.when((score > 0) & (score < 1), fn.log2(score) - fn.log2(1 - score))
            bits = bits.when(score == 1, CERTAIN).when(score == 0, -CERTAIN)
        infinite = fn.abs(bits) == float("inf")
        bits = fn.when(infinite, fn.signum(bits) * CERTAIN).otherwise(bits)
        ends = (
            _element(names.left, names.source_left).alias("a"),
            _element(names.right, names.source_right).alias("b"),
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
        edges = listed.where("bits > 0").select("a", "b")
        if self.extras.related is not None:
            edges = edges.union(self.extras.related.select("a", "b"))
        return star_components(edges)

    def rows_of(self, listed: Any, roots: Any) -> Any:
        """Return the rows of tasks: pairs inside components, and what is known of them."""
        from pyspark.sql import functions as fn

        rows = listed.select("a", "b", "bits", fn.lit(SCORED).alias("kind"))
        for known, kind in ((self.extras.related, RELATED), (self.extras.unrelated, UNRELATED)):
            if known is not None:
                ends = (fn.least("a", "b").alias("a"), fn.greatest("a", "b").alias("b"))
                rows = rows.union(known.select(*ends, fn.lit(0.0), fn.lit(kind)).distinct())
        return computed(_inside(rows, roots))

    def bounded(self, rows: Any) -> tuple[Any, dict[str, Any]]:
        """Split components that no task may hold, ever more strongly, until there are none.

        Pairs of at most 1, 2, 4, ... bits no longer connect. Elements known to be related stay
        together, whatever their number.
        """
        from pyspark.sql import functions as fn

        between = {"bits": 0.0, "pairs": 0, "components": 0, "largest": 0, "largest_pairs": 0}
        sizes = rows.groupBy("component").agg(fn.count("a").alias("_count"))
        largest = sizes.agg(fn.max("_count"), fn.count("component")).first()
        between["largest_pairs"] = int(largest[0] or 0)
        threshold = 1.0
        while (largest[0] or 0) > self.options.most_task_pairs and threshold <= 2 * CERTAIN:
            giant = sizes.where(fn.col("_count") > self.options.most_task_pairs)
            if threshold == 1.0:
                between["components"] = giant.count()
            inside = rows.join(giant.select("component"), "component")
            rest = rows.join(giant.select("component"), "component", "left_anti")
            strong = (fn.col("bits") > threshold) | (fn.col("kind") == RELATED)
            roots, _ = star_components(inside.where(strong).select("a", "b"))
            pieces = _inside(inside.select("a", "b", "bits", "kind"), roots)
            lost = inside.join(
                pieces.select("a", "b", "kind"), ["a", "b", "kind"], "left_anti"
            ).where(f"kind = {SCORED} AND bits > 0")
            total = lost.agg(fn.sum("bits"), fn.count("bits")).first()
            between["bits"] += float(total[0] or 0.0)
            between["pairs"] += int(total[1])
            rows = computed(rest.unionByName(pieces))
            sizes = rows.groupBy("component").agg(fn.count("a").alias("_count"))
            largest = sizes.agg(fn.max("_count"), fn.count("component")).first()
            threshold *= 2.0
        between["components_of_pairs"] = int(largest[1])
        return rows, between

    # --- clusters

    def solved(self, rows: Any, nodes: Any) -> Any:
        """Return all elements with their clusters; those in no component are alone."""
        from pyspark.sql import functions as fn

        if self.extras.groups is not None:
            for end in ("a", "b"):
                codes = self.extras.groups.select(
                    fn.col("node").alias(end), fn.col("group_code").alias(f"group_{end}")
                )
                rows = rows.join(codes, end, "left")
        sizes = rows.groupBy("component").agg(fn.count("a").alias("_count"))
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
        found = (
            keyed.drop("_count")
            .groupBy("task")
            .applyInPandas(partial(solve_frame, settings=self.settings), _schema(keyed))
        )
        key = fn.struct("source", "id") if has_source else fn.col("id")
        found = computed(found)
        return self._named(nodes.join(found.withColumn("node", key).drop("id"), "node", "full"))

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

    def summary(self, clusters: Any, between: Mapping[str, Any]) -> dict[str, Any]:
        from pyspark.sql import functions as fn

        total = clusters.agg(
            fn.count(fn.lit(1)).alias("elements"),
            fn.sum(1.0 / fn.col("cluster_size")).alias("clusters"),
            fn.sum("_value").alias("value"),
            fn.sum("_bound").alias("bound"),
            fn.sum("_cut").alias("pairs_cut"),
            fn.sum("_added").alias("pairs_added"),
            fn.max("_elements").alias("largest_component"),
            fn.sum("_pieces").alias("pieces"),
            fn.count("_value").alias("components"),
            fn.max("cluster_size").alias("largest_cluster"),
        ).first()
        out: dict[str, Any] = {k: (0 if v is None else v) for k, v in total.asDict().items()}
        exact = ("value", "bound")
        out = {k: v if k in exact else round(v) for k, v in out.items()}
        out["bound"] += between["bits"]
        out["pairs_cut"] += between["pairs"]
        out["gap"] = max(0.0, out["bound"] - out["value"])
        out["components_split"] = between["components"]
        out["largest_component_pairs"] = between["largest_pairs"]
        out["odd_rows"] = dict(self.counts)
        out["options"] = asdict(self.options)
        return out


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _element(name: str, source: str | None) -> Any:
    """Return an element as one column: an id, or a struct of source and id."""
    from pyspark.sql import functions as fn

    own = fn.col(_quoted(name))
    if source is None:
        return own
    both = fn.struct(fn.col(_quoted(source)).alias("source"), own.alias("id"))
    return fn.when(own.isNotNull() & fn.col(_quoted(source)).isNotNull(), both)


def _inside(rows: Any, roots: Any) -> Any:
    """Return the rows within a component, and its number."""
    from pyspark.sql import functions as fn

    root = fn.coalesce("root", "node")
    every = roots.unionByName(roots.select(fn.col("root").alias("node"), "root").distinct())
    number = every.select("node", fn.xxhash64(root).alias("component"))
    left = number.withColumnsRenamed({"node": "a", "component": "component"})
    right = number.withColumnsRenamed({"node": "b", "component": "component_b"})
    joined = rows.join(left, "a").join(right, "b").where("component = component_b")
    return joined.select("a", "b", "bits", "kind", "component")


def _schema(keyed: Any) -> str:
    """Return the columns of `solve_frame`."""
    kind = keyed.schema["a"].dataType.simpleString()
    ids = f"id {kind}, first {kind}"
    if "source_a" in keyed.columns:
        source = keyed.schema["source_a"].dataType.simpleString()
        ids = f"source {source}, id {kind}, first_source {source}, first {kind}"
    numbers = ", ".join(f"{name} double" for name in STATISTICS)
    return f"{ids}, size long, gap double, {numbers}"
