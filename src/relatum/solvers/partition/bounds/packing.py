"""Bounds for large clusterings: greedy packing of conflicts, with a certificate.

The bound "sum of the positive log-odds" ignores transitivity. Packing conflicts into the
log-odds (see `relatum.kernels.partition.packing`) brings it down to within a few percent of the
optimum in about the time that a good heuristic needs, in memory proportional to the scored
pairs, and the rows and multipliers used are the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.hashing import table_length
from relatum.kernels.partition.packing import compressed_pairs, pack_paths, pack_triangles
from relatum.kernels.partition.unlisted.closing import close_between, close_inside
from relatum.kernels.partition.unlisted.wedges import enter_keys, pack_wedges
from relatum.problem import Problem, SparseScores, condensed_places
from relatum.proof import FAMILIES, Cuts
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import FAR, condensed_arrays, keys_of, listed_arrays
from relatum.solvers.partition.bounds.known import Known, Proved, raised
from relatum.solvers.trivial_bound import trivial_bound


@dataclass(frozen=True)
class PackingSettings:
    """How packings go through conflicts."""

    most_elements: int = 20_000  # up to which a condensed matrix of float64 is made
    few_pairs: int = 2_000_000  # up to which all passes are made, and long paths looked for
    # Least residuals of the passes over dense problems, in parts of the mean log-odds: of few
    # pairs; of many, if a bound may take long, or may not.
    few: tuple[float, ...] = (2.0, 1.5, 1.0, 0.75, 0.5, 0.25, 0.1, 0.0)
    thorough: tuple[float, ...] = (1.5, 1.0, 0.5, 0.25, 0.1)
    quick: tuple[float, ...] = (0.5,)
    probes: int = 64  # others looked at per pair
    largest: float = 64.0  # mean log-odds above which conflicts of many pairs count as equal
    lengths: tuple[int, ...] = (2, 3, 5, 10)  # most pairs of a path: short ones use up less
    scans: int = 4_000  # pairs looked at in search of one path
    thorough_scans: int = 100_000
    # Longer paths over pairs that are not listed: the least bits worth a row, in parts of the
    # background, and the most pairs within sets, beside the one between sets if there is one.
    closings: tuple[tuple[float, int, int], ...] = ((0.1, 4, 2), (0.0, 4, 4))
    reached: int = 64  # elements around each end of such a path
    closing_probes: int = 512  # paths looked at for each pair between sets


PACKING = PackingSettings()


def packing_bound(
    problem: Problem, known: Known, control: Control, settings: PackingSettings = PACKING
) -> Proved:
    """Bound the value of every partition, and prove it.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, with evidence and whatever else restricts them.
    known : Known
        Rows that hold with equality for a good partition are packed first, as only these can
        prove it best. (Of sparse problems; for dense ones see `guided`.)
    control : Control
        Its seed decides the random order in which elements are looked at. What has not been
        packed when time is up is left out.
    settings : PackingSettings
    """
    if isinstance(problem.scores, SparseScores) and problem.background <= 0:
        return _sparse_bound(problem, known, control, settings)
    if problem.n > settings.most_elements or problem.n < 3:
        return trivial_bound(problem)
    return _dense_bound(problem, known, control, settings)


def _sum_of_bests(residual: Floats, state: NDArray[np.int8]) -> float:
    """Sum the best of each pair: related pairs add what they have, unrelated ones nothing."""
    best = np.maximum(residual, 0.0)
    known = np.flatnonzero(state >= 0)
    best[known] = np.where(state[known] == 1, residual[known], 0.0)
    return float(best.sum())


class PackedTriangles:
    """Residual log-odds of pairs, and the triangles packed into them so far.

    Parameters
    ----------
    residual : float64 array
        Condensed; pairs that are decided beforehand have plus or minus `FAR`.
    n : int

    Attributes
    ----------
    index, multipliers : arrays
        Room for triangles; the first ``count`` are packed.
    """

    def __init__(self, residual: Floats, n: int) -> None:
        self.residual, self.n, self.count = residual, n, 0
        room = int(0.4 * residual.size) + 16
        self.index, self.multipliers = np.empty((room, 3), dtype=np.int32), np.empty(room)


class DensePacking(PackedTriangles):
    """Packed triangles of a whole problem.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.

    Attributes
    ----------
    size : float
        The mean of the absolute log-odds.
    """

    def __init__(self, problem: Problem) -> None:
        arrays = condensed_arrays(problem)
        self.constant, residual = arrays.constant, arrays.log_odds
        self._places, self._state = arrays.places, arrays.state
        steps = range(0, residual.size, 1 << 20)  # nothing else of the size of all pairs is made
        self.magnitude = math.fsum(float(np.abs(residual[k : k + (1 << 20)]).sum()) for k in steps)
        self.size = self.magnitude / max(1, residual.size)
        self._own = residual[self._places]
        residual[self._places] = np.where(self._state == 1, FAR, -FAR)
        super().__init__(residual, problem.n)
        self._taken: list[tuple[NDArray[np.int32], Floats]] = []

    def take(self, index: NDArray[np.int32], multipliers: Floats) -> None:
        """Pack triangles with multipliers that were found elsewhere."""
        self._taken.append((index, multipliers))
        _subtract_prices(self.residual, index, multipliers, self.n)

    def proved(self) -> Proved:
        """Return the bound and its proof; this uses the residuals up."""
        packed = self.index[: self.count], self.multipliers[: self.count]
        rows, y = zip(packed, *self._taken, strict=True)
        cuts = Cuts("transitive", np.concatenate(rows, dtype=np.int64), np.concatenate(y))
        del self.index, self.multipliers, self._taken, packed, rows, y
        fixed = 0.0
        if len(self._places):
            self.residual[self._places] = 0.0
            prices = np.zeros(self.residual.size)
            _subtract_prices(prices, cuts.index, cuts.multipliers, self.n)
            fixed = _sum_of_bests(self._own + prices[self._places], self._state)
        total = float(np.maximum(self.residual, 0, out=self.residual).sum()) + self.constant + fixed
        weight = float(cuts.multipliers.sum())
        return raised(total + weight, self.magnitude + weight, [cuts])


def _dense_bound(
    problem: Problem, known: Known, control: Control, settings: PackingSettings
) -> Proved:
    p = DensePacking(problem)
    rng = np.random.default_rng(control.seed)
    levels = settings.thorough if known.thorough else settings.quick
    for level in settings.few if p.residual.size <= settings.few_pairs else levels:
        order, least = rng.permutation(p.n), level * p.size
        rows = p.index, p.multipliers, p.count
        if not control.expired():
            limits = settings.probes, least
            p.count = pack_triangles(p.residual, p.n, order, *limits, *rows, control.expired)
    return p.proved()


def _subtract_prices(out: Floats, index: NDArray[Any], multipliers: Floats, n: int) -> None:
    """Subtract A'y of triangles, condensed."""
    a, b, c = index.T.astype(np.int64)
    for p, q, sign in ((a, b, -1.0), (b, c, -1.0), (a, c, 1.0)):
        np.add.at(out, condensed_places(p, q, n), sign * multipliers)


