"""Float arithmetic of bounds, for solvers: what they claim is rounded up, here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats
from relatum.problem import Problem
from relatum.proof.certificate import Cuts

# What float sums may be off by, as a share of the sum of the absolute values that enter them:
# more than a thousand additions one after the other lose.
ROUNDING = 1e-13
# What bounds of linear programs may be off by, as such a share: their summands are themselves
# differences of a log-odds and of the multipliers of many rows.
LP_ROUNDING = 10 * ROUNDING
# The checker counts in units of 2**-87 of the next power of two above all log-odds together, or
# in finer ones: log-odds are rounded up to it, multipliers down.
CHECKED_BITS = 87
_AT_ONCE = 1 << 16  # numbers looked at in one go
FINEST_GRID = 30  # binary places: steps finer than that rule out nothing that rounding does not


def round_up(bound: float, magnitude: float) -> float:
    """Raise a bound by more than float rounding may have lowered it.

    `magnitude` is the sum of the absolute values that went into it; 0 if their sum is exact,
    as that of integers is.
    """
    if math.isinf(bound) or magnitude == 0:
        return bound
    return bound + ROUNDING * magnitude + abs(bound) * 1e-15


def checked_slack(
    problem: Problem,
    cuts: Iterable[Cuts] = (),
    terms: int = 0,
    prices: Floats | None = None,
    scores: int | None = None,
) -> Fraction:
    """Return by how much a checker's bound may exceed one that is computed without rounding.

    Nothing, where log-odds, multipliers and prices are on its grid, as they are unless their sizes
    are very different. `terms` is how many terms and units on their right sides rows have, and
    `scores` how many log-odds may be added up: of all pairs, unless said.
    """
    pairs = problem.shape[0] * problem.shape[1]
    magnitude = problem.scores.magnitude() + abs(problem.background) * pairs
    top = math.frexp(magnitude)[1] if math.isfinite(magnitude) else 1024 + pairs.bit_length()
    shift = CHECKED_BITS - top
    numbers = [problem.log_odds.reshape(-1), *(cut.multipliers for cut in cuts)]
    if prices is not None:
        numbers.append(prices)
        terms += prices.size
    if problem.background:
        numbers.append(np.array([problem.background]))
    if sum(v.size for v in numbers) <= _AT_ONCE:
        numbers = [np.concatenate(numbers)]
    if all(_on_grid(v, shift) for v in numbers):
        return Fraction(0)
    return ((pairs if scores is None else scores) + terms + 1) * Fraction(2) ** -shift


def _on_grid(values: NDArray[Any], shift: int) -> bool:
    """Say whether all values are multiples of 2**-shift."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, _AT_ONCE):
        some = np.asarray(flat[start : start + _AT_ONCE], dtype=np.float64)
        scaled = np.ldexp(some, shift)
        if not ((scaled == np.rint(scaled)) & ((scaled != 0) | (some == 0))).all():
            return False
    return True


def gap_to_close(bound: float, value: float) -> float:
    """Return bound - value, to judge progress by; a tenth of the bound if there is no value."""
    return bound - value if value > -math.inf else 0.1 * abs(bound)


def sums_are_exact(problem: Problem) -> bool:
    """Say whether sums and differences of the log-odds are exact in float64.

    Only then can a greatest common divisor be read off them.
    """
    background = _binary_places(np.array([problem.background]))
    magnitude = problem.scores.magnitude() + abs(problem.background) * problem.n_pairs
    shift = max(background, _binary_places(problem.log_odds))
    return shift <= 52 and magnitude * 2.0**shift < 2.0**52


def _binary_places(values: NDArray[Any]) -> int:
    """Return the least s >= 0 such that every value times 2**s is an integer.

    Or some number above 52, once there is a value that asks for it: that is of no use.
    """
    flat, places = np.asarray(values).ravel(), 0
    for start in range(0, flat.size, 1 << 16):
        v = flat[start : start + (1 << 16)].astype(np.float64)
        v = v[v != 0]
        if np.array_equal(v, np.rint(v)):
            continue
        mantissa, exponent = np.frexp(v)
        digits = (mantissa * 2.0**53).astype(np.int64)
        last = np.frexp((digits & -digits).astype(np.float64))[1] - 1  # place of the last digit
        places = max(places, int((53 - exponent - last).max()))
        if places > 52:
            break
    return places


def grid_of(values: Floats, scores: Floats | None = None) -> float:
    """Return the greatest common divisor of values on a binary grid, or 0.0 if it is of no use.

    Where the values are sums and differences of scores, these have to be on the grid as well:
    3.1 - 0.1 is the integer 3 in floating point only.
    """
    scores = values if scores is None else scores
    bits = _binary_places(scores)
    if bits > FINEST_GRID or float(np.abs(scores).sum()) * 2.0**bits >= 2.0**53:
        return 0.0
    v = np.abs(values[values != 0]) * 2.0**bits
    return float(np.gcd.reduce(v.astype(np.int64))) / 2.0**bits if v.size else 0.0
