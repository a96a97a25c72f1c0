"""Pairs inside components that a table does not list, scored when their component is solved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.kernels.tables.component_batch import Components
from relatum.kernels.tables.places import sort_rows, unlisted_pairs

__all__ = ["MOST_MISSING", "with_missing"]

MOST_MISSING = 2_000  # elements of a component whose unlisted pairs are all scored


def with_missing(
    batch: Components, elements: Index, scorer: Callable[[Any, Any], Any]
) -> tuple[Components, int]:
    """Score the pairs that components do not list, in all but the largest of them.

    Parameters
    ----------
    batch : Components
    elements : int64 array
        Their numbers, as the scorer knows them.
    scorer : callable (numbers, numbers) -> bits

    Returns
    -------
    Components, int
        With all pairs, and how many were scored.
    """
    a, b = unlisted_pairs(batch, MOST_MISSING)
    if not len(a):
        return batch, 0
    w = np.asarray(scorer(elements[a], elements[b]), dtype=np.float64)
    owner = np.repeat(batch.element_ptr[:-1], np.diff(batch.pair_ptr))
    low, high, both = sort_rows(
        np.concatenate([batch.i + owner, a]),
        np.concatenate([batch.j + owner, b]),
        np.concatenate([batch.log_odds, w]),
        0,
        int(batch.element_ptr[-1]),
    )
    pair_ptr = np.searchsorted(low, batch.element_ptr)
    shift = np.repeat(batch.element_ptr[:-1], np.diff(pair_ptr))
    batch = batch._replace(
        pair_ptr=pair_ptr.astype(np.int64),
        i=(low - shift).astype(np.int32),
        j=(high - shift).astype(np.int32),
        log_odds=both,
    )
    return batch, len(a)
