"""Linear orders by random walks."""

from __future__ import annotations

from functools import partial

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.probability.order_chains import Ordering
from relatum.probability.exact.weights import infeasible, opened
from relatum.probability.methods import Task
from relatum.probability.posterior import Posterior
from relatum.probability.sampling.chains import (
    CHAINS,
    judged,
    most_probable,
    picked,
    some_pairs,
)
from relatum.probability.sampling.counting import log2_factorial, log2_orders
from relatum.probability.sampling.drawn import DrawnMarginals, Draws
from relatum.probability.sampling.ladder import Walking, drawn
from relatum.probability.sampling.normalizer import total
from relatum.problem import LinearOrder, Relation, exact_sum
from relatum.solvers import Control

LARGEST = 2000  # elements
WORK = 1_000_000  # places looked at between two draws,
SWEEPS = 5  # in so many rounds over all elements at most
LONGEST = 16  # elements of a block that moves


def refusal(task: Task) -> str | None:
    """Say whether there are too many elements."""
    if task.problem.n > LARGEST:
        return f"takes linear orders of at most {LARGEST} elements, and these are {task.problem.n}"
    return None


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of linear orders."""
    problem, n = task.problem, task.problem.n
    found = opened(problem)
    if problem.feasible.cap is not None and problem.feasible.cap < n:
        raise infeasible(problem)  # the first is related to all
    begun = most_probable(problem, control)
    start = begun.relation.to(LinearOrder)
    apart = found.unrelated | found.related.T  # what is not before what
    np.fill_diagonal(apart, False)
    ahead = found.scores - found.scores.T
    ahead = np.where(apart, -np.inf, np.where(apart.T, np.inf, ahead))
    walking = walking_of(ahead, start, (task.seed, n))
    told = drawn(walking, task, control)
    walks = told.walks
    marginals = DrawnMarginals(walks.draws, np.less_equal, partial(_certain, apart))
    i, j = np.nonzero(np.triu(np.isfinite(ahead), 1))
    said = judged(walks, marginals, some_pairs(i, j, task.seed), told.exchanges)
    tried = sum(c.blocks for c in told.walkers)
    said["blocks moved"] = sum(c.block_moves for c in told.walkers) / tried if tried else 0.0
    value = found.constant + exact_sum(np.ascontiguousarray(found.scores[start.matrix()]))
    most = begun.bound + (walking.count if walking.count is not None else log2_factorial(n))
    bits, error = total([(0.0, told.gain)], value, said, (begun.value, most))
    places = walks.draws.reshape(-1, n)
    return Posterior(
        marginals,
        bits,
        exact=False,
        method="tempering" if "exchanges accepted" in said else "sampling",
        draw=partial(_draw, places),
        normalizer_error=error,
        ranks=_ranks(places),
        diagnostics=said,
    )


def _certain(apart: Flags, i: Index, j: Index) -> Flags:
    return np.asarray((i == j) | apart[i, j] | apart[j, i])


def _draw(places: Draws, count: int, rng: np.random.Generator) -> list[Relation]:
    chosen = places[picked(len(places), count, rng)]
    return [LinearOrder.from_order(np.argsort(row)) for row in chosen]


def walking_of(ahead: Floats, start: LinearOrder, seed: tuple[int, ...]) -> Walking:
    """Return how chains walk over orders."""
    n = len(ahead)
    heated: dict[float, Floats] = {}

    def scores(factor: float) -> Floats:
        if factor not in heated:
            heated[factor] = np.ascontiguousarray(factor * ahead)
        return heated[factor]

    def reheat(walker: Ordering, old: float, new: float) -> None:
        walker.reheat(scores(new), new / old)

    return Walking(
        n,
        lambda factor: chains_of(scores(factor), start),
        reheat,
        steps_of(n),
        (n, n // 4 + 1, LONGEST),
        seed,
        np.asarray,
        log2_orders(np.isposinf(ahead)),
        float(np.abs(ahead[np.isfinite(ahead)]).sum()) / 2,
    )


def chains_of(ahead: Floats, start: LinearOrder) -> list[Ordering]:
    """Return walkers at an order."""
    return [Ordering(np.ascontiguousarray(ahead), start.order) for _ in range(CHAINS)]


def steps_of(n: int) -> tuple[int, int, int]:
    """Return how many elements and blocks to move between two draws, and the longest block."""
    sweeps = max(1, min(SWEEPS, WORK // max(1, 4 * n * n)))
    return sweeps * n, sweeps * (n // 4 + 1), LONGEST


def _ranks(places: Draws) -> Floats:
    """Return how often each element was at each place."""
    n = places.shape[1]
    at = (np.arange(n) * n + places).ravel()
    return np.bincount(at, minlength=n * n).reshape(n, n) / len(places)
