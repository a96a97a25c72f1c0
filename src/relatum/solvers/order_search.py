"""Heuristic linear orders: annealing over the places of elements, then insertion search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relatum.kernels.order_search import anneal_order, insertion_search, order_gain

__all__ = ["OrderSearch", "least_gain"]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

_NOISE_SIZE = 1 << 14


def least_gain(d: Floats) -> float:
    """Return the gain a move must exceed, so that nothing cycles on rounding."""
    finite = np.abs(d[np.isfinite(d)])
    return 1e-9 * float(finite.max(initial=0.0)) + 1e-300


class OrderSearch:
    """Repeated annealing, each time twice as long, from the best order so far.

    Parameters
    ----------
    d : float64 array (n, n)
        d_ab is gained when a comes before b instead of after it; inf where that is known.
    start : int64 array (n,)
        An order that respects what is known.
    seed : int

    Notes
    -----
    The sequence of orders depends on the seed only; a time limit cuts it short.
    """

    def __init__(self, d: Floats, start: Index, seed: int = 0) -> None:
        self.d = np.ascontiguousarray(d, dtype=np.float64)
        self.order = np.array(start, dtype=np.int64)
        self.least = least_gain(self.d)
        insertion_search(self.d, self.order, self.least)
        self.gain = order_gain(self._finite(), self.order)
        rng = np.random.default_rng(seed)
        self.noise = rng.gumbel(size=_NOISE_SIZE)
        self.state = rng.integers(1, 2**63, size=1).astype(np.uint64)
        self.steps = 0
        finite = np.abs(self.d[np.isfinite(self.d)])
        self.scale = float(finite.mean()) if finite.size else 0.0

    def _finite(self) -> Floats:
        return np.where(np.isfinite(self.d), self.d, 0.0)

    def anneal(
        self,
        steps: int,
        heat: tuple[float, float] = (5.0, 0.1),
        expired: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Anneal once from the best order; return whether a better one was found.

        Temperatures are in units of the mean absolute weight. The work is done in slices,
        between which `expired` may end it.
        """
        n = len(self.order)
        if n < 3 or self.scale == 0.0:
            return False
        order = self.order.copy()
        slices = max(1, steps * n // 20_000_000)
        ladder = np.geomspace(heat[0], heat[1], slices + 1) * self.scale
        for k in range(slices):
            anneal_order(
                self.d, order, ladder[k : k + 2].copy(), steps // slices, self.noise, self.state
            )
            if expired():
                break
        self.steps += steps
        insertion_search(self.d, order, self.least)
        gain = order_gain(self._finite(), order)
        if gain <= self.gain + self.least:
            return False
        self.order, self.gain = order, gain
        return True