def _sparse_bound(
    problem: Problem, known: Known, control: Control, settings: PackingSettings
) -> Proved:
    """Pack paths and wedges: first those along a partition, then any."""
    listed, n = listed_arrays(problem), problem.n
    keys, own, state = listed.keys, listed.log_odds, listed.state
    residual, fixed = own.copy(), np.flatnonzero(state >= 0)
    residual[fixed] = np.where(state[fixed] == 1, FAR, -FAR)
    packing = _SparsePacking(problem, keys, residual, known.thorough, control, settings)
    anything = np.zeros(n, dtype=np.int64)
    guide = known.labels
    if guide is not None:
        packing.pack_paths(guide)
        packing.pack_wedges(guide, 0)
        packing.pack_wedges(guide, 1)
        packing.pack_closings(guide)
    packing.pack_paths(anything)
    packing.pack_wedges(anything, 0)
    cuts = [cut for cut in packing.cuts if len(cut)]
    if len(fixed):
        residual[fixed] = own[fixed] - _path_prices(cuts, keys, n)[fixed]
    total = _sum_of_bests(residual, state) + listed.constant
    for cut in cuts:
        sides = (cut.index >= 0).sum(axis=1) - 2  # a path of k pairs has k - 1 on its right
        total += float(sides @ cut.multipliers)
    return raised(total, float(np.abs(own).sum()), cuts)


