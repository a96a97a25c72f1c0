"""The logistic objective from class totals: against the sum over pairs, differences and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from relatum.joint.conjugate import Conjugate


@pytest.fixture(params=range(4))
def case(request):
    """Pairs, some with equal rows and some of no weight, and a strength of the prior."""
    rng = np.random.default_rng(request.param)
    x = rng.integers(-1, 2, (30, 3)).astype(float)
    weights = rng.choice([0.0, 0.5, 1.0], 30)
    y = rng.integers(0, 2, 30).astype(float)
    return x, weights, y, float(rng.choice([0.1, 1.0])), rng.normal(size=3)


def objective(theta, x, weights, y, strength):
    """Bits of y and of the prior, pair by pair: -log2 of what the model says."""
    z = x @ theta
    return weights @ (np.log2(1 + 2**z) - y * z) + 0.5 * strength / np.log(2) * theta @ theta


def test_totals_are_all_that_matters(case):
    x, weights, y, strength, theta = case
    g = Conjugate.of_pairs(x, weights, strength)
    assert len(g.rows) == len(np.unique(x[weights > 0], axis=0))
    assert g.weights.sum() == pytest.approx(weights.sum())
    found = g.value(theta) - (weights * y) @ x @ theta
    assert found == pytest.approx(objective(theta, x, weights, y, strength))


def test_slope_and_hessian_are_derivatives(case):
    x, weights, _, strength, theta = case
    g = Conjugate.of_pairs(x, weights, strength)
    steps = 1e-5 * np.eye(3)
    slope = [(g.value(theta + h) - g.value(theta - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(g.slope(theta), slope, rtol=1e-6, atol=1e-6)
    hessian = [(g.slope(theta + h) - g.slope(theta - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(g.hessian(theta), hessian, rtol=1e-6, atol=1e-6)
    assert np.linalg.eigvalsh(g.hessian(theta)).min() >= g.curvature - 1e-12


def test_minimum_is_that_of_scipy_and_the_bound_is_below(case):
    x, weights, y, strength, start = case
    g = Conjugate.of_pairs(x, weights, strength)
    totals = (weights * y) @ x
    theta, value, bound = g.minimize(totals)
    peer = minimize(objective, np.zeros(3), (x, weights, y, strength), tol=1e-12)
    assert value == pytest.approx(peer.fun, abs=1e-8)
    np.testing.assert_allclose(theta, peer.x, atol=1e-4)
    assert value - 1e-8 <= bound <= min(value, peer.fun)
    again, same, _ = g.minimize(totals, start=start)
    assert same == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(again, theta, atol=1e-5)


def test_nothing_known_costs_nothing():
    g = Conjugate.of_pairs(np.ones((4, 2)), np.zeros(4), 1.0)
    theta, value, bound = g.minimize(np.zeros(2))
    assert theta.tolist() == [0.0, 0.0]
    assert value == 0.0
    assert -1e-9 < bound <= 0.0
