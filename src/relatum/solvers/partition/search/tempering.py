"""Parallel tempering of partitions: replicas that exchange temperatures.

Annealing from hot to cold once decides for good, when it passes the temperature at which
large groups of elements freeze. Here several replicas of the partition each stay at one of a
ladder of temperatures around that, and neighbours on the ladder exchange temperatures with the
probability that keeps both in equilibrium (Swendsen and Wang 1986; Hukushima and Nemoto 1996).
So a replica that is stuck when cold is warmed, changes, and comes back, again and again: the
partitions that the coldest replicas show, once quenched, are good and stay diverse for as long
as one cares to wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.kernels.partition.records import DenseState
from relatum.kernels.randomness import seed_state
from relatum.solvers.partition.arrays import renumbered
from relatum.solvers.partition.search.dense import DenseSearch


@dataclass(frozen=True)
class TemperingSettings:
    """The ladder of temperatures, in units of a row's noise, and what is done on it."""

    coldest: float = 0.08
    hottest: float = 0.14
    between: int = 5  # sweeps between exchanges
    quench: int = 100  # sweeps of annealing from the coldest temperatures to nothing
    shown: int = 2  # of the coldest replicas are quenched
    shared: int = 600  # elements from which handing work to threads pays
    fresh: int = 16  # runs after which sums in single precision are made anew


TEMPERING = TemperingSettings()


class Sample(NamedTuple):
    """A quenched partition of a replica.

    ``lineage`` numbers the descents: a replica that was at the hottest temperature since its
    last sample has forgotten it, and gets a new number.
    """

    value: float
    labels: Index
    lineage: int


@dataclass(eq=False)
class _Replica:
    state: DenseState
    value: float
    lineage: int
    random_state: NDArray[np.uint64]


class Tempering:
    """Replicas of a partition on a ladder of temperatures.

    Parameters
    ----------
    search : DenseSearch
    starts : list of label arrays
        Feasible partitions, one to begin each replica with; at least two.
    seed : tuple of int
        Runs of the same lengths with the same seed give the same samples.
    settings : TemperingSettings
    """

    def __init__(
        self,
        search: DenseSearch,
        starts: list[Index],
        seed: tuple[int, ...],
        settings: TemperingSettings = TEMPERING,
    ) -> None:
        self.search, self.settings = search, settings
        self.rng = np.random.default_rng(seed)
        self.temperatures = np.linspace(settings.coldest, settings.hottest, len(starts))
        seeds = self.rng.integers(0, 1 << 62, len(starts)).tolist()
        # Hot replicas fill all the sets they may have: with many, little of a partition is left.
        self.capacity = max(int(labels.max()) + 1 for labels in starts)
        # in the order of their temperatures, the coldest first
        states = [search.loose(labels, self.capacity) for labels in starts]
        self.replicas = [
            _Replica(state, search.loose_value(state), number, seed_state(seed))
            for number, (state, seed) in enumerate(zip(states, seeds, strict=True))
        ]
        self.lineages = len(starts)
        self.rounds = self.runs = 0

    def run(self, rounds: int, executor: Executor | None = None) -> list[Sample]:
        """Sweep and exchange a number of times, and quench what the coldest replicas show.

        An executor may work on replicas at the same time; that changes nothing else.
        """
        small = self.search.n < self.settings.shared
        each = map if executor is None or small else executor.map
        self.runs += 1
        if self.runs % self.settings.fresh == 0:
            self._refresh()
        for _ in range(rounds):
            if self.search.stop():
                break
            # every other replica: both parts have cold ones, which are quick, and hot ones
            list(each(self._sweep, [range(k, len(self.replicas), 2) for k in range(2)]))
            self._exchange()
        shown = range(min(self.settings.shown, len(self.replicas)))
        return list(each(self._sample, shown, self.rng.integers(0, 1 << 62, len(shown)).tolist()))

    def _sweep(self, places: Iterable[int]) -> None:
        """Let the replicas at some places of the ladder change for a while."""
        for k in places:
            replica = self.replicas[k]
            schedule = np.full(self.settings.between, self.temperatures[k])
            replica.value += self.search.sweep(replica.state, schedule, replica.random_state)

    def _exchange(self) -> None:
        """Let neighbours on the ladder exchange places, every other pair in turn."""
        replicas, cold = self.replicas, 1.0 / (self.search.noise * self.temperatures)
        for k in range(self.rounds % 2, len(replicas) - 1, 2):
            gain = replicas[k + 1].value - replicas[k].value
            if np.log1p(-self.rng.random()) < (cold[k] - cold[k + 1]) * gain:
                replicas[k], replicas[k + 1] = replicas[k + 1], replicas[k]
        replicas[-1].lineage = self.lineages
        self.lineages += 1
        self.rounds += 1

    def _sample(self, k: int, seed: int) -> Sample:
        """Quench a copy of what a replica is now."""
        replica, search = self.replicas[k], self.search
        state = search.complete(renumbered(replica.state.labels), (0,))
        state = search.anneal(state, float(self.temperatures[k]), self.settings.quench, seed)
        return Sample(*search.found(state), replica.lineage)

    def _refresh(self) -> None:
        """Make states and values anew: over many moves, rounding errors would add up."""
        for replica in self.replicas:
            labels = renumbered(replica.state.labels)
            replica.state = self.search.loose(labels, self.capacity)
            replica.value = self.search.loose_value(replica.state)
