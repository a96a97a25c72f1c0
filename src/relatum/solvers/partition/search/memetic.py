"""Memetic search: a pool of annealed partitions, recombined and annealed again.

Independent annealings of a hard instance end in partitions that differ much in value but
share parts. A child takes the large sets of two partitions in turn, and is annealed from a
temperature low enough to keep most of them. Which that is differs from instance to instance;
so members carry a factor on the temperatures, which their children inherit, a little changed:
what yields better partitions spreads. Every other child is made by contracting what its
parents agree on: annealing what is left moves whole groups of elements. It resembles its
mother, and so may only take her place: else a pool soon holds copies of few partitions.

A pool on its own still becomes alike in the end. A long search therefore tempers replicas
beside it (`tempering`), and their quenched partitions join the pool, one for each
descent of a replica from the hottest temperature: new, and better than what annealing yields.

Children of one generation are independent of one another, and so are replicas between
exchanges: two threads work on them, and the result is the same as with one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import cycle
from typing import NamedTuple

import numpy as np

from relatum.array_types import Index
from relatum.solvers.partition.search.dense import DenseSearch, crossover, intersection
from relatum.solvers.partition.search.effort import SETTINGS, Effort
from relatum.solvers.partition.search.tempering import TEMPERING, Sample, Tempering
from relatum.threads import Threads

Report = Callable[[float], None]


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
    mother: Member | None = None  # whose place the result is to take


class _Epoch:
    """A pool that evolves until it stagnates."""

    def __init__(self, search: DenseSearch, effort: Effort, seed: tuple[int, ...]) -> None:
        self.search, self.effort, self.seed = search, effort, seed
        self.rng = np.random.default_rng(seed)
        self.pool: list[Member] = []
        self.tempering: Tempering | None = None
        self.shown: dict[int, Member] = {}  # the member that a lineage of replicas has

    def offspring(self, job: _Job) -> Member:
        """Complete a partition, anneal it and measure it."""
        effort, search = self.effort, self.search
        if job.cells is not None:
            heats = effort.group, effort.cool
            state = search.regroup(job.labels, job.cells, heats, effort.sweeps, job.seed)
            return Member(*search.found(state), job.heat)
        state = search.complete(job.labels, (job.seed, 1))
        if job.hot > 0:
            state = search.anneal(state, job.hot * job.heat, effort.sweeps, job.seed)
        else:
            state = search.improve(state)
        return Member(*search.found(state), job.heat)

    def first_jobs(self, starts: list[Index]) -> list[_Job]:
        """Jobs that fill the pool: what is given, improved, and new partitions.

        The cool ones begin with what is given, if anything is.
        """
        nothing = np.full(self.search.n, -1, np.int64)
        known = starts[0] if starts else nothing
        seeds = self.rng.integers(0, 1 << 62, self.effort.pool + len(starts)).tolist()
        given = [_Job(labels, 0.0, 0.2, seed) for labels, seed in zip(starts, seeds, strict=False)]
        new = [
            _Job(known if heat < 1 else nothing, self.effort.hot, heat, seed)
            for heat, seed in zip(cycle(self.effort.heats), seeds[len(starts) :], strict=False)
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
            if number % 2 and self.effort.regroup:
                cells = intersection(self.pool[i].labels, self.pool[j].labels)
                if 2 * int(cells.max()) < self.search.n:
                    mother = self.pool[i]
                    jobs.append(_Job(mother.labels, 0.0, mother.heat, seed, cells, mother))
                    continue
            child = crossover(self.pool[i].labels, self.pool[j].labels, first % 2)
            drift = (0.8, 1.0, 1.0, 1.25)[first % 4] if self.effort.drift else 1.0
            heat = self.pool[i].heat * drift
            jobs.append(_Job(child, self.effort.warm, min(heat, 2.0), seed))
        return jobs

    def admit(self, member: Member, place_of: Member | None = None) -> bool:
        """Put a better and different member in place of the worst; say whether it was.

        Or in place of a certain member, if that is still there.
        """
        near = 1e-12 * abs(member.value) + self.search.tolerance
        if any(abs(member.value - other.value) <= near for other in self.pool):
            return False
        if place_of not in self.pool:
            if len(self.pool) < self.effort.pool:
                self.pool.append(member)
                return True
            place_of = min(self.pool, key=lambda other: other.value)
        if member.value <= place_of.value:
            return False
        self.pool[self.pool.index(place_of)] = member
        return True

    def show(self, sample: Sample) -> bool:
        """Admit a partition of a replica, in place of the last one of its lineage."""
        member = Member(sample.value, sample.labels)
        admitted = self.admit(member, self.shown.get(sample.lineage))
        if admitted:
            self.shown[sample.lineage] = member
        return admitted

    def evolve(
        self,
        executor: Threads,
        starts: list[Index],
        champion: Member | None,
        report: Report,
    ) -> int:
        """Run generations until the pool stagnates; return how many members were made.

        The champion of earlier epochs joins late, so that the pool has its own chance first.
        """
        floor = -math.inf if champion is None else champion.value
        waiting, quiet, count, generations = self.first_jobs(starts), 0, 0, 0
        filling = True
        while waiting and not (self.pool and self.search.stop()):
            jobs, waiting = waiting[: self.effort.children], waiting[self.effort.children :]
            admitted = []
            for job, member in zip(jobs, executor.map(self.offspring, jobs), strict=True):
                admitted.append(self.admit(member, job.mother))
                floor = max(floor, member.value)
                report(floor)
            for sample in [] if filling else self.temper(executor):
                admitted.append(self.show(sample))
                floor = max(floor, sample.value)
                report(floor)
            count += len(admitted)
            quiet = 0 if any(admitted) else quiet + 1
            if waiting:
                continue
            if filling:
                self.begin_tempering()
            filling, generations = False, generations + 1
            stale = quiet >= self.effort.patience or len(self.pool) < 2
            if (stale or generations >= self.effort.generations) and champion is None:
                break
            if stale and champion is not None:
                self.admit(champion)
                champion, quiet = None, 0
            waiting = self.next_jobs()
        return count

    def begin_tempering(self) -> None:
        """Make replicas of members, if there are to be any."""
        if 2 <= self.effort.replicas <= len(self.pool):
            first = self.pool[: self.effort.replicas]
            self.tempering = Tempering(self.search, [m.labels for m in first], self.seed)
            self.shown = dict(enumerate(first))

    def temper(self, executor: Threads) -> list[Sample]:
        """Run the replicas, and return what the coldest show."""
        if self.tempering is None:
            return []
        sweeps = self.effort.tempered * self.effort.children * self.effort.sweeps
        rounds = math.ceil(sweeps / (TEMPERING.between * len(self.tempering.replicas)))
        return self.tempering.run(rounds, executor)

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
    """Evolve pools, epoch after epoch, each from nothing, with more sweeps from time to time.

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
        threads = min(2, os.cpu_count() or 1) if search.n >= SETTINGS.threaded else 1
    best = None if champion is None else Member(search.value(champion), champion)
    if best is None and starts and search.stop():
        best = max((Member(search.value(s), s) for s in starts), key=lambda member: member.value)
    idle, epoch, count = 0, 0, 0
    with Threads(threads) as executor:
        while best is None or (idle < effort.epochs and not search.stop()):
            spend = replace(effort, sweeps=effort.sweeps << epoch // effort.repeats)
            run = _Epoch(search, spend, (seed, epoch))
            count += run.evolve(executor, starts if best is None else [], best, report)
            found = run.best()
            if best is None or found.value > best.value + search.tolerance:
                best, idle = found, 0
            else:
                idle += 1
            epoch += 1
    return best, count
