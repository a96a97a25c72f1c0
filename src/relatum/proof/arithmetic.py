"""Two arithmetics for checking bounds: exact integers, and floats with directed safety.

Every float is an integer times a power of two. `Exact` writes all numbers of a problem as
Python integers over one power of two, so that sums, comparisons and greatest common
divisors are exact. `Rounded` uses float64 and keeps a margin that covers its rounding; it
is for problems too large for exact integers.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Arithmetic(Protocol):
    """How numbers are held while a certificate is checked."""

    exact: bool

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert an array of floats."""

    def number(self, value: float) -> Any:
        """Convert one float."""

    def total(self, values: NDArray[Any]) -> Any:
        """Sum an array, not below its true sum."""

    def errors(self, magnitudes: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any] | None:
        """Bound the errors of sums of so many terms with so large a sum of magnitudes."""

    def to_float(self, value: Any) -> float:
        """Convert back, rounding up."""


def exponent_needed(values: NDArray[Any]) -> int:
    """Return the least s >= 0 such that every value times 2**s is an integer."""
    v = np.asarray(values, dtype=np.float64).ravel()
    v = v[(v != 0) & np.isfinite(v)]
    if v.size == 0 or np.array_equal(v, np.rint(v)):
        return 0
    mantissa, exponent = np.frexp(v)
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest_bit = digits & -digits
    trailing = np.log2(lowest_bit.astype(np.float64)).astype(np.int64)
    return max(0, int((53 - exponent - trailing).max()))


class Exact:
    """Integers over the common denominator 2**shift."""

    exact = True

    def __init__(self, shift: int) -> None:
        self.shift = shift

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        v = np.asarray(values, dtype=np.float64)
        mantissa, exponent = np.frexp(v)
        digits = (mantissa * 2.0**53).astype(np.int64)
        power = exponent.astype(np.int64) - 53 + self.shift
        out = np.empty(v.size, dtype=object)
        out[:] = [
            (d << p) if p >= 0 else (d >> -p)  # the bits shifted out are zeros, by the shift
            for d, p in zip(digits.ravel().tolist(), power.ravel().tolist(), strict=True)
        ]
        return out.reshape(v.shape)

    def number(self, value: float) -> Any:
        if not math.isfinite(value):
            return value
        numerator, denominator = float(value).as_integer_ratio()
        scaled = numerator << self.shift
        # round a claim down when it is finer than the grid: that only makes it harder to meet
        return scaled // denominator

    def total(self, values: NDArray[Any]) -> Any:
        return sum(values.ravel().tolist())

    def errors(self, magnitudes: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any] | None:
        return None

    def to_float(self, value: Any) -> float:
        if isinstance(value, float):
            return value
        result = (
            math.ldexp(1.0, -self.shift) * value
            if abs(value) < 2**52
            else _ratio(value, self.shift)
        )
        return math.nextafter(result, math.inf)


def _ratio(value: int, shift: int) -> float:
    try:
        return value / (1 << shift)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class Rounded:
    """float64 with a margin on every sum: relative 2**-46 of the sum of magnitudes."""

    exact = False

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.array(values, dtype=np.float64)

    def number(self, value: float) -> Any:
        return float(value)

    def total(self, values: NDArray[Any]) -> Any:
        # in one contiguous piece: numpy then sums pairwise, to within 2**-47 of the magnitudes
        v = np.ascontiguousarray(values, dtype=np.float64).ravel()
        if v.size == 0:
            return 0.0
        result = float(v.sum())
        if math.isinf(result):
            return result
        return result + 2.0**-46 * float(np.abs(v).sum())

    def errors(self, magnitudes: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any] | None:
        # k additions one after the other: each is off by 2**-53 of a partial sum at most
        return np.asarray(2.0**-52 * counts * magnitudes)

    def to_float(self, value: Any) -> float:
        return float(value)
