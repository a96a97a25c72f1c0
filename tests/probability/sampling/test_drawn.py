from __future__ import annotations

import numpy as np
import pytest

from relatum.probability.sampling.drawn import BATCHES, DrawnMarginals, spread


def _never(i, j):
    return np.zeros(len(i), bool)


def test_frequencies_are_counted():
    draws = np.random.default_rng(0).integers(0, 3, (4, 20, 6)).astype(np.uint16)
    p, _ = DrawnMarginals(draws, np.equal, _never).pairs(np.array([0, 1]), np.array([5, 1]))
    assert p[0] == pytest.approx((draws[..., 0] == draws[..., 5]).mean())
    assert p[1] == 1.0


def test_what_was_never_seen_is_not_certain_unless_known():
    draws = np.zeros((4, 20, 2), np.uint16)
    draws[..., 1] = 1
    i, j = np.array([0]), np.array([1])
    p, error = DrawnMarginals(draws, np.equal, _never).pairs(i, j)
    assert p[0] == 0.0
    assert 5 / 80 < error[0] < 6 / 80  # one more visit of five draws
    _, error = DrawnMarginals(draws, np.equal, lambda a, b: a != b).pairs(i, j)
    assert error[0] == 0.0


def test_errors_of_independent_draws_are_theirs():
    draws = np.random.default_rng(1).integers(0, 2, (8, 100, 400)).astype(np.uint16)
    i = np.arange(0, 400, 2)
    p, error = DrawnMarginals(draws, np.equal, _never).pairs(i, i + 1)
    z = (p - 0.5) / error
    assert 0.5 < (z**2).mean() < 1.3


def test_chains_that_disagree_have_larger_errors():
    means = np.repeat([0.0, 1.0, 0.0, 1.0], BATCHES)
    assert spread(means, 4) == pytest.approx(np.std([0, 1, 0, 1], ddof=1) / 2)
