"""Bounds for dense noisy clusterings of up to some hundred elements: a semidefinite relaxation.

The matrix of an equivalence relation is positive semidefinite, with ones on its diagonal. Where
scores are noise, that says far more than triangles do: these leave every pair at 1/2. A method of
multipliers (ADMM) holds such a matrix, found by an eigendecomposition per step, against a point
that satisfies 2-partition rows, triangles among them, which are separated on the way. Nothing of it
has to be accurate: any factor of its dual matrix, rounded to whole numbers, is a proof
(`relatum.proof.partition_rows`), and so steps are made in single precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.linalg.blas import ssyrk
from threadpoolctl import threadpool_limits

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.partition.two_partitions import (
    advance,
    bound_of,
    violated_two_partitions,
)
from relatum.problem import Problem
from relatum.proof import LARGEST_OF_SQUARES, Cuts, two_partition_rows
from relatum.solvers.control import Control
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.partition.arrays import square_arrays
from relatum.solvers.partition.bounds.known import Known, Proved
from relatum.solvers.partition.exact.relaxation import CUTS, unlike_two_partitions

Single = NDArray[np.float32]


@dataclass(frozen=True)
class SemidefiniteSettings:
    """What the method may spend; no field is a time: every machine does the same.

    Attributes
    ----------
    work : float
        In units of about a second, divided by what a step costs: the steps.
    """

    work: float = 0.75
    most_steps: int = 110
    least_steps: int = 25  # fewer prove little
    plain_steps: int = 20  # before rows are looked for
    round_steps: int = 10  # between two searches for rows, and at least after the last
    rows_steps: int = 60  # steps there must be in all for rows to be worth their time
    penalty: float = 4.0  # of the method, in mean positive scores
    start: float = 0.7  # share of the dual matrix of the eigenvalue bound to start from
    relaxation: float = 1.6
    sweeps: int = 2  # over rows, per step
    lowest: float = 20.0  # mean positive scores below which negative ones count as equal
    seeds: int = 1500  # pairs from which 2-partition rows grow, per round
    least: float = 0.02  # of such a pair
    violation: float = 0.05  # of rows that are added
    growth: int = 6  # elements that may join a row


QUICK = SemidefiniteSettings()
THOROUGH = SemidefiniteSettings(work=6.0, most_steps=400)
MOST_ELEMENTS = 800  # eigendecompositions of more take longer than an answer may be late


def step_seconds(n: int) -> float:
    """Return about how long a step takes."""
    return 1e-4 + 3e-8 * n**2 + 1e-10 * n**3


def steps_of(n: int, settings: SemidefiniteSettings) -> int:
    """Return how many steps there are to be; 0 if too few to prove much."""
    steps = min(settings.most_steps, int(settings.work / step_seconds(n)))
    return steps if steps >= settings.least_steps and 3 <= n <= MOST_ELEMENTS else 0


def semidefinite_bound(
    problem: Problem,
    known: Known,
    control: Control,
    settings: SemidefiniteSettings = QUICK,
) -> Proved | None:
    """Bound the value of every partition; None if there is no time, or nothing was found.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, of at most `MOST_ELEMENTS` elements.
    known : Known
        The value of a partition, for reports.
    control : Control
        Its seed decides from which pairs rows grow.
    settings : SemidefiniteSettings
    """
    steps = steps_of(problem.n, settings)
    if not steps or control.remaining() < settings.least_steps * step_seconds(problem.n):
        return None
    arrays = square_arrays(problem)
    weights = np.where(arrays.state == 0, -math.inf, arrays.weights)
    positive = weights[weights > 0]
    if not positive.size:
        return None
    unit = float(positive.mean())
    np.maximum(weights, -settings.lowest * unit, out=weights)
    np.fill_diagonal(weights, 0.0)
    # with one thread, so that results do not depend on how many there are
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            method = _Method(weights, settings.penalty * unit, settings)
            method.run(steps, control, known.value, arrays.constant)
            cuts = method.cuts()
        except LinAlgError:
            return None
    return leaf_bound(problem, cuts) if cuts else None


class _Rows:
    """2-partition rows with prices."""

    def __init__(self, n: int, width: int) -> None:
        self.n = n
        self.index: Index = np.empty((0, width), dtype=np.int64)
        self.prices: Floats = np.empty(0)
        self.compressed = self._compressed()

    def _compressed(self) -> tuple[Any, ...]:
        """Return the rows as kernels read them."""
        rows = two_partition_rows(self.index, (self.n, self.n))
        places = np.minimum(rows.a, rows.b) * self.n + np.maximum(rows.a, rows.b)
        signs, sides = rows.coefficient.astype(np.int8), rows.rhs.astype(np.float64)
        return rows.start, places.astype(np.int32), signs, sides

    def keep(self, kept: Flags) -> None:
        self.index, self.prices = self.index[kept], self.prices[kept]
        self.compressed = self._compressed()

    def add(self, index: Index) -> None:
        """Add rows, S, -1, T each, without prices."""
        wide = np.full((len(index), self.index.shape[1]), -1, dtype=np.int64)
        wide[:, : index.shape[1]] = index
        self.index = np.concatenate([self.index, wide])
        self.prices = np.concatenate([self.prices, np.zeros(len(wide))])
        self.compressed = self._compressed()


class _Method:
    """The method of multipliers, on scores in units of its penalty; matrices by upper triangles."""

    def __init__(self, weights: Floats, penalty: float, settings: SemidefiniteSettings) -> None:
        n = len(weights)
        self.n, self.penalty, self.settings = n, penalty, settings
        self.scores: Single = (weights / penalty).astype(np.float32)
        top = eigh(self.scores, subset_by_index=(n - 1, n - 1), eigvals_only=True)[0]
        self.y: Single = np.eye(n, dtype=np.float32)
        self.u: Single = np.float32(settings.start) * (top * self.y - self.scores)
        self.rows = _Rows(n, settings.growth + 3)
        self.best = math.inf
        self.dual: Single | None = None  # the matrix that proves the best bound, and its rows
        self.proof: tuple[Index, Floats] = self.rows.index, self.rows.prices

    def run(self, steps: int, control: Control, value: float, constant: float) -> None:
        """Make steps until there are no more, or no more time.

        Reports are of a known value, and of bounds with what the diagonal adds to every value.
        """
        s, rng = self.settings, np.random.default_rng(control.seed)
        for step in range(1, steps + 1):
            x = self._project()
            if control.expired():
                break
            ready = step >= s.plain_steps and (step - s.plain_steps) % s.round_steps == 0
            if ready and steps >= s.rows_steps and step + s.round_steps < steps:
                self._separate(rng, control)
                control.report(value, max(value, self.best + constant))
            rows = self.rows.compressed, self.rows.prices
            advance(x, self.y, self.u, self.scores, *rows, s.relaxation, s.sweeps, control.expired)

    def _project(self) -> Single:
        """Return the positive semidefinite matrix nearest to Y - U, and keep a better bound."""
        near = self.y - self.u
        # the transpose of an upper triangle in C's order is a lower one in Fortran's
        w, v = eigh(near.T, lower=True, driver="evd", check_finite=False)
        p = int(np.searchsorted(w, 0.0, side="right"))
        if self.n - p <= self.n // 2:
            x = ssyrk(1.0, v[:, p:] * np.sqrt(w[p:]), lower=1).T
            dual = x - near
        else:
            dual = ssyrk(1.0, v[:, :p] * np.sqrt(np.maximum(-w[:p], 0)), lower=1).T
            x = near + dual
        bound = self.penalty * bound_of(dual, self.scores, self.rows.compressed, self.rows.prices)
        if bound < self.best:
            self.best, self.dual = bound, dual
            self.proof = self.rows.index, self.rows.prices.copy()
        return np.asarray(x)

    def _separate(self, rng: np.random.Generator, control: Control) -> None:
        """Drop rows without a price, and add violated ones."""
        s = self.settings
        self.rows.keep(self.rows.prices > 0)
        x = np.triu(self.y, 1).astype(np.float64)
        i, j = np.nonzero(x > s.least)
        x += x.T
        likely = np.argsort(-x[i, j] * rng.random(len(i)), kind="stable")[: s.seeds]
        seeds = np.column_stack([i[likely], j[likely]])
        seeds = np.concatenate([seeds, seeds[:, ::-1]])
        sides, found = violated_two_partitions(x, seeds, s.violation, s.growth, control.expired)
        if len(found):
            self.rows.add(unlike_two_partitions(sides, found, CUTS.most_two_partitions))

    def cuts(self) -> list[Cuts]:
        """Return the rows that prove the best bound: squares, and those with prices."""
        if self.dual is None:
            return []
        half = 0.5 * self.penalty * self.dual.astype(np.float64)
        w, v = eigh(half.T, lower=True, driver="evd", check_finite=False)
        factor = (v[:, w > 0] * np.sqrt(w[w > 0])).T
        index, prices = self.proof[0], self.penalty * self.proof[1]
        # so fine that squares are small enough, and that what rows take adds up without rounding
        taken = 4 * float(np.abs(half).max()) + float(prices.sum()) + 1e-300
        largest = float(np.abs(factor).max(initial=0.0)) + 1e-300
        k = math.frexp(LARGEST_OF_SQUARES / largest)[1] - 2
        k = min(k, (50 - math.frexp(taken)[1]) // 2)
        squares = np.rint(np.ldexp(factor, k)).astype(np.int64)
        squares = squares[squares.any(axis=1)]
        found = [Cuts("square", squares, np.full(len(squares), math.ldexp(1.0, -2 * k)))]
        return found + [Cuts("two_partition", index, prices).positive()] * bool(len(index))
