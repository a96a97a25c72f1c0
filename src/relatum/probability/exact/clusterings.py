"""Clusterings: sums over all partitions, part by part.

Elements that evidence puts together are one. Elements that exclude each other, directly or
because every chain between them is cut, fall into parts with sums of their own. A part of at most
18 elements is summed over its partitions (20, if the exact method is asked for by name); a part
whose sets cannot be larger than two, such as of two sources without duplicates, over its matchings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.probability.set_partitions import (
    draw_partitions,
    partition_sums,
    set_probabilities,
)
from relatum.probability.exact.assignments import MOST_COLUMNS, WORK, Assignment, Layer
from relatum.probability.exact.cluster_parts import Part, parts_of
from relatum.probability.exact.weights import (
    infeasible,
    log2_of,
    pair_sums,
    require_moderate,
    require_time,
    split,
)
from relatum.probability.methods import Task
from relatum.probability.posterior import BlockMarginals, Posterior
from relatum.problem import Partition, Relation, require_memory
from relatum.solvers import Control

LARGEST = {False: 18, True: 20}  # elements of a part, if chosen automatically and if asked for
BYTES = 40  # per subset: weights and sums, scratch space, and the probabilities of sets


class Known(Protocol):
    """What is asked of a part, however it was found."""

    @property
    def of_set(self) -> Callable[[Index], float]:
        """The probability that elements are exactly one set."""

    @property
    def draw(self) -> Callable[[int, np.random.Generator], Index]:
        """Labels of so many clusterings."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What is known of one part.

    Attributes
    ----------
    pairs : (k, k) array
        The probability that two of the part's elements are in one set.
    normalizer : Fraction
        log2 of the sum over the part, what is fixed included.
    of_set : callable (indices of elements) -> probability that they are exactly one set
    draw : callable (count, generator) -> labels of shape (count, k)
    """

    pairs: Floats
    normalizer: Fraction
    of_set: Callable[[Index], float]
    draw: Callable[[int, np.random.Generator], Index]


def refusal(task: Task) -> str | None:
    """Say which part is too large."""
    for part in parts_of(task):
        size, sides = len(part.sizes), part.sides
        if size <= LARGEST[task.patient]:
            continue
        if sides is not None:
            few, many = sorted((int(sides.sum()), int((~sides).sum())))
            if few <= MOST_COLUMNS and 4.0 * few * many * 2.0**few <= WORK[task.patient]:
                continue
        way = " (20 if asked for by name)" if not task.patient else ""
        return (
            f"takes clusterings whose parts have at most {LARGEST[task.patient]} elements{way}, "
            f"and one has {size}"
        )
    return None


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of clusterings."""
    problem = task.problem
    parts = list(parts_of(task))
    cap = problem.feasible.cap or problem.n
    sums: list[Sums] = []
    for part in parts:
        found = part_sums(part, cap, control)
        if found is None:
            raise infeasible(problem)
        sums.append(found)
    block, place = np.empty(problem.n, np.int64), np.empty(problem.n, np.int64)
    for number, part in enumerate(parts):
        block[part.elements], place[part.elements] = number, part.labels
    normalizer = sum((s.normalizer for s in sums), Fraction(0))
    return Posterior(
        BlockMarginals(block, place, [s.pairs for s in sums]),
        normalizer,
        exact=True,
        method="sums over partitions",
        draw=partial(draw_parts, parts, sums, problem.n),
        sets=partial(sets_of_parts, parts, sums, block),
        blocks=block,
    )


def part_sums(part: Part, cap: int, control: Control) -> Sums | None:
    """Sum over a part; None if nothing is feasible."""
    if not part.possible or int(part.sizes.max()) > cap:
        return None
    k = len(part.sizes)
    if k == 1:
        return Sums(np.ones((1, 1)), part.constant, _surely, _alone)
    require_moderate(part.scores)
    if k <= LARGEST[True] and (part.sides is None or k <= 12):
        return _over_partitions(part, cap, control)
    assert part.sides is not None
    return _over_matchings(part, part.sides, cap, control)


