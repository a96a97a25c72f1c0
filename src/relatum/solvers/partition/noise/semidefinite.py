"""Bounds for dense noisy clusterings of up to some thousand elements: a semidefinite relaxation.

The matrix of an equivalence relation is positive semidefinite, with ones on its diagonal. Where
scores are noise, that says far more than triangles do: these leave every pair at 1/2. A method of
multipliers (ADMM) holds such a matrix, the projection of another one (`positive_part`), against a
point that satisfies 2-partition rows, triangles among them, which are separated on the way. Nothing
of it has to be accurate: any factor of its dual matrix, rounded to whole numbers, is a proof
(`relatum.proof.partition_rows`), and so steps are made in single precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.linalg import LinAlgError, eigh
from threadpoolctl import ThreadpoolController

from relatum.array_types import Floats, Index
from relatum.kernels.partition.two_partitions import (
    advance,
    bound_of,
    violated_two_partitions,
)
from relatum.problem import Problem
from relatum.proof import LARGEST_OF_SQUARES, Cuts, Leaf
from relatum.solvers.control import Control
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.partition.arrays import square_arrays
from relatum.solvers.partition.noise.positive_part import Projection, Single
from relatum.solvers.partition.noise.priced_rows import PricedRows, unlike_two_partitions


@dataclass(frozen=True)
class SemidefiniteSettings:
    """What the method may spend; no field is a time: every machine does the same.

    Attributes
    ----------
    work : float
        In units of about a second, divided by what a step costs: the steps.
    """

    work: float = 0.5
    most_steps: int = 110
    least_steps: int = 40  # fewer prove little
    plain_steps: int = 10  # before rows are looked for
    round_steps: int = 15  # between two searches for rows,
    last_steps: int = 40  # and at least after the last: a bound recovers slowly from new rows
    exact_steps: int = 20  # after which eigenvectors are computed anew: followed ones get lost
    rows_steps: int = 60  # steps there must be in all for rows to be worth their time
    most_elements: int = 1500  # more take longer than a search for partitions does
    penalty: float = 5.0  # of the method, in mean positive scores
    start: float = 0.7  # share of the dual matrix of the eigenvalue bound to start from
    relaxation: float = 1.8
    sweeps: int = 2  # over rows, per step
    lowest: float = 20.0  # mean positive scores below which negative ones count as equal
    seeds: int = 4000  # pairs from which 2-partition rows grow, per round
    least: float = 0.02  # of such a pair
    most_rows: int = 1500  # that are added per round
    violation: float = 0.05  # of rows that are added
    growth: int = 6  # elements that may join a row


QUICK = SemidefiniteSettings()
THOROUGH = SemidefiniteSettings(work=6.0, most_steps=400, most_elements=2500)
LEAST_ELEMENTS = 40  # of fewer, cutting planes say as much
NOISE = 0.35  # share of the value that triangles leave if scores are noise


def effort_for(seconds: float) -> SemidefiniteSettings:
    """Return what the method may spend in about so many seconds, if these are not too few."""
    return replace(THOROUGH, work=min(max(QUICK.work, seconds), THOROUGH.work))


def least_of_triangles(problem: Problem) -> float:
    """Return what rows of triangles cannot prove less than: half of the positive log-odds.

    All pairs with a positive score at 1/2 and all others at 0 satisfy them.
    """
    return 0.5 * float(np.maximum(problem.log_odds, 0).sum(dtype=np.float64))


def is_worthless(problem: Problem, value: float) -> bool:
    """Say whether a partition is worth next to nothing, as if nobody had looked for one.

    That is less than 1 / sqrt(n) of half of the positive log-odds; the best partitions of pure
    noise have three times as much, whatever n.
    """
    return value * math.sqrt(problem.n) < least_of_triangles(problem)


def is_noise(problem: Problem, value: float, bound: float) -> bool:
    """Say whether triangles leave so much of a good value that scores are noise.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.
    value : float
        Of a good partition.
    bound : float
        That triangles prove, or could prove.
    """
    cap = problem.feasible.cap
    if problem.n < LEAST_ELEMENTS or value <= 0 or (cap is not None and cap < problem.n):
        return False
    return leaves_much(bound, value) and not is_worthless(problem, value)


def leaves_much(bound: float, value: float) -> bool:
    """Say whether a bound that triangles prove is so far above a value that scores are noise."""
    return bound - value > NOISE * value


def step_seconds(n: int) -> float:
    """Return about how long a step takes."""
    return 1e-4 + 1.2e-8 * n**2 + 1.8e-11 * n**3


def closing_seconds(n: int) -> float:
    """Return about how long it takes to make a proof of where the method is."""
    return 5e-3 + 1e-7 * n**2 + 5e-10 * n**3


def steps_of(n: int, settings: SemidefiniteSettings) -> int:
    """Return how many steps there are to be; 0 if there are too few or too many elements."""
    if not 3 <= n <= settings.most_elements:
        return 0
    steps = int(settings.work / step_seconds(n))
    return max(settings.least_steps, min(settings.most_steps, steps))


def semidefinite_bound(
    problem: Problem,
    value: float,
    control: Control,
    settings: SemidefiniteSettings = QUICK,
) -> tuple[Fraction | float, Leaf] | None:
    """Bound the value of every partition; None if there is no time, or nothing was found.

    Parameters
    ----------
    problem : Problem
        On equivalence relations.
    value : float
        Of a partition, for reports.
    control : Control
        Its seed decides from which pairs rows grow.
    settings : SemidefiniteSettings
    """
    n, steps = problem.n, steps_of(problem.n, settings)
    if not math.isinf(control.remaining()):
        steps = min(steps, int((control.remaining() - closing_seconds(n)) / step_seconds(n)))
    if steps < settings.least_steps:
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
    with _libraries().limit(limits=1, user_api="blas"):
        try:
            method = _Method(weights, settings.penalty * unit, settings)
            method.run(steps, control, value, arrays.constant)
        except LinAlgError:
            return None
        cuts = method.cuts()
    return leaf_bound(problem, cuts) if cuts else None


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of linear algebra; to look for them takes as long as some steps."""
    return ThreadpoolController()


