"""Numbered pairs between two passes: in memory while they fit, then in files of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats

__all__ = ["BYTES", "Spool"]

ROW = np.dtype([("i", "<i4"), ("j", "<i4"), ("w", "<f8")])
BYTES = ROW.itemsize
Rows = tuple[NDArray[np.int32], NDArray[np.int32], Floats]


class Spool:
    """A list of pairs that can be appended to and read again.

    Parameters
    ----------
    path : Path
        A file to use once the pairs take more than `memory` bytes.
    memory : int
    """

    def __init__(self, path: Path, memory: int) -> None:
        self.path, self.memory = path, memory
        self.count = 0
        self._parts: list[NDArray[np.void]] = []
        self._on_disk = False

    def append(self, i: NDArray[np.integer], j: NDArray[np.integer], w: Floats) -> None:
        """Add pairs."""
        rows = np.empty(len(i), dtype=ROW)
        rows["i"], rows["j"], rows["w"] = i, j, w
        self.count += len(rows)
        self._parts.append(rows)
        if self._on_disk or self.count * BYTES > self.memory:
            self._on_disk = True
            with self.path.open("ab") as file:
                for part in self._parts:
                    part.tofile(file)
            self._parts = []

    def batches(self, rows: int = 500_000) -> Iterator[Rows]:
        """Yield the pairs in the order in which they came."""
        if not self._on_disk:
            for part in self._parts:
                yield part["i"], part["j"], part["w"]
            return
        for start in range(0, self.count, rows):
            count = min(rows, self.count - start)
            part = np.fromfile(self.path, dtype=ROW, count=count, offset=start * BYTES)
            yield part["i"], part["j"], part["w"]

    def load(self) -> Rows:
        """Return all pairs at once."""
        parts = list(self.batches())
        if not parts:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        i, j, w = (np.concatenate([p[k] for p in parts]) for k in range(3))
        return i, j, w

    def clear(self) -> None:
        """Forget the pairs, on disk too."""
        self._parts, self.count = [], 0
        self.path.unlink(missing_ok=True)
