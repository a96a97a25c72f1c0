"""Pairs inside components that a table does not list, scored when their component is solved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.kernels.tables.places import sort_rows, unlisted_pairs
from relatum.pair_tables.columns import MOST_BITS
from relatum.pair_tables.solve.batching import Components, Pairs, ends_of, with_pairs


def with_missing(
    batch: Components, most: int, ids: Callable[[Index], Any], scorer: Callable[[Any, Any], Any]
) -> tuple[Components, Pairs]:
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
    Components, (i, j, log_odds)
        With all pairs, and those that were scored, numbered through the batch.
    """
    a, b = unlisted_pairs(batch, most)
    if not len(a):
        return batch, (a, b, np.empty(0))
    _, i, j = ends_of(batch)
    bits = _scored(ids(a), ids(b), len(a), scorer)
    scores = np.concatenate([batch.log_odds, bits])
    ends = np.concatenate([i, a]), np.concatenate([j, b])
    pairs = sort_rows(*ends, scores, 0, int(batch.element_ptr[-1]))
    return with_pairs(batch, pairs), (a, b, bits)


def _scored(left: Any, right: Any, count: int, scorer: Callable[[Any, Any], Any]) -> Floats:
    bits = np.asarray(scorer(left, right), dtype=np.float64)
    odd = np.count_nonzero(~(np.abs(bits) <= MOST_BITS))
    if bits.shape != (count,) or odd:
        raise DataError(
            f"score_missing returns one finite number of bits per pair: for {count} pairs it "
            f"returned shape {bits.shape}, {odd} not finite, or beyond {MOST_BITS:g}."
        )
    return bits
