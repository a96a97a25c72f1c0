"""Bounds for large dense clusterings: conflicts packed along a partition that is known.

See `relatum.kernels.partition.guided`: only rows that the partition satisfies with equality
can prove it best, so these come first. On noisy scores of thousands of elements this brings
the bound several times as close to the value as a packing that knows no partition.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from relatum.problem import Problem
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import FAR
from relatum.solvers.partition.bounds.known import Known, Proved
from relatum.solvers.partition.bounds.packing import (
    PACKING,
    DensePacking,
    PackedTriangles,
    packing_bound,
)


@dataclass(frozen=True)
class GuidedSettings:
    """How dense packings along a partition go through triangles."""

    # per pass, the least multiplier in parts of the mean positive log-odds, and the others
    # looked at per pair
    quick: tuple[tuple[float, int], ...] = ((0.4, 32),)
    thorough: tuple[tuple[float, int], ...] = ((0.4, 64), (0.1, 256), (0.0, 4096))
    few_pairs: int = 2_000_000  # up to which the packing without a partition costs little
    closed: float = 0.5  # share of the gap that makes the packing without one superfluous


GUIDED = GuidedSettings()


def guided_bound(
    problem: Problem, known: Known, control: Control, settings: GuidedSettings = GUIDED
) -> Proved:
    """Bound the value of every partition, and prove it, with the help of a good one.

    The bound is not above that of `packing_bound` if there are few pairs, or if less than half
    of the gap between the value and the sum of the positive log-odds has been closed.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.
    known : Known
        A partition and its value.
    control : Control
        What has not been packed when time is up is left out.
    settings : GuidedSettings
    """
    labels = known.labels
    assert labels is not None
    p = DensePacking(problem)
    small = p.residual.size <= settings.few_pairs
    passes = settings.thorough if known.thorough or small else settings.quick
    trivial = p.constant + pack_along(p, labels, passes, control)
    bound, proof = p.proved()
    del p
    good = bound - known.value < settings.closed * (trivial - known.value)
    if (good and not small) or control.expired():
        return bound, proof
    return min((bound, proof), packing_bound(problem, known, control), key=lambda found: found[0])


def pack_along(
    p: PackedTriangles,
    labels: Index,
    passes: tuple[tuple[float, int], ...],
    control: Control,
) -> float:
    """Pack along the partition; return the sum of the positive log-odds there were."""
    order = np.random.default_rng(control.seed).permutation(p.n)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    sets = labels, starts, np.argsort(labels, kind="stable")
    rows = p.index, p.multipliers
    room, total, count = rooms_inside(p.residual, labels, FAR / 2)
    unit = total / max(1, count)
    ends = control.expired
    for (level, probes), pack in product(passes, (pack_inside, pack_between)):
        if not ends():
            limits = probes, level * unit
            p.count = pack(p.residual, sets, order, limits, room, rows, p.count, ends)
    if not ends():
        lists = leftovers(p.residual, labels)
        p.count = pack_leftovers(p.residual, lists, order, PACKING.probes, rows, p.count, ends)
    return float(total)
