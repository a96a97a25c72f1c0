"""Float arithmetic of bounds, for solvers: what they claim is rounded up, here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from relatum.array_types import Floats
from relatum.problem import Problem
from relatum.proof.arithmetic import exponent_needed

# What float sums may be off by, as a share of the sum of the absolute values that enter them:
# more than a thousand additions one after the other lose.
ROUNDING = 1e-13
# What bounds of linear programs may be off by, as such a share: their summands are themselves
# differences of a log-odds and of the multipliers of many rows.
LP_ROUNDING = 10 * ROUNDING
FINEST_GRID = 30  # binary places: steps finer than that rule out nothing that rounding does not


def round_up(bound: float, magnitude: float) -> float:
    """Raise a bound by more than float rounding may have lowered it.

    `magnitude` is the sum of the absolute values that went into it; 0 if their sum is exact,
    as that of integers is.
    """
    if math.isinf(bound) or magnitude == 0:
        return bound
    return bound + ROUNDING * magnitude + abs(bound) * 1e-15


def sum_up(values: Iterable[float]) -> float:
    """Return the exact sum of bounds, rounded up to a float."""
    terms = list(values)
    total = math.fsum(terms)
    if math.isfinite(total) and math.fsum([*terms, -total]) > 0:
        total = math.nextafter(total, math.inf)
    return total


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
    """Return the greatest common divisor of values on a binary grid, or 0.0 if it is of no use.

    Where the values are sums and differences of scores, these have to be on the grid as well:
    3.1 - 0.1 is the integer 3 in floating point only.
    """
    scores = values if scores is None else scores
    bits = exponent_needed(scores)
    if bits > FINEST_GRID or float(np.abs(scores).sum()) * 2.0**bits >= 2.0**53:
        return 0.0
    v = np.abs(values[values != 0]) * 2.0**bits
    return float(np.gcd.reduce(v.astype(np.int64))) / 2.0**bits if v.size else 0.0