def _over_partitions(part: Part, cap: int, control: Control) -> Sums:
    k = len(part.sizes)
    require_memory(
        BYTES << k,
        f"The sums over the partitions of {k} elements",
        "give evidence that makes the problem smaller, or ask about parts of it",
    )
    mantissa, places = split(part.scores, part.allowed)
    table = partition_sums(mantissa, places, part.sizes, min(cap, part.size), control.expired)
    require_time(control)
    sets = set_probabilities(*table)
    normalizer = part.constant + log2_of(float(table[2][-1]), int(table[3][-1]))
    return Sums(pair_sums(sets), normalizer, partial(_listed, sets), partial(_drawn, table, k))


# functions of this module rather than of the place: they can be sent to another process


def _surely(elements: Index) -> float:
    return 1.0


def _alone(count: int, rng: np.random.Generator) -> Index:
    return np.zeros((count, 1), np.int64)


def _listed(sets: Floats, elements: Index) -> float:
    """Return the probability of a set, where they are listed by subset."""
    return float(sets[int((1 << elements).sum())])


def _drawn(table: tuple[Any, ...], k: int, count: int, rng: np.random.Generator) -> Index:
    return np.asarray(draw_partitions(*table, rng.random((count, k))))


@dataclass(frozen=True, eq=False)
class _Matchings:
    """Sums over the matchings between two sides, as `Assignment` has them."""

    given: Assignment
    layers: list[Layer]
    sides: tuple[Index, Index]  # which elements are rows, which columns
    pairs: Floats

    def of_set(self, elements: Index) -> float:
        if len(elements) == 2:
            return float(self.pairs[elements[0], elements[1]])
        if len(elements) > 2:
            return 0.0
        return max(0.0, 2.0 - float(self.pairs[elements[0]].sum()))

    def draw(self, count: int, rng: np.random.Generator) -> Index:
        rows, columns = self.sides
        labels = np.tile(np.arange(len(self.pairs)), (count, 1))
        taken = self.given.draw(self.layers, count, rng)
        who, row = np.nonzero(taken >= 0)
        labels[who, rows[row]] = columns[taken[who, row]]
        return labels


def _over_matchings(part: Part, sides: Flags, cap: int, control: Control) -> Sums:
    rows, columns = np.flatnonzero(sides), np.flatnonzero(~sides)
    if len(rows) < len(columns):
        rows, columns = columns, rows
    fits = part.sizes[rows][:, None] + part.sizes[columns][None, :] <= cap
    across = np.ix_(rows, columns)
    mantissa, places = split(part.scores[across], part.allowed[across] & fits)
    skips = np.ones(len(rows), np.bool_)
    given = Assignment(mantissa, places, skips, again=False, covers=False)
    layers = given.layers(control)
    p = given.probabilities(layers, control)
    k = len(part.sizes)
    pairs = np.eye(k)
    pairs[across], pairs[np.ix_(columns, rows)] = p, p.T
    found = _Matchings(given, layers, (rows, columns), pairs)
    normalizer = part.constant + log2_of(*given.total(layers[-1]))
    return Sums(pairs, normalizer, found.of_set, found.draw)


def draw_parts(
    parts: Sequence[Part], sums: Sequence[Known], n: int, count: int, rng: np.random.Generator
) -> list[Relation]:
    """Draw clusterings, part by part."""
    labels, start = np.empty((count, n), np.int64), 0
    for part, found in zip(parts, sums, strict=True):
        labels[:, part.elements] = start + found.draw(count, rng)[:, part.labels]
        start += len(part.sizes)
    return [Partition(row) for row in labels]


def sets_of_parts(
    parts: Sequence[Part], sums: Sequence[Known], block: Index, sets: Sequence[Index]
) -> Floats:
    """Return the probability of each set."""
    return np.array([_of_set(parts, sums, block, s) for s in sets])


def _of_set(parts: Sequence[Part], sums: Sequence[Known], block: Index, elements: Index) -> float:
    number = int(block[elements[0]])
    if (block[elements] != number).any():
        return 0.0
    part = parts[number]
    labels = part.labels[np.searchsorted(part.elements, elements)]
    chosen = np.unique(labels)
    if part.sizes[chosen].sum() != len(elements):  # of elements that are one, some are missing
        return 0.0
    return sums[number].of_set(chosen)
