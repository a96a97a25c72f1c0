"""The bound that needs no solver: every unordered pair on its own."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from relatum.problem import DenseScores, ExactSum, Problem, SparseScores
from relatum.proof import Leaf, Proof, checked_slack
from relatum.solvers.pair_states import best_sum

FEW_PAIRS = 4_000_000  # of partitions, up to which what is fixed is written to a matrix


def trivial_bound(problem: Problem) -> tuple[Fraction | float, Proof]:
    """Bound every unordered pair on its own, exactly; the proof has no rows.

    Cheap: one pass over the log-odds, row by row where they are dense and large. The bound is
    -inf if some pair is left no state.
    """
    large = problem.shape[0] * problem.shape[1] > FEW_PAIRS
    free = not (len(problem.evidence) or problem.feasible.groups)
    if (large or free) and problem.feasible.has("reflexive", "symmetric"):
        total: Fraction | None = _sum_of_positive(problem)
    else:
        total = best_sum(problem)
    if total is None:
        return -math.inf, Leaf(infeasible=True)
    return total + checked_slack(problem), Leaf()


def _sum_of_positive(problem: Problem) -> Fraction:
    """Sum of the positive scores of unordered pairs, and of the diagonal."""
    scores, total = problem.scores, ExactSum()
    c = scores.log_odds
    if isinstance(scores, DenseScores):
        for a in range(problem.n - 1):
            forward, backward = c[a, a + 1 :], c[a + 1 :, a]
            positive = np.add(forward, backward, dtype=np.float64) > 0
            total.add(forward[positive])
            total.add(backward[positive])
        total.add(np.diagonal(c))
        return total.value()
    listed = c
    if isinstance(scores, SparseScores):
        off = scores.i != scores.j
        listed = c[off]
        total.add(c[~off])
    total.add(listed[listed > 0])
    if problem.background > 0:
        unlisted = problem.n * (problem.n - 1) // 2 - len(listed)
        total.add_times(problem.background, unlisted)
    return total.value()
