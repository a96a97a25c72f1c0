import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import relatum as rt
from instances.contract import WEIGHTS, contract, run
from relatum.errors import DataError, NotFittedError
from relatum.measures import objective as ob
from relatum.measures.logistic import LogisticMeasure

EXACT = [
    LogisticMeasure(solver="newton", tol=1e-10),
    LogisticMeasure(1e-3, relative=True, fit_intercept=True, solver="newton", tol=1e-10),
]
CHECKS = contract(LogisticMeasure(), WEIGHTS) + [c for exact in EXACT for c in contract(exact)]


@pytest.mark.parametrize(("estimator", "check", "reason"), CHECKS)
def test_scikit_learn_contract(estimator, check, reason):
    run(estimator, check, reason)


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return (x > 7).astype(np.int8), y


@pytest.fixture(scope="module")
def fitted(digits):
    return LogisticMeasure(2.0).fit(*digits)


def test_is_scikit_learns_logistic_regression_in_bits(digits):
    x, y = digits
    strength = 3.0
    ours = LogisticMeasure(strength, tol=1e-9, max_epochs=3000).fit(x, y == 3)
    peer = LogisticRegression(
        C=ob.LN2**2 / strength, fit_intercept=False, tol=1e-10, max_iter=5000
    ).fit(x, y == 3)
    np.testing.assert_allclose(ours.coef_, peer.coef_ / ob.LN2, atol=2e-3)
    assert ours.duality_gap_ <= 1e-9


def test_objective_is_the_papers_sum(digits, fitted):
    x, y = digits
    related = y[:, None] == np.arange(10)
    value = ob.logistic_divergence(fitted.coef_, x, related)
    value += ob.logistic_regularizer(fitted.coef_, 2.0)
    assert fitted.objective_ == pytest.approx(value, rel=1e-5)
    assert fitted.objective(x, y) == pytest.approx(value, rel=1e-5)
    assert fitted.dual_objective_ <= value
    assert fitted.duality_gap_ <= fitted.tol
    assert fitted.gap_is_exact_


def test_one_versus_rest_is_one_fit_per_label(digits, fitted):
    x, y = digits
    for label in (0, 7):
        single = LogisticMeasure(2.0).fit(x, y == label)
        ours = ob.logistic_divergence(fitted.coef_[label], x, y == label)
        ours += ob.logistic_regularizer(fitted.coef_[label], 2.0)
        assert ours == pytest.approx(single.objective_, rel=2e-3)


def test_matrix_of_targets_is_a_relation(digits, fitted):
    x, y = digits
    related = (y[:, None] == np.arange(10)).astype(int)
    relation = LogisticMeasure(2.0).fit(x, related)
    np.testing.assert_allclose(relation.coef_, fitted.coef_)
    np.testing.assert_allclose(relation.predict_proba(x), ob.sigmoid2(fitted.log_odds(x)))
    np.testing.assert_array_equal(relation.predict(x), (fitted.log_odds(x) > 0).astype(int))


@pytest.mark.parametrize("solver", ["sdca", "lbfgs", "newton"])
def test_solvers_agree(digits, fitted, solver):
    x, y = digits
    other = LogisticMeasure(2.0, solver=solver, max_epochs=3000).fit(x, y)
    assert other.objective_ == pytest.approx(fitted.objective_, rel=2e-4)
    assert (other.predict(x) == fitted.predict(x)).mean() > 0.995


def test_probabilities_of_labels_are_those_of_maps(digits, fitted):
    """Of all maps of one element: relation b, and no other, has odds 2^log_odds[b]."""
    x, _ = digits
    log_odds = fitted.log_odds(x[:5])
    p = fitted.pair_probabilities(x[:5])
    alone = np.array([[p[a, b] * np.prod(np.delete(1 - p[a], b)) for b in range(10)]
                      for a in range(5)])  # fmt: skip
    expected = alone / alone.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(x[:5]), expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(log_odds, np.log2(p / (1 - p)), atol=1e-6)


def test_relative_strength_does_not_depend_on_scale(digits):
    x, y = digits
    one = LogisticMeasure(0.5, relative=True).fit(x, y == 1)
    two = LogisticMeasure(0.5, relative=True).fit(x * np.float32(8.0), y == 1)
    assert one.inverse_sigma_squared_ == pytest.approx(0.5 * (x**2).sum(axis=1).mean())
    assert two.inverse_sigma_squared_ == pytest.approx(64 * one.inverse_sigma_squared_)
    assert one.objective_ == pytest.approx(two.objective_, rel=2e-4)


def test_intercept_is_the_constant_monomial(digits):
    x, y = digits
    one = LogisticMeasure(fit_intercept=True).fit(x, y == 1)
    lifted = np.hstack([x, np.ones((len(x), 1), np.int8)])
    two = LogisticMeasure().fit(lifted, y == 1)
    np.testing.assert_allclose(one.log_odds(x), two.log_odds(lifted), atol=1e-4)
    assert one.coef_.shape == (1, x.shape[1])
    three = LogisticMeasure(fit_intercept=True).fit(sparse.csr_matrix(x), y == 1)
    np.testing.assert_allclose(one.coef_, three.coef_, atol=1e-3)


