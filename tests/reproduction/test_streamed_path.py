"""Many strengths learned in the same readings are what each is learned alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from relatum.measures import LogisticMeasure
from relatum.reproduction.streamed_path import StreamedPath

STRENGTHS = np.array([0.01, 4.0, 64.0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, size=(300, 12)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=300) > 1).astype(int)
    return x, y


def batches(x, y, size=70):
    return [(x[lo : lo + size], y[lo : lo + size]) for lo in range(0, len(x), size)]


def objective(theta, x, y, strength):
    """In bits, as printed in the paper."""
    scores = x @ theta
    return (np.logaddexp2(0, scores) - y * scores).sum() + strength / 2 * theta @ theta


def test_strong_priors_reach_the_measure_fitted_alone(data):
    x, y = data
    path = StreamedPath(STRENGTHS, y, 12, mean_square=6.0)
    assert path.proximal.tolist() == [True, False, False]
    for _ in range(40):
        path.read(batches(x, y))
    for k in (1, 2):
        alone = LogisticMeasure(STRENGTHS[k], tol=1e-6).fit(x.astype(float), y)
        assert np.allclose(path.theta[k], alone.coef_[0], atol=1e-3)
        assert path.gaps[k] < 1e-4


def test_proximal_steps_approach_the_optimum_of_the_weak_prior(data):
    x, y = data
    path = StreamedPath(STRENGTHS[:1], y, 12, mean_square=2000.0)
    best = minimize(objective, np.zeros(12), (x.astype(float), y, STRENGTHS[0])).fun
    excess = []
    for _ in range(60):
        path.read(batches(x, y))
        excess.append(objective(path.theta[0], x.astype(float), y, STRENGTHS[0]) - best)
    assert excess[-1] < 0.01 * excess[0]
    assert excess[-1] < 2e-3 * best


def test_reading_continues_from_what_was_kept(data):
    x, y = data
    whole = StreamedPath(STRENGTHS, y, 12, mean_square=6.0)
    for _ in range(2):
        whole.read(batches(x, y))
    first = StreamedPath(STRENGTHS, y, 12, mean_square=6.0)
    first.read(batches(x, y))
    second = StreamedPath(STRENGTHS, y, 12, mean_square=6.0)
    second.w, second.duals, second.centre = first.w, first.duals, first.centre
    second.epochs = first.epochs
    second.read(batches(x, y))
    assert np.array_equal(second.w, whole.w)
