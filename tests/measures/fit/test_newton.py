import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from relatum.measures.fit.newton import SOLVERS, solve_newton
from relatum.measures.fit.rows import Rows
from relatum.measures.fit.sdca import Controls, Task, solve_rows


@pytest.fixture(scope="module")
def hard():
    """Few rows of large, correlated features: dual ascent creeps here."""
    x, y = load_breast_cancer(return_X_y=True)
    return x, y[None, :] == 1, np.ones(len(y))


def test_auto_finishes_what_dual_ascent_does_not(hard):
    x, related, weights = hard
    controls = Controls(tol=1e-6, max_epochs=100)
    alone = solve_rows(Task(Rows(x, np.float64), related, weights, 1.0), controls)
    found = SOLVERS["auto"](Task(Rows(x, np.float64), related, weights, 1.0), controls)
    assert alone.gap > 0.1
    assert found.reason == "converged"
    assert found.gap <= 1e-6
    assert alone.dual.sum() <= found.dual.sum() <= found.primal.sum() <= alone.primal.sum()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_newton_agrees_with_dual_ascent(form):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(80, 6)).astype(np.int8)
    related, weights = rng.random((2, 80)) < 0.4, rng.random(80) + 0.1
    controls = Controls(tol=1e-9, max_epochs=5000)
    newton = solve_newton(Task(Rows(form(x), np.float32, True), related, weights, 2.0), controls)
    ascent = solve_rows(Task(Rows(form(x), np.float64, True), related, weights, 2.0), controls)
    assert newton.reason == ascent.reason == "converged"
    np.testing.assert_allclose(newton.w, ascent.w, atol=1e-4)
    assert newton.primal.sum() == pytest.approx(ascent.primal.sum(), rel=1e-8)


def test_deadline_keeps_the_start(hard):
    x, related, weights = hard
    late = Controls(tol=1e-9, deadline=time.monotonic() - 1)
    start = np.full((1, x.shape[1]), 1e-4)
    found = solve_newton(Task(Rows(x, np.float64), related, weights, 1.0), late, start)
    assert found.reason == "time"
    np.testing.assert_array_equal(found.w, start)