def test_weights_are_repetitions(digits):
    x, y = digits[0][:300], digits[1][:300] == 2
    times = np.random.default_rng(0).integers(0, 3, size=300)
    weighted = LogisticMeasure(tol=1e-8, max_epochs=2000).fit(x, y, sample_weight=times)
    repeated = LogisticMeasure(tol=1e-8, max_epochs=2000)
    repeated.fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_same_seed_same_parameters(digits, fitted):
    np.testing.assert_array_equal(LogisticMeasure(2.0).fit(*digits).coef_, fitted.coef_)


def test_time_limit_and_interruption_warn_and_keep_the_best(digits):
    x, y = digits

    def interrupt(epoch, value, gap):
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        measure = LogisticMeasure(1e-3, tol=1e-9).fit(x, y, monitor=interrupt)
    assert 0 < measure.duality_gap_ < 1
    assert measure.objective_ < 10 * len(x)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        measure = LogisticMeasure(1e-3, tol=1e-9, time_limit=1e-9).fit(x, y)
    assert measure.log_odds(x).shape == (len(x), 10)
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        LogisticMeasure(1e-3, max_epochs=1).fit(x, y)


@pytest.mark.parametrize(
    ("x", "y", "rule"),
    [
        ([[1.0], [np.nan]], [0, 1], "NaN"),
        ([[1.0], [np.inf]], [0, 1], "infinity"),
        ([[1.0], [2.0]], [1, 1], "one class"),
        ([[1.0], [2.0]], [0, 1, 1], "one target per row"),
        ([[1.0], [2.0]], [[0, 1], [1, 1]], "related and unrelated"),
        ([[1.0], [2.0]], [[0, 1], [1, 2]], "01-valued"),
        ([[1.0], [2.0]], [0.5, 1.7], "label type"),
        (np.zeros((0, 2)), [], "0 sample"),
        ([[1.0], [2.0]], None, "requires y"),
    ],
)
def test_bad_data_is_refused_and_changes_nothing(digits, x, y, rule):
    measure = LogisticMeasure(50.0).fit(*digits)
    before = {k: np.copy(v) for k, v in vars(measure).items()}
    with pytest.raises(DataError, match=rule):
        measure.fit(x, y)
    assert vars(measure).keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(measure, name), value)


def test_bad_parameters_and_other_input(digits, fitted):
    x, y = digits
    for name, value in [
        ("inverse_sigma_squared", 0.0),
        ("inverse_sigma_squared", "big"),
        ("solver", "sgd"),
        ("tol", -1.0),
        ("max_epochs", 0),
        ("max_epochs", 1.5),
        ("time_limit", 0.0),
    ]:
        with pytest.raises(DataError, match=name):
            LogisticMeasure().set_params(**{name: value}).fit(x, y)
    with pytest.raises(DataError, match="features"):
        fitted.log_odds(x[:, :5])
    with pytest.raises(NotFittedError):
        clone(fitted).log_odds(x)
    with pytest.raises(DataError, match="sample_weight"):
        LogisticMeasure().fit(x, y, sample_weight=np.zeros(len(x)))
    with pytest.raises(DataError, match="not among classes"):
        LogisticMeasure().fit(x, y, classes=[0, 1])
    with pytest.raises(DataError, match="Every class"):
        LogisticMeasure().fit(x, y, classes=np.arange(11))


def test_public_name():
    assert rt.LogisticMeasure is LogisticMeasure


@pytest.mark.parametrize("solver", ["auto", "sdca", "lbfgs", "newton"])
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("labels", [2, 3])
def test_weights_equal_repeated_rows(solver, relative, labels):
    rng = np.random.default_rng(labels)
    x, y, times = rng.normal(size=(40, 5)), rng.integers(0, labels, 40), rng.integers(0, 4, 40)
    x[times == 0] *= 100  # rows that do not count must not set the scale either
    measure = LogisticMeasure(
        0.01, relative=relative, fit_intercept=True, solver=solver, tol=1e-9, max_epochs=5000
    )
    one = clone(measure).fit(x, y, sample_weight=times)
    two = clone(measure).fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    assert one.inverse_sigma_squared_ == pytest.approx(two.inverse_sigma_squared_, rel=1e-12)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-3 if solver == "sdca" else 1e-8)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=1e-3)
    few = clone(measure).fit(sparse.csr_matrix(x), y, sample_weight=times)
    np.testing.assert_allclose(one.coef_, few.coef_, atol=1e-3)


def test_weights_of_one_change_nothing(digits):
    x, y = digits
    measure = LogisticMeasure(1e-3, relative=True, solver="newton", tol=1e-9)
    one, two = clone(measure).fit(x, y), clone(measure).fit(x, y, sample_weight=np.ones(len(y)))
    assert one.inverse_sigma_squared_ == pytest.approx(two.inverse_sigma_squared_, rel=1e-12)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)
