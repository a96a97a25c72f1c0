"""Bounds for dense clusterings of thousands of elements: a design of blocks that covers every pair.

The elements are dealt to q * q points, the same share of every set of a known partition to each.
The q * q + q lines of the affine plane of prime order q are the blocks: two points lie on one line,
so every pair of elements from different points is in one block; a pair from one point is in q + 1
of them, and its log-odds are shared out. Each block is bounded by cutting planes on its own. Its
rows are rows of the whole problem, so all of them with their multipliers prove a bound that is not
above the sum of the blocks' bounds. In the end, what the blocks leave is packed along the
partition, across blocks.

A block of n / q elements is as good as the partition is on it: the larger, the better, and
the slower. So q is as small as time allows; of order 1 there is one block, with all elements.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relatum.array_types import Floats, Index
from relatum.problem import Problem, condensed_places
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import FAR, renumbered
from relatum.solvers.partition.bounds.along import ALONG, AlongPartition, Triangles
from relatum.solvers.partition.bounds.guided import GUIDED, pack_along
from relatum.solvers.partition.bounds.known import Known, Proved
from relatum.solvers.partition.bounds.packing import DensePacking, PackedTriangles


@dataclass(frozen=True)
class BlockSettings:
    """How large blocks are, and what each may spend; iterations are those of `along`."""

    # orders of the plane: 1 for a single block, and primes (of order 2, half of the pairs of a
    # block would be shared)
    orders: tuple[int, ...] = (1, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 47, 59, 79, 97)
    packing_seconds: float = 6e-7  # of a thread, per pair of a block, before there are rows
    pair_seconds: float = 1.6e-8  # per pair and iteration, in a block of 1,000 elements
    growth: float = 0.6  # how these grow with the elements of a block, as a power
    most_elements: int = 12_000  # of a problem: with more, the rows take more than a few gigabytes
    least: int = 100  # elements of a block: those of fewer prove little
    most: int = 5_000  # elements of a block: each takes some 200 bytes per pair
    timely: float = 0.9  # share of the time to plan with: the speed is known only roughly
    last_seconds: float = 2e-7  # per pair, kept for packing when there is no time to cut
    late: float = 1.25  # times its share of the time left that a block may take
    rounds: int = 2  # of cutting planes in a block, at least, and one more for so many elements:
    elements_per_round: int = 700
    more_rounds: int = 3  # at most, where there is time
    threads: int = 2  # blocks that are bounded at a time: each holds rows of its own


BLOCKS = BlockSettings()


class BlockPlan(NamedTuple):
    """What there is time for: the order of the plane, and the rounds of each block."""

    order: int
    rounds: int


_NONE = Triangles(np.empty((0, 3), dtype=np.int32), np.empty(0))


def block_bound(
    problem: Problem,
    known: Known,
    control: Control,
    plan: BlockPlan,
    settings: BlockSettings = BLOCKS,
) -> Proved:
    """Bound the value of every partition of a dense problem, and prove it, block by block.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.
    known : Known
        A partition and its value.
    control : Control
        Blocks end before their last round when too little time is left for the others; those
        that are not begun when time is nearly up are packed only, or left out.
    plan : BlockPlan
        See `block_plan`.
    settings : BlockSettings
    """
    labels = known.labels
    assert labels is not None
    packing = DensePacking(problem)
    for triangles, multipliers in _all_rows(packing, labels, plan, control, settings):
        packing.take(triangles, multipliers)
    if not control.expired():
        pack_along(packing, labels, GUIDED.quick, control)
    return packing.proved()


def block_plan(n: int, seconds: float, settings: BlockSettings = BLOCKS) -> BlockPlan | None:
    """Return the plan with the largest blocks that can be bounded in time; None if none can be."""
    if n > settings.most_elements:
        return None
    for q in settings.orders:
        if n / q < settings.least:
            break
        threads = min(settings.threads, os.cpu_count() or 1) if q > 1 else 1
        time = settings.timely * seconds * threads
        rounds = settings.rounds + round(n / q / settings.elements_per_round)
        if n / q <= settings.most and _needed(n, q, rounds, settings) <= time:
            more = range(rounds, rounds + settings.more_rounds + 1)
            return BlockPlan(q, max(k for k in more if _needed(n, q, k, settings) <= time))
    return None


def _needed(n: int, q: int, rounds: int, settings: BlockSettings) -> float:
    """Return the seconds of a thread that so many rounds of all blocks take."""
    size, blocks = n / q, q * q + q if q > 1 else 1
    iterations = sum(ALONG.iterations_of(k) for k in range(rounds))
    each: float = settings.pair_seconds * (size / 1_000) ** settings.growth * iterations
    return blocks * size * size / 2 * (settings.packing_seconds + each)


def design(labels: Index, q: int, seed: int) -> list[tuple[Index, Index]]:
    """Return the elements of each block, sorted, and the point that each of them is dealt to.

    `q` is prime, or 1.
    """
    n = len(labels)
    if q == 1:
        return [(np.arange(n), np.arange(n))]
    place = np.random.default_rng(seed).permutation(n)
    point = np.empty(n, dtype=np.int64)
    point[np.lexsort((place, labels))] = np.arange(n) % (q * q)
    x, y = np.divmod(point, q)
    through = [(y - slope * x) % q for slope in range(q)] + [x]
    chosen = [np.flatnonzero(line == c) for line in through for c in range(q)]
    return [(e.astype(np.int64), point[e]) for e in chosen]


def _all_rows(
    packing: DensePacking, labels: Index, plan: BlockPlan, control: Control, settings: BlockSettings
) -> list[Triangles]:
    """Bound the blocks for which there is time, on some threads; return their rows."""
    last = settings.last_seconds * packing.residual.size
    end = max(0.0, control.remaining() - last)
    blocks = design(labels, plan.order, control.seed)
    threads = min(settings.threads, os.cpu_count() or 1)
    cutting = control.child(control.start, end)

    def rows_of(k: int) -> Triangles:
        elements, point = blocks[k]
        if control.expired() or len(elements) < 3:
            return _NONE
        order = np.argsort(labels[elements], kind="stable")
        elements, point = elements[order], point[order]
        own = renumbered(labels[elements])
        scores = _scores(packing, elements, point, plan.order)
        packed = PackedTriangles(scores.copy(), len(elements))
        pack_along(packed, own, GUIDED.thorough, control)
        rows = Triangles(packed.index[: packed.count], packed.multipliers[: packed.count])
        left = math.ceil((len(blocks) - k) / threads)
        share = min(1.0, settings.late / left) * max(0.0, cutting.remaining())
        ending = cutting.child(control.start, share)
        if not ending.expired():
            relaxation = AlongPartition(scores, own, rows, ending.expired)
            for _ in range(plan.rounds):
                relaxation.run()
                if ending.expired():
                    break
            rows = relaxation.proof
        return Triangles(elements.astype(np.int32)[rows.rows], rows.multipliers.copy())

    with ThreadPoolExecutor(threads) as executor:
        return list(executor.map(rows_of, range(len(blocks))))


def _scores(packing: DensePacking, elements: Index, point: Index, order: int) -> Floats:
    """Return the log-odds of a block, condensed: its share of those within a point."""
    n = len(elements)
    i, j = np.triu_indices(n, 1)
    scores = packing.residual[condensed_places(elements[i], elements[j], packing.n)]
    shared = (point[i] == point[j]) & (np.abs(scores) < FAR / 2)
    scores[shared] /= order + 1
    return scores
