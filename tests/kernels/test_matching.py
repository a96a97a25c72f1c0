"""The heaviest matching equals the plain one, and its prices prove it whenever it stops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from naive.matching import heaviest, matched_by_paths
from relatum.kernels.matching import heaviest_matching


def listed(weights):
    """Positive entries of a matrix, row by row, as the kernel takes them."""
    up = weights > 0
    start = np.concatenate([[0], np.cumsum(up.sum(axis=1))])
    return start, np.ascontiguousarray(np.nonzero(up)[1]), weights[up], weights.shape[1]


def require_proved(weights, mate, left, right, value):
    """The matching has this value, and so have prices that no pair exceeds."""
    own = np.flatnonzero(mate >= 0)
    assert len(set(mate[own])) == len(own)
    assert weights[own, mate[own]].sum() == pytest.approx(value)
    assert left.sum() + right.sum() == pytest.approx(value)
    assert min(left.min(initial=0.0), right.min(initial=0.0)) >= 0.0
    assert (left[:, None] + right >= weights - 1e-14 * np.abs(weights).max()).all()


@pytest.mark.parametrize("kind", ["normal", "ties", "sparse", "large"])
def test_it_equals_brute_force_and_the_plain_algorithm(kind):
    rng = np.random.default_rng(3)
    for _ in range(60):
        shape = rng.integers(1, 6, 2)
        weights = rng.normal(size=shape)
        if kind == "ties":
            weights = rng.integers(-1, 3, shape).astype(float)
        elif kind == "sparse":
            weights = np.where(rng.random(shape) < 0.4, weights, -1.0)
        elif kind == "large":
            weights = weights * 10.0 ** rng.integers(-9, 9, shape)
        best = heaviest(weights)
        mate, left, right = heaviest_matching(*listed(weights))
        require_proved(weights, mate, left, right, best)
        plain = matched_by_paths(weights)
        assert np.maximum(weights, 0)[plain >= 0, plain[plain >= 0]].sum() == pytest.approx(best)
        if kind == "normal":  # one matching is best
            assert mate.tolist() == plain.tolist()


@pytest.mark.parametrize("shape", [(60, 60), (40, 90), (90, 40)])
def test_it_equals_scipy(shape):
    rng = np.random.default_rng(5)
    for shift in (-2.0, 0.0, 12.0):
        weights = rng.normal(shift, 4.0, shape)
        a, b = linear_sum_assignment(np.maximum(weights, 0), maximize=True)
        found = heaviest_matching(*listed(weights))
        require_proved(weights, *found, np.maximum(weights, 0)[a, b].sum())


def test_no_pairs_and_no_elements():
    for n, m in ((0, 0), (0, 3), (3, 0), (2, 2)):
        mate, left, right = heaviest_matching(*listed(np.full((n, m), -1.0)))
        assert mate.tolist() == [-1] * n
        assert left.tolist() + right.tolist() == [0.0] * (n + m)


def test_prices_are_a_bound_when_it_is_stopped():
    rng = np.random.default_rng(8)
    weights = rng.random((300, 300)) + 5.0
    best = heaviest_matching(*listed(weights))[1:]
    value = sum(prices.sum() for prices in best)
    mate, left, right = heaviest_matching(*listed(weights), lambda: True)
    assert (mate < 0).any()
    assert left.sum() + right.sum() > value + 1e-3
    assert (left[:, None] + right >= weights - 1e-12).all()


def test_a_chain_of_a_thousand_exchanges():
    n = 1000  # every element prefers the next one's partner, and the last one has nobody else
    weights = np.zeros((n, n))
    own = np.arange(n)
    weights[own, own] = 10.0
    weights[own[1:], own[:-1]] = 11.0
    weights[0, :] = 0.0
    weights[0, 0] = 10.5
    a, b = linear_sum_assignment(weights, maximize=True)
    found = heaviest_matching(*listed(weights))
    require_proved(weights, *found, weights[a, b].sum())
