"""Numbers of the checker: integers of a hundred bits, exact, as many at a time as there are pairs.

Log-odds are binary fractions. `Grid` writes those of a problem as integers over one power of
two, chosen from the problem alone; what is finer than the grid is rounded so that a bound can
only become weaker: **log-odds up** (a relation is a sum of them, and none is counted less than
no times), **multipliers down** (a bound holds for any that are not negative). From there on
every sum, difference and comparison is exact, at any size.

`Limbs` holds such integers as ``high * 2**40 + low`` in two int64 arrays, 0 <= low < 2**40.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats
from relatum.errors import CertificateError
from relatum.problem import Problem

RADIX = 40  # bits of the lower limb
_LOW = (1 << RADIX) - 1
_PIECE = 20  # bits of a factor that are multiplied at once: 2**(40 + 20) fits
BLOCK = 1 << 22  # so many lower limbs add up to less than 2**62
# Numbers stay below 2**102: all log-odds of a problem together below 2**89, and what rows take
# from one pair below 2**100, which `View.read` makes sure of.
SCORE_BITS, ROW_BITS = 89, 100


class Limbs:
    """An array of exact integers below 2**102 in size; never changed but by `subtract_at`."""

    __slots__ = ("high", "low")

    def __init__(self, high: NDArray[np.int64], low: NDArray[np.int64]) -> None:
        self.high = high + (low >> RADIX)
        self.low = low & _LOW

    @classmethod
    def _of(cls, high: Any, low: Any) -> Self:
        """Take limbs that are normal already."""
        limbs = cls.__new__(cls)
        limbs.high, limbs.low = high, low
        return limbs

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> Self:
        """Return zeros."""
        return cls._of(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))

    @classmethod
    def of_ints(cls, numbers: Any) -> Self:
        """Return the integers of a nested list."""
        given = np.array(numbers, dtype=object)
        return cls._of((given >> RADIX).astype(np.int64), (given & _LOW).astype(np.int64))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple(self.high.shape)

    def __len__(self) -> int:
        return len(self.high)

    def __getitem__(self, index: Any) -> Self:
        return self._of(self.high[index], self.low[index])

    def copy(self) -> Self:
        """Return a copy to subtract from."""
        return self._of(self.high.copy(), self.low.copy())

    def ravel(self) -> Self:
        """Return the same numbers in one row, without a copy where that can be."""
        return self._of(self.high.ravel(), self.low.ravel())

    def diagonal(self) -> Self:
        """Return the diagonal of a square."""
        return self._of(np.diagonal(self.high), np.diagonal(self.low))

    def transposed(self) -> Self:
        """Return the square mirrored at its diagonal."""
        return self._of(self.high.T, self.low.T)

    def __add__(self, other: Limbs) -> Limbs:
        return Limbs(self.high + other.high, self.low + other.low)

    def __sub__(self, other: Limbs) -> Limbs:
        return Limbs(self.high - other.high, self.low - other.low)

    def __neg__(self) -> Limbs:
        return Limbs(-self.high, -self.low)

    def equals(self, other: Limbs) -> Flags:
        """Say where two arrays agree."""
        return np.asarray((self.high == other.high) & (self.low == other.low))

    def exceeds(self, other: Limbs) -> Flags:
        """Say where this one is larger."""
        equal = self.high == other.high
        return np.asarray((self.high > other.high) | (equal & (self.low > other.low)))

    def positive(self) -> Flags:
        """Say which numbers are above zero."""
        return np.asarray((self.high > 0) | ((self.high == 0) & (self.low > 0)))

    def where(self, flags: Flags) -> Limbs:
        """Return the numbers that are flagged, and zeros."""
        return Limbs._of(self.high * flags, self.low * flags)

    def or_else(self, flags: Flags, other: Limbs) -> Limbs:
        """Return these numbers where flagged, and the others elsewhere."""
        return Limbs._of(
            np.where(flags, self.high, other.high), np.where(flags, self.low, other.low)
        )

    def times(self, factors: Any) -> Limbs:
        """Multiply by integers; the products have to fit."""
        rest = np.asarray(factors, dtype=np.int64)
        small = (1 << _PIECE) - 1
        if not rest.size or (int(rest.min()) >= -small and int(rest.max()) <= small):
            return Limbs(self.high * rest, self.low * rest)
        upper = self.times(rest >> _PIECE)
        lower = rest & small
        return Limbs(
            (upper.high << _PIECE) + self.high * lower, (upper.low << _PIECE) + self.low * lower
        )

    def subtract_at(self, index: Any, terms: Limbs) -> None:
        """Subtract terms at places that may repeat, in place."""
        for begin in range(0, len(terms), BLOCK):
            piece = slice(begin, begin + BLOCK)
            at = tuple(i[piece] for i in index) if isinstance(index, tuple) else index[piece]
            np.subtract.at(self.high, at, terms.high[piece])
            np.subtract.at(self.low, at, terms.low[piece])
            self.high += self.low >> RADIX
            self.low &= _LOW

    def sums(self, owner: Any, shape: int | tuple[int, ...]) -> Limbs:
        """Return the sums of the numbers that belong to the same place."""
        out = Limbs.zeros(shape)
        out.subtract_at(owner, -self)
        return out

    def total(self) -> int:
        """Return the sum of all numbers."""
        total = 0
        high, low = self.high.ravel(), self.low.ravel()
        for begin in range(0, high.size, BLOCK):
            piece = slice(begin, begin + BLOCK)
            upper, lower = int((high[piece] >> 32).sum()), int((high[piece] & 0xFFFFFFFF).sum())
            total += (((upper << 32) + lower) << RADIX) + int(low[piece].sum())
        return total

    def tolist(self) -> list[int]:
        """Return Python integers, in one list."""
        pairs = zip(self.high.ravel().tolist(), self.low.ravel().tolist(), strict=True)
        return [(h << RADIX) + x for h, x in pairs]

    def divisor(self) -> int:
        """Return a number that divides all: the greatest, if the numbers are small besides it."""
        high = int(np.bitwise_or.reduce(self.high, None))
        low = int(np.bitwise_or.reduce(self.low, None))
        if high == 0 and low == 0:
            return 0
        zeros = _trailing_zeros(low) if low else RADIX + _trailing_zeros(high)
        most = max(abs(int(self.high.max())), abs(int(self.high.min()))) + 1
        if most.bit_length() + RADIX - zeros > 62:
            return 1 << zeros
        if zeros >= RADIX:
            return int(np.gcd.reduce(self.high >> (zeros - RADIX), None)) << zeros
        whole = (self.high << (RADIX - zeros)) + (self.low >> zeros)
        return int(np.gcd.reduce(whole, None)) << zeros


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def scaled(values: NDArray[Any], shift: int, up: bool) -> tuple[Limbs, bool]:
    """Return floats times 2**shift as integers, rounded up or down, and whether none had to be.

    The results have to be below 2**102.
    """
    given = np.asarray(values)
    high, low = np.empty((2, given.size), dtype=np.int64)
    flat, exact = given.ravel(), True
    for begin in range(0, flat.size, BLOCK):
        piece = slice(begin, begin + BLOCK)
        mantissa, exponent = np.frexp(flat[piece].astype(np.float64))
        digits = (mantissa * 2.0**53).astype(np.int64)
        power = exponent.astype(np.int64) + (shift - 53)
        right = np.clip(-power, 0, 62)
        finer = (digits & ((np.int64(1) << right) - 1)) != 0
        exact = exact and not finer.any()
        whole = digits >> right
        if up:
            whole += finer
        left = np.clip(power, 0, 62)
        fine = np.minimum(left, RADIX)
        high[piece] = (whole >> (RADIX - fine)) << (left - fine)
        low[piece] = (whole << fine) & _LOW
    return Limbs._of(high.reshape(given.shape), low.reshape(given.shape)), exact


@dataclass(frozen=True)
class Grid:
    """Integers over 2**shift, for everything that a certificate says about one problem.

    Attributes
    ----------
    shift : int
    largest : int
        All log-odds of the problem together are below 2**largest bits.
    """

    shift: int
    largest: int

    @classmethod
    def below(cls, largest: int) -> Self:
        """Return the finest grid for log-odds that add up to less than 2**largest bits."""
        return cls(SCORE_BITS - largest, largest)

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Return the finest grid on which all sums of log-odds of a problem fit."""
        count = problem.shape[0] * problem.shape[1]
        try:
            with np.errstate(over="ignore"):
                magnitude = problem.scores.magnitude() + abs(problem.background) * count
        except OverflowError:  # of an exact sum
            magnitude = math.inf
        if math.isfinite(2 * magnitude):  # twice: the sum is rounded
            return cls.below(math.frexp(2 * magnitude)[1])
        if not np.isfinite(problem.log_odds).all():  # of an array that was written to since
            raise CertificateError("Log-odds are no finite numbers, so that nothing is proved.")
        return cls.below(1024 + count.bit_length())

    def scores(self, values: Any) -> Limbs:
        """Return log-odds, rounded up."""
        return scaled(values, self.shift, True)[0]

    def multipliers(self, values: Floats) -> Limbs:
        """Return multipliers, rounded down."""
        return scaled(values, self.shift, False)[0]

    def claim(self, bound: float | Fraction) -> int:
        """Return a bound, rounded down: that only makes it harder to prove."""
        return math.floor(Fraction(bound) * Fraction(2) ** self.shift)

    def bits(self, number: int) -> float:
        """Return a number as a float of bits, for people; infinite if it is too large for one."""
        exact = Fraction(number) / Fraction(2) ** self.shift
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf
