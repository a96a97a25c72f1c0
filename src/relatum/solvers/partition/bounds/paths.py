"""The linear relaxation of a sparse clustering: paths that close over pairs, by separation.

There is a column for every listed pair, and for unlisted pairs two steps apart that the
background or a group speaks against; rows say that the ends of a path of related pairs are
related. Every chordless cycle of listed pairs can become a row, so that without a
background the bound tends to that of the full linear relaxation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relatum.array_types import Floats, Index
from relatum.kernels.partition.packing import compressed_pairs
from relatum.kernels.partition.paths import short_paths
from relatum.lp import FirstOrderLP, RowBlock
from relatum.problem import Problem, SparseScores
from relatum.proof import Cuts, gap_to_close, path_rows, round_up
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import ListedArrays, group_states, keys_of, listed_arrays
from relatum.solvers.partition.bounds.known import Known, Proved, cuts_of, is_closed, pays, raised
from relatum.solvers.partition.bounds.packing import PACKING
from relatum.solvers.partition.exact.node import pool_cuts

WIDTH = max(PACKING.lengths) + 1  # elements of the longest path that becomes a row


@dataclass(frozen=True)
class PathSettings:
    """What an improvement of a bound may spend; pairs are those looked at in search of paths."""

    rounds: int = 1_000  # of linear programming and separation
    iterations: int = 100  # of the linear programming engine, per round
    scans: int = 20_000  # pairs per element that paths begin at
    more_scans: int = 200  # pairs per path searched for, in addition
    patience: int = 5  # rounds in which a hundredth of the gap must be closed
    violation: float = 0.1  # of the rows looked for at first
    least_violation: float = 0.004  # of the rows looked for when all larger ones are found
    few_new: float = 0.01  # share of new rows below which smaller violations are looked for
    wedges: int = 5_000_000  # steps over two pairs up to which all may close over a column
    chunk: int = 20_000_000  # terms of rows passed over between two looks at the clock


QUICK = PathSettings(rounds=8, scans=10_000)
THOROUGH = PathSettings()


def path_bound(
    problem: Problem, known: Known, control: Control, settings: PathSettings = THOROUGH
) -> Proved:
    """Improve the bound of some paths and multipliers.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, with sparse scores and a background of at most zero.
    known : Known
        A proof by paths: that of a packing; the value of a partition.
    control : Control
    settings : PathSettings
    """
    relaxation = _PathRelaxation(problem, cuts_of(known.proof), control.expired, settings)
    relaxation.improve(known.value, control)
    bound = round_up(relaxation.best + relaxation.constant, relaxation.magnitude)
    return raised(bound, 0.0, pool_cuts(relaxation.best_pool))


class _PathRelaxation:
    """Rows and multipliers of a sparse clustering problem."""

    def __init__(
        self,
        problem: Problem,
        cuts: tuple[Cuts, ...],
        expired: Callable[[], bool],
        settings: PathSettings,
    ) -> None:
        self.n, self.settings = problem.n, settings
        listed = listed_arrays(problem)
        self.constant = listed.constant
        self.magnitude = _own_magnitude(problem)
        self.keys, own, state = _columns(problem, listed, cuts, settings.wedges)
        self.graph = compressed_pairs(self.keys // self.n, self.keys % self.n, self.n)
        lower, upper = (state == 1).astype(np.float64), (state != 0).astype(np.float64)
        self.lp = FirstOrderLP(own, lower, upper, expired=expired)
        for cut in cuts:
            self._add(_oriented(cut.index), cut.multipliers)
        self.lp.evaluate()
        self._record()

    def _record(self) -> None:
        self.best = self.lp.bound
        self.best_pool: dict[str, RowBlock] = dict(self.lp.pool)

    def _add(self, index: Index, multipliers: Floats) -> None:
        """Add paths, those of two pairs as triples, and the multipliers they start with."""
        short = (index >= 0).sum(axis=1) == 3
        for name, rows in (("transitive", short), ("path", ~short)):
            if not rows.any():
                continue
            own = index[rows, :3] if name == "transitive" else index[rows]
            terms = path_rows(own, (self.n, self.n))
            columns = np.searchsorted(self.keys, keys_of(terms.a, terms.b, self.n))
            if name == "transitive":
                self.lp.add_triples(name, own, columns.reshape(-1, 3))
            else:
                parts = (terms.coefficient.astype(np.float64), columns, terms.start)
                matrix = sparse.csr_array(parts, shape=(len(terms), len(self.keys)))
                self.lp.add_rows(name, own, matrix, high=terms.rhs.astype(np.float64))
            self.lp.pool[name].multipliers[-len(terms) :] = multipliers[rows]

    def separate(self, violation: float, control: Control) -> int:
        """Add paths violated by more than so much; return how many."""
        most = len(self.keys) + 16
        index, violated = np.empty((most, WIDTH), dtype=np.int32), np.empty(most)
        x, scans = self.lp.x, self.settings.scans
        limits = violation, scans, self.settings.more_scans
        # an element of many pairs that are not related searches for all of them at once
        open_keys = self.keys[x < 1 - violation]
        ends = np.concatenate([open_keys // self.n, open_keys % self.n])
        sources = np.argsort(-np.bincount(ends, minlength=self.n), kind="stable")
        span, room = (0, self.n), (index, violated, 0)
        count = short_paths(self.graph, x, sources, span, limits, *room, control.expired)
        found = _oriented(index[:count].astype(np.int64))
        known = [_names(block.index) for block in self.lp.pool.values()]
        new = found[~np.isin(_names(found), np.concatenate(known))] if known else found
        self._add(new, np.zeros(len(new)))
        return len(new)

    def run(self, control: Control) -> None:
        """Iterate, looking at the clock now and then, and remember the best bound."""
        terms, iterations = 3 * self.lp.n_rows + len(self.keys), self.settings.iterations
        chunk = max(20, min(iterations, self.settings.chunk // max(1, terms)))
        for _ in range(0, iterations, chunk):
            self.lp.run(chunk)
            if self.lp.bound < self.best:
                self._record()
            if control.expired():
                break

    def improve(self, value: float, control: Control) -> None:
        """Alternate linear programming and separation while that pays.

        ``value`` is that of a partition: where the bound meets it there is nothing to do.
        """
        settings, violation, bounds = self.settings, self.settings.violation, [self.best]
        for _ in range(settings.rounds):
            added = self.separate(violation, control)
            if control.expired():
                break
            self.run(control)
            self.lp.drop_idle()
            bounds.append(self.best)
            control.report(value, max(value, self.best + self.constant), 0, self.lp.n_rows)
            gap = gap_to_close(self.best + self.constant, value)
            if is_closed(gap) or control.expired():
                break
            if added < settings.few_new * self.lp.n_rows:
                violation = max(0.4 * violation, settings.least_violation)
            if not pays(bounds, settings.patience, gap):
                break


def _own_magnitude(problem: Problem) -> float:
    """Return the sum of the absolute log-odds of elements with themselves."""
    scores = problem.scores
    assert isinstance(scores, SparseScores)
    return float(np.abs(scores.log_odds[scores.i == scores.j]).sum(dtype=np.float64))


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
    problem: Problem, listed: ListedArrays, cuts: tuple[Cuts, ...], wedges: int
) -> tuple[Index, Floats, NDArray[np.int8]]:
    """Return sorted keys, log-odds and states of the pairs with a column."""
    wanted = ((listed.log_odds > 0) & (listed.state != 0)) | (listed.state == 1)
    closing = [_closing(problem, listed.keys[wanted], wedges)]
    for cut in cuts:
        terms = path_rows(cut.index, (problem.n, problem.n))
        closing.append(keys_of(terms.a, terms.b, problem.n))
    keys = np.union1d(listed.keys, np.concatenate(closing))
    place = np.searchsorted(keys, listed.keys)
    own, state = np.full(len(keys), problem.background), group_states(problem, keys)
    own[place], state[place] = listed.log_odds, listed.state
    return keys, own, state


def _closing(problem: Problem, positive: Index, wedges: int) -> Index:
    """Return keys of pairs two positive steps apart that something speaks against.

    If these are too many, none: then those of the packing have to do.
    """
    n = problem.n
    i, j = positive // n, positive % n
    steps = float((np.bincount(np.concatenate([i, j]), minlength=n).astype(np.float64) ** 2).sum())
    if (problem.background >= 0 and not problem.feasible.groups) or steps > wedges:
        return np.empty(0, dtype=np.int64)
    half = sparse.coo_array((np.ones(len(i), dtype=np.int32), (i, j)), shape=(n, n))
    both = sparse.csr_array(half + half.T)
    two = sparse.coo_array(sparse.triu(both @ both, 1))
    keys: Index = np.asarray(two.row, dtype=np.int64) * n + np.asarray(two.col, dtype=np.int64)
    if problem.background < 0:
        return keys
    return np.asarray(keys[group_states(problem, keys) == 0])
