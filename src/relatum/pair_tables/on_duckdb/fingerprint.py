"""Fingerprints of a table: of its pairs, in whatever order they come, and of its ids.

A certificate that was written for another table is refused because of them at once, with a
sentence that says so. Nothing is believed because of them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from relatum.array_types import Floats

_STEP = np.uint64(0x9E3779B97F4A7C15)


class Fingerprint:
    """Two sums of hashes of scored pairs: the same in every order."""

    def __init__(self) -> None:
        self._sums = [0, 0]
        self._count = 0

    def add(self, i: NDArray[np.integer], j: NDArray[np.integer], w: Floats) -> None:
        """Add pairs."""
        with np.errstate(over="ignore"):
            pair = (i.astype(np.uint64) << np.uint64(32)) + j.astype(np.uint64)
            bits = np.ascontiguousarray(w, dtype=np.float64).view(np.uint64)
            first = _mixed(_mixed(pair + _STEP) ^ bits)
            second = _mixed(first + _STEP)
            for k, lane in enumerate((first, second)):
                self._sums[k] = (self._sums[k] + int(lane.sum(dtype=np.uint64))) % (1 << 64)
        self._count += len(w)

    def text(self) -> str:
        """Return the fingerprint of all pairs that were added."""
        return f"{self._count}-{self._sums[0]:016x}{self._sums[1]:016x}"


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of words as the finalizer of splitmix64 does."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def ids_fingerprint(ids: Any) -> str:
    """Return a hash of an Arrow table of ids: of their texts, in order."""
    lengths, signs = hashlib.sha256(), hashlib.sha256()
    for column in ids.columns:
        for part in _texts(column).chunks:
            _, offsets, data = part.buffers()
            ends = np.frombuffer(offsets, dtype=np.int64)[part.offset :][: len(part) + 1]
            lengths.update(np.diff(ends).tobytes())
            if data is not None:
                signs.update(memoryview(data)[int(ends[0]) : int(ends[-1])])
        lengths.update(b"|")
    return hashlib.sha256(lengths.digest() + signs.digest()).hexdigest()


def _texts(column: Any) -> Any:
    """Return a column as long texts."""
    try:
        return column.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.chunked_array([pa.array(map(str, column.to_pylist()), pa.large_string())])
