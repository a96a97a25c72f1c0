"""Registration of the branch-and-cut on its two engines."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.solvers.general.branch_and_cut import Settings
from relatum.solvers.registry import SOLVERS


@pytest.mark.parametrize("name", ["branch_and_cut", "branch_and_cut_scip"])
def test_it_takes_anything_that_fits(monkeypatch, name):
    solver = SOLVERS[name]
    problem = rt.Problem(np.zeros((3, 4)), rt.MAPS & rt.HAS_PREIMAGE & rt.at_most(2))
    assert solver.refuses(problem) is None
    assert solver.proves
    assert solver.decompose
    monkeypatch.setattr("relatum.solvers.general.solver.SETTINGS", Settings(most_pairs=11))
    assert "at most 11 pairs, and there are 12" in solver.refuses(problem)


def test_scip_runs_only_by_name():
    problem = rt.Problem(np.zeros((2, 2)))
    assert SOLVERS["branch_and_cut_scip"].rank(problem, True) == math.inf
    assert SOLVERS["branch_and_cut"].rank(problem, True) < math.inf


def test_both_engines_find_a_surjection():
    pytest.importorskip("pyscipopt")
    c = np.array([[3.0, 2.0, -9.0], [3.0, -9.0, -9.0], [3.0, 1.0, 0.5], [0.0, 0.0, -1.0]])
    problem = rt.Problem(c, rt.MAPS & rt.HAS_PREIMAGE)
    best = naive.best_value(c, naive.members((*naive.NAMED["MAPS"], "has_preimage"), 4, 3))
    for name in ("branch_and_cut", "branch_and_cut_scip"):
        e = rt.infer(problem, solver=name, prove=True)
        assert sorted(set(e.relation.labels.tolist())) == [0, 1, 2]
        assert e.value == best
        assert rt.verify(problem, e)
