"""The linear relaxation of a partition problem: rows, cuts, fixing and contraction.

Elements known to be related are contracted, so that the relaxation is about sets of
elements, "nodes". There is a column for every unordered pair of nodes, in condensed order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.partition.cuts import violated_triangles, violated_wheels
from relatum.kernels.partition.packing import pack_triangles
from relatum.kernels.partition.two_partitions import violated_two_partitions
from relatum.lp import FirstOrderLP
from relatum.problem import condensed_places
from relatum.proof import SparseRows, odd_wheel_rows, two_partition_rows
from relatum.solvers.partition.arrays import FAR, square
from relatum.solvers.partition.noise import unlike_two_partitions


@dataclass(frozen=True)
class CutSettings:
    """Which violated rows are added per round."""

    shallow: float = 0.5  # violation of triangles below which wheels and 2-partitions are sought
    few_new: float = 0.05  # share of new rows below which they are sought all the same
    per_pair: int = 8  # triangles that bound the same pair from below
    triangle_share: float = 0.2  # of the largest violation, that a triangle must have
    # that are added: so many, or as many as there are pairs, lest a large problem makes many rounds
    most_triangles: int = 30_000
    most_wheels: int = 200  # that are added
    most_two_partitions: int = 300  # rows that are added
    wheel_width: int = 12  # elements on the rim of an odd wheel at most
    wheel_centres: int = 100  # random elements around which wheels are sought
    two_partition_seeds: int = 1500  # random fractional pairs from which 2-partition rows grow
    # nodes from which on there are more of both, as the square of the pairs, and how many times
    # as many at most: else a large problem waits for rows, not for its linear program
    many_nodes: int = 200
    most_times: float = 24.0
    two_partition_steps: int = 6  # of their ascent: short rows are quick, and deep enough
    undecided: float = 0.05  # distance from 0 and 1 from which on a pair is fractional
    # least conflicts that are packed, in mean scores, level by level: the heavy ones first
    packing_levels: tuple[float, ...] = (2.0, 1.5, 1.0, 0.75, 0.5, 0.25, 0.1)
    packing_triangles: int = 64  # looked at for each pair of a level


CUTS = CutSettings()


def contracted_weights(weights: Floats, labels: Index) -> tuple[Floats, float]:
    """Sum weights between sets; return also the sum within sets."""
    g = int(labels.max()) + 1
    one = sparse.csr_array(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(g, len(labels))
    )
    out = np.asarray(one @ (one @ weights).T)
    inside = math.fsum(np.diagonal(out).tolist()) / 2
    np.fill_diagonal(out, 0.0)
    return out, inside


def contraction_rounding(weights: Floats, state: NDArray[np.int8], labels: Index) -> float:
    """Bound what sums of weights between and within sets may be off by, all together.

    A weight between sets of s and of t elements takes part in s - 1 and t - 1 additions, each of
    which is off by 2**-53 of what has been added up; the rest of the factor is for these numbers.
    """
    sizes = np.bincount(labels)[labels]
    several = sizes > 1
    joined = np.where(state[several] == 0, 0.0, np.abs(weights[several])).sum(axis=1)
    return 2.0**-52 * float(((sizes[several] - 1) * joined).sum())


def _sum_up(first: float, second: float, third: float) -> float:
    """Add numbers, not below their sum."""
    return first + second + third + 2.0**-51 * (abs(first) + abs(second))


def _keys(index: NDArray[Any]) -> Index:
    """Return a number for each triangle (a, b, c), the same for (c, b, a)."""
    a, b, c = index.astype(np.int64).T
    low, high = np.minimum(a, c), np.maximum(a, c)
    return np.asarray((low << 42) | (b << 21) | high)


def _are_in(keys: Index, known: Index) -> Flags:
    """Say which keys are among those known; both are sorted, so that neither is hashed."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.bool_)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(known[place] == keys)


