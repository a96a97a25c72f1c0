"""Sets that say something of each row by itself: MAPS, PARTIAL_MAPS, HAS_IMAGE and at_most(k).

Rows are independent. Where an element has at most one image, probabilities are a closed form;
otherwise sums over how many images it has so far. UNIQUE_PREIMAGE and HAS_PREIMAGE alone are the
same of columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relatum.kernels.probability.row_counts import draw_row, row_count_probabilities
from relatum.probability.exact.weights import Weights, infeasible, opened, require_time, split
from relatum.probability.methods import Task
from relatum.probability.posterior import DenseMarginals, Posterior, kind_of
from relatum.problem import FeasibleSet, Relation
from relatum.solvers import Control


def refusal(task: Task) -> str | None:
    """Refuse nothing: a matrix that does not fit into memory is refused where it is made."""
    return None


@dataclass(frozen=True)
class Counts:
    """How many images an element has: at least and at most (None: any number)."""

    least: int
    most: int | None


def counts_of(feasible: FeasibleSet) -> tuple[bool, Counts]:
    """Return whether columns are meant instead of rows, and what is said of them."""
    has = feasible.names
    if "unique_preimage" in has or ("has_preimage" in has and not has & {"has_image"}):
        return True, Counts(int("has_preimage" in has), 1 if "unique_preimage" in has else None)
    most = 1 if "unique_image" in has else feasible.cap
    return False, Counts(int("has_image" in has), most)


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of relations whose rows, or columns, are independent."""
    problem = task.problem
    turned, counts = counts_of(problem.feasible)
    found = opened(problem)
    scores, related, unrelated = found.scores, found.related, found.unrelated
    if turned:
        scores, related, unrelated = scores.T, related.T, unrelated.T
    forced = np.ascontiguousarray(related).view(np.uint8)
    most = -1 if counts.most is None else counts.most
    weights = split(scores, ~unrelated)
    p, mantissa, places = row_count_probabilities(
        *weights, forced, counts.least, most, control.expired
    )
    require_time(control)
    if (mantissa <= 0.0).any():
        raise infeasible(problem)
    bits = Fraction(int(places.sum())) + Fraction(math.fsum(np.log2(mantissa)))

    drawing = _Rows(weights, forced, (counts.least, most), turned, kind_of(problem.feasible))
    return Posterior(
        DenseMarginals(p.T if turned else p),
        found.constant + bits,
        exact=True,
        method="sums over rows",
        draw=drawing.draw,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """What draws need: weights, what is related for sure, least and most, and how to turn them."""

    weights: Weights
    forced: NDArray[np.uint8]
    counts: tuple[int, int]
    turned: bool
    kind: type[Relation]

    def draw(self, count: int, rng: np.random.Generator) -> list[Relation]:
        drawn = np.empty((count, *self.forced.shape), dtype=np.bool_)
        for a, forced in enumerate(self.forced):
            given = self.weights[0][a], self.weights[1][a], forced, *self.counts
            drawn[:, a] = draw_row(*given, rng.random((count, self.forced.shape[1])))
        return [Relation(y.T if self.turned else y).to(self.kind) for y in drawn]
