"""Local search for preorders, partial orders and weak orders: elements and whole classes move."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.order.preorder_search import preorder_search, weak_order_search

Expired = Callable[[], bool]


def classes_of(y: Flags) -> Index:
    """Return a label per element: classes of elements related both ways, by first element."""
    first = (y & y.T).argmax(axis=1)
    return np.unique(first, return_inverse=True)[1].astype(np.int64)


def _summed(values: Floats, labels: Index) -> Floats:
    """Add up what holds between classes; the diagonal is zero."""
    g = int(labels.max()) + 1
    out = np.zeros((g, g))
    np.add.at(out, (labels[:, None], labels[None, :]), values)
    np.fill_diagonal(out, 0.0)
    return out


class PreorderSearch:
    """Search among the preorders that have some more properties.

    Parameters
    ----------
    c : float64 array (n, n)
        Scores of ordered pairs.
    state : int8 array (n, n)
        1 related, 0 unrelated, -1 open; closed under the properties.
    start : bool array (n, n)
        A feasible relation.
    ties : bool
        Whether two elements may be related both ways.
    connex : bool
        Whether two elements must be related at least one way.
    seed : int
    expired : callable
        Asked often, if given; once it says True, every climb returns what it has.
    """

    def __init__(
        self,
        c: Floats,
        state: NDArray[np.int8],
        start: Flags,
        *,
        ties: bool,
        connex: bool,
        seed: int = 0,
        expired: Expired | None = None,
    ) -> None:
        self.yes = np.ascontiguousarray(np.where(state == 0, -np.inf, c))
        self.no = np.ascontiguousarray(np.where(state == 1, -np.inf, 0.0))
        for m in (self.yes, self.no):
            np.fill_diagonal(m, 0.0)
        self.c, self.ties, self.connex = c, ties, connex
        self.expired = expired
        self.least = 1e-9 * float(np.abs(c).max(initial=0.0)) + 1e-300
        self.rng = np.random.default_rng(seed)
        self.best = start.copy()
        self.value = -math.inf
        self.offer(start)

    def offer(self, y: Flags) -> bool:
        """Improve a feasible relation; keep it if it is the best."""
        y = self._climb(y)
        value = math.fsum(self.c[y].tolist())
        if value <= self.value:  # exact sums: nothing cycles on rounding
            return False
        self.best, self.value = y, value
        return True

    def _climb(self, y: Flags) -> Flags:
        """Move elements, then whole classes, until neither gains."""
        while True:
            y, gain = self._step(y, self.yes, self.no)
            labels = classes_of(y)
            if len(labels) == labels.max() + 1:
                return y
            first = np.unique(labels, return_index=True)[1]
            small = y[np.ix_(first, first)]
            small, gain = self._step(small, _summed(self.yes, labels), _summed(self.no, labels))
            if gain <= self.least:
                return y
            y = small[np.ix_(labels, labels)]
            if self.expired is not None and self.expired():
                return y

    def _step(self, y: Flags, yes: Floats, no: Floats) -> tuple[Flags, float]:
        if self.connex:
            rank = np.unique(-y.sum(axis=1), return_inverse=True)[1].astype(np.int64)
            gain = weak_order_search(rank, yes, no, self.least, self.expired)
            return np.asarray(rank[:, None] <= rank[None, :]), float(gain)
        y = y.copy()
        return y, float(preorder_search(y, yes, no, self.ties, self.least, self.expired))

    def kick(self, strength: int = 3) -> bool:
        """Put some elements beside others at random and climb; keep what is better."""
        y = self.best.copy()
        n = len(y)
        for _ in range(strength):
            e, f = self.rng.integers(0, n, 2).tolist()
            trial = self._beside(y, e, f, int(self.rng.integers(4)))
            if e != f and self._allowed(trial):
                y = trial
        return self.offer(y)

    def _beside(self, y: Flags, e: int, f: int, kind: int) -> Flags:
        """Return y with e like f, and also tied with, after or before it, or apart from all."""
        y = y.copy()
        y[e], y[:, e] = y[f], y[:, f]
        tied = y[f] & y[:, f]
        y[e, tied] = y[tied, e] = False
        if kind == 0 and self.ties:
            y[e, tied] = y[tied, e] = True
        elif kind == 1:
            y[e, tied] = True
        elif kind == 2 or self.connex:
            y[tied, e] = True
        elif kind == 3:
            y[e], y[:, e] = False, False
        y[e, e] = True
        return y

    def _allowed(self, y: Flags) -> bool:
        return bool(np.isfinite(np.where(y, self.yes, self.no)).all())
