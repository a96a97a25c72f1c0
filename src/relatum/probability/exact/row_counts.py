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

from relatum.kernels.probability.row_counts import draw_row, row_count_probabilities
from relatum.probability.exact.weights import infeasible, opened, require_time, split
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
    kind = kind_of(problem.feasible)

    def draw(count: int, rng: np.random.Generator) -> list[Relation]:
        drawn = np.empty((count, *scores.shape), dtype=np.bool_)
        for a in range(len(scores)):
            given = weights[0][a], weights[1][a], forced[a], counts.least, most
            drawn[:, a] = draw_row(*given, rng.random((count, scores.shape[1])))
        return [Relation(y.T if turned else y).to(kind) for y in drawn]

    return Posterior(
        DenseMarginals(p.T if turned else p),
        found.constant + bits,
        exact=True,
        method="sums over rows",
        draw=draw,
    )
