"""The best value so far, and the one rule that says when a bound is as good as it.

Values of relations whose log-odds have a greatest common divisor g differ by multiples of g,
so a bound less than g above the value is as good as the value itself. Otherwise a bound is
good enough if it leaves a share of the gap that is allowed, which is `OPTIMAL_GAP` for a whole
problem and less for a part of one; the rest of that gap is for rounding.
"""

from __future__ import annotations

import math

from relatum.proof import LP_ROUNDING, OPTIMAL_GAP

NEXT_VALUE = 1 - 1e-6  # of g: a bound that reaches the next value rules nothing out
LEAST_GRID = 100  # in units of rounding: a finer g drowns in it


class Incumbent:
    """The value of the best relation so far; families add the relation and how to better it.

    Parameters
    ----------
    value : float
        -inf while there is no relation.
    grid : float
        The greatest common divisor g of all values, or 0.
    magnitude : float
        Sum of the absolute numbers that enter a bound; 0 if bounds come rounded up.
    offset : float
        What is to be added to values and bounds, for reports.
    gap : float
        Bits that are allowed between value and bound.
    share : float
        Of that gap, that a closed search may leave.
    """

    def __init__(
        self,
        value: float = -math.inf,
        *,
        grid: float = 0.0,
        magnitude: float = 0.0,
        offset: float = 0.0,
        gap: float = OPTIMAL_GAP,
        share: float = 0.2,
    ) -> None:
        self.value = value
        self.offset = offset
        self.allowed = share * gap
        self.rounding = LP_ROUNDING * magnitude
        self.grid = grid if grid >= LEAST_GRID * self.rounding else 0.0

    @property
    def tolerance(self) -> float:
        """How far above the value the bound of a finished search may lie."""
        return 0.0 if self.grid else self.allowed

    @property
    def exact_cutoff(self) -> float:
        """Bounds up to here prove, up to rounding, that nothing is better."""
        if self.grid:
            return self.value + NEXT_VALUE * self.grid - self.rounding
        return self.value + self.rounding

    @property
    def cutoff(self) -> float:
        """Bounds up to here are as good as the value."""
        if self.value == -math.inf:
            return -math.inf
        return max(self.exact_cutoff, self.value + self.tolerance)

    def claim(self, limit: float) -> float:
        """Return the bound that a proof by bounds up to a limit establishes."""
        limit = max(limit, self.exact_cutoff)
        if self.grid and limit <= self.exact_cutoff:
            return self.value
        return limit + self.rounding
