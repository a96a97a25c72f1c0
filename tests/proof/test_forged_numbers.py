"""Forgeries by numbers: multipliers, claims and scores that no sum can be trusted with."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from campaign.forging import TRIANGLE, asked, claiming, having, refused, row, told
from relatum.proof import (
    Certificate,
    Cuts,
    Estimate,
    Fix,
    Leaf,
    Prices,
    Status,
)


@pytest.mark.parametrize("y", [1.7e308, 1e300, 2.0**110, 2.0**101])
@pytest.mark.parametrize("times", [1, 2, 9, 1000])
def test_multipliers_too_large_to_add_up(y, times):
    """Pair 01 is known to be related: what rows take from it must not wrap round or overflow."""
    given = asked("LINEAR_ORDERS", np.ones((3, 3)), related=[(0, 1)])
    for cuts in (
        (Cuts("antisymmetric", np.array([[0, 1]] * times), np.full(times, y)),),
        tuple(row("antisymmetric", 0, 1, multiplier=y) for _ in range(times)),
        (*(row("transitive", 0, 1, 2, multiplier=y),) * times, row("connex", 0, 1, multiplier=y)),
    ):
        for claim in (5.0, 0.0, -1e300):
            refused(given, claiming(claim, Leaf(cuts)))
        refused(given, claiming(-math.inf, Leaf(cuts, infeasible=True)))


def test_multipliers_just_small_enough_many_times():
    """Each row may take a lot, many of them together must not take more than numbers hold."""
    given = asked("LINEAR_ORDERS", np.ones((3, 3)), related=[(0, 1)])
    for power in range(1, 30):
        for times in (1, 2, 16, 300):
            cuts = (row("antisymmetric", 0, 1, multiplier=2.0**power),) * times
            refused(given, claiming(5.0, Leaf(cuts)))
            refused(given, claiming(5.0, Fix(cuts, np.array([[0, 2]]), np.array([True]), Leaf())))


def test_a_certificate_does_not_choose_its_arithmetic_by_its_size():
    given = asked("EQUIVALENCES", np.full((4, 4), 1.0 + 2.0**-52))
    many = 700_000
    for cut in (
        Cuts("transitive", np.tile([[0, 1, 2]], (many, 1)), np.zeros(many)),
        Cuts("transitive", np.tile([[0, 1, 2]], (many, 1)), np.full(many, 5e-324)),
    ):
        refused(given, claiming(16.0, Leaf((cut,))))


def test_the_reason_of_too_many_rows_comes_before_they_are_added_up():
    given = asked("EQUIVALENCES", TRIANGLE)
    cut = Cuts("transitive", np.broadcast_to([[0, 1, 2]], (10**8, 3)), np.zeros(10**8))
    before = time.perf_counter()
    refused(given, claiming(1.0, Leaf((cut,))))
    cut = Cuts("two_partition", np.full((1, 10**5), -1), np.zeros(1))
    refused(given, claiming(1.0, Leaf((cut,))))
    assert time.perf_counter() - before < 60  # not the hours and terabytes that they ask for


@pytest.mark.parametrize("penalty", [-1e9, -1e15, -1e300])
def test_a_value_that_a_penalty_hides(penalty):
    given = problem, _ = asked("RELATIONS", [[0.25, penalty], [0.5, 0.125]])
    best = rt.Relation([[1, 0], [1, 1]])
    for off in (math.nextafter(0.875, 1), math.nextafter(0.875, 0), 0.8, 1.0, 0.875 + 1e-12):
        refused(given, having(Status.FEASIBLE, best, off, 2.0))
    everything = rt.Relation([[1, 1], [1, 1]])
    refused(given, having(Status.FEASIBLE, everything, 2.0 * penalty, 2.0))
    worse = rt.Relation([[1, 0], [1, 0]])
    refused(given, having(Status.OPTIMAL, worse, 0.75, 0.75))
    refused(given, having(Status.OPTIMAL, worse, 0.75, 0.875))
    if penalty > -1e20:
        assert rt.verify(problem, having(Status.OPTIMAL, best, 0.875, 0.875))


def test_optimal_besides_a_large_diagonal():
    c = np.diag([1e10] * 3) + np.array(TRIANGLE) * 0.05
    given = problem, meaning = asked("EQUIVALENCES", c)
    proof = Leaf((row("transitive", 0, 1, 2, multiplier=0.1),))
    for labels in ([0, 1, 2], [0, 0, 0]):
        relation = rt.Partition(labels)
        value = float(meaning.value(relation.matrix()))
        bounds = (value, float(meaning.best), math.nextafter(value, math.inf))
        for bound in bounds:
            refused(given, having(Status.OPTIMAL, relation, value, bound, proof))
    best = rt.Partition([0, 0, 1])
    value = float(meaning.value(best.matrix()))
    bound = math.nextafter(value, math.inf)
    assert rt.verify(problem, having(Status.OPTIMAL, best, value, bound, proof))


@pytest.mark.parametrize("gap", [2.0**-19, 2.0**-20 + 2.0**-40])
def test_optimal_means_within_a_gap_that_does_not_grow(gap):
    given = asked("RELATIONS", [[gap, 0.0]])
    nothing = rt.Relation([[0, 0]])
    for bound in (0.0, gap, 2.0**-20):
        refused(given, having(Status.OPTIMAL, nothing, 0.0, bound))


@pytest.mark.parametrize("field", ["value", "bound", "certificate"])
def test_nan_is_no_claim(field):
    given = problem, _ = asked("RELATIONS", [[1.0, -1.0]])
    honest = having(Status.OPTIMAL, rt.Relation([[1, 0]]), 1.0, 1.0)
    assert rt.verify(problem, honest)
    wrong = Certificate(math.nan, Leaf()) if field == "certificate" else math.nan
    refused(given, replace(honest, **{field: wrong}))
    refused(given, replace(honest, status=Status.FEASIBLE, **{field: wrong}))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, -1.0, -5e-324])
def test_multipliers_are_numbers_from_zero_on(wrong):
    given = asked("EQUIVALENCES", TRIANGLE)
    cut = row("transitive", 0, 1, 2, multiplier=wrong)
    refused(given, claiming(1.0, Leaf((cut,))))
    refused(given, claiming(-math.inf, Leaf((cut,), infeasible=True)))
    refused(given, claiming(1.0, Fix((cut,), np.array([[0, 1]]), np.array([False]), Leaf())))
    refused(given, claiming(1.0, Prices((cut,), np.zeros(3))))


@pytest.mark.parametrize("tiny", [2.0**-1022, 2.0**-1000, 2.0**-150])
def test_scores_below_the_grid_count(tiny):
    given = asked("RELATIONS", [[1.0, tiny]])
    refused(given, claiming(1.0, Leaf()))
    alone = asked("RELATIONS", [[tiny, tiny]])
    refused(alone, claiming(tiny, Leaf()))
    refused(alone, claiming(0.0, Leaf((row("at_most", 0, 1, multiplier=tiny),))))


def test_a_bound_is_not_one_ulp_too_low():
    for c in (0.1, 1 / 3, 1e15 + 0.125, 7e-300, 2.0**1000):
        given = problem, _ = asked("RELATIONS", [[c, -c]])
        assert rt.verify(problem, claiming(c, Leaf()))
        refused(given, claiming(math.nextafter(c, -math.inf), Leaf()))


@pytest.mark.parametrize("kind", [Fraction, np.longdouble, str, lambda x: [x], np.float32])
def test_bounds_of_other_types_are_not_rounded_in_their_favour(kind):
    problem, _ = asked("RELATIONS", [[1.0, -1.0]])
    below = kind(1)
    if kind is Fraction:
        below -= Fraction(1, 10**40)
    elif kind is np.longdouble:
        below = np.nextafter(below, kind(0))
    elif kind is np.float32:
        below = kind(1 - 2.0**-30) - np.finfo(kind).epsneg
    estimate = Estimate(Status.BOUND_ONLY, None, -math.inf, below, Certificate(below, Leaf()))
    told(problem, estimate)
