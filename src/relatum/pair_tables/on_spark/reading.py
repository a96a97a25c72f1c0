"""Reading Spark tables of pairs: rows checked, each pair once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as fn

from relatum.pair_tables.columns import CERTAIN, REFUSED, SAME, Columns, refuse
from relatum.pair_tables.on_spark.known import ends_of, quoted
from relatum.pair_tables.on_spark.star_components import computed
from relatum.pair_tables.options import Given


@dataclass(frozen=True)
class Source:
    """A table of pairs whose rows were checked."""

    listed: Any  # pairs a < b with bits, each once
    nodes: Any  # all elements, column node
    rows: int
    odd_rows: Mapping[str, int]  # how many by kind, see `relatum.pair_tables.columns`


def read_source(given: Given, columns: Columns) -> Source:
    """Check the rows of a Spark DataFrame of pairs."""
    read = computed(_read(given.pairs, columns))
    flags = {
        "null_ids": fn.col("a").isNull() | fn.col("b").isNull(),
        "null_scores": fn.col("score").isNull(),
        "out_of_range": fn.col("score").isNotNull() & fn.col("bits").isNull(),
        "self_pairs": fn.col("a") == fn.col("b"),
        "certain": fn.abs("bits") == CERTAIN,
    }
    sums = [fn.sum(flag.cast("long")).alias(name) for name, flag in flags.items()]
    between = fn.when((fn.col("score") > 0) & (fn.col("score") < 1), fn.col("score"))
    ends = [end(of).alias(f"_{k}") for k, (of, end) in enumerate(
        (of, end) for of in (fn.col("score"), between) for end in (fn.min, fn.max)
    )]  # fmt: skip
    first = read.agg(fn.count(fn.lit(1)).alias("rows"), *sums, *ends).first().asDict()
    spread = [first.pop(f"_{k}") for k in range(4)]
    counts = {k: int(v or 0) for k, v in first.items()}
    rows = counts.pop("rows")
    given.require_log_odds(columns, spread, rows)
    good = read.where("a IS NOT NULL AND b IS NOT NULL AND bits IS NOT NULL AND a != b")
    sides = (fn.least("a", "b").alias("a"), fn.greatest("a", "b").alias("b"))
    listed = good.select(*sides, "bits").groupBy("a", "b")
    listed = listed.agg(
        fn.avg("bits").alias("bits"),
        fn.count("bits").alias("_rows"),
        (fn.max("bits") - fn.min("bits") > SAME).alias("_odd"),
    )
    listed = computed(listed)
    odd = fn.sum(fn.when(fn.col("_odd"), fn.col("_rows")))
    again = fn.sum(fn.when(~fn.col("_odd"), fn.col("_rows") - 1))
    row = listed.agg(odd, again).first()
    counts |= {"contradictory": int(row[0] or 0), "duplicates": int(row[1] or 0)}
    if given.odd_rows == "refuse":
        flagged = {kind: read.where(flag) for kind, flag in flags.items()}
        _refuse(counts, {**flagged, "contradictory": listed.where("_odd")})
    named = read.where("a IS NOT NULL AND b IS NOT NULL")
    nodes = named.select(fn.explode(fn.array("a", "b")).alias("node")).distinct()
    return Source(listed.drop("_rows", "_odd"), nodes, rows, counts)


def _read(pairs: Any, columns: Columns) -> Any:
    """Return both elements, the score and the bits of every row."""
    score = fn.col(quoted(columns.score)).cast("double")
    score = fn.when(fn.isnan(score), None).otherwise(score)
    bits = score
    if columns.is_probability:
        bits = fn.when((score > 0) & (score < 1), fn.log2(score) - fn.log2(1 - score))
        bits = bits.when(score == 1, CERTAIN).when(score == 0, -CERTAIN)
    infinite = fn.abs(bits) == float("inf")
    bits = fn.when(infinite, fn.signum(bits) * CERTAIN).otherwise(bits)
    return pairs.select(*ends_of(columns), score.alias("score"), bits.alias("bits"))


def _refuse(counts: Mapping[str, int], frames: Mapping[str, Any]) -> None:
    odd = [kind for kind in REFUSED if counts[kind]]
    refuse(counts, {k: [row.asDict() for row in frames[k].limit(3).collect()] for k in odd})
