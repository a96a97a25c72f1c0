"""The closed form J(y), its concavity, and learners that agree with each other."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar

import relatum as rt
from naive import bernoulli_best_bits, bernoulli_joint_bits, logistic_best_bits
from relatum.errors import DataError
from relatum.joint.learning import BernoulliLearner, LabelLearner, LogisticLearner
from relatum.measures.objective import logistic_divergence, logistic_regularizer


def _bernoulli(rng, n=30):
    classes = rng.integers(-1, 4, n)
    weights = rng.choice([1.0, 0.25], n)
    return BernoulliLearner(rt.BernoulliMeasure(1.7), classes, weights), classes, weights


def test_bernoulli_objective_is_the_printed_one():
    rng = np.random.default_rng(0)
    learner, classes, weights = _bernoulli(rng)
    for _ in range(20):
        theta, y = rng.uniform(0.05, 0.95, 4), rng.integers(0, 2, 30).astype(float)
        printed = bernoulli_joint_bits(theta, classes, y, weights, 1.7)
        assert learner.objective(theta, y) == pytest.approx(printed)


def test_bernoulli_closed_form_is_the_minimum_over_theta():
    rng = np.random.default_rng(1)
    learner, classes, weights = _bernoulli(rng)
    for _ in range(10):
        y = rng.integers(0, 2, 30).astype(float)
        theta = learner.learn(y)
        found = 0.0
        for j in range(4):
            own = classes == j
            found += minimize_scalar(
                lambda t, own=own, y=y: bernoulli_joint_bits(
                    [t], np.zeros(own.sum(), int), y[own], weights[own], 1.7
                ),
                bounds=(1e-6, 1 - 1e-6),
                method="bounded",
                options={"xatol": 1e-10},
            ).fun
        assert learner.objective(theta, y) == pytest.approx(found, abs=1e-7)
        own_sums = learner.class_sums(weights * y)
        by_class = [learner.best_bits(own_sums[j : j + 1], j)[0] for j in range(4)]
        assert learner.objective(theta, y) == pytest.approx(sum(by_class))
        at = np.flatnonzero(classes >= 0)
        twin = bernoulli_best_bits(classes[at], y[None, at], weights[at], 1.7)[0]
        assert sum(by_class) == pytest.approx(twin)


def test_logistic_minimum_and_its_bound():
    rng = np.random.default_rng(2)
    x, weights = rng.normal(size=(25, 3)), rng.choice([1.0, 0.2], 25)
    learner = LogisticLearner(rt.LogisticMeasure(0.3), x, weights)
    for _ in range(10):
        y = rng.integers(0, 2, 25).astype(float)
        found = minimize(
            lambda t, y=y: logistic_divergence(t, x, y, weights) + logistic_regularizer(t, 0.3),
            np.zeros(3),
            tol=1e-12,
        )
        theta = learner.learn(y)
        value = learner.objective(theta, y)
        assert value == pytest.approx(found.fun, abs=1e-8)
        assert value == pytest.approx(logistic_best_bits(x, y[None], weights, 0.3)[0], abs=1e-8)
        _, from_totals, bound = learner.form.minimize(learner.totals_of(y))
        assert from_totals == pytest.approx(value, abs=1e-8)
        assert value - 1e-8 <= bound <= found.fun + 1e-12


@pytest.mark.parametrize("model", ["bernoulli", "logistic"])
def test_best_objective_is_concave_in_y(model):
    rng = np.random.default_rng(3)
    n = 20
    if model == "bernoulli":
        learner = BernoulliLearner(
            rt.BernoulliMeasure(1.5), rng.integers(0, 3, n), rng.uniform(0.1, 1, n)
        )
    else:
        learner = LogisticLearner(
            rt.LogisticMeasure(0.5), rng.normal(size=(n, 3)), rng.uniform(0.1, 1, n)
        )

    def best(y):
        return learner.objective(learner.learn(y), y)

    strict = 0
    for _ in range(100):
        y, z, t = rng.random(n), rng.random(n), rng.random()
        chord = t * best(y) + (1 - t) * best(z)
        assert best(t * y + (1 - t) * z) >= chord - 1e-9
        strict += best(t * y + (1 - t) * z) > chord + 1e-6
    assert strict > 50


def test_reversing_all_pairs_costs_the_same():
    rng = np.random.default_rng(4)
    learner, _, _ = _bernoulli(rng)
    y = rng.integers(0, 2, 30).astype(float)
    same = learner.objective(learner.learn(1 - y), 1 - y)
    assert learner.objective(learner.learn(y), y) == pytest.approx(same)


def test_many_features_are_learned_to_the_tolerance_of_the_measure():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(120, 70)), rng.integers(0, 2, 120).astype(float)
    measure = rt.LogisticMeasure(2.0, tol=1e-6)
    wide = LogisticLearner(measure, x, np.ones(120))
    assert wide.form is None
    value = wide.objective(wide.learn(y), y)
    least = logistic_best_bits(x, y[None], np.ones(120), 2.0)[0]
    assert least - 1e-9 <= value <= least * (1 + 1e-5)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("uneven", [False, True])
def test_labels_are_pairs_with_their_own_features(thin, uneven):
    rng = np.random.default_rng(6)
    n, m, labels = 12, 3, 3
    x = rng.integers(0, 2, (n, m)).astype(float)
    weights = np.repeat(rng.choice([1.0, 0.3], n), labels)
    if uneven:
        weights = weights * rng.uniform(0.5, 1, n * labels)
    measure = rt.LogisticMeasure(0.7, tol=1e-9, fit_intercept=True)
    by_label = LabelLearner(measure, sparse.csr_matrix(x) if thin else x, labels, weights)
    ones = np.column_stack([x, np.ones(n)])
    spread = np.einsum("ai,bc->abci", ones, np.eye(labels)).reshape(n * labels, -1)
    flat = LogisticLearner(rt.LogisticMeasure(0.7), spread, weights)
    y = np.eye(labels)[rng.integers(0, labels, n)].ravel()
    theta, twin = by_label.learn(y), flat.learn(y)
    assert theta.ravel() == pytest.approx(twin, abs=1e-3)
    assert by_label.objective(theta, y) == pytest.approx(flat.objective(twin, y), rel=1e-6)
    fitted = by_label.measure(theta, y)
    assert fitted.log_odds(x).ravel() == pytest.approx(by_label.log_odds(theta))
    assert fitted.dual_objective_ <= fitted.objective_


def test_fitted_measures_say_the_same():
    rng = np.random.default_rng(7)
    learner, classes, _ = _bernoulli(rng)
    y = rng.integers(0, 2, 30).astype(float)
    theta = learner.learn(y)
    at = classes >= 0
    assert learner.measure(theta, y).log_odds(classes[at]) == pytest.approx(
        learner.log_odds(theta)[at]
    )
    assert (learner.log_odds(theta)[~at] == 0).all()
    x = rng.normal(size=(30, 2))
    logistic = LogisticLearner(rt.LogisticMeasure(relative=True), x, np.ones(30))
    theta = logistic.learn(y)
    fitted = logistic.measure(theta, y)
    assert fitted.log_odds(x) == pytest.approx(logistic.log_odds(theta))
    assert fitted.objective_ == pytest.approx(logistic.objective(theta, y))
    assert fitted.inverse_sigma_squared_ == pytest.approx((x**2).sum(axis=1).mean())


@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_sigma_of_at_most_one_is_refused(sigma):
    with pytest.raises(DataError, match="larger than 1"):
        BernoulliLearner(rt.BernoulliMeasure(sigma), np.zeros(3, int), np.ones(3))
