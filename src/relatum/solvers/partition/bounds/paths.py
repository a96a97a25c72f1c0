"""The linear relaxation of a sparse clustering: paths that close over pairs, by separation.

There is a column for every listed pair, and for unlisted pairs two steps apart that the
background or a group speaks against; rows say that the ends of a path of related pairs are
related. Every chordless cycle of listed pairs can become a row, so that without a
background the bound tends to that of the full linear relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.partition.paths import short_paths
from relatum.lp import FirstOrderLP, RowBlock
from relatum.problem import Problem, SparseScores
from relatum.proof import Cuts, Proof, gap_to_close, path_rows
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.packing import LENGTHS, adjacency, raised, sparse_pairs

__all__ = ["QUICK", "THOROUGH", "PathEffort", "PathRelaxation"]

WIDTH = max(LENGTHS) + 1
FEW = 0.01  # share of new rows below which separation looks for smaller violations
WEDGES = 5_000_000  # steps over two pairs up to which all of them may close over a column
MORE = 200  # pairs looked at for each path searched for, beyond those of the effort
CHUNK = 20_000_000  # terms of rows passed over between two looks at the clock
SEARCHED = 100_000_000  # and pairs looked at in search of paths


@dataclass(frozen=True)
class PathEffort:
    """What an improvement of a bound may spend.

    Attributes
    ----------
    rounds : int
        Rounds of linear programming and separation.
    iterations : int
        Of the linear programming engine, a round.
    scans : int
        Pairs looked at in search of paths from one element.
    patience : int
        Rounds in which a hundredth of the gap must be closed.
    """

    rounds: int
    iterations: int = 100
    scans: int = 20_000
    patience: int = 5


QUICK = PathEffort(rounds=8, scans=10_000)
THOROUGH = PathEffort(rounds=1_000)


class PathRelaxation:
    """Rows and multipliers of a sparse clustering problem.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, with sparse scores and a background of at most zero.
    cuts : sequence of Cuts
        Rows and multipliers to start from: those of a packing.
    """

    def __init__(self, problem: Problem, cuts: tuple[Cuts, ...]) -> None:
        scores = problem.scores
        assert isinstance(scores, SparseScores)
        self.n = problem.n
        off = scores.i != scores.j
        self.constant = float(scores.log_odds[~off].sum(dtype=np.float64))
        self.keys, own, state = _columns(problem, scores, off, cuts)
        self.magnitude = float(np.abs(own).sum())
        self.graph = adjacency(self.keys // self.n, self.keys % self.n, self.n)
        lower, upper = (state == 1).astype(np.float64), (state != 0).astype(np.float64)
        self.lp = FirstOrderLP(own, lower, upper)
        for cut in cuts:
            self._add(_oriented(cut.index), cut.multipliers)
        self.lp.evaluate()
        self._record()

    def _record(self) -> None:
        self.best = self.lp.bound
        self.best_pool: dict[str, RowBlock] = dict(self.lp.pool)

    def proved(self) -> tuple[float, Proof]:
        """Return the best bound so far and its proof."""
        found = (Cuts(k, b.index, b.multipliers).positive() for k, b in self.best_pool.items())
        return raised(self.best + self.constant, self.magnitude, list(found))

    def _add(self, index: Index, multipliers: Floats) -> None:
        """Add paths, those of two pairs as triples, and the multipliers they start with."""
        short = (index >= 0).sum(axis=1) == 3
        for name, rows in (("transitive", short), ("path", ~short)):
            if not rows.any():
                continue
            own = index[rows, :3] if name == "transitive" else index[rows]
            terms = path_rows(own, (self.n, self.n))
            key = np.minimum(terms.a, terms.b) * self.n + np.maximum(terms.a, terms.b)
            columns = np.searchsorted(self.keys, key)
            if name == "transitive":
                self.lp.add_triples(name, own, columns.reshape(-1, 3))
            else:
                parts = (terms.coefficient.astype(np.float64), columns, terms.start)
                matrix = sparse.csr_array(parts, shape=(len(terms), len(self.keys)))
                self.lp.add_rows(name, own, matrix, high=terms.rhs.astype(np.float64))
            self.lp.pool[name].multipliers[-len(terms) :] = multipliers[rows]

    def separate(self, threshold: float, scans: int, control: Control) -> int:
        """Add paths violated by more than the threshold; return how many."""
        most = len(self.keys) + 16
        index, violation = np.empty((most, WIDTH), dtype=np.int32), np.empty(most)
        x, limits = self.lp.x, (threshold, scans, MORE)
        # an element of many pairs that are not related searches for all of them at once
        open_keys = self.keys[x < 1 - threshold]
        ends = np.concatenate([open_keys // self.n, open_keys % self.n])
        sources = np.argsort(-np.bincount(ends, minlength=self.n), kind="stable")
        count, step = 0, max(1, SEARCHED // scans)
        for first in range(0, self.n, step):
            span = first, min(self.n, first + step)
            if not control.expired():
                room = index, violation, count
                count = short_paths(self.graph, x, sources, span, limits, *room)
        found = _oriented(index[:count].astype(np.int64))
        known = [_names(block.index) for block in self.lp.pool.values()]
        new = found[~np.isin(_names(found), np.concatenate(known))] if known else found
        self._add(new, np.zeros(len(new)))
        return len(new)

    def run(self, iterations: int, control: Control) -> None:
        """Iterate, looking at the clock now and then, and remember the best bound."""
        terms = 3 * self.lp.n_rows + len(self.keys)
        chunk = max(20, min(iterations, CHUNK // max(1, terms)))
        for _ in range(0, iterations, chunk):
            self.lp.run(chunk)
            if self.lp.bound < self.best:
                self._record()
            if control.expired():
                break

    def improve(self, effort: PathEffort, value: float, control: Control) -> None:
        """Alternate linear programming and separation while that pays.

        ``value`` is that of a partition: where the bound meets it there is nothing to do.
        """
        threshold = 0.1
        history = [self.best]
        for _ in range(effort.rounds):
            added = self.separate(threshold, effort.scans, control)
            if control.expired():
                break
            self.run(effort.iterations, control)
            self.lp.drop_idle()
            history.append(self.best)
            control.report(value, max(value, self.best + self.constant), 0, self.lp.n_rows)
            gap = gap_to_close(self.best + self.constant, value)
            if gap <= 1e-9 * (1 + self.magnitude) or control.expired():
                break
            if added < FEW * self.lp.n_rows:
                threshold = max(0.4 * threshold, 0.004)
            before = history[-1 - effort.patience] if len(history) > effort.patience else np.inf
            if before - self.best < 0.01 * gap:
                break


def _oriented(index: Index) -> Index:
    """Return paths of full width, each from its smaller end to its larger one."""
    length = (index >= 0).sum(axis=1)
    swap = index[:, 0] > index[np.arange(len(index)), length - 1]
    place = np.arange(index.shape[1])
    mirrored = np.where(place < length[:, None], length[:, None] - 1 - place, place)
    turned = np.take_along_axis(index, mirrored, axis=1)
    chosen = np.where(swap[:, None], turned, index)
    return np.pad(chosen, ((0, 0), (0, WIDTH - index.shape[1])), constant_values=-1)


def _names(index: Index) -> NDArray[np.uint64]:
    """Return a number for each path; two paths hardly ever share one, and may."""
    out = np.zeros(len(index), dtype=np.uint64)
    for k in range(WIDTH):
        element = index[:, k] + 1 if k < index.shape[1] else np.zeros(len(index), dtype=np.int64)
        out = (out + element.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out


def _columns(
    problem: Problem, scores: SparseScores, off: Flags, cuts: tuple[Cuts, ...]
) -> tuple[Index, Floats, NDArray[np.int8]]:
    """Return sorted keys, log-odds and states of the pairs with a column."""
    n = problem.n
    listed, own, state = sparse_pairs(problem, scores, off)
    closing = [_closing(problem, listed[((own > 0) & (state != 0)) | (state == 1)])]
    for cut in cuts:
        terms = path_rows(cut.index, (n, n))
        closing.append(np.minimum(terms.a, terms.b) * n + np.maximum(terms.a, terms.b))
    keys = np.union1d(listed, np.concatenate(closing))
    place = np.searchsorted(keys, listed)
    all_own, all_state = np.full(len(keys), problem.background), _group_states(problem, keys)
    all_own[place], all_state[place] = own, state
    return keys, all_own, all_state


def _group_states(problem: Problem, keys: Index) -> NDArray[np.int8]:
    """Return 0 for pairs of a group, which are unrelated, and -1 for all others."""
    state = np.full(len(keys), -1, dtype=np.int8)
    for group in problem.feasible.groups:
        state[group.codes[keys // problem.n] == group.codes[keys % problem.n]] = 0
    return state


def _closing(problem: Problem, positive: Index) -> Index:
    """Return keys of pairs two positive steps apart that something speaks against.

    If these are too many, none: then those of the packing have to do.
    """
    n = problem.n
    i, j = positive // n, positive % n
    steps = float((np.bincount(np.concatenate([i, j]), minlength=n).astype(np.float64) ** 2).sum())
    if (problem.background >= 0 and not problem.feasible.groups) or steps > WEDGES:
        return np.empty(0, dtype=np.int64)
    half = sparse.coo_array((np.ones(len(i), dtype=np.int32), (i, j)), shape=(n, n))
    both = sparse.csr_array(half + half.T)
    two = sparse.coo_array(sparse.triu(both @ both, 1))
    keys: Index = np.asarray(two.row, dtype=np.int64) * n + np.asarray(two.col, dtype=np.int64)
    if problem.background < 0:
        return keys
    return np.asarray(keys[_group_states(problem, keys) == 0])
