"""Cutting planes along a partition: rows that it satisfies with equality, and no others.

A row x_ab + x_bc - x_ac <= 1 is one of them if b and c are in one set. There are far fewer than
rows of any three elements, a search for violated ones is quick, and no others are needed to prove
that the partition is best, where triangles can prove it. Rows are kept sorted by the set of b and
c, then by a: what neighbouring rows read and write is then in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.triangle_steps import (
    bound_of_triangles,
    iterate_triangles,
    violated_along,
)
from relatum.problem import condensed_places
from relatum.solvers.partition.arrays import FAR


@dataclass(frozen=True)
class AlongSettings:
    """Which rows are added per round, and how many iterations are made."""

    iterations: int = 40  # of the first round; each other has as many as the one before, and
    more_iterations: int = 20  # up to
    most_iterations: int = 120
    violation: float = 0.05  # of the rows looked for at first
    closer: float = 0.4  # what that is multiplied by when few are found
    few: float = 0.01  # share of new rows that counts as few
    added: float = 0.45  # rows added per pair and round at most
    share: float = 0.2  # of the largest violation, that a row must have
    per_pair: int = 8  # rows that bound the same pair from below, per round
    slack: float = 0.08  # of a row with multiplier zero that is idle
    idle: int = 3  # rounds after which an idle row is dropped
    most_units: float = 1e6  # mean log-odds from which on a pair counts as decided

    def iterations_of(self, k: int) -> int:
        """Return the iterations of the round with this number, from 0 on."""
        return min(self.most_iterations, self.iterations + self.more_iterations * k)


ALONG = AlongSettings()


class Triangles(NamedTuple):
    """Rows x_ab + x_bc - x_ac <= 1, given by (a, b, c), and their multipliers."""

    rows: NDArray[np.int32]
    multipliers: Floats


class AlongPartition:
    """A linear relaxation with rows along a partition, to be lowered round by round.

    Parameters
    ----------
    scores : float64 array
        Log-odds, condensed; elements are sorted by set.
    labels : int64 array
        The set of each element, in ascending order, from 0 on.
    rows : Triangles
        To start from.
    expired : callable, optional

    Attributes
    ----------
    proof : Triangles
        The rows, with multipliers, of the best bound so far.
    """

    def __init__(
        self,
        scores: Floats,
        labels: Index,
        rows: Triangles,
        expired: Callable[[], bool] | None = None,
        settings: AlongSettings = ALONG,
    ) -> None:
        self.labels, self.settings, self._expired = labels, settings, expired
        self._violation, self._rounds = settings.violation, 0
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
        self._columns = np.zeros((7, scores.size), dtype=np.float32)
        size = np.abs(scores)
        near = size[size < FAR / 2]
        self._unit = (float(near.mean()) if near.any() else 0.0) or 1.0
        # a pair that is decided beforehand stays as it is, whatever rows take from it
        most = settings.most_units
        self._scores = np.clip(scores / self._unit, -most, most)
        self._columns[0] = self._scores
        self._columns[2] = scores > 0
        self._control = np.array([1.0, 0.0, 1.0])
        index = self._in_order(rows.rows)
        keys, first, same = np.unique(self._keys(index), return_index=True, return_inverse=True)
        self._known, self._index = keys, index[first]
        self._triples = self._columns_of(self._index)
        sums = np.bincount(same, weights=rows.multipliers / self._unit, minlength=len(keys))
        self._multipliers = sums.astype(np.float32)
        self._idle = np.zeros(len(keys), dtype=np.int8)
        self._best, self.proof = np.inf, rows
        self._evaluate()

    def _in_order(self, index: NDArray[np.int32]) -> NDArray[np.int32]:
        """Name rows so that b and c share a set where they can, and a < c where that says nothing.

        (a, b, c) and (c, b, a) are the same row.
        """
        a, b, c = index.T
        outside_a, outside_c = (self.labels[v] != self.labels[b] for v in (a, c))
        swap = np.where(outside_a == outside_c, a > c, outside_c)
        return np.where(swap[:, None], index[:, ::-1], index)

    def _keys(self, index: NDArray[np.int32]) -> Index:
        a, b, c = index.T.astype(np.int64)
        n = len(self.labels)
        return np.asarray(((self.labels[b] * n + a) * n + b) * n + c)

    def _columns_of(self, index: NDArray[np.int32]) -> NDArray[np.int32]:
        a, b, c = index.T
        n = len(self.labels)
        ends = ((a, b), (b, c), (a, c))
        return np.stack([condensed_places(*e, n).astype(np.int32) for e in ends], axis=1)

    def point(self) -> NDArray[np.float32]:
        """Return the current point, condensed; it satisfies rows approximately."""
        return np.asarray(self._columns[2])

    def run(self) -> None:
        """Add violated rows, iterate, and drop rows that have long been idle."""
        settings = self.settings
        before = len(self._known)
        if self._add() <= settings.few * before:
            self._violation *= settings.closer
        iterations = settings.iterations_of(self._rounds)
        rows = self._triples, self._columns, self._multipliers
        iterate_triangles(*rows, self._control, iterations, self._expired)
        self._rounds += 1
        self._evaluate()
        self._drop()

    def _evaluate(self) -> None:
        bound = bound_of_triangles(self._scores, self._triples, self._multipliers)
        if bound < self._best:
            kept = self._multipliers > 0
            self._best = bound
            multipliers = self._unit * self._multipliers[kept].astype(np.float64)
            self.proof = Triangles(self._index[kept], multipliers)

    def _add(self) -> int:
        """Add violated rows, the most violated few of those with the same third pair."""
        settings = self.settings
        x = self.point()
        index, violation = violated_along(x, self._starts, self._violation, self._expired)
        if not len(violation) or (self._expired is not None and self._expired()):
            return 0
        large = np.flatnonzero(violation >= settings.share * violation.max())
        keys, first = np.unique(self._keys(index[large]), return_index=True)
        place = np.minimum(np.searchsorted(self._known, keys), len(self._known) - 1)
        new = self._known[place] != keys if len(self._known) else np.ones(len(keys), np.bool_)
        keys, index, violation = keys[new], index[large[first[new]]], violation[large[first[new]]]
        triples = self._columns_of(index)
        order = np.lexsort((-violation, triples[:, 2]))
        starts = np.flatnonzero(np.diff(triples[order, 2], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        chosen = order[rank < settings.per_pair]
        most = int(settings.added * self._scores.size)
        if len(chosen) > most:
            chosen = chosen[np.argsort(-violation[chosen], kind="stable")[:most]]
        self._insert(keys[chosen], index[chosen], triples[chosen])
        return len(chosen)

    def _insert(self, keys: Index, index: NDArray[np.int32], triples: NDArray[np.int32]) -> None:
        order = np.argsort(np.concatenate([self._known, keys]), kind="stable")
        self._known = np.concatenate([self._known, keys])[order]
        self._index = np.concatenate([self._index, index])[order]
        self._triples = np.concatenate([self._triples, triples])[order]
        zeros = np.zeros(len(keys), dtype=np.float32)
        self._multipliers = np.concatenate([self._multipliers, zeros])[order]
        self._idle = np.concatenate([self._idle, zeros.astype(np.int8)])[order]

    def _drop(self) -> None:
        x = self.point()
        i, j, k = self._triples.T
        slack = (x[i] + x[j] - x[k] < 1.0 - self.settings.slack) & (self._multipliers == 0)
        self._idle = np.where(slack, self._idle + np.int8(1), np.int8(0))
        kept = self._idle < self.settings.idle
        if not kept.all():
            self._known, self._index = self._known[kept], self._index[kept]
            self._triples, self._multipliers = self._triples[kept], self._multipliers[kept]
            self._idle = self._idle[kept]
