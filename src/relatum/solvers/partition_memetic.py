"""Memetic search: a pool of annealed partitions, recombined and annealed again.

Independent annealings of a hard instance end in partitions that differ much in value but
share parts. A child takes the large sets of two partitions in turn, and is annealed from a
temperature low enough to keep most of them. Children of one generation are independent, so
two threads make them, and the result is the same as with one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relatum.solvers.partition_dense_search import DenseSearch, crossover
from relatum.solvers.partition_instance import renumbered

__all__ = ["Effort", "Member", "evolve"]

Index = NDArray[np.int64]
Report = Callable[[float], None]


@dataclass(frozen=True)
class Effort:
    """What a memetic search may spend.

    Attributes
    ----------
    pool : int
        Partitions in the pool.
    sweeps : int
        Sweeps of an annealing in the first epoch; each epoch doubles them.
    children : int
        Children a generation: independent of one another.
    patience : int
        Generations without a new member after which an epoch ends.
    epochs : int
        Epochs in a row without a better partition after which the search ends.
    hot, warm : float
        First temperatures of new partitions and of children, in units of a row's noise.
    """

    pool: int = 16
    sweeps: int = 250
    children: int = 4
    patience: int = 8
    epochs: int = 2
    hot: float = 0.14
    warm: float = 0.11


@dataclass(frozen=True, eq=False)
class Member:
    """A partition in the pool."""

    value: float
    labels: Index


class _Epoch:
    """A pool that evolves until it stagnates."""

    def __init__(self, search: DenseSearch, effort: Effort, seed: tuple[int, ...]) -> None:
        self.search, self.effort = search, effort
        self.rng = np.random.default_rng(seed)
        self.pool: list[Member] = []

    def offspring(self, job: tuple[Index, float, int]) -> Member:
        """Complete a partition, anneal it and measure it."""
        labels, hot, seed = job
        state = self.search.complete(labels, (seed, 1))
        if hot > 0:
            state = self.search.anneal(state, hot, self.effort.sweeps, seed)
        else:
            state = self.search.improve(state)
        found = renumbered(state.labels.astype(np.int64))
        return Member(self.search.value(found), found)

    def first_jobs(self, starts: list[Index]) -> list[tuple[Index, float, int]]:
        """Jobs that fill the pool: what is given, improved, and new partitions."""
        nothing = np.full(self.search.n, -1, np.int64)
        seeds = self.rng.integers(0, 1 << 62, self.effort.pool + len(starts)).tolist()
        given = [(labels, 0.0, seed) for labels, seed in zip(starts, seeds, strict=False)]
        new = [(nothing, self.effort.hot, seed) for seed in seeds[len(starts) :]]
        return given + new

    def next_jobs(self) -> list[tuple[Index, float, int]]:
        """Jobs of one generation."""
        jobs = []
        for _ in range(self.effort.children):
            i, j = self.rng.choice(len(self.pool), 2, replace=False)
            first, seed = self.rng.integers(0, 1 << 62, 2).tolist()
            child = crossover(self.pool[i].labels, self.pool[j].labels, first % 2)
            jobs.append((child, self.effort.warm, seed))
        return jobs

    def admit(self, members: list[Member]) -> bool:
        """Put better and different members in place of the worst; say whether any was."""
        changed = False
        for member in members:
            near = 1e-12 * abs(member.value) + self.search.tolerance
            if any(abs(member.value - other.value) <= near for other in self.pool):
                continue
            if len(self.pool) < self.effort.pool:
                self.pool.append(member)
                changed = True
                continue
            worst = min(range(len(self.pool)), key=lambda k: self.pool[k].value)
            if member.value > self.pool[worst].value:
                self.pool[worst] = member
                changed = True
        return changed

    def best(self) -> Member:
        """Return the best member."""
        return max(self.pool, key=lambda member: member.value)


def evolve(
    search: DenseSearch,
    effort: Effort,
    seed: int,
    starts: list[Index],
    report: Report = lambda value: None,
    threads: int | None = None,
) -> tuple[Member, int]:
    """Evolve pools, epoch after epoch, each with twice the sweeps of the one before.

    Parameters
    ----------
    search : DenseSearch
    effort : Effort
    seed : int
    starts : list of label arrays
        Feasible partitions to begin with; the result is at least as good as each.
    report : callable
        Called with the best value after each generation.
    threads : int, optional
        The result is the same for any number.

    Returns
    -------
    Member, int
        The best partition, and how many partitions were annealed.
    """
    if threads is None:
        threads = min(2, os.cpu_count() or 1) if search.n >= 100 else 1
    best, idle, epoch, count = None, 0, 0, 0
    with ThreadPoolExecutor(threads) as executor:
        while idle <= effort.epochs and not (search.stop() and best is not None):
            spend = Effort(**{**effort.__dict__, "sweeps": effort.sweeps << epoch})
            run = _Epoch(search, spend, (seed, epoch))
            quiet = 0
            jobs = run.first_jobs(starts if best is None else [])
            while True:
                members = list(executor.map(run.offspring, jobs))
                count += len(members)
                quiet = 0 if run.admit(members) else quiet + 1
                report(max(run.best().value, best.value if best else -np.inf))
                if quiet >= effort.patience or len(run.pool) < 2 or search.stop():
                    break
                jobs = run.next_jobs()
            found = run.best()
            if best is None or found.value > best.value + search.tolerance:
                best, idle = found, 0
            else:
                idle += 1
            epoch += 1
    assert best is not None
    return best, count
