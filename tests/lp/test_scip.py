"""Linear programs on SCIP's LP solver give what HiGHS gives."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import relatum as rt
from relatum.errors import MissingDependencyError
from relatum.lp import engine_named
from relatum.lp.highs import HighsProgram
from relatum.lp.scip import AT_ONCE, ScipProgram


def program(engine, seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    cost = rng.normal(size=n)
    lp = engine(cost, np.zeros(n), np.ones(n))
    lp.add_rows(csr_array(rng.integers(-2, 3, (m, n)).astype(float)), rng.integers(0, 3, m) - 0.5)
    return cost, lp


@pytest.mark.parametrize("seed", range(25))
def test_programs_agree_with_highs(seed):
    pytest.importorskip("pyscipopt")
    cost, scip = program(ScipProgram, seed)
    _, highs = program(HighsProgram, seed)
    none, every = np.zeros(len(cost)), np.ones(len(cost))
    first = (np.arange(len(cost)) == 0).astype(float)
    for low, high in ((none, every), (none, every - first), (first, every)):
        for lp in (scip, highs):
            lp.set_bounds(low, high)
        one, two = scip.solve(10.0), highs.solve(10.0)
        assert one.status == two.status
        assert (one.multipliers >= 0).all()
        if one.status == "optimal":
            assert cost @ one.x == pytest.approx(cost @ two.x, abs=1e-7)
            assert len(one.multipliers) == len(two.multipliers)


def test_a_program_of_many_columns_has_stopped_if_time_is_up_before_it_is_written_down():
    pytest.importorskip("pyscipopt")
    n = 2 * AT_ONCE + 1
    row = csr_array(np.ones((1, n)))
    for over, status in ((True, "late"), (False, "optimal")):
        lp = ScipProgram(np.ones(n), np.zeros(n), np.ones(n), lambda over=over: over)
        lp.add_rows(row, np.array([7.0]))
        lp.set_bounds(np.zeros(n), np.full(n, 0.5))
        result = lp.solve(60.0)
        assert (result.status, len(result.x), len(result.multipliers)) == (status, n, 1)
        assert result.x.sum() == pytest.approx(0.0 if over else 7.0)
        assert result.x.max() <= 0.5
    assert lp.solve(1e-3).status == "late"  # it is the last one, and would take longer to begin


@pytest.mark.parametrize("feasible", [rt.PREORDERS, rt.WEAK_ORDERS, rt.EQUIVALENCES], ids=str)
def test_the_branch_and_cut_finds_the_same_value_on_both(feasible):
    pytest.importorskip("pyscipopt")
    rng = np.random.default_rng(0)
    for _ in range(5):
        problem = rt.Problem(rng.integers(-5, 6, (6, 6)).astype(float), feasible)
        one = rt.infer(problem, solver="branch_and_cut_scip", prove=True)
        two = rt.infer(problem, solver="branch_and_cut", prove=True)
        assert one.value == two.value
        assert one.status is two.status is rt.Status.OPTIMAL
        assert rt.verify(problem, one)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    assert engine_named("scip") is ScipProgram
    with pytest.raises(MissingDependencyError, match=r"relatum\[scip\]"):
        ScipProgram(np.ones(1), np.zeros(1), np.ones(1))


def test_an_error_of_the_linear_program_ends_it_as_if_time_were_up():
    """Costs of 2**1000 are more than SCIP takes; any multipliers, none included, are valid."""
    pytest.importorskip("pyscipopt")
    problem = rt.Problem.from_pairs(
        [0, 2, 2],
        [1, 0, 1],
        [2.0**1000, -1.0, -1.0],
        n=3,
        background=0.5,
        feasible=rt.LINEAR_ORDERS & rt.evidence(related=[(0, 1)]),
    )
    e = rt.infer(problem, solver="branch_and_cut_scip", time_limit=3)
    assert rt.verify(problem, e)
