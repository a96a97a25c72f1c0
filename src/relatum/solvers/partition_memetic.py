"""Memetic search: a pool of annealed partitions, recombined and annealed again.

Independent annealings of a hard instance end in partitions that differ much in value but
share parts. A child takes the large sets of two partitions in turn, and is annealed from a
temperature low enough to keep most of them. Which that is differs from instance to instance;
so members carry a factor on the temperatures, which their children inherit, a little changed:
what yields better partitions spreads. Every other child is made by contracting what its
parents agree on: annealing what is left moves whole groups of elements. Children of one
generation are independent, so two threads make them, and the result is the same as with one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.solvers.partition_dense_search import DenseSearch, crossover, intersection
from relatum.solvers.partition_instance import renumbered

__all__ = ["Effort", "Member", "evolve"]

Index = NDArray[np.int64]
HEATS = (0.3, 1.0, 1.6, 1.0)  # factors on the temperatures of new partitions
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
    generations : int
        Generations after which an epoch ends in any case.
    epochs : int
        Epochs in a row without a better partition after which the search ends.
    hot, warm : float
        First temperatures of new partitions and of children, in units of a row's noise.
    group, cool : float
        First temperatures of groups of elements, and of elements afterwards.
    """

    pool: int = 16
    sweeps: int = 200
    children: int = 4
    patience: int = 6
    generations: int = 1 << 30
    epochs: int = 4
    hot: float = 0.12
    warm: float = 0.12
    group: float = 0.12
    cool: float = 0.05


@dataclass(frozen=True, eq=False)
class Member:
    """A partition in the pool, and the factor on the temperatures that made it."""

    value: float
    labels: Index
    heat: float = 1.0


class _Job(NamedTuple):
    """A partition to complete, and how to anneal it (not at all, if ``hot`` is 0)."""

    labels: Index
    hot: float
    heat: float
    seed: int
    cells: Index | None = None  # groups of elements to move as one, at first


class _Epoch:
    """A pool that evolves until it stagnates."""

    def __init__(self, search: DenseSearch, effort: Effort, seed: tuple[int, ...]) -> None:
        self.search, self.effort = search, effort
        self.rng = np.random.default_rng(seed)
        self.pool: list[Member] = []

    def offspring(self, job: _Job) -> Member:
        """Complete a partition, anneal it and measure it."""
        effort = self.effort
        if job.cells is not None:
            heats = effort.group, effort.cool
            state = self.search.regroup(job.labels, job.cells, heats, effort.sweeps, job.seed)
            found = renumbered(state.labels.astype(np.int64))
            return Member(self.search.value(found), found, job.heat)
        state = self.search.complete(job.labels, (job.seed, 1))
        if job.hot > 0:
            state = self.search.anneal(state, job.hot * job.heat, effort.sweeps, job.seed)
        else:
            state = self.search.improve(state)
        found = renumbered(state.labels.astype(np.int64))
        return Member(self.search.value(found), found, job.heat)

    def first_jobs(self, starts: list[Index]) -> list[_Job]:
        """Jobs that fill the pool: what is given, improved, and new partitions.

        The cool ones begin with what is given, if anything is.
        """
        nothing = np.full(self.search.n, -1, np.int64)
        known = starts[0] if starts else nothing
        seeds = self.rng.integers(0, 1 << 62, self.effort.pool + len(starts)).tolist()
        given = [_Job(labels, 0.0, 0.2, seed) for labels, seed in zip(starts, seeds, strict=False)]
        new = [
            _Job(
                known if HEATS[k % len(HEATS)] < 1 else nothing,
                self.effort.hot,
                HEATS[k % len(HEATS)],
                seed,
            )
            for k, seed in enumerate(seeds[len(starts) :])
        ]
        return given + new

    def next_jobs(self) -> list[_Job]:
        """Jobs of one generation."""
        jobs: list[_Job] = []
        if len(self.pool) < 2:
            return jobs
        for number in range(self.effort.children):
            i, j = self.rng.choice(len(self.pool), 2, replace=False)
            first, seed = self.rng.integers(0, 1 << 62, 2).tolist()
            if number % 2:
                cells = intersection(self.pool[i].labels, self.pool[j].labels)
                if 2 * int(cells.max()) < self.search.n:
                    mother = self.pool[i]
                    jobs.append(_Job(mother.labels, self.effort.warm, mother.heat, seed, cells))
                    continue
            child = crossover(self.pool[i].labels, self.pool[j].labels, first % 2)
            heat = self.pool[i].heat * (0.8, 1.0, 1.0, 1.25)[first % 4]
            jobs.append(_Job(child, self.effort.warm, min(heat, 2.0), seed))
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

    def evolve(
        self,
        executor: ThreadPoolExecutor,
        starts: list[Index],
        champion: Member | None,
        report: Report,
    ) -> int:
        """Run generations until the pool stagnates; return how many members were made.

        The champion of earlier epochs joins late, so that the pool has its own chance first.
        """
        floor = -math.inf if champion is None else champion.value
        waiting, quiet, count = self.first_jobs(starts), 0, 0
        generations = 0
        while waiting and not (self.pool and self.search.stop()):
            jobs, waiting = waiting[: self.effort.children], waiting[self.effort.children :]
            members = []
            for member in executor.map(self.offspring, jobs):
                members.append(member)
                floor = max(floor, member.value)
                report(floor)
            count += len(members)
            quiet = 0 if self.admit(members) or waiting else quiet + 1
            if waiting:
                continue
            generations += 1
            stale = quiet >= self.effort.patience or len(self.pool) < 2
            if (stale or generations >= self.effort.generations) and champion is None:
                break
            if stale and champion is not None:
                self.admit([champion])
                champion, quiet = None, 0
            waiting = self.next_jobs()
        return count

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
    champion: Index | None = None,
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
        Called with the best value after each annealing.
    threads : int, optional
        The result is the same for any number.
    champion : label array, optional
        A partition that joins each pool late, so that the pool does not become like it; the
        result is at least as good.

    Returns
    -------
    Member, int
        The best partition, and how many partitions were annealed.
    """
    if threads is None:
        threads = min(2, os.cpu_count() or 1) if search.n >= 100 else 1
    best = None if champion is None else Member(search.value(champion), champion)
    idle, epoch, count = 0, 0, 0
    with ThreadPoolExecutor(threads) as executor:
        while best is None or (idle < effort.epochs and not search.stop()):
            spend = replace(effort, sweeps=effort.sweeps << epoch)
            run = _Epoch(search, spend, (seed, epoch))
            count += run.evolve(executor, starts if best is None else [], best, report)
            found = run.best()
            if best is None or found.value > best.value + search.tolerance:
                best, idle = found, 0
            else:
                idle += 1
            epoch += 1
    return best, count
