"""Exact and rounded arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relatum.proof.arithmetic import Exact, Rounded, exponent_needed

floats = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.lists(floats, min_size=1, max_size=20)


@given(vectors)
@settings(max_examples=300, deadline=None)
def test_exact_holds_every_float_exactly(values):
    shift = exponent_needed(np.array(values))
    exact = Exact(shift)
    held = exact.array(np.array(values))
    assert [Fraction(v, 2**shift) for v in held.tolist()] == [Fraction(v) for v in values]
    assert Fraction(exact.total(held), 2**shift) == sum(map(Fraction, values))
    assert [exact.number(v) for v in values] == held.tolist()


@given(vectors)
@settings(max_examples=200, deadline=None)
def test_the_exponent_is_the_least(values):
    shift = exponent_needed(np.array(values))
    assert all((Fraction(v) * 2**shift).denominator == 1 for v in values)
    if shift > 0:
        assert any((Fraction(v) * 2 ** (shift - 1)).denominator != 1 for v in values)


@given(floats, st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_claims_round_down_and_results_round_up(value, shift):
    exact = Exact(shift)
    number = exact.number(value)
    assert Fraction(number, 2**shift) <= Fraction(value)
    back = exact.to_float(number)
    assert math.isinf(back) or Fraction(back) >= Fraction(number, 2**shift)


def test_infinities_and_nan_pass_through():
    assert Exact(3).number(math.inf) == math.inf
    assert Exact(3).number(-math.inf) == -math.inf
    assert math.isnan(Exact(3).number(math.nan))
    assert Exact(3).to_float(-math.inf) == -math.inf
    assert Exact(0).to_float(-(10**400)) < -1e308
    assert exponent_needed(np.array([math.inf, 0.0, 2.0])) == 0
    assert exponent_needed(np.array([5e-324])) == 1074


@given(st.lists(st.floats(-1e300, 1e300), max_size=50))
@settings(max_examples=300, deadline=None)
def test_rounded_totals_are_not_below_the_sum(values):
    total = Rounded().total(np.array(values))
    true = sum(map(Fraction, values))
    assert math.isinf(total) or Fraction(total) >= true


def test_rounded_totals_of_strided_and_long_arrays():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 70)) * 10.0 ** rng.integers(0, 12, (300, 70))
    for array in (values, values.T, values[::3, ::7], np.zeros((3, 0))):
        total = Rounded().total(array)
        true = sum(map(Fraction, array.ravel().tolist()), Fraction(0))
        assert Fraction(total) >= true
        assert total - float(true) <= 1e-13 * np.abs(array).sum()


def test_errors_cover_sums_one_after_the_other():
    rng = np.random.default_rng(1)
    for k in (1, 2, 10, 1000):
        terms = rng.normal(size=k + 1) * 10.0 ** rng.integers(0, 18, k + 1)
        running = 0.0
        for term in terms:
            running += term
        off = abs(Fraction(running) - sum(map(Fraction, terms.tolist())))
        errors = Rounded().errors(np.array([np.abs(terms).sum()]), np.array([k]))
        assert off <= Fraction(float(errors[0]))
    assert Exact(0).errors(np.ones(1), np.ones(1)) is None
