"""The joint problem of the Bernoulli model, exactly: a linear program in class counts.

J(y) = sum over classes of a concave function of the number t_j of unknown pairs of class j that
are related. One binary for every class and count says "t_j is at least this much"; its cost is the
increment of J. What remains is linear: y in the feasible set, whose transitivity is separated
when violated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from relatum.array_types import Floats, Index
from relatum.joint.alternation import Alternation, ExactSearch, Pair
from relatum.joint.learning import BernoulliLearner
from relatum.problem import Evidence, Property, Relation
from relatum.solvers.general import PairSpace, RowPool


@dataclass(frozen=True)
class CountSettings:
    """What the search over class counts may spend, and how far its bounds are trusted."""

    lp_rounds: int = 40  # linear programs with separated rows before variables become integer
    all_rows: int = 14  # elements up to which all transitive rows are there at once
    margin: float = 1e-6  # of a bound: HiGHS is feasible up to that, so it may be wrong by it


COUNTS = CountSettings()


@dataclass(frozen=True, eq=False)
class _Block:
    """One class: t = t_0 + unit * (number of its binaries that are 1).

    In variables, t - t_0 = coefficients x[columns] - shift; bits[i] is J at the i-th count.
    """

    columns: Index
    coefficients: Floats
    shift: float
    unit: int
    bits: Floats

    @property
    def size(self) -> int:
        return len(self.bits) - 1

    def filled(self, x: Floats) -> Floats:
        """Values of the binaries at x."""
        level = (float(self.coefficients @ x[self.columns]) - self.shift) / self.unit
        return (np.arange(self.size) < round(level)).astype(np.float64)


class CountSearch(ExactSearch[BernoulliLearner]):
    """A search for the best counts of related pairs of every class."""

    def __init__(self, search: Alternation, learner: BernoulliLearner, best: Pair) -> None:
        super().__init__(search, learner, best)
        problem = self.table.problem(np.zeros(len(self.table.a)))
        self.space = PairSpace(problem)
        self.pool = RowPool(self.space)
        self.properties: list[Property] = [
            p
            for p in sorted(problem.feasible.complete.properties, key=str)
            if not isinstance(p, Evidence)
        ]
        every = self._blocks()
        self.constant = math.fsum(float(block.bits[0]) for block in every)
        self.blocks = [block for block in every if block.size]
        self.size = self.space.size + sum(block.size for block in self.blocks)
        self.bound = -math.inf
        self.rounds = 0
        self._write()

    # --- the program --------------------------------------------------------------------

    def _blocks(self) -> list[_Block]:
        """Return the classes, with the counts they can have and what these cost."""
        learner, table = self.learner, self.table
        use = table.unknown & learner.has_class
        a, b = table.a[use], table.b[use]
        flipped = self.space.flipped[a, b]
        signs = np.where(flipped, -1.0, 1.0)
        shape = (len(learner.ids), self.space.size)
        index = (learner.code[use], self.space.variable[a, b])
        matrix = coo_array((signs, index), shape=shape).tocsr()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        offset = np.bincount(learner.code[use], flipped.astype(np.float64), len(learner.ids))
        known = learner.class_sums(table.known_weights * table.decided) + learner.related
        blocks = []
        for j in range(len(learner.ids)):
            part = slice(matrix.indptr[j], matrix.indptr[j + 1])
            coefficients = matrix.data[part].astype(np.float64)
            shift = float(coefficients[coefficients < 0].sum())
            steps = np.abs(coefficients).astype(np.int64)
            unit = int(np.gcd.reduce(steps)) if len(steps) else 1
            counts = offset[j] + shift + unit * np.arange(int(steps.sum()) // unit + 1)
            bits = learner.best_bits(known[j] + table.unknown_weight * counts, j)
            columns = matrix.indices[part].astype(np.int64)
            blocks.append(_Block(columns, coefficients, shift, unit, bits))
        return blocks

    def _write(self) -> None:
        """Write down counts, increments, and the rows that are few."""
        from relatum.lp.highs_mip import HighsMixedProgram  # HiGHS: only where it is used

        m = self.space.size
        lower, upper = self.space.box(self.table.closed)
        extra = self.size - m
        self.program = HighsMixedProgram(
            np.concatenate([np.zeros(m), *(np.diff(block.bits) for block in self.blocks)]),
            np.concatenate([lower, np.zeros(extra)]),
            np.concatenate([upper, np.ones(extra)]),
            self.control.expired,
        )
        first = m
        for block in self.blocks:
            binaries = first + np.arange(block.size)
            columns = np.concatenate([block.columns, binaries])
            values = np.append(block.coefficients, np.full(block.size, -float(block.unit)))
            self._add_rows(np.zeros(len(columns)), columns, values, block.shift, block.shift)
            if block.size > 1:  # "at least i" before "at least i + 1"
                k = np.arange(block.size - 1)
                self._add_rows(
                    np.concatenate([k, k]),
                    np.concatenate([binaries[:-1], binaries[1:]]),
                    np.repeat([1.0, -1.0], len(k)),
                    0.0,
                    np.inf,
                )
            first += block.size
        for p in self.properties:
            if p.name not in ("transitive", "symmetric"):
                self._add(p.name, p.index(self.table.shape))

    def _add_rows(self, row: Any, column: Index, value: Floats, low: float, high: float) -> None:
        shape = (int(np.max(row)) + 1, self.size)
        matrix = coo_array((value, (row.astype(np.int64), column)), shape=shape).tocsr()
        self.program.add_rows(matrix, np.full(shape[0], low), np.full(shape[0], high))

    def _add(self, family: str, index: Index) -> int:
        fresh = self.pool.add(family, index) if len(index) else None
        if fresh is None:
            return 0
        matrix, rhs = fresh
        self.program.add_rows(matrix, np.full(len(rhs), -np.inf), rhs)
        return len(rhs)

    def _separate(self, x: Floats) -> int:
        y = self.space.matrix_of(np.clip(x[: self.space.size], 0.0, 1.0))
        limit = 40 * max(self.table.shape)
        return sum(
            self._add(p.name, p.violated(y, tolerance=1e-5, limit=limit))
            for p in self.properties
            if p.name == "transitive"
        )

    def _add_all_if_few(self) -> None:
        """Add every row of small problems: one search instead of several."""
        for p in self.properties:
            if p.name == "transitive" and self.table.shape[0] <= COUNTS.all_rows:
                index = p.index(self.table.shape)
                matrix, rhs = self.space.rows(p.name, index)
                rows = np.column_stack([matrix.toarray(), rhs])
                _, first = np.unique(rows, axis=0, return_index=True)
                self._add(p.name, index[np.sort(first)])

    # --- the search ---------------------------------------------------------------------

    def run(self) -> tuple[Pair, float, dict[str, Any]]:
        for _ in range(COUNTS.lp_rounds):
            if self.control.expired():
                break
            result = self.program.solve(self.control.remaining())
            self._take_bound(result.bound)
            if result.x is None or not self._separate(result.x):
                break
        self._add_all_if_few()
        self.program.set_integer(np.ones(self.size, dtype=np.bool_))
        while not self.control.expired() and not self._settled():
            self.rounds += 1
            result = self.program.solve(self.control.remaining(), self._point(self.best))
            self._take_bound(result.bound)
            if result.x is None:
                break
            y = np.rint(result.x[: self.space.size])
            found = self._separate(y)
            if not found:
                self._offer(y)
                break
        stats = {
            "rounds": self.rounds,
            "rows": len(self.pool),
            "binaries": self.size - self.space.size,
        }
        return self.best, self.bound, stats

    def _take_bound(self, bound: float) -> None:
        bound += self.constant
        self.bound = max(self.bound, bound - COUNTS.margin * (1.0 + abs(bound)))

    def _settled(self) -> bool:
        return self.bound >= self.best.objective - 1e-9 * (1.0 + abs(self.best.objective))

    def _offer(self, x: Floats) -> None:
        relation = Relation(self.space.matrix_of(x) > 0.5)
        if not self.table.feasible.contains(relation):
            return
        y = self.table.targets(relation)
        theta = self.learner.learn(y)
        if self.learner.objective(theta, y) < self.best.objective:
            self.take(relation)

    def _point(self, pair: Pair) -> Floats:
        """Return a pair as a point of the program."""
        matrix = pair.relation.matrix()
        x = matrix[self.space.pairs[:, 0], self.space.pairs[:, 1]].astype(np.float64)
        return np.concatenate([x, *(block.filled(x) for block in self.blocks)])
