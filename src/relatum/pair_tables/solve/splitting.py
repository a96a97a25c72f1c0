"""Components too large to be solved whole: split along their weakest pairs.

Pairs are taken by falling log-odds, and the sets of their two elements joined unless the
result had more elements than allowed: single linkage, stopped by size instead of by a
threshold. This needs two integers per element, and pairs may come in batches.
No cluster then reaches across pieces, and the bound of the whole is the sum of the bounds of
the pieces and of the positive log-odds between them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.tables.union_find import find_roots, join_pairs, join_pairs_capped
from relatum.pair_tables.solve.batching import Pairs


def split_elements(n: int, pairs: Iterable[Pairs], related: Index, most: int) -> Index:
    """Return the smallest element of each element's piece.

    Parameters
    ----------
    n : int
        Elements are numbered from 0.
    pairs : iterable of (i, j, log_odds)
        Batches of positive pairs, those of the largest log-odds first.
    related : int64 array (k, 2)
        Never separated; each set of them counts as one element.
    most : int
        Elements of the largest pieces.
    """
    parent, elements = np.arange(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    join_pairs(parent, *np.ascontiguousarray(related.T))
    for i, j, log_odds in pairs:
        order = falling_order(i, j, log_odds)
        ends = i[order].astype(np.int64), j[order].astype(np.int64)
        join_pairs_capped(parent, elements, *ends, most)
    find_roots(parent)
    return parent


def falling_order(i: NDArray[np.integer], j: NDArray[np.integer], log_odds: Floats) -> Index:
    """Return the order of pairs by falling log-odds, ties by their elements.

    Where few log-odds are tied, this takes half the time of sorting by all three.
    """
    order = np.argsort(-log_odds)
    falling = log_odds[order]
    equal = falling[1:] == falling[:-1]
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    rows = order[tied]
    order[tied] = rows[np.lexsort((j[rows], i[rows], -log_odds[rows]))]
    return order
