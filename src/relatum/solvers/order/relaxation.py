"""The linear relaxation of linear orders: 3-dicycle rows, {0,1/2}-cuts, fixed pairs.

Of each pair i < j only x_ij is a column: x_ji = 1 - x_ij. The objective is the sum of
d_ij x_ij over i < j with d_ij = c_ij - c_ji, so that the value of an order is the
objective plus the sum of c_ji over i < j. A triple i < j < k is one two-sided row
0 <= x_ij + x_jk - x_ik <= 1: its sides are the 3-dicycle rows of the two directions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.order.rows import close_precedence, violated_dicycles
from relatum.kernels.order.search import insertion_search, order_gain
from relatum.kernels.order.states import WORD, least_loss, pack_cycles
from relatum.problem import ExactSum
from relatum.proof import OPTIMAL_GAP, Cuts, folded_half_rows, grid_of
from relatum.solvers.order.half_cuts import (
    HALF_CUTS,
    keys_of,
    violated_surfaces,
    violated_walks,
)
from relatum.solvers.order.pair_relaxation import (
    Expired,
    ImprovingIncumbent,
    PairRelaxation,
    Wrap,
)
from relatum.solvers.order.search import least_gain
from relatum.solvers.reductions import imply_steps

TRIPLES = "dicycle"  # names of row blocks inside the relaxation
HALVES = "half_dicycle"


class OrderRelaxation(PairRelaxation):
    """Bounds on max sum of d_ij over i < j with i before j.

    Parameters
    ----------
    d : float64 array (n, n)
        Antisymmetric and finite.
    expired : callable, optional
        As for `PairRelaxation`.

    Attributes
    ----------
    before : bool array (n, n)
        The precedences fixed so far, transitively closed.
    """

    def __init__(self, d: Floats, expired: Expired | None = None) -> None:
        n = len(d)
        self.upper = np.triu_indices(n, 1)
        column = np.zeros((n, n), dtype=np.int64)
        column[self.upper] = np.arange(len(self.upper[0]))
        super().__init__(d, *self.upper, column + column.T, expired)
        self.d = d
        self.before = np.zeros((n, n), dtype=np.bool_)

    def copy(self) -> Self:
        """Return an independent copy, with the same rows, point and multipliers."""
        other = super().copy()
        other.before = self.before.copy()
        return other

    def point(self) -> Floats:
        """Return the current point as a full matrix with x_ji = 1 - x_ij."""
        x = np.zeros((self.n, self.n))
        x[self.upper] = self.lp.x
        return x + np.tril(1.0 - x.T, -1)

    def separate(self, x: Floats, tolerance: float, per_pair: int = 1) -> float:
        """Add triples that x violates; return the largest violation found."""
        found, amount = violated_dicycles(x, tolerance, per_pair, self.expired)
        if not len(found):
            return 0.0
        worst = float(amount.max())
        self.add_triples(TRIPLES, found[amount > 0.2 * worst], 0.0, 1.0)
        return worst

    def start_from_packing(self) -> None:
        """Add edge-disjoint 3-cycles of the majority graph, their weights as multipliers."""
        cycles, weight = pack_cycles(np.maximum(self.d, 0.0), self.expired)
        found = np.sort(cycles, axis=1)
        self.add_triples(TRIPLES, found, 0.0, 1.0)
        if len(found):
            # a b c, b c a and c a b with a < b < c turn one way: the high side
            first = cycles.argmin(axis=1)
            rows = np.arange(len(cycles))
            high = cycles[rows, (first + 1) % 3] < cycles[rows, (first + 2) % 3]
            block = self.lp.pool[TRIPLES]
            self.lp.pool[TRIPLES] = replace(block, multipliers=np.where(high, weight, -weight))
            self.lp.evaluate()

    def add_half_cuts(self, x: Floats, limit: int, rng: np.random.Generator) -> int:
        """Add {0,1/2}-cuts that x violates; return how many."""
        found = [seek(x, limit, rng, self.expired) for seek in (violated_walks, violated_surfaces)]
        return sum(self._add_halves(x, names) for names in found if len(names))

    def _add_halves(self, x: Floats, index: Index) -> int:
        """Add those of the rows named that the pool has not, and that x violates; say how many."""
        block = self.lp.pool.get(HALVES)
        if block is not None:
            index = index[~np.isin(keys_of(index), keys_of(block.index))]
        a, b, coefficient, start, rhs = folded_half_rows(index)
        columns = self.column[a, b]
        shape = (len(rhs), len(self.a))
        matrix = sparse.csr_array((coefficient.astype(np.float64), columns, start), shape=shape)
        broken = matrix @ x[self.upper] - rhs > HALF_CUTS.violation
        if broken.any():
            self.lp.add_rows(HALVES, index[broken], matrix[broken], -np.inf, rhs[broken])
        return int(np.count_nonzero(broken))

    def cuts(self) -> tuple[Cuts, ...]:
        """Return rows and multipliers as a certificate names them."""
        out = []
        triples = self.lp.pool.get(TRIPLES)
        if triples is not None and len(triples):
            y = triples.multipliers
            for sign, index in ((1, triples.index), (-1, triples.index[:, ::-1])):
                own = sign * y > 0
                if own.any():
                    out.append(Cuts("transitive", index[own], sign * y[own]))
        halves = self.lp.pool.get(HALVES)
        if halves is not None and len(halves):
            y = halves.multipliers
            if (y > 0).any():
                out.append(Cuts(HALVES, halves.index[y > 0], y[y > 0]))
        return tuple(out)

    def fixable(self, target: float) -> tuple[Index, Flags]:
        """Return open pairs ab, a before b, whose opposite has a bound of at most `target`."""
        pairs, forward = super().fixable(target)
        pairs = np.where(forward[:, None], pairs, pairs[:, ::-1])
        return pairs, np.ones(len(pairs), dtype=np.bool_)

    def assign(self, pairs: Index, values: Flags) -> tuple[Wrap, bool]:
        """Fix pairs and what follows; return what to wrap a proof in, and if it is consistent."""
        turned = np.ascontiguousarray(np.where(values[:, None], pairs, pairs[:, ::-1]))
        steps, clash = close_precedence(self.before, turned)
        if clash[0] < 0:
            a, b = np.concatenate([turned, steps[:, [0, 2]]]).T
            self.lp.fix(self.column[a, b], (a < b).astype(np.float64))
        return partial(imply_steps, steps), bool(clash[0] < 0)

    def finish(self, incumbent: ImprovingIncumbent, states: int) -> bool:
        """Order what is open by the subsets that may begin a better order, if these are few.

        The best order is offered to the incumbent; True if then none is better by more than
        half of what the incumbent tolerates.
        """
        if self.n > WORD or states == 0:
            return False
        slack = 0.75 * incumbent.grid or 0.5 * incumbent.tolerance
        loss = np.maximum(self.d, 0.0)
        loss[self.before], loss[self.before.T] = np.inf, 0.0
        lp = self.lp
        most = float(np.maximum(lp.lower * lp.objective, lp.upper * lp.objective).sum())
        limit = most - incumbent.value - slack
        done, least, order = least_loss(loss, limit, states, states // 13)
        if done and least < np.inf:
            rank = np.argsort(order)
            incumbent.take((rank[:, None] < rank).astype(np.float64))
        return bool(done and most - least < incumbent.value + slack)


class OrderIncumbent(ImprovingIncumbent):
    """The best linear order so far, and a local search for better ones.

    Parameters
    ----------
    d : float64 array (n, n)
        Differences w_ab - w_ba; the value is the sum of d_ij over i < j with i before j.
    order : int64 array (n,)
    offset : float
        What is to be added to the value, as in `Incumbent`.
    gap : float
        Bits that are allowed between value and bound.
    before : bool array (n, n), optional
        Known precedences.
    expired : callable, optional
        Asked often; once it says True, searches end.
    """

    views = 8  # elements from which a point is looked at in search of orders

    def __init__(
        self,
        d: Floats,
        order: Index,
        offset: float = 0.0,
        gap: float = OPTIMAL_GAP,
        before: Flags | None = None,
        expired: Expired | None = None,
    ) -> None:
        self.d, self.expired = d, expired
        self.order = order
        self._upper = float(np.triu(d, 1).sum())
        grid = grid_of(d)
        self._exact = grid > 0  # sums of integers need no care
        super().__init__(
            self.value_of(order),
            grid=grid,
            offset=offset,
            gap=gap,
            share=0.5,
        )
        self.search = d.copy()
        self.known: Index = np.empty((0, 2), dtype=np.int64)
        if before is not None:
            self.known = np.argwhere(before)
            self.search[before], self.search[before.T] = np.inf, -np.inf
        self.least = least_gain(d)

    def value_of(self, order: Index) -> float:
        """Sum d_ij over i < j with i before j."""
        if self._exact:
            return float(order_gain(self.d, order) + self._upper) / 2
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        counted = np.triu(rank[:, None] < rank, 1)
        return ExactSum(self.d[counted]).nearest()

    def offer(self, order: Index) -> bool:
        """Take an order if it is better."""
        if np.array_equal(order, self.order):
            return False
        # a quick sum first: of d over both directions, which is twice the value and more
        rough = (order_gain(self.d, order) + self._upper) / 2
        if rough <= self.value - 1e-6 * max(1.0, abs(self.value)):
            return False
        value = self.value_of(order)
        if value <= self.value + 1e-9 * max(1.0, abs(self.value)):
            return False
        self.order, self.value = order.copy(), value
        return True

    def improve(self, x: Floats, rng: np.random.Generator) -> None:
        """Search from orders that the point suggests.

        Beside the order by row sums, elements are ordered by x seen from one of them: where
        all rotations of an order are worth the same, the point is their average, and only
        this view of it shows the order.
        """
        seen_from = rng.choice(len(x), min(len(x), self.views), replace=False)
        x = x + np.eye(len(x))
        for key in (x.sum(axis=1), *x[seen_from]):
            order = np.argsort(-key, kind="stable")
            if self._respects(order):
                insertion_search(self.search, order, self.least, self.expired)
                self.offer(order)

    def take(self, x: Floats) -> None:
        """Look at an integral point."""
        self.offer(np.argsort(-x.sum(axis=1), kind="stable"))

    def _respects(self, order: Index) -> bool:
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return bool((rank[self.known[:, 0]] < rank[self.known[:, 1]]).all())
