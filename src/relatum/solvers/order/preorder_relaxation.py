"""The linear relaxation of preorders and their kin: one column per ordered pair.

Rows are x_ab + x_bc - x_ac <= 1, found as needed, and x_ab + x_ba <= 1 (antisymmetric) or
>= 1 (connex), all there from the start. The latter need not be in a certificate: checkers
bound mirror pairs together anyway.
"""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.separation import violated_transitivity
from relatum.problem import FeasibleSet
from relatum.proof import OPTIMAL_GAP, Cuts, Propagator, grid_of
from relatum.solvers.order.pair_relaxation import (
    Expired,
    ImprovingIncumbent,
    PairRelaxation,
    Wrap,
)
from relatum.solvers.order.preorder_search import PreorderSearch

TRIPLES = "transitive"
MIRRORS = "mirror"


class PreorderRelaxation(PairRelaxation):
    """Bounds on the sum of c over the related pairs off the diagonal.

    Parameters
    ----------
    c : float64 array (n, n)
    feasible : FeasibleSet
        Within PREORDERS; its simple properties only.
    state : int8 array (n, n)
        What is known, closed under the properties.
    expired : callable, optional
        As for `PairRelaxation`.
    """

    def __init__(
        self,
        c: Floats,
        feasible: FeasibleSet,
        state: NDArray[np.int8],
        expired: Expired | None = None,
    ) -> None:
        n = len(c)
        a, b = np.nonzero(~np.eye(n, dtype=np.bool_))
        column = np.zeros((n, n), dtype=np.int64)
        column[a, b] = np.arange(len(a))
        super().__init__(c, a, b, column, expired)
        self.propagator = Propagator(feasible)
        self.state = state.copy()
        self._fix_columns()
        self._add_mirrors(feasible)

    def _add_mirrors(self, feasible: FeasibleSet) -> None:
        i, j = np.triu_indices(self.n, 1)
        low = 1.0 if feasible.has("connex") else -np.inf
        high = 1.0 if feasible.has("antisymmetric") else np.inf
        if len(i) and (np.isfinite(low) or np.isfinite(high)):
            columns = np.column_stack([self.column[i, j], self.column[j, i]]).ravel()
            start = np.arange(0, 2 * len(i) + 1, 2)
            shape = (len(i), len(self.a))
            matrix = sparse.csr_array((np.ones(2 * len(i)), columns, start), shape=shape)
            self.lp.add_rows(MIRRORS, np.column_stack([i, j]), matrix, low, high)

    def _fix_columns(self) -> None:
        known = self.state[self.a, self.b]
        fixed = np.flatnonzero(known >= 0)
        self.lp.fix(fixed, known[fixed].astype(np.float64))

    def copy(self) -> Self:
        """Return an independent copy, with the same rows, point and multipliers."""
        other = super().copy()
        other.state = self.state.copy()
        return other

    def point(self) -> Floats:
        """Return the current point as a full matrix with ones on the diagonal."""
        x = np.eye(self.n)
        x[self.a, self.b] = self.lp.x
        return x

    def separate(self, x: Floats, tolerance: float, per_pair: int = 1) -> float:
        """Add transitive rows that x violates; return the largest violation found."""
        found, amount = violated_transitivity(x, tolerance, 20 * self.n * self.n, self.expired)
        if not len(found):
            return 0.0
        worst = float(amount.max())
        self.add_triples(TRIPLES, found[amount > 0.2 * worst], -np.inf, 1.0)
        return worst

    def cuts(self) -> tuple[Cuts, ...]:
        """Return the transitive rows with positive multipliers."""
        block = self.lp.pool.get(TRIPLES)
        if block is None or not len(block):
            return ()
        y = np.maximum(block.multipliers, 0.0)
        return (Cuts(TRIPLES, block.index[y > 0], y[y > 0]),) if (y > 0).any() else ()

    def assign(self, pairs: Index, values: Flags) -> tuple[Wrap, bool]:
        """Fix pairs and what follows; return what to wrap a proof in, and if it is consistent."""
        closure = self.propagator.close(self.state, pairs, values.astype(np.int64))
        self.state = closure.state
        if closure.conflict is None:
            self._fix_columns()
        return closure.proof, closure.conflict is None


class PreorderIncumbent(ImprovingIncumbent):
    """The best relation so far, rounded from points and improved by local search."""

    def __init__(
        self,
        search: PreorderSearch,
        relaxation: PreorderRelaxation,
        offset: float,
        gap: float = OPTIMAL_GAP,
    ) -> None:
        c = search.c * ~np.eye(len(search.c), dtype=np.bool_)
        super().__init__(grid=grid_of(c), offset=offset, gap=gap, share=0.5)
        self.search, self.c = search, c
        self.state, self.propagator = relaxation.state.copy(), relaxation.propagator
        self.update()

    def update(self) -> None:
        """Take the value of the best relation of the search."""
        self.value = math.fsum(self.c[self.search.best].tolist())

    def improve(self, x: Floats, rng: np.random.Generator) -> None:
        """Decide pairs from the clearest on, close what follows, and climb."""
        order = np.argsort(-np.abs(x - 0.5).ravel(), kind="stable").astype(np.int64)
        y = self.propagator.complete(self.state, order, x > 0.5, self.search.expired)
        if y is not None and self.search.offer(y):
            self.update()

    def take(self, x: Floats) -> None:
        """Look at an integral point."""
        if self.search.offer(x > 0.5):
            self.update()
