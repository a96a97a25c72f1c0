"""Exact numbers: every operation is that of Python's integers, and rounding goes one way."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relatum as rt
from relatum.proof.checker.numbers import BLOCK, Grid, Limbs, scaled

INTEGERS = st.integers(-(2**98), 2**98)
LISTS = st.lists(INTEGERS, min_size=1, max_size=12)


@given(LISTS, st.data())
@settings(deadline=None, max_examples=200)
def test_operations_are_those_of_integers(a, data):
    b = data.draw(st.lists(INTEGERS, min_size=len(a), max_size=len(a)))
    x, y = Limbs.of_ints(a), Limbs.of_ints(b)
    pairs = list(zip(a, b, strict=True))
    assert x.tolist() == a
    assert ((x.low >= 0) & (x.low < 2**40)).all()
    assert (x + y).tolist() == [p + q for p, q in pairs]
    assert (x - y).tolist() == [p - q for p, q in pairs]
    assert (-x).tolist() == [-p for p in a]
    assert x.exceeds(y).tolist() == [p > q for p, q in pairs]
    assert x.equals(y).tolist() == [p == q for p, q in pairs]
    assert x.equals(x).all()
    assert x.positive().tolist() == [p > 0 for p in a]
    assert x.where(x.exceeds(y)).tolist() == [p if p > q else 0 for p, q in pairs]
    assert x.or_else(x.exceeds(y), y).tolist() == [max(p, q) for p, q in pairs]
    assert x.total() == sum(a)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=9), st.integers(-(2**58), 2**58))
@settings(deadline=None)
def test_products_are_those_of_integers(a, factor):
    factors = np.full(len(a), factor) // np.arange(1, len(a) + 1)
    found = Limbs.of_ints(a).times(factors).tolist()
    assert found == [x * k for x, k in zip(a, factors.tolist(), strict=True)]


@given(LISTS)
@settings(deadline=None)
def test_sums_by_owner_and_differences_at_repeated_places(a):
    owner = np.arange(len(a)) % 3
    sums = [sum(a[k::3]) for k in range(3)]
    assert Limbs.of_ints(a).sums(owner, 3).tolist() == sums
    start = Limbs.of_ints([7, -(2**60), 0])
    start.subtract_at(owner, Limbs.of_ints(a))
    assert start.tolist() == [s - t for s, t in zip([7, -(2**60), 0], sums, strict=True)]


def test_many_terms_at_one_place_do_not_overflow():
    count = BLOCK + 5
    terms = Limbs(np.zeros(count, dtype=np.int64), np.full(count, 2**40 - 1))
    assert terms.total() == count * (2**40 - 1)
    at = np.zeros(count, dtype=np.int64)
    assert terms.sums(at, 1).tolist() == [count * (2**40 - 1)]


@given(st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=6), st.integers(0, 45))
@settings(deadline=None)
def test_the_divisor_divides_and_is_the_greatest_among_moderate_numbers(a, zeros):
    numbers = [x << zeros for x in a]
    assert Limbs.of_ints(numbers).divisor() == math.gcd(*numbers)
    huge = [*numbers, (3 << 95) + (1 << zeros)]
    divisor = Limbs.of_ints(huge).divisor()
    assert divisor > 0
    assert all(x % divisor == 0 for x in huge)


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8),
    st.integers(-1100, 1100),
    st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_floats_are_rounded_one_way_and_only_where_they_must(values, shift, up):
    exact = [Fraction(v) * Fraction(2) ** shift for v in values]
    values = [v for v, e in zip(values, exact, strict=True) if abs(e) < 2**100]
    exact = [e for e in exact if abs(e) < 2**100]
    found, whole = scaled(np.array(values), shift, up)
    assert found.tolist() == [math.ceil(e) if up else math.floor(e) for e in exact]
    assert whole == all(e.denominator == 1 for e in exact)


def test_denormals_and_float32_are_held():
    tiny = np.array([5e-324, -5e-324, 1e-310, 0.0, -0.0])
    found, whole = scaled(tiny, 1074, True)
    assert found.tolist() == [int(Fraction(float(v)) * 2**1074) for v in tiny]
    assert whole
    assert scaled(np.array([0.1], dtype=np.float32), 30, True)[0].tolist() == [
        math.ceil(Fraction(float(np.float32(0.1))) * 2**30)
    ]


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_a_grid_holds_all_sums_of_a_problem(scale):
    rng = np.random.default_rng(0)
    c = rng.normal(size=(5, 5)) * scale
    grid = Grid.of(rt.Problem(c, rt.RELATIONS))
    total = sum(abs(Fraction(float(x))) for x in c.ravel())
    assert total < Fraction(2) ** grid.largest
    assert total * Fraction(2) ** grid.shift < 2**89
    assert total * Fraction(2) ** grid.shift >= 2**85  # and is not coarser than it must be
    assert Grid.of(rt.Problem(np.zeros((2, 2)), rt.RELATIONS)).shift > 0


def test_a_grid_counts_pairs_that_are_not_listed():
    problem = rt.Problem.from_pairs(
        [0], [1], [1.0], n=1000, background=-1e6, feasible=rt.EQUIVALENCES
    )
    assert Grid.of(problem).largest >= math.log2(1e6 * 499_500)


def test_claims_are_rounded_down_and_bounds_said_in_bits():
    grid = Grid.below(86)  # eighths
    assert grid.shift == 3
    assert [grid.claim(x) for x in (0.3, -0.3, Fraction(1, 3), 2.0)] == [2, -3, 2, 16]
    assert grid.bits(5) == 0.625
    assert Grid.below(1000).bits(2**200) == math.inf


LARGEST = 2.0**1000  # that a problem takes


def test_log_odds_that_add_up_to_more_than_a_float_have_a_grid():
    problem = rt.Problem(np.full((3, 3), LARGEST), rt.RELATIONS)
    grid = Grid.of(problem)
    assert 9 * Fraction(LARGEST) < Fraction(2) ** grid.largest
    assert grid.scores(problem.dense()).total() >= 9 * Fraction(LARGEST) * Fraction(2) ** grid.shift


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_arrays_that_were_written_to_prove_nothing(value):
    scores = np.zeros((2, 2))
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    apart = rt.Estimate(
        rt.Status.OPTIMAL, rt.Partition([0, 1]), 0.0, 0.0, rt.proof.Certificate(0.0)
    )
    assert rt.verify(problem, apart)
    scores[0, 1] = value
    assert not rt.verify(problem, apart)
