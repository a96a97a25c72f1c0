"""Local search, annealing and recombination of partitions over a dense matrix of scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.partition.anneal import anneal_sweeps
from relatum.kernels.partition.dense import (
    contract_dense,
    exchange_sweep,
    insert,
    join_sets,
    load_labels,
    move_sweeps,
    partition_value,
)
from relatum.kernels.partition.records import DenseState, Rules, grow_state, new_state
from relatum.kernels.randomness import seed_state
from relatum.solvers.partition.arrays import contracted_rules, renumbered
from relatum.solvers.partition.noise import leaves_much
from relatum.solvers.partition.search.effort import SETTINGS

Stop = Callable[[], bool]

GUMBELS: Floats = np.random.default_rng(20140).gumbel(size=1 << 14)
SINGLE_GUMBELS: NDArray[np.float32] = GUMBELS.astype(np.float32)
# In 2,048th parts, as temperatures in integers are in 32nd parts: together 16 bits. Cut off where
# a noise would, at the highest temperature, leave what 16 bits hold beside the largest sum.
COARSE_GUMBELS: NDArray[np.int16] = np.rint(2048 * np.minimum(GUMBELS, 9.5)).astype(np.int16)
COARSE_DEGREES = 32
LARGEST_COARSE_SUM = 20_000


class _Annealed(NamedTuple):
    """What annealing reads: scores in some unit, variates, and the noise in degrees."""

    weights: NDArray[Any]
    gumbels: NDArray[Any]
    unit: float
    noise: float


def _squares(weights: NDArray[Any], scale: float) -> Floats:
    """Return the sums of squares of positive and of negative scores.

    Row by row: nothing of the size of the matrix is made. Scores are squared after scaling.
    """
    squares = np.zeros(2)
    with np.errstate(over="ignore"):
        for row in weights:
            part = row if scale == 1.0 else row * scale
            high, low = np.maximum(part, 0), np.minimum(part, 0)
            squares += float(np.dot(high, high)), float(np.dot(low, low))
    return squares


def never() -> bool:
    """Do not stop."""
    return False


class DenseSearch:
    """Searches over the partitions of one dense instance.

    Parameters
    ----------
    weights : float32 or float64 array (n, n)
        Symmetric; the diagonal does not count. Never copied or changed.
    rules : Rules
    stop : callable
        Asked often; once it says True, every search returns what it has.
    """

    def __init__(self, weights: NDArray[Any], rules: Rules, stop: Stop = never) -> None:
        self.weights, self.rules, self.stop = weights, rules, stop
        self.n = len(weights)
        full = rules.cap < int(rules.sizes.sum())
        self.restricted = bool(full or rules.n_groups or len(rules.cannot_idx))
        self.largest = max(0.0, float(weights.max()), -float(weights.min())) if self.n else 0.0
        self.tolerance = 1e-9 * self.largest

    @cached_property
    def noise(self) -> float:
        """The typical sum of a row of random signs: the unit of temperatures.

        Scores of one sign that far outweigh the others, in size or number, keep elements apart
        (or together) at any temperature: the choices that are open are between scores of the
        size of the others. Computed when it is asked for: there may be no time to anneal.
        """
        scale = 1.0
        if self.largest > 0 and not 1e-15 < self.largest < 1e15:  # squares may leave the range
            scale = 2.0 ** -math.frexp(self.largest)[1]
        squares = _squares(self.weights, scale)
        return float(2 * squares.min() / max(1, self.n)) ** 0.5 / scale or self.largest

    def is_noise(self, value: float) -> bool:
        """Say whether a value is so far below the sum of positive scores that all are noise.

        Not of restricted searches: there, rules may keep it so low.
        """
        if self.restricted or value <= 0:
            return False
        gains = sum(float(np.maximum(row, 0).sum(dtype=np.float64)) for row in self.weights)
        gains = 0.5 * (gains - float(np.maximum(np.diagonal(self.weights), 0).sum()))
        return leaves_much(0.5 * gains, value)

    def value(self, labels: Index) -> float:
        """Sum of the scores inside sets."""
        return float(partition_value(self.weights, labels))

    def found(self, state: DenseState) -> tuple[float, Index]:
        """Value and labels of a state."""
        labels = renumbered(state.labels)
        return self.value(labels), labels

    def complete(self, labels: Index, seed: tuple[int, ...]) -> DenseState:
        """State with the given labels; elements labelled -1 are inserted greedily."""
        held = int(labels.max(initial=-1)) + 1
        state = new_state(self.rules, min(self.n, held + 16))
        load_labels(self.weights, self.rules, state, labels)
        left = np.random.default_rng(seed).permutation(np.flatnonzero(labels < 0))
        step = max(1, int(SETTINGS.insertions / (1 + self.n)))
        at = 0
        while at < len(left):
            end = min(len(left), at + step)
            at = insert(self.weights, self.rules, state, left[:end], at)
            if at < end:
                state = self._roomier(state)
            elif self.stop():
                break
        return self._alone(state) if at < len(left) else state

    def _alone(self, state: DenseState) -> DenseState:
        """Out of time: every element not inserted yet is a set of its own."""
        out = np.flatnonzero(state.labels < 0)
        labels = state.labels.astype(np.int64)
        labels[out] = len(state.size) + np.arange(len(out))
        fresh = new_state(self.rules, 1)
        fresh.labels[:] = renumbered(labels)
        return fresh

    def _roomier(self, state: DenseState) -> DenseState:
        return grow_state(state, min(self.n, 2 * len(state.size)))

    def joined(self) -> DenseState:
        """Join the sets that gain most, from single elements on, until no join gains."""
        state = new_state(self.rules, self.n)
        load_labels(self.weights, self.rules, state, np.arange(self.n))
        join_sets(self.rules, state, self.tolerance, 1, self.stop)
        return state

    def improve(self, state: DenseState) -> DenseState:
        """Move elements and join sets until nothing gains.

        Where rules keep elements out of sets, pairs of elements change places, too.
        """
        sweeps = max(1, int(SETTINGS.work / (1 + self.n) ** 2))
        while not self.stop():
            limits = self.tolerance, 0, sweeps
            used = move_sweeps(self.weights, self.rules, state, *limits, self.stop)
            if state.counters[1] > 0:
                state = self._roomier(state)
            elif used < sweeps and join_sets(self.rules, state, self.tolerance, 2, self.stop) == 0:
                if not self.restricted:
                    break
                given = self.weights, self.rules, state
                if exchange_sweep(*given, self.tolerance, self.stop) == 0:
                    break
        return state

    def anneal(self, state: DenseState, hot: float, sweeps: int, seed: int) -> DenseState:
        """Anneal, from ``hot`` times the noise of a row down to almost none, then improve.

        Only a few sets may be new: with many, the hot phase dissolves every set into crumbs.
        """
        if self.stop():
            return state
        labels = renumbered(state.labels)
        state = self.loose(labels, int(labels.max()) + 1 + SETTINGS.spare_sets)
        random_state = seed_state(seed)
        schedule = np.linspace(hot, min(hot, SETTINGS.cold), sweeps)
        step = max(1, int(SETTINGS.work / (1 + self.n) ** 2))
        for begin in range(0, sweeps, step):
            if self.stop():
                break
            self.sweep(state, schedule[begin : begin + step], random_state)
        return self.improve(self.complete(renumbered(state.labels), (0,)))

    def loose(self, labels: Index, capacity: int) -> DenseState:
        """Return a state to `sweep` over, with room for so many sets."""
        weights, gumbels, *_ = self._annealed
        state = new_state(self.rules, min(self.n, capacity), gumbels.dtype.type)
        load_labels(weights, self.rules, state, labels)
        return state

    def loose_value(self, state: DenseState) -> float:
        """Sum of the scores inside sets of a state to `sweep` over, as rounded as these are."""
        return 0.5 * self._annealed.unit * float(state.own.sum())

    def sweep(self, state: DenseState, temperatures: Floats, random_state: NDArray[Any]) -> float:
        """Let all elements choose their sets anew, once at each temperature; return the gain.

        Temperatures are in units of a row's noise.
        """
        weights, gumbels, unit, noise = self._annealed
        schedule: NDArray[Any]
        if gumbels.dtype == np.int16:
            schedule = np.minimum(np.rint(noise * temperatures), 32767).astype(np.int16)
        else:
            schedule = noise * temperatures.astype(gumbels.dtype)
        given = weights, self.rules, state, schedule, gumbels, random_state
        return unit * float(anneal_sweeps(*given))

    @cached_property
    def _annealed(self) -> _Annealed:
        """Scores and variates as coarse as annealing does with: integers, or single precision.

        A matrix too large to be copied stays as it is; sums too large for it are in double.
        """
        if self.n > SETTINGS.copied:
            single = self.weights.dtype == np.float32
            return _Annealed(self.weights, SINGLE_GUMBELS if single else GUMBELS, 1.0, self.noise)
        unit = self._coarse_unit() if self.n >= SETTINGS.coarse else 0.0
        if unit > 0:
            coarse = np.empty((self.n, self.n), np.int16)
            for v, row in enumerate(self.weights):
                scaled = np.divide(row, unit, dtype=np.float64)
                scaled[v] = 0.0  # the diagonal does not count, and may be large
                coarse[v] = np.rint(scaled)
            return _Annealed(coarse, COARSE_GUMBELS, unit, COARSE_DEGREES * self.noise / unit)
        if self.largest * (1 + self.n) < float(np.finfo(np.float32).max):
            weights = np.ascontiguousarray(self.weights, dtype=np.float32)
            return _Annealed(weights, SINGLE_GUMBELS, 1.0, self.noise)
        weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        return _Annealed(weights, GUMBELS, 1.0, self.noise)

    def _coarse_unit(self) -> float:
        """Return the unit in which no sum leaves what 16 bits hold; 0 if that is too coarse.

        It is where few scores far outweigh the others.
        """
        largest, noise = 0.0, self.noise
        with np.errstate(over="ignore"):
            for v, row in enumerate(self.weights):
                largest = max(largest, float(np.abs(row).sum(dtype=np.float64) - abs(row[v])))
        unit = max(largest / LARGEST_COARSE_SUM, noise / SETTINGS.finest)
        return unit if noise >= SETTINGS.coarsest * unit else 0.0

    def regroup(
        self, labels: Index, cells: Index, heats: tuple[float, float], sweeps: int, seed: int
    ) -> DenseState:
        """Anneal with the cells, parts of sets of a partition, as elements; then briefly without.

        ``heats`` are the first temperatures of both.
        """
        small = self.contracted(cells)
        inner = np.zeros(small.n, np.int64)
        inner[cells] = labels
        found = small.anneal(small.complete(inner, (0,)), heats[0], sweeps, seed)
        state = self.complete(renumbered(found.labels)[cells], (0,))
        return self.anneal(state, heats[1], max(10, sweeps // 8), seed)

    def contracted(self, labels: Index) -> DenseSearch:
        """Return the search in which the sets of a partition are elements."""
        m = int(labels.max()) + 1
        weights = contract_dense(self.weights, labels, m)
        return DenseSearch(weights, contracted_rules(self.rules, labels, m), self.stop)


def intersection(a: Index, b: Index) -> Index:
    """Partition whose sets are the intersections of sets of two partitions."""
    return renumbered(a * (int(b.max()) + 1) + b)


def crossover(a: Index, b: Index, first: int) -> Index:
    """Take the largest set left of one partition, then of the other, and so on.

    Ends after as many sets as the parents have on average; the elements left are labelled -1.
    """
    child = np.full(len(a), -1, np.int64)
    left = np.arange(len(a))
    parents = (a, b) if first == 0 else (b, a)
    for number in range((int(a.max()) + int(b.max()) + 2) // 2):
        if left.size == 0:
            break
        labels = parents[number % 2][left]
        largest = np.bincount(labels).argmax()
        child[left[labels == largest]] = number
        left = left[labels != largest]
    return child
