"""2-partition rows: those of some that are unlike each other, and those that have prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.partition.two_partitions import choose_unlike
from relatum.proof import two_partition_rows

PARALLEL = 0.6  # cosine of two rows above which one is enough


def unlike_two_partitions(sides: NDArray[np.int8], violation: Floats, limit: int) -> Index:
    """Choose rows by violation over norm, skipping those too parallel to a chosen one."""
    if not len(violation):
        return np.empty((0, 1), dtype=np.int64)
    size = np.count_nonzero(sides, axis=1)
    norm = np.sqrt(size * (size - 1) / 2)
    order = np.argsort(-violation / norm, kind="stable")
    chosen = choose_unlike(sides[order], norm[order], limit, PARALLEL)
    return _two_partition_index(sides[order[chosen]])


def _two_partition_index(sides: NDArray[np.int8]) -> Index:
    """Write sides as S, -1, T, the smaller side first, padded with -1."""
    row, element = np.nonzero(sides)
    side = sides[row, element]
    ones, twos = (np.count_nonzero(sides == k, axis=1) for k in (1, 2))
    second = side != np.where(twos < ones, 2, 1)[row]
    order = np.lexsort((element, second, row))
    begin = np.cumsum(ones + twos) - ones - twos
    place = np.arange(len(row)) - begin[row] + second[order]
    index = np.full((len(sides), int((ones + twos).max()) + 1), -1, dtype=np.int64)
    index[row, place] = element[order]
    return index


class PricedRows:
    """2-partition rows with prices.

    Attributes
    ----------
    index : int64 array (r, width)
        S, -1, T, padded with -1.
    prices : float64 array (r,)
    compressed : tuple of arrays
        The rows as kernels read them.
    """

    def __init__(self, n: int, width: int) -> None:
        self.n = n
        self.index: Index = np.empty((0, width), dtype=np.int64)
        self.prices: Floats = np.empty(0)
        self.compressed = self._compressed()

    def _compressed(self) -> tuple[Any, ...]:
        rows = two_partition_rows(self.index, (self.n, self.n))
        places = np.minimum(rows.a, rows.b) * self.n + np.maximum(rows.a, rows.b)
        signs, sides = rows.coefficient.astype(np.int8), rows.rhs.astype(np.float64)
        return rows.start, places.astype(np.int32), signs, sides

    def renew(self, kept: Flags, index: Index) -> None:
        """Keep some rows, and add others, without prices."""
        wide = np.full((len(index), self.index.shape[1]), -1, dtype=np.int64)
        wide[:, : index.shape[1]] = index
        self.index = np.concatenate([self.index[kept], wide])
        self.prices = np.concatenate([self.prices[kept], np.zeros(len(wide))])
        self.compressed = self._compressed()
