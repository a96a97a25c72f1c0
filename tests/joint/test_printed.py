"""SCIP on the programs as printed agrees where it finishes."""

import numpy as np
import pytest

import relatum as rt
from instances.joint import random_problem
from relatum.errors import DegenerateWarning

pytest.importorskip("pyscipopt", reason="install relatum[scip] to check against SCIP")
from benchmarks._printed import solve_as_printed

pytestmark = pytest.mark.filterwarnings(f"ignore::{DegenerateWarning.__module__}.DegenerateWarning")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "largest"), [("bernoulli", 4), ("logistic", 3)])
def test_scip_agrees(model, largest):
    rng = np.random.default_rng(11)
    finished = 0
    for number in range(9):
        kind = ("equivalences", "orders", "maps")[number % 3]
        (given, feasible, arguments), _, best = random_problem(kind, model, rng, largest)
        printed = solve_as_printed(given, feasible, time_limit=1.5, **arguments)
        exact = rt.joint_estimate(given, feasible, exact=True, **arguments)
        # SCIP's tolerance is absolute on constraints that add up logarithms
        assert printed.bound <= best.min() + 1e-3
        assert exact.objective <= printed.objective + 1e-5
        if printed.finished:
            finished += 1
            assert printed.objective == pytest.approx(exact.objective, abs=1e-3)
            assert feasible.contains(printed.relation)
    assert finished >= 3