class _SparsePacking:
    """Residual log-odds of listed pairs, and the paths packed into them so far."""

    def __init__(
        self,
        problem: Problem,
        keys: Index,
        residual: Floats,
        thorough: bool,
        control: Control,
        settings: PackingSettings,
    ) -> None:
        self.expired = control.expired
        self.pairs = keys // problem.n, keys % problem.n
        self.graph = compressed_pairs(*self.pairs, problem.n)
        self.background, self.residual, self.settings = problem.background, residual, settings
        self.scans = settings.thorough_scans if thorough else settings.scans
        near = np.abs(residual) < FAR / 2
        self.size = float(np.abs(residual[near]).mean()) if near.any() else 0.0
        wanted = problem.background < 0 and len(keys) > 0 and not self.expired()
        self.table = _table(residual, keys) if wanted else None
        self.cuts: list[Cuts] = []

    def pack_paths(self, labels: Index) -> None:
        """Close pairs with negative log-odds by paths, short ones and large conflicts first."""
        if self.expired():
            return
        residual, lengths = self.residual, self.settings.lengths
        m = len(residual)
        large = m > self.settings.few_pairs
        inside = labels[self.pairs[0]] == labels[self.pairs[1]]
        if large:  # along a partition, a search that stays within a set is short
            lengths = lengths[:1] if inside.all() else lengths[:3]
        room = 2 * m + 16
        index, y = np.empty((room, max(lengths) + 1), dtype=np.int32), np.empty(room)
        count = 0
        for longest in lengths:
            if self.expired():
                break
            level = 0.25 * self.size if longest == 2 else 0.0
            below = residual < -level
            if large and longest > 2:
                below &= inside
            bad = np.flatnonzero(below)
            bad = bad[self._largest_first(residual[bad], large)]
            ends = np.column_stack([bad, self.pairs[0][bad], self.pairs[1][bad]])
            limits = level, longest, self.scans
            rows = index, y, count
            count = pack_paths(self.graph, residual, labels, ends, limits, *rows, self.expired)
        self.cuts.append(Cuts("path", index[:count].astype(np.int64), y[:count].copy()))

    def _largest_first(self, conflicts: Floats, large: bool) -> Index:
        """Return the order of negative residuals; of many, by one of 2^16 steps of size."""
        if not large or self.size == 0:
            return np.argsort(conflicts, kind="stable")
        most = np.iinfo(np.uint16).max
        steps = conflicts * (most / (self.settings.largest * self.size)) + most
        # sorted by counting, where comparing takes as long as packing
        return np.argsort(np.maximum(steps, 0).astype(np.uint16), kind="stable")

    def pack_wedges(self, labels: Index, crossings: int) -> None:
        """Close pairs that are not listed, where these have a negative background."""
        if self.table is None or self.expired():
            return
        room = 4 * int(np.count_nonzero(self.residual > 0)) + 16
        index, y = np.empty((room, 3), dtype=np.int32), np.empty(room)
        limits = self.background, self.settings.probes, crossings
        state = self.graph, self.residual, labels
        count = pack_wedges(*state, limits, self.table, index, y, 0, self.expired)
        self.cuts.append(Cuts("transitive", index[:count].astype(np.int64), y[:count].copy()))

    def pack_closings(self, labels: Index) -> None:
        """Close pairs that are not listed by longer paths, within sets and between two."""
        for part, inside, between in self.settings.closings:
            least, reached = part * -self.background, self.settings.reached
            for longest, across in ((inside, False), (between, True)):
                if self.table is None or self.expired():
                    return
                room = 4 * int(np.count_nonzero(self.residual > least)) + 16
                rows = np.empty((room, longest + 1 + across), dtype=np.int32), np.empty(room), 0
                limits = self.background, least, longest, reached, self.settings.closing_probes
                state = self.graph, self.residual, labels
                if across:
                    ends = self._between(labels, least)
                    count = close_between(*state, ends, limits, self.table, rows, self.expired)
                else:
                    count = close_inside(*state, limits, self.table, *rows, self.expired)
                y = rows[1][:count].copy()
                self.cuts.append(Cuts("path", rows[0][:count].astype(np.int64), y))

    def _between(self, labels: Index, least: float) -> Index:
        """Return pairs between sets with residuals above ``least``: their numbers and ends."""
        i, j = self.pairs
        pairs = np.flatnonzero((self.residual > least) & (labels[i] != labels[j]))
        return np.column_stack([pairs, i[pairs], j[pairs]])


def _table(residual: Floats, keys: Index) -> tuple[Index, Floats]:
    """Return a hash table with the listed pairs, and room for pairs that are not listed."""
    positive = int(np.count_nonzero(residual > 0))
    size = table_length(2 * len(keys) + 4 * positive + 16)
    table = np.full(size, -1, dtype=np.int64), np.zeros(size + 1)
    enter_keys(*table, keys)
    table[1][-1] = 0.75 * size - len(keys)
    return table


def _path_prices(cuts: list[Cuts], keys: Index, n: int) -> Floats:
    """Return A'y at some sorted keys."""
    out = np.zeros(len(keys))
    for cut in cuts:
        rows = FAMILIES[cut.family].rows(cut.index, (n, n))
        own = keys_of(rows.a, rows.b, n)
        place = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        here = keys[place] == own
        terms = cut.multipliers[rows.row_of_term()] * rows.coefficient
        np.add.at(out, place[here], terms[here])
    return out
