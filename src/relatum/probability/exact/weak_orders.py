"""Rankings with ties: sums over ordered partitions, forward and backward over subsets."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from relatum.kernels.probability.ordered_partitions import (
    draw_rankings,
    ranking_probabilities,
    ranking_sums,
)
from relatum.kernels.probability.permutations import Placing
from relatum.kernels.probability.set_partitions import set_weights
from relatum.probability.exact.rankings import opened_ranking, ranking_refusal
from relatum.probability.exact.weights import (
    Weights,
    infeasible,
    log2_of,
    pair_sums,
    require_time,
    split,
)
from relatum.probability.methods import Task
from relatum.probability.posterior import DenseMarginals, Posterior
from relatum.problem import Relation, WeakOrder
from relatum.solvers import Control

LARGEST = {False: 15, True: 18}  # elements, if chosen automatically and if asked for by name
BYTES = 100  # per subset: weights of classes, sums both ways, and scratch space


def refusal(task: Task) -> str | None:
    """Say whether there are too many elements."""
    return ranking_refusal(task, "weak orders", LARGEST)


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of rankings with ties."""
    problem = task.problem
    found, weights = opened_ranking(problem, BYTES)
    placing = Placing(*weights)
    both = ~found.unrelated & ~found.unrelated.T
    tie = set_weights(*split(found.scores + found.scores.T, both))
    forward, places = ranking_sums(placing, *tie, control.expired)
    require_time(control)
    if forward[-1] <= 0.0:
        raise infeasible(problem)
    before, classes, backward, left = ranking_probabilities(
        placing, *tie, forward, places, control.expired
    )
    require_time(control)
    return Posterior(
        DenseMarginals(before + pair_sums(classes)),
        found.constant + log2_of(float(forward[-1]), int(places[-1])),
        exact=True,
        method="sums over rankings",
        draw=partial(_draw, weights, (*tie, backward, left)),
    )


def _draw(
    weights: Weights, sums: tuple[Any, ...], count: int, rng: np.random.Generator
) -> list[Relation]:
    placing = Placing(*weights)  # made anew: it cannot be sent to another process
    ranks = draw_rankings(placing, *sums, rng.random((count, len(weights[0]))))
    return [WeakOrder(row) for row in ranks]
