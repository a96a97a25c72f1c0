"""From rows to components, and from components to rows that fit into tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import functions as fn

from relatum.pair_tables.columns import CERTAIN
from relatum.pair_tables.on_spark.frame_task import RELATED, SCORED, UNRELATED
from relatum.pair_tables.on_spark.known import Known
from relatum.pair_tables.on_spark.reading import Source
from relatum.pair_tables.on_spark.star_components import computed, star_components


@dataclass(frozen=True)
class Linked:
    """Components, and the rows inside them."""

    roots: Any  # columns node and root, for every node that is not a root
    rows: Any  # pairs a < b with bits, kind (listed or evidence), component and groups, if any
    positive: int  # pairs of the table
    components: int  # of two elements or more
    elements: int  # of these components
    largest: int  # elements of the largest


def link_pairs(source: Source, known: Known) -> Linked:
    """Find the components; positive pairs that groups forbid connect nothing."""
    listed = known.with_groups(source.listed)
    positive = listed.where("bits > 0")
    edges = positive.where(known.may_join()).select("a", "b")
    if known.related is not None:
        edges = edges.union(known.related.select("a", "b"))
    roots = star_components(edges)
    sizes = roots.groupBy("root").count()
    row = sizes.agg(fn.max("count"), fn.count("root"), fn.sum("count")).first()
    rows = listed.withColumn("kind", fn.lit(SCORED))
    for facts, kind in ((known.related, RELATED), (known.unrelated, UNRELATED)):
        if facts is not None:
            ends = facts.select(fn.least("a", "b").alias("a"), fn.greatest("a", "b").alias("b"))
            marked = ends.distinct().withColumn("bits", fn.lit(0.0))
            rows = rows.unionByName(known.with_groups(marked.withColumn("kind", fn.lit(kind))))
    largest, count, others = (int(x or 0) for x in row)
    rows = computed(_inside(rows, roots))
    return Linked(roots, rows, positive.count(), count, count + others, largest + 1)


@dataclass(frozen=True)
class Units:
    """Components, and pieces of those that are too large for a task."""

    rows: Any  # as of `Linked`, and the component before it was split, column origin
    split: int = 0  # how many components were
    lost: Any = None  # columns origin and bits: positive ones that splitting gave up


def split_giants(linked: Linked, known: Known, most: int) -> Units:
    """Split components that no task may hold, ever more strongly, until there are none.

    Pairs of at most 1, 2, 4, ... bits no longer connect. Elements known to be related stay
    together, whatever their number.
    """
    rows = linked.rows.withColumn("origin", fn.col("component"))
    sizes, lost, split, threshold = sizes_of(rows), [], 0, 1.0
    while threshold <= 2 * CERTAIN:
        giant = sizes.where(fn.col("_count") > most).select("component")
        count = giant.count()
        if not count:
            break
        split = split or count
        inside = rows.join(giant, "component")
        strong = (fn.col("bits") > threshold) & known.may_join()
        edges = inside.where(strong | (fn.col("kind") == RELATED)).select("a", "b")
        pieces = computed(_inside(inside.drop("component"), star_components(edges)))
        kept = pieces.select("a", "b", "kind")
        cut = inside.join(kept, ["a", "b", "kind"], "left_anti")
        cut = cut.where(f"kind = {SCORED} AND bits > 0").groupBy("origin")
        lost.append(computed(cut.agg(fn.sum("bits").alias("bits"))))
        rows = computed(rows.join(giant, "component", "left_anti").unionByName(pieces))
        sizes, threshold = sizes_of(rows), 2 * threshold
    if not lost:
        return Units(rows)
    every = reduce(lambda a, b: a.unionByName(b), lost)
    return Units(rows, split, computed(every.groupBy("origin").agg(fn.sum("bits").alias("bits"))))


def numbers_of(roots: Any, node: str, number: str) -> Any:
    """Return the number of the component of every node, under the names given."""
    every = roots.unionByName(roots.select(fn.col("root").alias("node"), "root").distinct())
    return every.select(fn.col("node").alias(node), fn.xxhash64("root").alias(number))


def sizes_of(rows: Any) -> Any:
    """Return the number of rows of every component."""
    return rows.groupBy("component").agg(fn.count("a").alias("_count"))


def _inside(rows: Any, roots: Any) -> Any:
    """Return the rows within a component, and its number."""
    joined = rows.join(numbers_of(roots, "a", "component"), "a")
    joined = joined.join(numbers_of(roots, "b", "component_b"), "b")
    return joined.where("component = component_b").drop("component_b")
