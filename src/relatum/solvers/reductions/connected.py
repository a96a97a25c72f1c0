"""Connected components of pairs.

scipy has them too, but its module of graph algorithms imports all of its linear algebra, which
takes longer than a small problem.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.kernels.tables.union_find import find_roots, join_pairs

BLOCK = 1024  # rows of a matrix looked through at once, so that its pairs are never listed whole


def connected(n: int, batches: Iterable[Iterable[NDArray[np.integer]]]) -> Index:
    """Return a label per element, 0, 1, ... in the order of components' first elements.

    Parameters
    ----------
    n : int
        The number of elements.
    batches : iterable of (i, j)
        The pairs that connect, in any number of batches.
    """
    root = np.arange(n, dtype=np.int64)
    for i, j in batches:
        join_pairs(root, *(np.ascontiguousarray(ends, dtype=np.int64) for ends in (i, j)))
    find_roots(root)
    # the smallest element of a set is its root
    return np.asarray(np.cumsum(root == np.arange(n))[root] - 1, dtype=np.int64)
