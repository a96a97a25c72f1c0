"""Bounds of single pairs: never below the best relation, and verified."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.trivial_bound import trivial_bound


def _members(name, n):
    return naive.members(naive.NAMED[name], n, n)


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
            exact = (problem.exact_value(rt.Relation(y)) for y in _members(name, n))
            assert bound >= max(exact)


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
            combine="sum",
        )
        dense = rt.Problem(sparse.dense(), rt.EQUIVALENCES)
        condensed = rt.Problem(rng.normal(size=21).astype(np.float32), rt.EQUIVALENCES)
        for problem in (sparse, dense, condensed):
            bound, proof = trivial_bound(problem)
            check_certificate(problem, Certificate(bound, proof))
        assert trivial_bound(sparse)[0] == pytest.approx(trivial_bound(dense)[0])


def test_trivial_bounds_are_exact_sums_of_the_best_of_every_pair():
    rng = np.random.default_rng(2)
    for number in range(40):
        n = int(rng.integers(2, 6))
        c = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4, (n, n))
        known = rt.evidence([(0, 1)], [(1, 0)]) if number % 2 else rt.evidence([(0, 0)])
        problem = rt.Problem(c, [rt.RELATIONS, rt.LINEAR_ORDERS][number % 4 == 1] & known)
        orders = number % 4 == 1
        total = Fraction(0)
        for a in range(n):
            own = Fraction(c[a, a])
            total += own if orders or (not number % 2 and a == 0) else max(own, Fraction(0))
            for b in range(a + 1, n):
                one, two = Fraction(c[a, b]), Fraction(c[b, a])
                if (a, b) == (0, 1) and number % 2:
                    total += one
                elif orders:
                    total += max(one, two)
                else:
                    total += max(one, 0) + max(two, 0)
        assert trivial_bound(problem)[0] == total


def test_a_large_clustering_is_bounded_without_a_matrix_of_what_is_fixed(monkeypatch):
    module = sys.modules["relatum.solvers.trivial_bound"]  # the function has the same name
    monkeypatch.setattr(module, "FEW_PAIRS", 0)
    test_trivial_bounds_of_sparse_and_condensed_problems(-1.5)
    test_trivial_bounds_of_sparse_and_condensed_problems(0.25)


def test_a_pair_without_a_state_leaves_nothing():
    problem = rt.Problem(np.zeros((2, 2)), rt.CONNEX & rt.evidence(unrelated=[(0, 1), (1, 0)]))
    bound, proof = trivial_bound(problem)
    assert bound == -math.inf
    check_certificate(problem, Certificate(bound, proof))
