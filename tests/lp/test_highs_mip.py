"""Mixed-integer programs against trying all points."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from relatum.lp.highs_mip import HighsMixedProgram


def test_equals_brute_force():
    rng = np.random.default_rng(0)
    points = np.array(list(product((0, 1), repeat=6)), dtype=float)
    for _ in range(20):
        cost, rows = rng.normal(size=6), rng.integers(-3, 4, (3, 6)).astype(float)
        low, high = np.full(3, -4.0), np.full(3, 1.0)
        program = HighsMixedProgram(cost, np.zeros(6), np.ones(6), lambda: False)
        program.add_rows(csr_array(rows), low, high)
        inside = ((points @ rows.T >= low) & (points @ rows.T <= high)).all(axis=1)
        relaxed = program.solve(10.0)
        program.set_integer(np.ones(6, dtype=bool))
        start = points[inside][0]
        result = program.solve(10.0, start)
        best = (points[inside] @ cost).min()
        assert result.status == "optimal"
        assert cost @ result.x == pytest.approx(best, abs=1e-6)
        assert relaxed.bound <= result.bound + 1e-6
        assert result.bound == pytest.approx(best, abs=1e-6)


def test_says_that_nothing_is_feasible():
    program = HighsMixedProgram(np.ones(2), np.zeros(2), np.ones(2), lambda: False)
    program.add_rows(csr_array(np.ones((1, 2))), np.array([3.0]), np.array([4.0]))
    program.set_integer(np.ones(2, dtype=bool))
    assert program.solve(10.0).status == "infeasible"


def test_stops_when_told():
    rng = np.random.default_rng(1)
    n = 60
    rows = rng.integers(1, 100, (5, n)).astype(float)
    program = HighsMixedProgram(-rng.random(n), np.zeros(n), np.ones(n), lambda: True)
    program.add_rows(csr_array(rows), np.full(5, -np.inf), rows.sum(axis=1) / 3)
    program.set_integer(np.ones(n, dtype=bool))
    result = program.solve(60.0)
    assert result.status == "stopped"
