from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import ProblemError


def _problem(seed, n, scale=1.0, fixed=0):
    rng = np.random.default_rng([seed, n])
    places = rng.permutation(n)
    pairs = rng.integers(0, n, (fixed, 2))
    yes = [(a, b) for a, b in pairs.tolist() if places[a] < places[b]]
    return rt.Problem(scale * rng.normal(size=(n, n)), rt.LINEAR_ORDERS & rt.evidence(yes))


@pytest.mark.parametrize(("n", "scale", "fixed"), [(10, 1.0, 0), (13, 3.0, 12), (16, 1.0, 20)])
def test_probabilities_are_within_four_errors(n, scale, fixed):
    problem = _problem(1, n, scale, fixed)
    truth = rt.probabilities(problem, method="exact")
    found = rt.probabilities(problem, method="sampling", seed=3)
    known = found.error == 0
    assert known.sum() >= fixed // 2
    assert found.marginals[known] == pytest.approx(truth.marginals[known], abs=1e-12)
    z = ((found.marginals - truth.marginals) / np.where(known, 1, found.error))[~known]
    assert np.abs(z).max() < 4
    assert found.ranks == pytest.approx(truth.ranks, abs=0.07)
    assert found.ranks.sum(axis=0) == pytest.approx(np.ones(n))
    error = found.diagnostics["error of log2 Z"]
    assert abs(found.log2_normalizer - truth.log2_normalizer) < 4 * error
    assert not found.exact
    assert not found.diagnostics["warning"]


@pytest.mark.slow
def test_errors_are_as_large_as_they_say():
    squares = []
    for seed in range(40):
        problem = _problem(seed, 7, (0.5, 2.0)[seed % 2], 4 * (seed % 3))
        truth = rt.probabilities(problem, method="exact").marginals
        found = rt.probabilities(problem, method="sampling", draws=800, seed=seed)
        off, error = found.marginals - truth, found.error
        squares.append(np.mean((off[error > 0] / error[error > 0]) ** 2))
    assert 0.5 < np.mean(squares) < 1.3


@pytest.mark.slow
def test_seeds_say_the_same_and_draws_keep_evidence():
    problem = _problem(5, 30, 1.0, 30)
    first, again = (rt.probabilities(problem, draws=800, seed=1) for _ in range(2))
    other = rt.probabilities(problem, draws=800, seed=2)
    assert np.array_equal(first.marginals, again.marginals)
    assert first.sample(3) == again.sample(3)
    between = np.hypot(first.error, other.error)
    z = ((first.marginals - other.marginals) / np.where(between > 0, between, 1))[between > 0]
    assert (z**2).mean() < 1.5
    assert all(problem.feasible.contains(y) for y in rt.sample(problem, 5))


def test_what_contradicts_itself_is_refused():
    feasible = rt.LINEAR_ORDERS & rt.evidence([(0, 1), (1, 2), (2, 0)])
    with pytest.raises(ProblemError, match="none has a probability"):
        rt.probabilities(rt.Problem(np.zeros((3, 3)), feasible), method="sampling")


@pytest.mark.parametrize("method", ["sampling", "tempering"])
def test_many_equally_good_orders_have_a_sum(method):
    """Scores of 0 or 1, so that no order ever becomes frequent, with and without evidence."""
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 2, (14, 14)).astype(float)
    for feasible in (rt.LINEAR_ORDERS, rt.LINEAR_ORDERS & rt.evidence([(0, 1), (1, 2), (3, 4)])):
        problem = rt.Problem(scores, feasible)
        truth = rt.probabilities(problem, method="exact")
        found = rt.probabilities(problem, method=method, seed=1)
        error = found.diagnostics["error of log2 Z"]
        assert error < 0.5
        assert abs(found.log2_normalizer - truth.log2_normalizer) < 4 * error
        least, most = found.diagnostics["log2 Z between"]
        assert least <= truth.log2_normalizer <= most
        assert np.abs(found.marginals - truth.marginals).max() < 4.5 * found.error.max()
        assert ("exchanges accepted" in found.diagnostics) == (method == "tempering")