def _row_matrix(rows: SparseRows, n: int) -> Any:
    columns = condensed_places(rows.a, rows.b, n)
    parts = (rows.coefficient.astype(np.float64), columns.astype(np.int32), rows.start)
    return sparse.csr_array(parts, shape=(len(rows), n * (n - 1) // 2))


@dataclass(eq=False)
class Relaxation:
    """Rows and multipliers on the nodes of a (contracted) partition problem.

    Parameters
    ----------
    weights : float64 array (n, n)
        Symmetric, zero diagonal.
    state : int8 array (n, n)
        -1 open, 0 unrelated, 1 related.
    constant : float
        What related pairs inside the nodes, and the diagonal, add to every value.
    rounding : float
        What rounding may have taken from weights that were added up, all together.
    """

    weights: Floats
    state: NDArray[np.int8]
    constant: float = 0.0
    rounding: float = 0.0
    lp: FirstOrderLP = field(init=False)

    def __post_init__(self) -> None:
        self.n = len(self.weights)
        upper = np.triu_indices(self.n, 1)
        state = self.state[upper]
        lower, up = (state == 1).astype(np.float64), (state != 0).astype(np.float64)
        self.lp = FirstOrderLP(self.weights[upper], lower, up)
        self._known: Index = np.empty(0, dtype=np.int64)
        self._expired: Callable[[], bool] | None = None

    @property
    def bound(self) -> float:
        """No partition of these nodes has a larger value; rounded up."""
        return _sum_up(self.constant, self.lp.bound, self.rounding)

    def stop_when(self, expired: Callable[[], bool] | None) -> None:
        """Ask often whether time is up, and if so return what there is."""
        self._expired = self.lp.expired = expired

    @property
    def n_open(self) -> int:
        """How many pairs are not fixed."""
        return int(np.count_nonzero(self.lp.lower < self.lp.upper))

    def point(self) -> Floats:
        """Return the current point as a symmetric matrix with zero diagonal."""
        return np.asarray(square(self.lp.x, self.n))

    def add_caps(self, cap: int) -> None:
        """Add a row for each element: at most ``cap`` elements in its set."""
        n = self.n
        a, b = np.nonzero(~np.eye(n, dtype=np.bool_))
        index = np.column_stack([np.arange(n), np.full(n, cap)])
        start = np.arange(n + 1) * (n - 1)
        ones = np.ones(len(a), dtype=np.int64)
        rows = SparseRows(start, a, b, ones, np.full(n, cap - 1))
        self.lp.add_rows("at_most", index, _row_matrix(rows, n), high=cap - 1.0)

    def separate(self, threshold: float, rng: np.random.Generator) -> int:
        """Add violated rows, triangles first; return how many."""
        before = self.lp.n_rows
        top = self.add_triangles(threshold)
        if top < CUTS.shallow or self.lp.n_rows - before < CUTS.few_new * before:
            self.add_wheels(threshold, rng)
            self.add_two_partitions(threshold, rng)
        return self.lp.n_rows - before

    def add_triangles(self, threshold: float, most: int | None = None) -> float:
        """Add violated triangles; return the largest violation seen.

        Of those that bound the same pair from below, the most violated few are taken, and of
        all these so many at most (None: what the settings allow).
        """
        if most is None:
            most = max(CUTS.most_triangles, self.lp.objective.size)
        index, violation = violated_triangles(self.point(), threshold, self._expired)
        if not len(violation):
            return 0.0
        top = float(violation.max())
        large = violation >= CUTS.triangle_share * top
        index, violation = index[large], violation[large]
        keys, first = np.unique(_keys(index), return_index=True)
        first = first[~_are_in(keys, self._known)]
        closing = condensed_places(index[first, 0], index[first, 2], self.n)
        order = np.lexsort((-violation[first], closing))
        starts = np.flatnonzero(np.diff(closing[order], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        first = first[order[rank < CUTS.per_pair]]
        if len(first) > most:
            first = first[np.argsort(-violation[first], kind="stable")[:most]]
        self._append_triangles(index[first].astype(np.int64))
        return top

    def pack(self, seed: int) -> None:
        """Start with the triangles, and multipliers, of a greedy packing of conflicts."""
        lp = self.lp
        residual = np.where(lp.lower == lp.upper, FAR * (2 * lp.lower - 1), lp.objective)
        index = np.empty((residual.size + 16, 3), dtype=np.int32)
        y = np.empty(len(index))
        size = float(np.abs(lp.objective).mean()) if lp.objective.size else 0.0
        rng = np.random.default_rng(seed)
        count, probes = 0, CUTS.packing_triangles
        for level in CUTS.packing_levels:
            order = rng.permutation(self.n)
            limits, rows = (probes, level * size), (index, y, count)
            count = pack_triangles(residual, self.n, order, *limits, *rows, self._expired)
        self.add_packed(index[:count].astype(np.int64), y[:count])
        lp.evaluate()

    def add_packed(self, index: Index, multipliers: Floats) -> None:
        """Add triangles with the multipliers they start with."""
        if len(index):
            self._append_triangles(index)
            self.lp.pool["transitive"].multipliers[-len(index) :] = multipliers
            self._merge_triangles()

    def _append_triangles(self, index: Index) -> None:
        if len(index):
            a, b, c = index.T
            n = self.n
            columns = [
                condensed_places(a, b, n),
                condensed_places(b, c, n),
                condensed_places(a, c, n),
            ]
            self.lp.add_triples("transitive", index, np.column_stack(columns))
            self._known = np.sort(np.concatenate([self._known, _keys(index)]))

    def add_wheels(self, threshold: float, rng: np.random.Generator) -> int:
        """Add violated odd wheels around random centres."""
        centres = rng.permutation(self.n)[: CUTS.wheel_centres]
        priority = rng.random(self.n)
        index, violation = violated_wheels(
            self.point(), centres, priority, threshold, CUTS.wheel_width, self._expired
        )
        order = np.argsort(-violation, kind="stable")[: 4 * CUTS.most_wheels]
        index = _unlike_wheels(index[order].astype(np.int64), CUTS.most_wheels)
        if len(index):
            rows = odd_wheel_rows(index, (self.n, self.n))
            matrix = _row_matrix(rows, self.n)
            self.lp.add_rows("odd_wheel", index, matrix, high=rows.rhs.astype(np.float64))
        return len(index)

    def add_two_partitions(self, threshold: float, rng: np.random.Generator) -> int:
        """Add violated 2-partition rows, the deepest first, none too parallel to another."""
        x = self.point()
        i, j = np.nonzero(np.triu((x > CUTS.undecided) & (x < 1 - CUTS.undecided), 1))
        if not len(i):
            return 0
        more = min(max(1.0, (self.n / CUTS.many_nodes) ** 4), CUTS.most_times)
        pick = rng.permutation(len(i))[: int(more * CUTS.two_partition_seeds)]
        seeds = np.column_stack([i[pick], j[pick]])
        sides, violation = violated_two_partitions(
            x, seeds, threshold, CUTS.two_partition_steps, self._expired
        )
        index = unlike_two_partitions(sides, violation, int(more * CUTS.most_two_partitions))
        if len(index):
            rows = two_partition_rows(index, (self.n, self.n))
            matrix = _row_matrix(rows, self.n)
            self.lp.add_rows("two_partition", index, matrix, high=rows.rhs.astype(np.float64))
        return len(index)

    def drop_idle(self) -> None:
        """Forget rows that have not mattered for three rounds."""
        if self.lp.drop_idle() and "transitive" in self.lp.pool:
            self._known = np.sort(_keys(self.lp.pool["transitive"].index))

    def fix(self, columns: Index, values: Flags) -> None:
        """Fix pairs, given by column."""
        self.lp.fix(columns, values.astype(np.float64))
        i, j = (v[columns] for v in np.triu_indices(self.n, 1))
        self.state[i, j] = values
        self.state[j, i] = values

    def fixable(self, cutoff: float) -> tuple[Index, Flags]:
        """Return open pairs whose other value is bounded by the cutoff, and their values."""
        lp = self.lp
        r = lp.reduced
        sure = (lp.lower < lp.upper) & (self.bound - (np.abs(r) - lp.error) <= cutoff) & (r != 0)
        columns = np.flatnonzero(sure)
        return columns, r[columns] > 0

    def contracted(self, labels: Index) -> Relaxation:
        """Return the relaxation on sets of nodes, with the rows that survive."""
        weights, inside = contracted_weights(self.weights, labels)
        g, n = len(weights), self.n
        state = np.full((g, g), -1, dtype=np.int8)
        i, j = np.nonzero(self.state == 0)
        state[labels[i], labels[j]] = 0
        constant = self.constant + inside
        rounding = self.rounding + contraction_rounding(self.weights, self.state, labels)
        rounding += 2.0**-52 * (abs(constant) + abs(inside))
        other = Relaxation(weights, state, constant, rounding)
        i, j = np.triu_indices(n, 1)
        columns = np.where(labels[i] == labels[j], -1, 0)
        between = columns == 0
        columns[between] = condensed_places(labels[i[between]], labels[j[between]], g)
        other.stop_when(self._expired)
        keep: dict[str, Any] = {}
        for name, block in self.lp.pool.items():
            index = np.where(block.index >= 0, labels[np.maximum(block.index, 0)], -1)
            rows = np.flatnonzero(_rows_stay(index))
            keep[name] = (rows, index[rows])
        self.lp.remap(columns, other.lp, keep)
        other._merge_triangles()
        return other

    def _merge_triangles(self) -> None:
        """Make rows that have become the same one row, with the sum of their multipliers."""
        block = self.lp.pool.get("transitive")
        if block is None:
            return
        keys, first, inverse = np.unique(_keys(block.index), return_index=True, return_inverse=True)
        sums = np.bincount(inverse, weights=block.multipliers, minlength=len(keys))
        self.lp.drop("transitive", first)
        self.lp.pool["transitive"].multipliers[:] = sums
        self._known = keys

    def copy(self) -> Relaxation:
        """Return an independent copy."""
        other = Relaxation.__new__(Relaxation)
        other.__dict__.update(self.__dict__)
        other.state = self.state.copy()
        other.lp = self.lp.copy()
        return other


def _rows_stay(index: Index) -> Flags:
    """Say which rows still name different nodes only."""
    if not len(index):
        return np.zeros(0, dtype=np.bool_)
    ordered = np.sort(index, axis=1)
    return np.asarray(~((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))


def _unlike_wheels(index: Index, limit: int) -> Index:
    """Keep the first of wheels on the same elements."""
    seen: set[tuple[int, ...]] = set()
    chosen: list[int] = []
    for k, row in enumerate(index):
        key = (int(row[0]), *sorted(row[1:].tolist()))
        if key not in seen and len(chosen) < limit:
            seen.add(key)
            chosen.append(k)
    return index[chosen]
