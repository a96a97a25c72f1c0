"""What is known before the pairs of a table are clustered, how to do it, and what comes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.pair_tables.solve.component import Settings

__all__ = ["Known", "Outcome", "Work"]

Scorer = Callable[[Any, Any], Any]
Monitor = Callable[[str, int, int], Any]


@dataclass(eq=False)
class Known:
    """What is known of the elements, by number.

    Attributes
    ----------
    fixed : int64 array (k, 3)
        Evidence: two elements, and 1 or 0.
    groups, start : int64 arrays (n,) or None
        See `relatum.pair_tables.solve.component.Component`.
    prints : uint64 array (n,) or None
        Hash of the component of each element in an earlier run, 0 if unknown.
    gaps : float64 array (n,) or None
        Gap of that component.
    """

    fixed: Index = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))
    groups: Index | None = None
    start: Index | None = None
    prints: NDArray[np.uint64] | None = None
    gaps: Floats | None = None


@dataclass(eq=False)
class Work:
    """How to do it.

    Attributes
    ----------
    settings : Settings
    memory : int
        Bytes for pairs and batches.
    folder : Path
        For temporary files.
    threads : int
    score_missing : callable (ids, ids) -> bits, or None
    monitor : callable (stage, done, total) or None
    seed : int
        Of the hashes: tells runs with different settings apart.
    """

    settings: Settings
    memory: int
    folder: Path
    threads: int = 2
    score_missing: Scorer | None = None
    monitor: Monitor | None = None
    seed: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        begin = time.perf_counter()
        if self.monitor is not None:
            self.monitor(name, 0, 0)
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


@dataclass(eq=False)
class Outcome:
    """Clusters by element number, and totals.

    Attributes
    ----------
    first : int64 array (n,)
        The smallest element of each element's cluster.
    size : int64 array (n,)
        Of the cluster.
    gap : float64 array (n,)
        Of the component, in bits.
    prints : uint64 array (n,)
        Hash of the component.
    totals : dict
    """

    first: Index
    size: Index
    gap: Floats
    prints: NDArray[np.uint64]
    totals: dict[str, Any]
