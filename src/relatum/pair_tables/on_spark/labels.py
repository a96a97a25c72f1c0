"""What labelled elements of a Spark table say: the block recall, the background, the F1.

Counts are made where the table is. To learn the background, the listed pairs of labelled elements
are brought to the driver: of at most about ``Tuning.labelled_elements`` elements, whole entities.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pyspark.sql import functions as fn

from relatum.pair_tables.on_spark.reading import Source
from relatum.pair_tables.options import Tuning
from relatum.pair_tables.scoring import learned_background, warn_of_recall


def block_recall(source: Source, labels: Any) -> float:
    """Return the share of true pairs, of labelled elements, that are listed; warn below 0.9."""
    own = source.nodes.join(labels, "node")
    true = _pairs(own.groupBy("value").count())
    if not true:
        return math.nan
    both = source.listed.join(_named(labels, "a"), "a").join(_named(labels, "b"), "b")
    recall = min(1.0, int(both.where("label_a = label_b").count()) / true)
    warn_of_recall(recall, stacklevel=6)
    return recall


def background_of(source: Source, labels: Any) -> float:
    """Learn the background on the driver, as `relatum.pair_tables.scoring` does."""
    own = source.nodes.join(labels, "node")
    count, total = own.count(), source.nodes.count()
    if count > Tuning.labelled_elements:  # whole entities, by a hash that says nothing
        share = int(1000 * Tuning.labelled_elements / count)
        own = own.where(fn.pmod(fn.xxhash64("value"), fn.lit(1000)) < share)
    rows = source.listed.join(_named(own, "a"), "a", "left").join(_named(own, "b"), "b", "left")
    frame = rows.where("label_a IS NOT NULL OR label_b IS NOT NULL").toPandas()
    ends = {end: [tuple(x) if isinstance(x, tuple) else x for x in frame[end]] for end in "ab"}
    number: dict[Any, int] = {}
    i, j = (np.array([number.setdefault(x, len(number)) for x in ends[e]], np.int32) for e in "ab")
    known: dict[Any, int] = {}
    codes = np.full(max(total, len(number)), -1, dtype=np.int64)
    for places, name in ((i, "label_a"), (j, "label_b")):
        for place, label in zip(places.tolist(), frame[name], strict=True):
            if label is not None and label == label:
                codes[place] = known.setdefault(label, len(known))
    return learned_background([(i, j, frame["bits"].to_numpy(np.float64))], codes)


def pairwise_f1(found: Any, labels: Any) -> float:
    """Return the F1 of related pairs among labelled elements of a frame of nodes and clusters."""
    own = found.join(labels, "node")
    right = _pairs(own.groupBy("cluster_id", "value").count())
    related = _pairs(own.groupBy("cluster_id").count())
    true = _pairs(own.groupBy("value").count())
    return 2 * right / max(1, related + true)


def _named(labels: Any, end: str) -> Any:
    return labels.select(fn.col("node").alias(end), fn.col("value").alias(f"label_{end}"))


def _pairs(counts: Any) -> int:
    """Return how many pairs sets of these sizes have."""
    pairs = fn.sum(fn.col("count") * (fn.col("count") - 1) / 2)
    return int(counts.agg(pairs).first()[0] or 0)
