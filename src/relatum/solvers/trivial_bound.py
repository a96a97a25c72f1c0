"""The bound that needs no solver: every unordered pair on its own."""

from __future__ import annotations

import math

import numpy as np

from relatum.problem import DenseScores, Problem, SparseScores
from relatum.proof import Leaf, Proof, Rounded, round_up
from relatum.proof.checker import dense_view


def trivial_bound(problem: Problem) -> tuple[float, Proof]:
    """Bound every unordered pair on its own; the proof has no rows.

    Cheap: one pass over the log-odds, row by row where they are dense and large.
    """
    magnitude = problem.scores.magnitude()
    if problem.feasible.has("reflexive", "symmetric"):
        total = _sum_of_positive(problem)
    else:
        view = dense_view(problem, Rounded())
        total = float(view.best(view.residual(())))
    return round_up(total, magnitude), Leaf()


def _sum_of_positive(problem: Problem) -> float:
    """Sum of the positive scores of unordered pairs, and of the diagonal."""
    scores = problem.scores
    if isinstance(scores, DenseScores):
        c = scores.log_odds
        rows = (
            float(np.maximum(np.add(c[a, a + 1 :], c[a + 1 :, a], dtype=np.float64), 0).sum())
            for a in range(problem.n - 1)
        )
        return math.fsum(rows) + float(np.diagonal(c).sum(dtype=np.float64))
    c = scores.log_odds
    listed, off = c, np.ones(len(c), np.bool_)
    if isinstance(scores, SparseScores):
        off = scores.i != scores.j
        listed = c[off]
    unlisted = problem.n * (problem.n - 1) // 2 - len(listed)
    total = float(np.maximum(listed, 0).sum(dtype=np.float64))
    total += float(c[~off].sum(dtype=np.float64))
    return total + max(0.0, problem.background) * unlisted
