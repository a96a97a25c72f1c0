import numpy as np
import pytest

from relatum.measures import objective as ob
from relatum.measures.fit.lbfgs import certified, solve_lbfgs
from relatum.measures.fit.rows import Rows
from relatum.measures.fit.sdca import Controls, Task, solve_rows


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(2)
    x = rng.integers(-2, 3, size=(700, 9)).astype(np.int8)
    return x, rng.random((3, 700)) < 0.4, rng.random(700) + 0.1


def test_agrees_with_dual_ascent_within_both_gaps(problem):
    x, related, weights = problem
    controls = Controls(tol=1e-7, max_epochs=2000)
    one = solve_lbfgs(Task(Rows(x, np.float64), related, weights, 4.0), controls)
    two = solve_rows(Task(Rows(x, np.float64), related, weights, 4.0), controls)
    assert one.reason == two.reason == "converged"
    assert one.primal.sum() == pytest.approx(two.primal.sum(), rel=2e-7)
    assert max(one.dual.sum(), two.dual.sum()) <= min(one.primal.sum(), two.primal.sum())


def test_certificate_is_the_dual_objective_of_the_dual_variables(problem):
    x, related, weights = problem
    w = np.random.default_rng(3).normal(size=(3, 9)) * 0.1
    found = certified(Task(Rows(x, np.float64), related, weights, 4.0), w)
    point = found.duals @ x / 4.0
    dual = ob.logistic_dual(found.duals, point / ob.LN2, 4.0 * ob.LN2**2, weights)
    np.testing.assert_allclose(found.dual, dual)


def test_stops_at_the_best_point_when_told(problem):
    x, related, weights = problem

    def monitor(iteration, value, gap):
        if iteration == 3:
            raise KeyboardInterrupt

    controls = Controls(tol=1e-12, max_epochs=100, monitor=monitor)
    found = solve_lbfgs(Task(Rows(x, np.float64), related, weights, 4.0), controls)
    assert found.reason == "interrupted"
    assert found.primal.sum() < 3 * weights.sum()
    few = solve_lbfgs(
        Task(Rows(x, np.float64), related, weights, 4.0), Controls(tol=1e-12, max_epochs=2)
    )
    assert few.reason == "epochs"
    assert few.epochs == 2
