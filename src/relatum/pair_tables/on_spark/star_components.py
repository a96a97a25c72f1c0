"""Connected components of a Spark DataFrame of edges, by alternating stars.

Kiveris et al. (2014): an operation *large-star* connects, for every node, its larger neighbours
to its smallest neighbour; *small-star* does so with the others. Both keep the components, and
alternating them ends, after about log(n) rounds, with a star around the smallest node of each
component. A node's neighbours are only ever seen one by one, next to their minimum: no task
holds a component.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as fn

from relatum.errors import SolverError
from relatum.pair_tables.options import Tuning


def star_components(edges: Any) -> Any:
    """Return the smallest node of each node's component.

    Parameters
    ----------
    edges : Spark DataFrame with columns ``a`` and ``b``
        Of any type that has an order; no nulls.

    Returns
    -------
    Spark DataFrame with columns ``node`` and ``root``
        One row for each node that is not a root.
    """
    stars = edges.select(fn.greatest("a", "b").alias("u"), fn.least("a", "b").alias("v"))
    stars = computed(stars.where("u != v").distinct())
    before = _fingerprint(stars)
    for _ in range(Tuning.star_rounds):
        stars = computed(_small_star(_large_star(stars)))
        now = _fingerprint(stars)
        if now == before:
            return stars.select(fn.col("u").alias("node"), fn.col("v").alias("root"))
        before = now
    raise SolverError(
        f"The components of the pairs were not found within {Tuning.star_rounds} rounds; that is "
        "more than any graph of fewer than 2^100 nodes needs. Are the ids of the table stable when "
        "it is read again? If not, write it to a file first."
    )


def computed(frame: Any) -> Any:
    """Compute a frame now, and forget how: plans that grow from round to round exhaust the driver.

    Where the session has a checkpoint folder (``sparkContext.setCheckpointDir``), the rows are
    kept there and survive the loss of a machine; else they are kept by the executors, and
    survive the loss of tasks and of Python workers.
    """
    if frame.sparkSession.sparkContext.getCheckpointDir() is not None:
        return frame.checkpoint()
    return frame.localCheckpoint()


def _fingerprint(stars: Any) -> tuple[Any, ...]:
    """Return number and hash of the edges: the same after a round only at the end."""
    hashed = fn.xxhash64("u", "v")
    row = stars.agg(
        fn.count("u"), fn.sum(fn.shiftright(hashed, 20)), fn.sum(hashed.bitwiseAND(0xFFFFF))
    )
    return tuple(row.first())


def _large_star(stars: Any) -> Any:
    """Connect the larger neighbours of every node to its smallest neighbour (or to itself)."""
    both = fn.explode(
        fn.array(
            fn.struct(fn.col("u").alias("x"), fn.col("v").alias("y")),
            fn.struct(fn.col("v").alias("x"), fn.col("u").alias("y")),
        )
    )
    ends = stars.select(both.alias("e")).select("e.x", "e.y")
    least = fn.least("x", fn.min("y").over(Window.partitionBy("x")))
    ends = ends.withColumn("m", least).where("y > x")
    return ends.select(fn.col("y").alias("u"), fn.col("m").alias("v"))


def _small_star(stars: Any) -> Any:
    """Connect every node and its smaller neighbours to the smallest of them."""
    ends = stars.withColumn("m", fn.min("v").over(Window.partitionBy("u")))
    node = fn.explode(fn.array(fn.col("u"), fn.col("v")))
    return ends.select(node.alias("u"), fn.col("m").alias("v")).where("u != v").distinct()
