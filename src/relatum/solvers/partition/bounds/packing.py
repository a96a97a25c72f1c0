"""Bounds for large clusterings: greedy packing of conflicts, with a certificate.

The bound "sum of the positive log-odds" ignores transitivity. Packing conflicts into the
log-odds (see `relatum.kernels.partition.packing`) brings it down to within a few percent of the
optimum in about the time that a good heuristic needs, in memory proportional to the scored
pairs, and the rows and multipliers used are the certificate.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.hashing import table_length
from relatum.kernels.partition.packing import enter_keys, pack_paths, pack_triangles, pack_wedges
from relatum.problem import Problem, SparseScores
from relatum.proof import FAMILIES, Cuts, Leaf, Proof
from relatum.solvers.trivial_bound import trivial_bound

__all__ = [
    "FAR",
    "LENGTHS",
    "MOST_DENSE",
    "PROBES",
    "DensePacking",
    "adjacency",
    "packing_bound",
    "raised",
    "sparse_pairs",
]

FAR = 1e15  # stands for the log-odds of pairs that evidence decides
MOST_DENSE = 20_000  # elements up to which a condensed matrix of float64 is made
LENGTHS = (2, 3, 5, 10)
PROBES = 64


def packing_bound(
    problem: Problem, thorough: bool = False, seed: int = 0, guide: Index | None = None
) -> tuple[float, Proof]:
    """Bound the value of every partition, and prove it.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, with evidence and whatever else restricts them.
    thorough : bool
        Whether the bound may take several times as long as a good heuristic.
    seed : int
        Elements are looked at in a random order.
    guide : int64 array, optional
        Labels of a good partition. Rows that hold for it with equality are packed first, as
        only these can prove it best. (Of sparse problems; for dense ones see
        `relatum.solvers.partition.bounds.guided`.)

    Returns
    -------
    bound : float
        Raised by more than rounding may have lowered it.
    proof : Proof
    """
    if isinstance(problem.scores, SparseScores) and problem.background <= 0:
        return _sparse_bound(problem, problem.scores, thorough, guide)
    if problem.n > MOST_DENSE or problem.n < 3:
        return trivial_bound(problem)
    return _dense_bound(problem, thorough, seed)


def raised(total: float, magnitude: float, cuts: list[Cuts]) -> tuple[float, Proof]:
    """Raise a float bound to safety, and make a proof of what gave it."""
    return total + 1e-9 * (1 + magnitude), Leaf(tuple(c for c in cuts if len(c)))


def _sum_of_bests(residual: Floats, state: NDArray[np.int8]) -> float:
    """Sum the best of each pair: related pairs add what they have, unrelated ones nothing."""
    best = np.where(state == 1, residual, np.where(state == 0, 0.0, np.maximum(residual, 0.0)))
    return float(best.sum())


class DensePacking:
    """Residual log-odds of all pairs, and the triangles packed into them so far.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.

    Attributes
    ----------
    residual : float64 array
        Condensed; pairs that are decided beforehand have plus or minus `FAR`.
    index, multipliers : arrays
        Room for triangles; the first ``count`` are packed.
    size : float
        The mean of the absolute log-odds.
    """

    def __init__(self, problem: Problem) -> None:
        folded, self.constant = problem.folded()
        self.n = problem.n
        shared = folded is problem.log_odds or folded.dtype != np.float64
        self.residual: Floats = np.array(folded, dtype=np.float64) if shared else folded
        del folded
        residual = self.residual
        steps = range(0, residual.size, 1 << 20)  # nothing else of the size of all pairs is made
        self.magnitude = math.fsum(float(np.abs(residual[k : k + (1 << 20)]).sum()) for k in steps)
        self.size = self.magnitude / max(1, residual.size)
        self._places, self._state = _fixed_places(problem)
        self._own = residual[self._places]
        residual[self._places] = np.where(self._state == 1, FAR, -FAR)
        room = int(0.4 * residual.size) + 16
        self.index, self.multipliers = np.empty((room, 3), dtype=np.int32), np.empty(room)
        self.count = 0

    def proved(self) -> tuple[float, Proof]:
        """Return the bound and its proof; this uses the residuals up."""
        index, y = self.index[: self.count].astype(np.int64), self.multipliers[: self.count].copy()
        cuts = Cuts("transitive", index, y)
        del self.index, self.multipliers
        fixed = 0.0
        if len(self._places):
            self.residual[self._places] = 0.0
            prices = _prices(cuts, self.n)[self._places]
            fixed = _sum_of_bests(self._own - prices, self._state)
        total = float(np.maximum(self.residual, 0, out=self.residual).sum()) + self.constant + fixed
        return raised(total + float(cuts.multipliers.sum()), self.magnitude, [cuts])


def _dense_bound(problem: Problem, thorough: bool, seed: int) -> tuple[float, Proof]:
    p = DensePacking(problem)
    rng = np.random.default_rng(seed)
    for level in _levels(p.residual.size, thorough):
        order, least = rng.permutation(p.n), level * p.size
        rows = p.index, p.multipliers, p.count
        p.count = pack_triangles(p.residual, p.n, order, PROBES, least, *rows)
    return p.proved()


def _levels(n_pairs: int, thorough: bool) -> tuple[float, ...]:
    """Return the least residuals of the passes, in parts of the mean log-odds."""
    if n_pairs <= 2_000_000:
        return (2.0, 1.5, 1.0, 0.75, 0.5, 0.25, 0.1, 0.0)
    return (1.5, 1.0, 0.5, 0.25, 0.1) if thorough else (0.5,)


def _fixed_places(problem: Problem) -> tuple[Index, NDArray[np.int8]]:
    """Return the condensed places, and states, of the pairs that are decided beforehand."""
    if not (len(problem.evidence) or problem.feasible.groups):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
    n = problem.n
    both = np.maximum(problem.state, problem.state.T)
    i, j = np.nonzero(np.triu(both >= 0, 1))
    return i * (2 * n - i - 1) // 2 + j - i - 1, both[i, j]


def _prices(cuts: Cuts, n: int) -> Floats:
    """Return A'y of triangles, condensed."""
    out = np.zeros(n * (n - 1) // 2)
    a, b, c = cuts.index.T
    for p, q, sign in ((a, b, 1.0), (b, c, 1.0), (a, c, -1.0)):
        i, j = np.minimum(p, q), np.maximum(p, q)
        np.add.at(out, i * (2 * n - i - 1) // 2 + j - i - 1, sign * cuts.multipliers)
    return out


def _sparse_bound(
    problem: Problem, scores: SparseScores, thorough: bool, guide: Index | None
) -> tuple[float, Proof]:
    n = problem.n
    off = scores.i != scores.j
    keys, own, state = sparse_pairs(problem, scores, off)
    constant = float(scores.log_odds[~off].sum(dtype=np.float64))
    residual = np.where(state == 1, FAR, np.where(state == 0, -FAR, own))
    magnitude = float(np.abs(own).sum())
    cuts = _packed(problem, keys, residual, guide, 100_000 if thorough else 4_000)
    if (state >= 0).any():
        fixed = np.flatnonzero(state >= 0)
        residual[fixed] = own[fixed] - _path_prices(cuts, keys, n)[fixed]
    total = _sum_of_bests(residual, state) + constant
    for cut in cuts:
        sides = (cut.index >= 0).sum(axis=1) - 2  # a path of k pairs has k - 1 on its right
        total += float(sides @ cut.multipliers)
    return raised(total, magnitude, cuts)


def _packed(
    problem: Problem, keys: Index, residual: Floats, guide: Index | None, scans: int
) -> list[Cuts]:
    """Pack paths and wedges: first those along a partition, then any."""
    n = problem.n
    i, j = keys // n, keys % n
    graph = adjacency(i, j, n)
    near = np.abs(residual) < FAR / 2
    size = float(np.abs(residual[near]).mean()) if near.any() else 0.0
    table = _table(residual, keys) if problem.background < 0 and len(keys) else None
    cuts = []
    anything = np.zeros(n, dtype=np.int64)
    for labels in (anything,) if guide is None else (guide, anything):
        if table is not None and labels is guide:  # pairs between sets: bit for bit
            cuts.append(_packed_wedges(graph, residual, labels, problem.background, 1, table))
        cuts.append(_packed_paths(graph, residual, labels, (i, j), size, scans))
        if table is not None:
            cuts.append(_packed_wedges(graph, residual, labels, problem.background, 0, table))
    return [cut for cut in cuts if len(cut)]


def sparse_pairs(
    problem: Problem, scores: SparseScores, off: Flags
) -> tuple[Index, Floats, NDArray[np.int8]]:
    """Return sorted keys a * n + b of listed and decided pairs a < b, log-odds and states."""
    n = problem.n
    listed = scores.i[off] * n + scores.j[off]
    known = [np.sort(p, axis=1) for p in (problem.evidence.related, problem.evidence.unrelated)]
    known = [p[p[:, 0] != p[:, 1]] for p in known]
    given = [p[:, 0] * n + p[:, 1] for p in known]
    keys = np.union1d(listed, np.concatenate(given))
    own = np.full(len(keys), problem.background)
    own[np.searchsorted(keys, listed)] = scores.log_odds[off]
    state = np.full(len(keys), -1, dtype=np.int8)
    for group in problem.feasible.groups:
        state[group.codes[keys // n] == group.codes[keys % n]] = 0
    for value, pairs in ((1, given[0]), (0, given[1])):
        state[np.searchsorted(keys, pairs)] = value
    return keys, own, state


def adjacency(i: Index, j: Index, n: int) -> tuple[Index, Index, Index]:
    """Compressed rows of the graph of some pairs: pointers, neighbours, pair numbers."""
    ends, others = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.argsort(ends, kind="stable")
    pointer = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]).astype(np.int64)
    number = np.tile(np.arange(len(i), dtype=np.int64), 2)
    return pointer, others[order], number[order]


def _packed_paths(
    graph: tuple[Index, Index, Index],
    residual: Floats,
    labels: Index,
    pairs: tuple[Index, Index],
    size: float,
    scans: int,
) -> Cuts:
    """Close pairs with negative log-odds by paths, short ones and large conflicts first."""
    m = len(residual)
    large = m > 2_000_000
    inside = labels[pairs[0]] == labels[pairs[1]]
    guided = not inside.all()
    lengths = LENGTHS[: (3 if guided else 1) if large else len(LENGTHS)]
    width = max(lengths) + 1
    room = 2 * m + 16
    index, y = np.empty((room, width), dtype=np.int32), np.empty(room)
    count = 0
    for longest in lengths:
        level = 0.25 * size if longest == 2 else 0.0
        below = residual < -level
        if large and longest > 2:
            below &= inside  # a search that stays within a set is short
        bad = np.flatnonzero(below)
        bad = bad[np.argsort(residual[bad], kind="stable")]
        ends = np.column_stack([bad, pairs[0][bad], pairs[1][bad]])
        limits = level, longest, scans
        count = pack_paths(graph, residual, labels, ends, limits, index, y, count)
    return Cuts("path", index[:count].astype(np.int64), y[:count].copy())


def _table(residual: Floats, keys: Index) -> tuple[Index, Floats]:
    """Return a hash table with the listed pairs, and room for pairs that are not listed."""
    positive = int(np.count_nonzero(residual > 0))
    size = table_length(2 * len(keys) + 4 * positive + 16)
    table = np.full(size, -1, dtype=np.int64), np.zeros(size + 1)
    enter_keys(*table, keys)
    table[1][-1] = 0.75 * size - len(keys)
    return table


def _packed_wedges(
    graph: tuple[Index, Index, Index],
    residual: Floats,
    labels: Index,
    background: float,
    crossings: int,
    table: tuple[Index, Floats],
) -> Cuts:
    """Close pairs that are not listed, where these have a negative background."""
    room = 4 * int(np.count_nonzero(residual > 0)) + 16
    index, y = np.empty((room, 3), dtype=np.int32), np.empty(room)
    limits = background, PROBES, crossings
    count = pack_wedges(graph, residual, labels, limits, table, index, y, 0)
    return Cuts("transitive", index[:count].astype(np.int64), y[:count].copy())


def _path_prices(cuts: list[Cuts], keys: Index, n: int) -> Floats:
    """Return A'y at some sorted keys."""
    out = np.zeros(len(keys))
    for cut in cuts:
        rows = FAMILIES[cut.family].rows(cut.index, (n, n))
        own = np.minimum(rows.a, rows.b) * n + np.maximum(rows.a, rows.b)
        place = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        here = keys[place] == own
        terms = cut.multipliers[rows.row_of_term()] * rows.coefficient
        np.add.at(out, place[here], terms[here])
    return out
