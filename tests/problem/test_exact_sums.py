"""Exact sums against sums of fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from relatum.problem import ExactSum, exact_sum, float_up, nearest_float, sum_of
from relatum.problem.exact_sums import CHUNK, FEW


def numbers(rng, size, low=-300, high=300):
    """Floats of both signs, with full mantissas and far apart, some of which cancel."""
    x = rng.normal(size=size) * 10.0 ** rng.uniform(low, high, size)
    x[rng.random(size) < 0.2] = 0.0
    return np.where(rng.random(size) < 0.2, -np.roll(x, 1), x)


def by_fractions(values):
    return sum(
        (Fraction(v) for v in np.asarray(values, dtype=np.float64).ravel().tolist()), Fraction()
    )


@pytest.mark.parametrize("size", [0, 1, FEW, FEW + 1, 500, CHUNK, CHUNK + 3])
@pytest.mark.parametrize("reach", [(-300, 300), (-320, -300), (300, 307), (-2, 2)])
def test_sums_are_those_of_fractions(size, reach):
    rng = np.random.default_rng(size)
    x = numbers(rng, size, *reach)
    kept = x.copy()
    assert exact_sum(x) == by_fractions(x)
    assert np.array_equal(x, kept)
    assert exact_sum(x.reshape(1, -1)) == by_fractions(x)


def test_the_largest_and_the_least_float_add_up():
    top, least = np.finfo(np.float64).max, 5e-324
    for x in (np.full(100, top), np.append(np.full(99, top), least), np.full(100, least)):
        assert exact_sum(x) == by_fractions(x)
        assert exact_sum(-x) == by_fractions(-x)


def test_short_floats_and_many_small_arrays():
    rng = np.random.default_rng(1)
    x = (rng.normal(size=3000) * 10.0 ** rng.uniform(-30, 30, 3000)).astype(np.float32)
    assert exact_sum(x) == by_fractions(x)
    total = ExactSum()
    for part in np.array_split(x, 700):
        total.add(part)
    total.add_times(-0.1, 7)
    total.add_times(1e308, 10**6)
    want = by_fractions(x) - 7 * Fraction(0.1) + 10**6 * Fraction(1e308)
    assert total.value() == want
    assert total.value() == want  # asking changes nothing


def test_sums_of_floats_and_fractions():
    assert sum_of([]) == 0
    assert sum_of([0.5, Fraction(1, 3), -1.0]) == Fraction(-1, 6)


def test_floats_of_fractions():
    assert nearest_float(Fraction(1, 3)) == 1 / 3
    assert nearest_float(Fraction(10) ** 400) == math.inf
    assert nearest_float(-(Fraction(10) ** 400)) == -math.inf
    for value in (Fraction(1, 3), Fraction(-1, 3), Fraction(2**60 + 1), Fraction(-(2**60) - 1)):
        above = float_up(value)
        assert Fraction(above) >= value > Fraction(math.nextafter(above, -math.inf))
    assert float_up(Fraction(1, 4)) == 0.25
    assert float_up(-math.inf) == -math.inf
    assert float_up(Fraction(10) ** 400) == math.inf
    assert float_up(-(Fraction(10) ** 400)) == -np.finfo(np.float64).max
