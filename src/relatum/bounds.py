"""Float arithmetic of bounds, for solvers: what they claim is rounded up."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relatum.arithmetic import Rounded, exponent_needed
from relatum.certificate import Leaf, Proof
from relatum.problem import Problem
from relatum.scores import DenseScores, SparseScores
from relatum.views import view_of

__all__ = ["gap_to_close", "grid_of", "round_up", "sums_are_exact", "trivial_bound"]


def round_up(bound: float, magnitude: float) -> float:
    """Raise a bound by more than float rounding may have lowered it.

    `magnitude` is the sum of the absolute values that went into it.
    """
    if math.isinf(bound):
        return bound
    return bound + 1e-13 * magnitude + abs(bound) * 1e-15


def gap_to_close(bound: float, value: float) -> float:
    """Return bound - value, to judge progress by; a tenth of the bound if there is no value."""
    return bound - value if value > -math.inf else 0.1 * abs(bound)


def trivial_bound(problem: Problem) -> tuple[float, Proof]:
    """Bound every unordered pair on its own; the proof has no rows.

    Cheap: one pass over the log-odds, row by row where they are dense and large.
    """
    magnitude = problem.scores.magnitude()
    if problem.feasible.has("reflexive", "symmetric"):
        total = _sum_of_positive(problem)
    else:
        view = view_of(problem, Rounded())
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


def sums_are_exact(problem: Problem) -> bool:
    """Say whether sums and differences of the log-odds are exact in float64.

    Only then can a greatest common divisor be read off them.
    """
    values = np.append(problem.log_odds.ravel().astype(np.float64), problem.background)
    magnitude = problem.scores.magnitude() + abs(problem.background) * problem.n_pairs
    shift = exponent_needed(values)
    return shift <= 52 and magnitude * 2.0**shift < 2.0**52


def grid_of(values: NDArray[np.float64], scores: NDArray[np.float64] | None = None) -> float:
    """Return the greatest common divisor of integer values, or 0.0 if there is none to use.

    Where the values are sums and differences of scores, these have to be integers as well:
    3.1 - 0.1 is the integer 3 in floating point only.
    """
    scores = values if scores is None else scores
    v = np.abs(values[values != 0])
    if v.size == 0 or not np.array_equal(scores, np.rint(scores)):
        return 0.0
    if float(np.abs(scores).sum()) >= 2**53:
        return 0.0
    return float(np.gcd.reduce(v.astype(np.int64)))
