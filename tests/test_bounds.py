"""Bounds that solvers claim are rounded up, and verify."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.bounds import gap_to_close, grid_of, round_up, sums_are_exact, trivial_bound
from relatum.certificate import Certificate
from relatum.verification import check_certificate


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trivial_bounds_verify_and_are_those_of_single_pairs(dtype):
    rng = np.random.default_rng(0)
    for number in range(60):
        n = int(rng.integers(1, 9))
        scale = 10.0 ** rng.integers(0, 9, (n, n))
        c = (rng.normal(size=(n, n)) * scale).astype(dtype)
        feasible = [rt.EQUIVALENCES, rt.PREORDERS, rt.LINEAR_ORDERS, rt.MAPS][number % 4]
        problem = rt.Problem(c, feasible)
        bound, proof = trivial_bound(problem)
        check_certificate(problem, Certificate(bound, proof))
        if n <= 3:
            name = ("EQUIVALENCES", "PREORDERS", "LINEAR_ORDERS", "MAPS")[number % 4]
            best = naive.best_value(c.astype(float), naive.members(naive.NAMED[name], n, n))
            assert bound >= best


@pytest.mark.parametrize("background", [-1.5, 0.0, 0.25])
def test_trivial_bounds_of_sparse_and_condensed_problems(background):
    rng = np.random.default_rng(1)
    for _ in range(20):
        pairs = np.argwhere(rng.random((7, 7)) < 0.4)
        sparse = rt.Problem.from_pairs(
            pairs[:, 0],
            pairs[:, 1],
            rng.normal(size=len(pairs)),
            n=7,
            background=background,
            feasible=rt.EQUIVALENCES,
        )
        dense = rt.Problem(sparse.dense(), rt.EQUIVALENCES)
        condensed = rt.Problem(rng.normal(size=21).astype(np.float32), rt.EQUIVALENCES)
        for problem in (sparse, dense, condensed):
            bound, proof = trivial_bound(problem)
            check_certificate(problem, Certificate(bound, proof))
        assert trivial_bound(sparse)[0] == pytest.approx(trivial_bound(dense)[0])


def test_rounding_up_covers_float_sums():
    rng = np.random.default_rng(2)
    for _ in range(200):
        v = rng.normal(size=50) * 10.0 ** rng.integers(0, 12, 50)
        true = sum(map(Fraction, v.tolist()))
        assert Fraction(round_up(float(v.sum()), float(np.abs(v).sum()))) >= true
    assert round_up(math.inf, 1.0) == math.inf
    assert round_up(-math.inf, 1.0) == -math.inf


def test_grids_are_those_of_integers_only():
    assert grid_of(np.array([6.0, -9.0, 0.0])) == 3.0
    assert grid_of(np.array([0.5, 1.0])) == 0.0
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
