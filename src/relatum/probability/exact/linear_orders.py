"""Linear orders: sums forward and backward over the sets of elements that come first."""

from __future__ import annotations

from functools import partial

import numpy as np

from relatum.array_types import Floats, Index
from relatum.kernels.probability.permutations import Placing, draw_orders, order_sums, placement
from relatum.probability.exact.rankings import opened_ranking, ranking_refusal
from relatum.probability.exact.weights import Weights, bit_sums, infeasible, log2_of, require_time
from relatum.probability.methods import Task
from relatum.probability.posterior import DenseMarginals, Posterior
from relatum.problem import LinearOrder, Relation
from relatum.solvers import Control

LARGEST = {False: 20, True: 22}  # elements, if chosen automatically and if asked for by name
BYTES = 48  # per subset: sums both ways, and the probabilities of one element's place


def refusal(task: Task) -> str | None:
    """Say whether there are too many elements."""
    return ranking_refusal(task, "linear orders", LARGEST)


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of linear orders."""
    problem, n = task.problem, task.problem.n
    found, weights = opened_ranking(problem, BYTES)
    placing = Placing(*weights)
    sums = order_sums(placing, control.expired)
    require_time(control)
    forward, places = sums[:2]
    if forward[-1] <= 0.0:
        raise infeasible(problem)
    before, ranks = _marginals(placing, sums, n)
    return Posterior(
        DenseMarginals(before),
        found.constant + log2_of(float(forward[-1]), int(places[-1])),
        exact=True,
        method="sums over orders",
        draw=partial(_draw, weights, forward, places),
        ranks=ranks,
    )


def _draw(
    weights: Weights, forward: Floats, places: Index, count: int, rng: np.random.Generator
) -> list[Relation]:
    placing = Placing(*weights)  # made anew: it cannot be sent to another process
    orders: Index = draw_orders(placing, forward, places, rng.random((count, len(weights[0]))))
    return [LinearOrder.from_order(order) for order in orders]


def _marginals(placing: Placing, sums: tuple[Floats, ...], n: int) -> tuple[Floats, Floats]:
    """Return the probabilities of pairs, and of places."""
    before, ranks = np.eye(n), np.empty((n, n))
    counts = np.bitwise_count(np.arange(1 << n, dtype=np.uint32))
    for a in range(n):
        p = placement(placing, a, *sums)
        ranks[a] = np.bincount(counts, weights=p, minlength=n + 1)[:n]
        own = bit_sums(p)
        own[a] = 1.0
        before[:, a] = own
    return before, ranks
