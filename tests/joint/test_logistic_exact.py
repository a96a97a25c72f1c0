"""Logistic with few features, exactly: against every relation of small sets."""

import numpy as np
import pytest

import relatum as rt
from instances.joint import SETS, random_problem
from relatum.errors import DegenerateWarning, SolverError

pytestmark = pytest.mark.filterwarnings(f"ignore::{DegenerateWarning.__module__}.DegenerateWarning")


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(SETS))
def test_exact_equals_brute_force(kind):
    rng = np.random.default_rng(4)
    for number in range(25):
        (given, feasible, arguments), _, best = random_problem(kind, "logistic", rng)
        result = rt.joint_estimate(given, feasible, exact=True, **arguments)
        assert result.objective == pytest.approx(best.min(), abs=1e-5), number
        assert result.bound <= best.min() + 1e-9, number
        assert result.optimal, number


def test_bound_of_a_search_that_is_cut_short_holds():
    rng = np.random.default_rng(5)
    for _ in range(5):
        (given, feasible, arguments), _, best = random_problem("orders", "logistic", rng)
        result = rt.joint_estimate(given, feasible, exact=True, time_limit=1e-3, **arguments)
        assert result.bound <= best.min() + 1e-9
        assert result.objective >= best.min() - 1e-6
        assert feasible.contains(result.estimate.relation)


def test_too_many_features_are_refused():
    x = np.random.default_rng(6).normal(size=(4, 4, 7))
    known = rt.evidence(related=[(0, 1)])
    with pytest.raises(SolverError, match="at most 6 features"):
        rt.joint_estimate(
            x, rt.LINEAR_ORDERS, measure=rt.LogisticMeasure(), evidence=known, exact=True
        )
