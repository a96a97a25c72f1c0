"""Where a run works, and what it keeps there: numbered pairs between two passes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats
from relatum.pair_tables.options import Monitor, Plan, Tuning, parse_memory

ROW = np.dtype([("i", "<i4"), ("j", "<i4"), ("w", "<f8")])
BYTES = ROW.itemsize
Rows = tuple[NDArray[np.int32], NDArray[np.int32], Floats]


@dataclass(frozen=True, eq=False)
class Workspace:
    """Where a run works, and how long its stages took."""

    folder: Path  # for temporary files
    memory: int  # bytes: half for DuckDB, an eighth each for ids, pairs, sorting and batches
    threads: int = 2
    monitor: Monitor | None = None
    seconds: dict[str, float] = field(default_factory=dict)  # by stage

    @classmethod
    def of(cls, plan: Plan, folder: Path) -> Workspace:
        """Return the place of a run in a folder."""
        threads = plan.threads or os.cpu_count() or 1
        return cls(folder, parse_memory(plan.memory_limit), threads, plan.monitor)

    @property
    def share(self) -> int:
        """An eighth of the memory."""
        return self.memory // 8

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell of a stage, and time it."""
        begin = time.perf_counter()
        self.tell(name, 0, 0)
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def tell(self, stage: str, done: int, total: int) -> None:
        """Tell the monitor, if there is one."""
        if self.monitor is not None:
            self.monitor(stage, done, total)


class Spool:
    """A list of pairs that can be appended to and read again: in memory while they fit.

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

    def batches(self, rows: int = Tuning.read_rows) -> Iterator[Rows]:
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
