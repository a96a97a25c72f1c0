"""Bounds for large dense clusterings: conflicts packed along a partition that is known.

See `relatum.kernels.partition.guided`: only rows that the partition satisfies with equality
can prove it best, so these come first. On noisy scores of thousands of elements this brings
the bound several times as close to the value as a packing that knows no partition.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from relatum.array_types import Index
from relatum.kernels.partition.guided import (
    leftovers,
    pack_between,
    pack_inside,
    pack_leftovers,
    rooms_inside,
)
from relatum.problem import Partition, Problem
from relatum.proof import Proof
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.packing import FAR, PROBES, DensePacking, packing_bound

__all__ = ["guided_bound"]

# least multipliers, in parts of the mean positive log-odds, and others looked at for a pair
QUICK = ((0.4, 32),)
THOROUGH = ((0.4, 64), (0.1, 256), (0.0, 4096))
SMALL = 2_000_000  # pairs up to which the packing without a partition costs little
PIECE = 10_000_000  # pairs gone through between two looks at the clock
CLOSED = 0.5  # share of the gap that, once closed, makes it superfluous


def guided_bound(
    problem: Problem, partition: Partition, thorough: bool, control: Control
) -> tuple[float, Proof]:
    """Bound the value of every partition, and prove it, with the help of a good one.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.
    partition : Partition
        Any feasible one gives a valid bound; a good one gives a good bound.
    thorough : bool
        Whether to look at many more triangles.
    control : Control
        Passes that have not begun when time is up are left out.

    Returns
    -------
    bound : float
        Not above that of `packing_bound` if there are few pairs, or if less than half of
        the gap between the value and the sum of the positive log-odds has been closed.
    proof : Proof
    """
    p = DensePacking(problem)
    small = p.residual.size <= SMALL
    trivial = p.constant
    trivial += _pack(p, partition.labels.astype(np.int64), thorough or small, control)
    bound, proof = p.proved()
    del p
    if not small:
        value = problem.value(partition)
        if bound - value < CLOSED * (trivial - value):
            return bound, proof
    other = packing_bound(problem, thorough, control.seed)
    return other if other[0] < bound else (bound, proof)


def _pack(p: DensePacking, labels: Index, many: bool, control: Control) -> float:
    """Pack along the partition; return the sum of the positive log-odds there were."""
    order = np.random.default_rng(control.seed).permutation(p.n)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    sets = labels, starts, np.argsort(labels, kind="stable")
    rows = p.index, p.multipliers
    room, total, count = rooms_inside(p.residual, labels, FAR / 2)
    unit = total / max(1, count)
    pieces = np.array_split(order, 1 + p.residual.size // PIECE)
    for level, probes in THOROUGH if many else QUICK:
        for pack, piece in product((pack_inside, pack_between), pieces):
            if not control.expired():
                limits = probes, level * unit
                p.count = pack(p.residual, sets, piece, limits, room, rows, p.count)
    if not control.expired():
        lists = leftovers(p.residual, labels)
        p.count = pack_leftovers(p.residual, lists, order, PROBES, rows, p.count)
    return float(total)
