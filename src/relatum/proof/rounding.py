"""Float arithmetic of bounds, for solvers: what they claim is rounded up."""

from __future__ import annotations

import math

import numpy as np

from relatum.array_types import Floats
from relatum.problem import Problem
from relatum.proof.arithmetic import exponent_needed

__all__ = ["gap_to_close", "grid_of", "round_up", "sums_are_exact"]


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


def sums_are_exact(problem: Problem) -> bool:
    """Say whether sums and differences of the log-odds are exact in float64.

    Only then can a greatest common divisor be read off them.
    """
    values = np.append(problem.log_odds.ravel().astype(np.float64), problem.background)
    magnitude = problem.scores.magnitude() + abs(problem.background) * problem.n_pairs
    shift = exponent_needed(values)
    return shift <= 52 and magnitude * 2.0**shift < 2.0**52


def grid_of(values: Floats, scores: Floats | None = None) -> float:
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
