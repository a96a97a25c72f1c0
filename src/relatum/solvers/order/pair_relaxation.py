"""What the linear relaxations of all kinds of orders share: columns of pairs, rows of triples."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Self

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.lp import FirstOrderLP
from relatum.proof import Cuts, Proof
from relatum.solvers.incumbent import Incumbent

Wrap = Callable[[Proof], Proof]
Expired = Callable[[], bool]


class ImprovingIncumbent(Incumbent):
    """An incumbent that looks for better relations where a relaxation suggests them."""

    def improve(self, x: Floats, rng: np.random.Generator) -> None:
        """Search from relations that a point suggests."""

    def take(self, x: Floats) -> None:
        """Look at an integral point that is feasible."""


class PairRelaxation:
    """A linear program with a column for some of the ordered pairs of n elements.

    Parameters
    ----------
    c : float64 array (n, n)
    a, b : int64 arrays
        The ordered pair behind each column.
    column : int64 array (n, n)
        The column of each pair.
    expired : callable, optional
        Asked often; once it says True, everything returns what it has.
    """

    def __init__(
        self, c: Floats, a: Index, b: Index, column: Index, expired: Expired | None = None
    ) -> None:
        self.n, self.a, self.b, self.column, self.expired = len(c), a, b, column, expired
        self.lp = FirstOrderLP(np.ascontiguousarray(c[a, b]), expired=expired)

    def copy(self) -> Self:
        """Return an independent copy, with the same rows, point and multipliers."""
        other = copy(self)
        other.lp = self.lp.copy()
        return other

    def point(self) -> Floats:
        """Return the current point as a full matrix."""
        raise NotImplementedError

    def separate(self, x: Floats, tolerance: float, per_pair: int) -> float:
        """Add rows that x violates by more than the tolerance; return the largest violation."""
        raise NotImplementedError

    def add_half_cuts(self, x: Floats, limit: int, rng: np.random.Generator) -> int:
        """Add {0,1/2}-cuts that x violates; return how many."""
        return 0

    def cuts(self) -> tuple[Cuts, ...]:
        """Return rows and multipliers as a certificate names them."""
        raise NotImplementedError

    def fixable(self, target: float) -> tuple[Index, Flags]:
        """Return open pairs and values whose opposite has a bound of at most `target`."""
        r = self.lp.reduced
        open_ = (self.lp.lower < self.lp.upper) & (r != 0)
        sure = open_ & (np.abs(r) - self.lp.error >= self.lp.bound - target)
        return np.column_stack([self.a[sure], self.b[sure]]), r[sure] > 0

    def assign(self, pairs: Index, values: Flags) -> tuple[Wrap, bool]:
        """Fix pairs and what follows; return what to wrap a proof in, and if it is consistent."""
        raise NotImplementedError

    def finish(self, incumbent: ImprovingIncumbent, states: int) -> bool:
        """Finish what is open outright, if that takes few states; offer the best to the incumbent.

        True if no relation is better then; a checker is left to see that for itself.
        """
        return False

    def branch_pair(self) -> tuple[int, int] | None:
        """Return an open pair near one half that is heavy; None if no pair is open."""
        lp = self.lp
        weight = np.abs(lp.objective)
        score = (0.5 - np.abs(lp.x - 0.5)) * (1 + weight / max(float(weight.mean()), 1e-300))
        score = np.where(lp.lower < lp.upper, score, -1.0)
        k = int(np.argmax(score))
        return (int(self.a[k]), int(self.b[k])) if score[k] >= 0 else None

    def add_triples(self, name: str, triples: Index, low: float, high: float) -> None:
        """Add rows low <= x_ij + x_jk - x_ik <= high, but for those that the pool has already."""
        block = self.lp.pool.get(name)
        if block is not None:
            power = np.array([self.n * self.n, self.n, 1])
            known = np.append(np.sort(block.index @ power), self.n**3)
            key = triples @ power
            triples = triples[known[np.searchsorted(known, key)] != key]
        i, j, k = triples.T
        columns = np.column_stack([self.column[i, j], self.column[j, k], self.column[i, k]])
        self.lp.add_triples(name, triples, columns, low, high)
