import time

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from relatum.measures import objective as ob
from relatum.measures.fit.rows import FitSettings, Rows
from relatum.measures.fit.sdca import Controls, Task, natural_lambda, solve_rows


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, size=(150, 12)).astype(np.int8)
    related = (x @ rng.normal(size=(12, 3)) + rng.normal(size=(150, 3)) > 0).T
    return x, related, rng.random(150) + 0.2


def minimum(x, related, weights, strength):
    """Smallest D_x + R_sigma in bits, by an independent solver on the printed objective."""
    best = 0.0
    for y in related:

        def value(theta, y=y):
            f = ob.logistic_divergence(theta, x, y, weights)
            slope = x.T @ (weights * (ob.sigmoid2(x @ theta) - y)) + strength / ob.LN2 * theta
            return f + ob.logistic_regularizer(theta, strength), slope

        start = np.zeros(x.shape[1])
        best += minimize(value, start, jac=True, method="BFGS", options={"gtol": 1e-10}).fun
    return best


@pytest.mark.parametrize("strength", [0.1, 8.0, 1000.0])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_reaches_the_minimum_within_the_gap_it_reports(problem, strength, form):
    x, related, weights = problem
    rows = Rows(x if form == "dense" else sparse.csr_matrix(x), np.float64)
    controls = Controls(tol=1e-7, max_epochs=5000)
    found = solve_rows(Task(rows, related, weights, natural_lambda(strength)), controls)
    best = minimum(x.astype(float), related, weights, strength)
    assert found.reason == "converged"
    assert found.gap <= 1e-7
    assert found.dual.sum() <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= found.primal.sum() <= best * (1 + 2e-7)
    theta = found.w / ob.LN2
    value = ob.logistic_divergence(theta, x.astype(float), related.T, weights)
    assert found.primal.sum() == pytest.approx(value + ob.logistic_regularizer(theta, strength))


def test_coefficients_are_the_ones_that_the_dual_variables_give(problem):
    x, related, weights = problem
    found = solve_rows(Task(Rows(x, np.float32), related, weights, 3.0), Controls(max_epochs=5))
    np.testing.assert_allclose(found.w, found.duals @ x / 3.0, atol=1e-5)


def test_single_precision_agrees(problem):
    x, related, weights = problem
    one = solve_rows(Task(Rows(x, np.float32), related, weights, 5.0), Controls(tol=1e-4))
    two = solve_rows(Task(Rows(x, np.float64), related, weights, 5.0), Controls(tol=1e-4))
    assert one.primal.sum() == pytest.approx(two.primal.sum(), rel=2e-4)


def test_start_at_the_optimum_needs_one_epoch(problem):
    x, related, weights = problem
    rows, controls = Rows(x, np.float64), Controls(tol=1e-5, max_epochs=1000)
    first = solve_rows(Task(rows, related, weights, 5.0), controls)
    again = solve_rows(Task(rows, related, weights, 5.0), controls, first.duals)
    assert first.epochs > 2
    assert again.epochs == 1


def test_rows_of_weight_zero_do_not_count(problem):
    x, related, weights = problem
    some = np.where(np.arange(150) < 100, weights, 0.0)
    controls = Controls(tol=1e-9, max_epochs=3000)
    all_rows = solve_rows(Task(Rows(x, np.float64), related, some, 50.0), controls)
    fewer = solve_rows(
        Task(Rows(x[:100], np.float64), related[:, :100], some[:100], 50.0), controls
    )
    np.testing.assert_allclose(all_rows.w, fewer.w, atol=1e-5)


def test_deadline_and_epochs_stop_it_with_an_exact_gap(problem):
    x, related, weights = problem
    for controls, reason in (
        (Controls(tol=1e-12, max_epochs=1), "epochs"),
        (Controls(tol=1e-12, max_epochs=10**6, deadline=time.monotonic() - 1), "time"),
    ):
        found = solve_rows(Task(Rows(x, np.float64), related, weights, 0.01), controls)
        assert found.reason == reason
        value = ob.logistic_divergence(found.w / ob.LN2, x.astype(float), related.T, weights)
        value += ob.logistic_regularizer(found.w / ob.LN2, 0.01 * ob.LN2**2)
        assert found.primal.sum() == pytest.approx(value)
        assert found.dual.sum() <= value


def test_interruption_keeps_what_was_found(problem):
    x, related, weights = problem

    def monitor(epoch, value, gap):
        if epoch == 2:
            raise KeyboardInterrupt

    controls = Controls(tol=1e-12, max_epochs=10**6, monitor=monitor)
    found = solve_rows(Task(Rows(x, np.float64), related, weights, 0.01), controls)
    assert found.reason == "interrupted"
    assert found.epochs == 2
    np.testing.assert_allclose(found.w, found.duals @ x / 0.01)
    assert 0 < found.gap < 1


def test_dual_objective_never_falls(problem):
    x, related, weights = problem
    values = []
    controls = Controls(
        tol=1e-9, max_epochs=20, monitor=lambda epoch, value, gap: values.append(value)
    )
    solve_rows(Task(Rows(x, np.float64), related, weights, 0.5), controls)
    assert len(values) > 5
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()


def test_gram_matrices_need_not_be_kept(problem, monkeypatch):
    x, related, weights = problem
    kept = solve_rows(Task(Rows(x, np.float64), related, weights, 5.0), Controls(max_epochs=4))
    monkeypatch.setattr("relatum.measures.fit.sdca.FIT", FitSettings(gram_bytes=0))
    anew = solve_rows(Task(Rows(x, np.float64), related, weights, 5.0), Controls(max_epochs=4))
    np.testing.assert_array_equal(kept.w, anew.w)
