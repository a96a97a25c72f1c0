"""The linear relaxation of preorders and their kin: one column per ordered pair.

Rows are x_ab + x_bc - x_ac <= 1, found as needed, and x_ab + x_ba <= 1 (antisymmetric) or
>= 1 (connex), all there from the start. The latter need not be in a certificate: checkers
bound mirror pairs together anyway.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.separation import violated_transitivity
from relatum.lp import FirstOrderLP
from relatum.problem import FeasibleSet
from relatum.proof import Cuts, Proof, Propagator, grid_of
from relatum.solvers.order.branch_and_cut import ImprovingIncumbent
from relatum.solvers.order.preorder_search import PreorderSearch

__all__ = ["PreorderIncumbent", "PreorderRelaxation"]


TRIPLES = "transitive"
MIRRORS = "mirror"


class PreorderRelaxation:
    """Bounds on the sum of c over the related pairs off the diagonal.

    Parameters
    ----------
    c : float64 array (n, n)
    feasible : FeasibleSet
        Within PREORDERS; its simple properties only.
    state : int8 array (n, n)
        What is known, closed under the properties.
    """

    def __init__(self, c: Floats, feasible: FeasibleSet, state: NDArray[np.int8]) -> None:
        n = len(c)
        self.n = n
        self.a, self.b = np.nonzero(~np.eye(n, dtype=np.bool_))
        self.column = np.zeros((n, n), dtype=np.int64)
        self.column[self.a, self.b] = np.arange(len(self.a))
        self.propagator = Propagator(feasible)
        self.state = state.copy()
        self.lp = FirstOrderLP(c[self.a, self.b])
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

    def copy(self) -> PreorderRelaxation:
        """Return an independent copy, with the same rows, point and multipliers."""
        other = PreorderRelaxation.__new__(PreorderRelaxation)
        other.__dict__.update(self.__dict__)
        other.lp = self.lp.copy()
        other.state = self.state.copy()
        return other

    def point(self) -> Floats:
        """Return the current point as a full matrix with ones on the diagonal."""
        x = np.eye(self.n)
        x[self.a, self.b] = self.lp.x
        return x

    def separate(self, x: Floats, tolerance: float, per_pair: int = 1) -> float:
        """Add transitive rows that x violates; return the largest violation found."""
        found, amount = violated_transitivity(x, tolerance, 20 * self.n * self.n)
        if not len(found):
            return 0.0
        worst = float(amount.max())
        found = found[amount > 0.2 * worst]
        block = self.lp.pool.get(TRIPLES)
        if block is not None:
            power = np.array([self.n * self.n, self.n, 1])
            found = found[~np.isin(found @ power, block.index @ power)]
        a, b, c = found.T
        columns = np.column_stack([self.column[a, b], self.column[b, c], self.column[a, c]])
        self.lp.add_triples(TRIPLES, found, columns, -np.inf, 1.0)
        return worst

    def add_half_cuts(self, x: Floats, limit: int, rng: np.random.Generator) -> int:
        """Return 0: there are none here."""
        return 0

    def cuts(self) -> tuple[Cuts, ...]:
        """Return the transitive rows with positive multipliers."""
        block = self.lp.pool.get(TRIPLES)
        if block is None or not len(block):
            return ()
        unit = 2.0 ** (math.floor(math.log2(float(np.abs(self.lp.objective).max()) + 1e-300)) - 48)
        y = np.rint(np.maximum(block.multipliers, 0.0) / unit) * unit
        return (Cuts(TRIPLES, block.index[y > 0], y[y > 0]),) if (y > 0).any() else ()

    def fixable(self, target: float) -> tuple[Index, Flags]:
        """Return open pairs and values whose opposite has a bound of at most `target`."""
        r = self.lp.reduced
        sure = (np.abs(r) >= self.lp.bound - target) & (self.lp.lower < self.lp.upper) & (r != 0)
        return np.column_stack([self.a[sure], self.b[sure]]), r[sure] > 0

    def assign(self, pairs: Index, values: Flags) -> tuple[Callable[[Proof], Proof], bool]:
        """Fix pairs and what follows; return what to wrap a proof in, and if it is consistent."""
        closure = self.propagator.close(self.state, pairs, values.astype(np.int64))
        self.state = closure.state
        if closure.conflict is None:
            self._fix_columns()
        return closure.proof, closure.conflict is None

    def finish(self, incumbent: ImprovingIncumbent, states: int) -> bool:
        """Return False: no other method finishes what is open."""
        return False

    def branch_pairs(self, count: int) -> list[tuple[int, int]]:
        """Return open pairs near one half, heavy ones first."""
        lp = self.lp
        weight = np.abs(lp.objective)
        score = (0.5 - np.abs(lp.x - 0.5)) * (1 + weight / max(float(weight.mean()), 1e-300))
        score = np.where(lp.lower < lp.upper, score + 1e-12, -1.0)
        chosen = np.argsort(-score, kind="stable")[:count]
        return [(int(self.a[k]), int(self.b[k])) for k in chosen if score[k] > 0]


class PreorderIncumbent(ImprovingIncumbent):
    """The best relation so far, rounded from points and improved by local search."""

    def __init__(
        self, search: PreorderSearch, relaxation: PreorderRelaxation, offset: float
    ) -> None:
        c = search.c * ~np.eye(len(search.c), dtype=np.bool_)
        super().__init__(
            grid=grid_of(c), magnitude=float(np.abs(c).sum()), offset=offset, share=0.5
        )
        self.search, self.c = search, c
        self.state, self.propagator = relaxation.state.copy(), relaxation.propagator
        self._update()

    def _update(self) -> None:
        self.value = math.fsum(self.c[self.search.best].tolist())

    def improve(self, x: Floats, rng: np.random.Generator) -> None:
        """Decide pairs from the clearest on, close what follows, and climb."""
        order = np.argsort(-np.abs(x - 0.5).ravel(), kind="stable").astype(np.int64)
        y = self.propagator.complete(self.state, order, x > 0.5)
        if y is not None and self.search.offer(y):
            self._update()

    def take(self, x: Floats) -> None:
        """Look at an integral point."""
        if self.search.offer(x > 0.5):
            self._update()
