"""Exact sums of floats: a few floats whose sum is that of an array, and fractions of these.

An array is split into summands that add up without rounding: with sigma, a power of two above
its length times its largest entry, the numbers (x + sigma) - sigma are multiples of one unit
so coarse that float64 sums them exactly, in any order. What they leave of x is at least 2**30
times as small, and is split in the same way, until nothing is left. So a sum costs a few
passes over the array, and no number is too large, too small or too far from another one.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats

FEW = 64  # entries up to which each is a term itself
CHUNK = 1 << 14  # entries split at once: they stay in the cache
_HUGE = 2.0**900  # from here on, sigma might not be finite
_DOWN = 300  # binary places by which such entries are moved


class ExactSum:
    """The exact sum of whatever is added to it.

    Parameters
    ----------
    values : array of finite floats, optional
        What is added first.

    Examples
    --------
    >>> total = ExactSum()
    >>> total.add(np.array([1e100, 1.0, -1e100]))
    >>> total.add_times(0.1, 10)
    >>> total.value() == 1 + 10 * Fraction(0.1)
    True
    """

    def __init__(self, values: NDArray[Any] | None = None) -> None:
        self._terms: list[float] = []
        self._times: list[tuple[float, int]] = []  # floats that count more than once
        self._waiting: list[NDArray[Any]] = []
        self._length = 0
        if values is not None:
            self.add(values)

    def add(self, values: NDArray[Any]) -> None:
        """Add all entries of an array of finite floats."""
        self._waiting.append(values)
        self._length += values.size
        if self._length >= CHUNK:  # many small arrays are split together
            self._flush()

    def add_times(self, value: float, count: int) -> None:
        """Add a float so many times."""
        self._times.append((value, count))

    def value(self) -> Fraction:
        """Return the sum."""
        self._flush()
        total = sum_of(self._terms)
        for value, count in self._times:
            total += Fraction(value) * count
        return total

    def nearest(self) -> float:
        """Return the float nearest to the sum; infinity if it is too large for one."""
        self._flush()
        if not self._times:
            with contextlib.suppress(OverflowError):
                return math.fsum(self._terms)
        return nearest_float(self.value())

    def _flush(self) -> None:
        some = [v.reshape(-1) for v in self._waiting]
        self._waiting, self._length = [], 0
        if not some:
            return
        flat = some[0] if len(some) == 1 else np.concatenate(some)
        if len(flat) <= FEW:
            self._terms += flat.tolist()
            return
        for start in range(0, len(flat), CHUNK):
            chunk = flat[start : start + CHUNK].astype(np.float64)
            if max(chunk.max(), -chunk.min()) >= _HUGE:
                huge = np.abs(chunk) >= _HUGE
                lowered = _split(np.ldexp(chunk[huge], -_DOWN))
                self._times += [(term, 1 << _DOWN) for term in lowered]
                chunk[huge] = 0.0
            self._terms += _split(chunk)


def _split(values: Floats) -> list[float]:
    """Return floats with the same sum as an array, which is used up."""
    terms: list[float] = []
    part = np.empty_like(values)
    room = (len(values) + 2).bit_length()
    while True:
        top = max(float(values.max()), -float(values.min()))
        if top == 0.0:
            return terms
        sigma = math.ldexp(1.0, math.frexp(top)[1] + room)
        np.add(values, sigma, out=part)
        part -= sigma
        terms.append(float(part.sum()))
        values -= part


def sum_of(terms: Iterable[float | Fraction]) -> Fraction:
    """Return the exact sum of floats and fractions."""
    ratios = [t.as_integer_ratio() for t in terms]
    if not ratios:
        return Fraction(0)
    common = math.lcm(*{d for _, d in ratios})
    return Fraction(sum(n * (common // d) for n, d in ratios), common)


def exact_sum(values: NDArray[Any]) -> Fraction:
    """Return the exact sum of an array of finite floats."""
    return ExactSum(values).value()


def nearest_float(value: Fraction) -> float:
    """Return the float nearest to a fraction; infinity if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_up(value: float | Fraction) -> float:
    """Return the least float that is not below a number."""
    if isinstance(value, float):
        return value
    found = nearest_float(value)
    if math.isinf(found):
        return found if found > 0 else -np.finfo(np.float64).max
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)
