"""Bounds of single pairs: never below the best relation, and verified."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.trivial_bound import trivial_bound


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
