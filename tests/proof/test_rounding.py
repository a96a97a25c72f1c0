"""Bounds that solvers claim are rounded up, and verify."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from relatum.proof import Certificate, Cuts, Leaf
from relatum.proof.checker import check_certificate
from relatum.proof.rounding import (
    checked_slack,
    gap_to_close,
    grid_of,
    round_up,
    sums_are_exact,
)


def test_rounding_up_covers_float_sums():
    rng = np.random.default_rng(2)
    for _ in range(200):
        v = rng.normal(size=50) * 10.0 ** rng.integers(0, 12, 50)
        true = sum(map(Fraction, v.tolist()))
        assert Fraction(round_up(float(v.sum()), float(np.abs(v).sum()))) >= true
    assert round_up(7.0, 0.0) == 7.0  # the sum of integers is exact
    assert round_up(math.inf, 1.0) == math.inf
    assert round_up(-math.inf, 1.0) == -math.inf


def test_a_checker_rounds_nothing_of_ordinary_log_odds():
    rng = np.random.default_rng(6)
    assert checked_slack(rt.Problem(rng.normal(size=(9, 9)))) == 0
    assert checked_slack(rt.Problem(rng.integers(-9, 9, (9, 9)) * 1.0)) == 0
    assert checked_slack(rt.Problem(np.zeros((2, 2)))) == 0
    assert checked_slack(rt.Problem(np.full((3, 3), 1e300))) == 0


def test_what_a_checker_may_round_is_covered():
    for small, large in ((0.1, 1e15), (1e-30, 1.0), (1e-300, 1e300)):
        problem = rt.Problem([[small, large]])
        slack = checked_slack(problem)
        assert 0 < slack < Fraction(large) / 2**80
        with pytest.raises(rt.errors.CertificateError):
            check_certificate(problem, Certificate(Fraction(small) + Fraction(large), Leaf()))
        check_certificate(problem, Certificate(Fraction(small) + Fraction(large) + slack, Leaf()))


def test_rows_with_multipliers_off_the_grid_need_more():
    problem = rt.Problem([[1.0, 2.0]], rt.UNIQUE_IMAGE)
    fine, coarse = (Cuts("at_most", np.array([[0, 1]]), np.array([y])) for y in (1e-40, 0.5))
    assert checked_slack(problem, [coarse], 2) == 0
    assert checked_slack(problem, [fine], 2) > 0
    assert checked_slack(problem, [fine], 20) > checked_slack(problem, [fine], 2)


def test_grids_are_those_of_binary_fractions_only():
    assert grid_of(np.array([6.0, -9.0, 0.0])) == 3.0
    assert grid_of(np.array([0.5, -1.25])) == 0.25
    assert grid_of(np.array([0.1, 0.2])) == 0.0
    assert grid_of(np.array([1.0, np.pi])) == 0.0
    assert grid_of(np.array([0.0])) == 0.0
    assert grid_of(np.array([2.0**53, 1.0])) == 0.0
    c = np.array([3.1, 0.1])
    assert (c[0] - c[1]) == 3.0  # in floating point, but 3.1 - 0.1 is not 3 exactly
    assert grid_of(np.array([3.0]), c) == 0.0


def test_differences_that_are_integers_in_floating_point_only_still_verify():
    """The search must not prune by a grid that the exact values do not lie on."""
    rng = np.random.default_rng(3)
    for name in ("PREORDERS", "PARTIAL_ORDERS", "LINEAR_ORDERS", "EQUIVALENCES"):
        for _ in range(8):
            c = rng.integers(-4, 5, (6, 6)) + np.triu(np.full((6, 6), 0.1))
            if name == "EQUIVALENCES":
                c = np.triu(c) + np.tril(np.full((6, 6), -0.1), -1)
            problem = rt.Problem(c, getattr(rt, name))
            for solver in ("branch_and_cut", "auto"):
                e = rt.infer(problem, solver=solver, prove=True)
                report = rt.verify(problem, e)
                assert report, (name, solver, report.reason)


def test_when_sums_are_exact():
    assert sums_are_exact(rt.Problem(np.array([[0.5, 3.0], [2.0, 0.25]])))
    assert not sums_are_exact(rt.Problem(np.array([[0.1, 3.0], [2.0, 0.2]])))
    assert not sums_are_exact(rt.Problem(np.array([[2.0**52, 1.0]])))
    assert not sums_are_exact(
        rt.Problem.from_pairs([0], [1], [1.0], background=-0.1, feasible=rt.EQUIVALENCES)
    )


def test_progress_is_judged_by_the_gap_or_by_the_bound_alone():
    assert gap_to_close(12.0, 7.5) == 4.5
    assert gap_to_close(-20.0, -math.inf) == 2.0
