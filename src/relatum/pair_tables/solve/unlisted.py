"""Pairs inside components that a table does not list, scored when their component is solved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.kernels.tables.places import sort_rows, unlisted_pairs
from relatum.pair_tables.solve.batching import Components, ends_of, with_pairs


def with_missing(
    batch: Components, most: int, ids: Callable[[Index], Any], scorer: Callable[[Any, Any], Any]
) -> tuple[Components, int]:
    """Score the pairs that components do not list, in all but the largest of them.

    Parameters
    ----------
    batch : Components
    most : int
        Elements of the largest components that are scored.
    ids : callable (elements of the batch) -> ids
    scorer : callable (ids, ids) -> bits

    Returns
    -------
    Components, int
        With all pairs, and how many were scored.
    """
    a, b = unlisted_pairs(batch, most)
    if not len(a):
        return batch, 0
    _, i, j = ends_of(batch)
    scores = np.concatenate([batch.log_odds, _scored(ids(a), ids(b), len(a), scorer)])
    ends = np.concatenate([i, a]), np.concatenate([j, b])
    pairs = sort_rows(*ends, scores, 0, int(batch.element_ptr[-1]))
    return with_pairs(batch, pairs), len(a)


def _scored(left: Any, right: Any, count: int, scorer: Callable[[Any, Any], Any]) -> Floats:
    bits = np.asarray(scorer(left, right), dtype=np.float64)
    if bits.shape != (count,) or not np.isfinite(bits).all():
        odd = np.count_nonzero(~np.isfinite(bits))
        raise DataError(
            f"score_missing returns one finite number of bits per pair: for {count} pairs it "
            f"returned shape {bits.shape}, {odd} not finite."
        )
    return bits
