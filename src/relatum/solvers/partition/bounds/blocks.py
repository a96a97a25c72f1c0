"""Bounds for dense clusterings of thousands of elements: a design of blocks that covers every pair.

The elements are dealt to q * q points, the same share of every set of a known partition to each.
The q * q + q lines of the affine plane of prime order q are the blocks: two points lie on one line,
so every pair of elements from different points is in one block; a pair from one point is in q + 1
of them, and its log-odds are shared out. Each block is bounded by cutting planes on its own. Its
rows are rows of the whole problem, so all of them with their multipliers prove a bound that is not
above the sum of the blocks' bounds. In the end, what the blocks leave is packed along the
partition, across blocks.

A block of n / q elements is as good as the partition is on it: the larger, the better, and
the slower. So q is as small as time allows.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.problem import Problem, condensed_places
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import FAR, renumbered, square
from relatum.solvers.partition.bounds.guided import GUIDED, pack_along
from relatum.solvers.partition.bounds.known import Known, Proved
from relatum.solvers.partition.bounds.packing import DensePacking, PackedTriangles
from relatum.solvers.partition.exact.relaxation import Relaxation


@dataclass(frozen=True)
class BlockSettings:
    """How large blocks are, and what each may spend; iterations are those of the engine."""

    # orders of the plane, primes: below 7, too many pairs are within points
    orders: tuple[int, ...] = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 67, 79, 97)
    pair_seconds: float = 1.2e-6  # of a thread, per pair of a block of 100 elements
    growth: float = 1.35  # how these grow with the elements of a block, as a power
    most_elements: int = 12_000  # of a problem: with more, the rows take more than a few gigabytes
    least: int = 100  # elements of a block: those of fewer prove little
    most: int = 1_000  # elements of a block: rows of more take long
    timely: float = 0.9  # share of the time to plan with: the speed is known only roughly
    last_seconds: float = 2e-7  # per pair, kept for packing when there is no time to cut
    rounds: int = 3  # of cutting planes in a block, at least
    elements_per_round: int = 150  # of a block, for one round
    iterations: int = 60  # per round, at first; each round has this many more, up to
    most_iterations: int = 120
    violation: float = 0.05  # of the rows looked for at first
    closer: float = 0.4  # what that is multiplied by when few are found
    few: float = 0.01  # share of new rows that counts as few
    added: float = 0.45  # rows added per pair and round at most
    threads: int = 2  # blocks that are bounded at a time: each holds rows of its own


BLOCKS = BlockSettings()


class _Rows(NamedTuple):
    triangles: NDArray[np.int32]
    multipliers: Floats


_NONE = _Rows(np.empty((0, 3), dtype=np.int32), np.empty(0))


def block_bound(
    problem: Problem,
    known: Known,
    control: Control,
    order: int,
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
        Blocks that are not begun when time is nearly up are packed only, or left out.
    order : int
        Of the plane, a prime; see `plane_order`.
    settings : BlockSettings
    """
    labels = known.labels
    assert labels is not None
    packing = DensePacking(problem)
    for triangles, multipliers in _all_rows(packing, labels, order, control, settings):
        packing.take(triangles, multipliers)
    if not control.expired():
        pack_along(packing, labels, GUIDED.quick, control)
    return packing.proved()


def plane_order(n: int, seconds: float, settings: BlockSettings = BLOCKS) -> int:
    """Return the least order of a plane whose blocks can be bounded in time; 0 if none can be."""
    threads = min(settings.threads, os.cpu_count() or 1)
    if n > settings.most_elements:
        return 0
    for q in settings.orders:
        size = n / q
        if size < settings.least:
            break
        each = settings.pair_seconds * (size / 100) ** settings.growth
        needed = each * (q * q + q) * size * size / 2
        if size <= settings.most and needed <= settings.timely * seconds * threads:
            return q
    return 0


def design(labels: Index, q: int, seed: int) -> list[tuple[Index, Index]]:
    """Return the elements of each block, sorted, and the point that each of them is dealt to.

    `q` is prime.
    """
    n = len(labels)
    place = np.random.default_rng(seed).permutation(n)
    point = np.empty(n, dtype=np.int64)
    point[np.lexsort((place, labels))] = np.arange(n) % (q * q)
    x, y = np.divmod(point, q)
    through = [(y - slope * x) % q for slope in range(q)] + [x]
    chosen = [np.flatnonzero(line == c) for line in through for c in range(q)]
    return [(e.astype(np.int64), point[e]) for e in chosen]


def _all_rows(
    packing: DensePacking, labels: Index, order: int, control: Control, settings: BlockSettings
) -> list[_Rows]:
    """Bound the blocks for which there is time, on some threads; return their rows."""
    last = settings.last_seconds * packing.residual.size
    cutting = control.child(control.start, max(0.0, control.remaining() - last))

    def rows_of(block: tuple[Index, Index]) -> _Rows:
        elements, point = block
        if control.expired() or len(elements) < 3:
            return _NONE
        i, j = np.triu_indices(len(elements), 1)
        scores = packing.residual[condensed_places(elements[i], elements[j], packing.n)]
        shared = (point[i] == point[j]) & (np.abs(scores) < FAR / 2)
        scores[shared] /= order + 1
        packed = PackedTriangles(scores.copy(), len(elements))
        pack_along(packed, renumbered(labels[elements]), GUIDED.thorough, control)
        rows = _Rows(packed.index[: packed.count], packed.multipliers[: packed.count])
        if not cutting.expired():
            rows = _cut(scores, len(elements), rows, cutting, settings)
        return _Rows(elements.astype(np.int32)[rows.triangles], rows.multipliers.copy())

    with ThreadPoolExecutor(min(settings.threads, os.cpu_count() or 1)) as executor:
        return list(executor.map(rows_of, design(labels, order, control.seed)))


def _cut(scores: Floats, n: int, packed: _Rows, control: Control, settings: BlockSettings) -> _Rows:
    """Cut a block by triangles; return those with multipliers that prove its best bound."""
    weights = square(scores, n)
    state = np.where(np.abs(weights) < FAR / 2, -1, weights > 0).astype(np.int8)
    r = Relaxation(np.where(state < 0, weights, 0.0), state)
    r.stop_when(control.expired)
    r.add_packed(packed.triangles.astype(np.int64), packed.multipliers)
    best, rows = r.lp.evaluate(), r.lp.pool.get("transitive")
    violation, most = settings.violation, int(settings.added * scores.size)
    for k in range(max(settings.rounds, round(n / settings.elements_per_round))):
        before = r.lp.n_rows
        r.add_triangles(violation, most)
        if r.lp.n_rows - before <= settings.few * before:
            violation *= settings.closer
        if r.lp.run(min(settings.most_iterations, settings.iterations * (k + 1))) < best:
            best, rows = r.lp.bound, r.lp.pool.get("transitive")
        if control.expired():
            break
        r.drop_idle()
    if rows is None:
        return packed
    kept = rows.multipliers > 0
    return _Rows(rows.index[kept].astype(np.int32), rows.multipliers[kept])