class _Method:
    """The method of multipliers, on scores in units of its penalty; matrices by upper triangles."""

    def __init__(self, weights: Floats, penalty: float, settings: SemidefiniteSettings) -> None:
        n = len(weights)
        self.n, self.penalty, self.settings = n, penalty, settings
        self.scores: Single = (weights / penalty).astype(np.float32)
        top = eigh(self.scores, subset_by_index=(n - 1, n - 1), eigvals_only=True)[0]
        self.y: Single = np.eye(n, dtype=np.float32)
        self.u: Single = np.float32(settings.start) * (top * self.y - self.scores)
        self.projection = Projection()
        self.rows = PricedRows(n, settings.growth + 3)
        self.best = math.inf
        self.factor: Single | None = None  # of the matrix that proves the best bound, and rows
        self.proof: tuple[Index, Floats] = self.rows.index, self.rows.prices

    def run(self, steps: int, control: Control, value: float, constant: float) -> None:
        """Make steps until there are no more, or no more time.

        Reports are of a known value, and of bounds with what the diagonal adds to every value.
        """
        s, rng = self.settings, np.random.default_rng(control.seed)
        closing, begin, since = closing_seconds(self.n), control.seconds(), 0
        for step in range(1, steps + 1):
            left = steps - step
            if not math.isinf(control.remaining()):  # at the pace of this machine
                pace = (control.seconds() - begin) / step
                left = min(left, int((control.remaining() - closing) / max(pace, 1e-9)))
            last = left <= 0
            ready = step >= s.plain_steps and (step - s.plain_steps) % s.round_steps == 0
            ready = ready and steps >= s.rows_steps and left >= s.last_steps
            since += 1
            exactly = last or ready or since >= s.exact_steps
            x = self._project(exactly)
            since = 0 if exactly else since
            if last:
                break
            if ready:
                self._separate(rng, control)
                control.report(value, max(value, self.best + constant))
            rows = self.rows.compressed, self.rows.prices
            advance(x, self.y, self.u, self.scores, *rows, s.relaxation, s.sweeps, control.expired)

    def _project(self, exactly: bool) -> Single:
        """Return about the positive semidefinite matrix nearest to Y - U.

        If it is that very one, keep the bound that it proves, if that is better.
        """
        near = self.y - self.u
        if not exactly:
            return self.projection.followed(near)
        x = self.projection.exact(near)
        known = self.rows.compressed, self.rows.prices
        bound = self.penalty * bound_of(x - near, self.scores, *known)
        if bound < self.best:
            self.best, self.factor = bound, self.projection.factor
            self.proof = self.rows.index, self.rows.prices.copy()
        return x

    def _separate(self, rng: np.random.Generator, control: Control) -> None:
        """Drop rows without a price, and add violated ones."""
        s = self.settings
        x = np.triu(self.y, 1).astype(np.float64)
        i, j = np.nonzero(x > s.least)
        x += x.T
        merit = x[i, j] * rng.random(len(i))
        likely = np.arange(len(i))
        if len(i) > s.seeds:
            likely = np.sort(np.argpartition(-merit, s.seeds)[: s.seeds])
        seeds = np.column_stack([i[likely], j[likely]])
        seeds = np.concatenate([seeds, seeds[:, ::-1]])
        sides, found = violated_two_partitions(x, seeds, s.violation, s.growth, control.expired)
        index = unlike_two_partitions(sides, found, s.most_rows)
        self.rows.renew(self.rows.prices > 0, index)

    def cuts(self) -> list[Cuts]:
        """Return the rows that prove the best bound: squares, and those with prices."""
        if self.factor is None:
            return []
        factor = math.sqrt(0.5 * self.penalty) * self.factor.T.astype(np.float64)
        index, prices = self.proof[0], self.penalty * self.proof[1]
        # so fine that squares are small enough, and that what rows take adds up without rounding
        taken = 4 * float((factor * factor).sum(axis=0).max()) + float(prices.sum()) + 1e-300
        largest = float(np.abs(factor).max(initial=0.0)) + 1e-300
        k = math.frexp(LARGEST_OF_SQUARES / largest)[1] - 2
        k = min(k, (50 - math.frexp(taken)[1]) // 2)
        squares = np.rint(np.ldexp(factor, k)).astype(np.int64)
        squares = squares[squares.any(axis=1)]
        found = [Cuts("square", squares, np.full(len(squares), math.ldexp(1.0, -2 * k)))]
        return found + [Cuts("two_partition", index, prices).positive()] * bool(len(index))
