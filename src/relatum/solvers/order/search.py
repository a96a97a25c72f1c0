"""Heuristic linear orders: annealing over the places of elements, then insertion search."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.order.search import anneal_order, insertion_search, order_gain
from relatum.threads import Threads

Expired = Callable[[], bool]

Heats = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class AnnealingSettings:
    """How chains cool; heats are first and last temperatures, in mean absolute weights."""

    chains: int = 2  # how many there are, whatever the number of threads
    # one per chain: where few weights are large and most are small, either may be the better
    hot: Heats = ((3.0, 0.1), (20.0, 0.2))
    warm: Heats = ((1.2, 0.1), (4.0, 0.2))  # of a start of which most is kept
    noise: int = 1 << 14  # Gumbel numbers drawn once and used in turn
    threaded: int = 60  # elements from which chains run in threads: starting these takes time


SETTINGS = AnnealingSettings()


def never() -> bool:
    """Do not stop."""
    return False


def least_gain(d: Floats) -> float:
    """Return the gain a move must exceed, so that nothing cycles on rounding."""
    return 1e-9 * float(finite_sizes(d).max(initial=0.0)) + 1e-300


def finite_sizes(d: Floats) -> Floats:
    """Return the absolute values of the entries that are finite."""
    finite = np.isfinite(d)
    return np.abs(d if finite.all() else d[finite])


@lru_cache(maxsize=4)
def _noise(seed: int) -> tuple[Floats, NDArray[np.uint64]]:
    """Return Gumbel noise and the states of the chains' random numbers."""
    rng = np.random.default_rng(seed)
    noise = rng.gumbel(size=SETTINGS.noise)
    return noise, rng.integers(1, 2**63, size=(SETTINGS.chains, 1)).astype(np.uint64)


class OrderSearch:
    """Annealing from the best order so far, in cycles of a few chains each.

    Parameters
    ----------
    d : float64 array (n, n)
        d_ab is gained when a comes before b instead of after it; inf where that is known.
    start : int64 array (n,)
        An order that respects what is known.
    seed : int
    threads : int, optional
        How many chains run at a time; chosen by the size of the problem if left out.
    expired : callable
        Asked often; once it says True, every search ends with what it has.

    Notes
    -----
    There are `SETTINGS.chains` chains, each with random numbers of its own, whatever the number of
    threads; of orders that are worth the same, the first chain's is kept. So the sequence of
    orders depends on the seed only; a time limit cuts it short.
    """

    def __init__(
        self,
        d: Floats,
        start: Index,
        seed: int = 0,
        threads: int | None = None,
        expired: Expired = never,
    ) -> None:
        self.d = np.ascontiguousarray(d, dtype=np.float64)
        self.order = np.array(start, dtype=np.int64)
        sizes = finite_sizes(self.d)
        self.least, self.expired = least_gain(sizes), expired
        insertion_search(self.d, self.order, self.least, expired)
        some = sizes.size < self.d.size
        self._finite = np.where(np.isfinite(self.d), self.d, 0.0) if some else self.d
        self.gain = order_gain(self._finite, self.order)
        self.noise, states = _noise(seed)
        self.states = states.copy()
        self.scale = float(sizes.mean()) if sizes.size else 0.0
        if threads is None:
            many = len(self.order) >= SETTINGS.threaded
            threads = min(SETTINGS.chains, os.cpu_count() or 1) if many else 1
        self.threads = threads

    def anneal(
        self,
        steps: int,
        heats: Heats = SETTINGS.hot,
        chains: int = 1,
    ) -> bool:
        """Anneal chains from the best order; return whether a better one was found.

        Temperatures are in units of the mean absolute weight.
        """
        if len(self.order) < 3 or self.scale == 0.0:
            return False
        run = partial(self._chain, steps, heats)
        if self.threads > 1 and chains > 1:
            with Threads(self.threads) as executor:
                orders = list(executor.map(run, range(chains)))
        else:
            orders = [run(k) for k in range(chains)]
        better = False
        for order in orders:
            gain = order_gain(self._finite, order)
            if gain > self.gain + self.least:
                self.order, self.gain, better = order, gain, True
        return better

    def cycle(self, steps: int) -> bool:
        """Anneal all chains from hot, then twice from warm; return whether that was better."""
        better = self.anneal(steps // 2, SETTINGS.hot, SETTINGS.chains)
        for _ in range(2):
            if not self.expired():
                better |= self.anneal(steps // 4, SETTINGS.warm, SETTINGS.chains)
        return better

    def _chain(
        self,
        steps: int,
        heats: Heats,
        chain: int,
    ) -> Index:
        n = len(self.order)
        heat = heats[chain % len(heats)]
        order = self.order.copy()
        slices = max(1, steps * n // 20_000_000)
        ladder = np.geomspace(heat[0], heat[1], slices + 1) * self.scale
        for k in range(slices):
            part = ladder[k : k + 2].copy()
            draws = self.noise, self.states[chain]
            anneal_order(self.d, order, part, steps // slices, *draws, self.expired)
            if self.expired():
                break
        insertion_search(self.d, order, self.least, self.expired)
        return order
