"""{0,1/2}-cuts of linear orders: odd closed walks over pairs, and projective planes of 3-cycles.

Half the sum of 3-dicycle rows x_ab + x_bc + x_ca <= 2 is integral on every order if each pair
occurs in two of them, or in one and in a row of the box; then its right-hand side may be rounded
down, which gains one half if it is odd. A **walk** glues each triangle to the next one and leaves
its third pair to the box: cheap where that pair is nearly decided, dear where it is near one
half. A **surface** glues all three pairs of each triangle, so the box is not needed. Two cycles
that pass a pair in the same direction give it coefficient 2; if they pass it in opposite
directions, it is the constant x_ab + x_ba = 1, and the right-hand side is odd iff the number of
such pairs is. On a sphere, a torus or any other surface that can be oriented, 3-dicycle rows imply
what results. On the projective plane they do not: of its triangulations with 6, 7 and 8 vertices
(1, 3 and 16) exactly one leaves a single such pair. It has 8 vertices and 14 triangles, and says
that no order respects more than 13 of 20 directed pairs, where 3-dicycle rows allow 13.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from relatum.array_types import Floats, Index
from relatum.kernels.order.patterns import fit_pattern
from relatum.kernels.order.rows import half_cycles
from relatum.solvers.order.pair_relaxation import Expired

PLANE = np.array(
    [
        (0, 1, 2), (0, 1, 4), (0, 3, 2), (0, 3, 4), (1, 2, 5), (1, 3, 5), (1, 3, 6), (1, 4, 6),
        (2, 3, 6), (2, 4, 6), (2, 4, 7), (2, 5, 7), (3, 4, 7), (3, 5, 7),
    ]
)  # fmt: skip
PLACES = int(PLANE.max()) + 1


def _pairs_of(triangles: Index) -> Index:
    """Sum directed triangles to an antisymmetric matrix, halved: the pairs of a row."""
    total = np.zeros((PLACES, PLACES), dtype=np.int64)
    for side in (triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]):
        np.add.at(total, tuple(side.T), 1)
    return (total - total.T) // 2


PATTERN = _pairs_of(PLANE)
MOST = (2 * len(PLANE) - 1) // 2  # pairs of the pattern that an order respects: one is opposite


@dataclass(frozen=True)
class HalfCutSettings:
    """Which {0,1/2}-cuts are sought, and which are added."""

    undecided: float = 0.49  # distance from 1/2 below which a pair is a source of walks
    longest: float = 0.9  # total slack of an odd walk: rows of those below 1 are violated
    effort: int = 60  # nodes looked at from each source
    starts: int = 8  # of searches for a surface, for each source of walks: they are quick
    violation: float = 0.02  # of the rows that are added


HALF_CUTS = HalfCutSettings()


def violated_walks(
    x: Floats, limit: int, rng: np.random.Generator, expired: Expired | None
) -> Index:
    """Return names of rows of odd walks that x violates, from so many pairs near one half."""
    i, j = np.triu_indices(len(x), 1)
    distance = np.abs(x[i, j] - 0.5)
    order = np.lexsort((rng.random(len(i)), np.round(distance, 3)))
    chosen = order[distance[order] < HALF_CUTS.undecided][:limit]
    sources = np.column_stack([i[chosen], j[chosen]])
    steps, ends, _ = half_cycles(x, sources, HALF_CUTS.longest, HALF_CUTS.effort, expired)
    return walk_names(steps, ends)


def violated_surfaces(
    x: Floats, limit: int, rng: np.random.Generator, expired: Expired | None
) -> Index:
    """Return names of rows of projective planes that x violates: the worst ones, so many."""
    n = len(x)
    if n < PLACES:
        return np.empty((0, PLANE.size), dtype=np.int64)
    starts = np.argsort(rng.random((HALF_CUTS.starts * limit, n)), axis=1)[:, :PLACES]
    elements, value = fit_pattern(x, PATTERN, starts, expired)
    worst = np.argsort(-value, kind="stable")
    return surface_names(elements[worst[value[worst] > MOST + HALF_CUTS.violation][:limit]])


def surface_names(elements: Index) -> Index:
    """Name the cycles of each projective plane, given the elements at its places, in order."""
    cycles = elements[:, PLANE]
    # of the three names of a cycle take the one that ascends or descends
    first = cycles.argmin(axis=2)[..., None]
    a, b, c = (np.take_along_axis(cycles, (first + s) % 3, 2)[..., 0] for s in range(3))
    up = b < c
    names = np.stack([np.where(up, a, b), np.where(up, b, c), np.where(up, c, a)], axis=2)
    n = int(elements.max(initial=0)) + 1
    order = np.argsort(names @ np.array([n * n, n, 1]), axis=1)
    names = np.take_along_axis(names, order[..., None], 1)
    return np.unique(names.reshape(len(elements), PLANE.size), axis=0)


def walk_names(steps: Index, ends: Index) -> Index:
    """Name each walk's rows: triples (a, b, c) of dicycle rows, and (a, b, b) for x_ab <= 1."""
    rows = []
    for lo, hi in pairwise([0, *ends.tolist()]):
        names: list[tuple[int, int, int]] = []
        box: dict[tuple[int, int], int] = {}
        for i, j, k, third, code in steps[lo:hi].tolist():
            names.append((i, j, k) if code & 1 else (k, j, i))
            p, q = ((i, j), (j, k), (i, k))[third]
            side = (p, q) if code & 2 else (q, p)
            box[side] = box.get(side, 0) + 1
        # a row of the box used twice keeps everything even when left out
        names += [(p, q, q) for (p, q), count in box.items() if count % 2]
        rows.append(np.array(sorted(names), dtype=np.int64).reshape(-1))
    out = np.full((len(rows), max((len(r) for r in rows), default=0)), -1, dtype=np.int64)
    for k, r in enumerate(rows):
        out[k, : len(r)] = r
    return np.unique(out, axis=0)


def keys_of(names: Index) -> Index:
    """Return a number for each row, by which equal ones are known, however padded."""
    power = np.cumprod(np.full(names.shape[1], 6364136223846793005, dtype=np.int64))
    return np.asarray((names + 1) @ power)
