"""Linear programs on HiGHS against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from relatum.lp import engine_named
from relatum.lp.highs import HighsProgram


def random_program(rng):
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 8))
    matrix = csr_array(rng.integers(-2, 3, (m, n)).astype(float))
    return rng.normal(size=n), matrix, rng.integers(-1, 4, m).astype(float)


def dual_bound(cost, matrix, rhs, y, lower, upper):
    r = cost - matrix.T @ y
    return float(rhs @ y + np.where(r > 0, upper * r, lower * r).sum())


def check(engine, seed):
    """Values equal scipy's, and multipliers prove them, while rows come and the box changes."""
    rng = np.random.default_rng(seed)
    cost, matrix, rhs = random_program(rng)
    n = len(cost)
    lower, upper = np.zeros(n), np.ones(n)
    first = np.arange(n) == 0
    half = max(1, len(rhs) // 2)
    for c in (cost, -cost):
        program = engine(c, lower, upper)
        program.add_rows(csr_array(matrix[:half]), rhs[:half])
        program.solve(10.0)
        if half < len(rhs):
            program.add_rows(csr_array(matrix[half:]), rhs[half:])
        for low, high in ((lower, upper), (lower, upper - first), (lower + first, upper)):
            program.set_bounds(low, high)
            result = program.solve(10.0)
            bounds = list(zip(low, high, strict=True))
            peer = linprog(-c, A_ub=matrix.toarray(), b_ub=rhs, bounds=bounds)
            assert (result.multipliers >= 0).all()
            if peer.status == 2:
                assert result.status == "infeasible"
                continue
            assert result.status == "optimal"
            assert c @ result.x == pytest.approx(-peer.fun, abs=1e-7)
            bound = dual_bound(c, matrix, rhs, result.multipliers, low, high)
            assert bound == pytest.approx(-peer.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_programs_agree_with_scipy(seed):
    check(HighsProgram, seed)


def test_it_is_found_by_name():
    assert engine_named("highs") is HighsProgram


def test_no_rows_is_a_program_too():
    result = HighsProgram(np.array([1.0, -1.0]), np.zeros(2), np.ones(2)).solve(1.0)
    assert result.status == "optimal"
    assert result.x.tolist() == [1.0, 0.0]
    assert len(result.multipliers) == 0
