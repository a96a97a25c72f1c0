import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.measures import objective as ob


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    x = (rng.random((12, 4)) < 0.5).astype(float)
    y = (rng.random((12, 3)) < 0.5).astype(float)
    return rng.normal(size=(3, 4)), x, y, rng.random(12)


def test_divergence_is_minus_log2_of_the_likelihood(problem):
    theta, x, y, weight = problem
    bits = 0.0
    for i, k in np.ndindex(*y.shape):
        t = sum(theta[k, j] * x[i, j] for j in range(4))
        p = 1 / (1 + 2 ** -((2 * y[i, k] - 1) * t))
        bits -= weight[i] * np.log2(p)
    assert ob.logistic_divergence(theta, x, y, weight) == pytest.approx(bits)


def test_regularizer_is_minus_log2_of_the_prior_up_to_a_constant(problem):
    theta, *_ = problem
    sigma = 1.7
    density = np.exp(-(theta**2) / (2 * sigma**2))
    assert ob.logistic_regularizer(theta, sigma**-2) == pytest.approx(-np.log2(density).sum())


def test_bernoulli_divergence_is_the_sum_over_pairs():
    rng = np.random.default_rng(4)
    classes, y = rng.integers(0, 3, size=20), rng.integers(0, 2, size=20)
    theta = rng.random(3)
    plus, minus = np.bincount(classes, y, 3), np.bincount(classes, 1 - y, 3)
    bits = 0.0
    for c, related in zip(classes, y, strict=True):
        bits += np.log2((1 - theta[c]) / theta[c]) * related - np.log2(1 - theta[c])
    assert ob.bernoulli_divergence(theta, plus, minus) == pytest.approx(bits)


def test_bernoulli_regularizer_is_minus_log2_of_the_prior_up_to_a_constant():
    theta = np.array([0.2, 0.7])
    density = theta ** (2.5 - 1) * (1 - theta) ** (2.5 - 1)
    assert ob.bernoulli_regularizer(theta, 2.5) == pytest.approx(-np.log2(density).sum())


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 1), min_size=3, max_size=3), st.integers(0, 1)),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.floats(-50, 50), min_size=3, max_size=3),
)
def test_every_divergence_is_at_least_zero_and_its_infimum_at_most_one_bit_a_pair(pairs, theta):
    x = np.array([row for row, _ in pairs], dtype=float)
    y = np.array([target for _, target in pairs])
    assert ob.logistic_divergence(theta, x, y) >= 0.0
    # 0 <= inf over theta and y: separable targets come arbitrarily close to 0.
    assert ob.logistic_divergence(np.zeros(3), x, y) == len(pairs)


def test_the_infimum_over_theta_and_y_is_bounded_as_the_lemma_says():
    """By enumeration of y; zero is approached, not attained, where y can be separated."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    values = []
    for y in itertools.product([0, 1], repeat=3):
        for scale in (0.0, 1.0, 30.0):
            for direction in itertools.product([-1.0, 0.0, 1.0], repeat=2):
                theta = scale * np.array(direction)
                values.append(ob.logistic_divergence(theta, x, y))
    assert 0.0 <= min(values) <= 3.0
    assert min(values) < 1e-6


def test_dual_never_exceeds_the_objective(problem):
    theta, x, y, weight = problem
    rng = np.random.default_rng(5)
    strength = 0.8
    for _ in range(20):
        duals = np.where(y.T == 1, 1, -1) * weight * rng.random(y.T.shape)
        point = duals @ x * ob.LN2 / strength
        bound = ob.logistic_dual(duals, point, strength, weight).sum()
        value = ob.logistic_divergence(theta, x, y, weight)
        assert bound <= value + ob.logistic_regularizer(theta, strength)


def test_probabilities_do_not_overflow():
    assert ob.sigmoid2([-1e6, 1e6]).tolist() == [0.0, 1.0]
    assert ob.pair_bits([-1e6, 1e6], [0, 1]).tolist() == [0.0, 0.0]
