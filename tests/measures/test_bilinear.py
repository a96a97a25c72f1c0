import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import relatum as rt
from relatum.errors import DataError, NotFittedError
from relatum.measures import BilinearPairMeasure, DiscriminantProjection, LogisticMeasure
from relatum.measures.bilinear import _Fit


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    v = rng.normal(size=(60, 3)) + 1.0
    i, j = rng.integers(0, 60, size=(2, 400))
    labels = (v[:, 0] > 1).astype(int) + (v[:, 1] > 1)
    return v, i, j, (labels[i] == labels[j]).astype(int)


@pytest.fixture(scope="module")
def fitted(problem):
    return BilinearPairMeasure(2.0, projection=None, tol=1e-10).fit(*problem)


def test_is_the_logistic_measure_on_products_of_features(problem, fitted):
    """z_i W z_j is linear in the symmetrised outer product, of which each entry is a feature."""
    v, i, j, y = problem
    z = fitted.features(v)
    x = 0.5 * (z[i][:, :, None] * z[j][:, None, :] + z[j][:, :, None] * z[i][:, None, :])
    linear = LogisticMeasure(2.0, tol=1e-10).fit(x.reshape(len(i), -1), y)
    assert fitted.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    np.testing.assert_allclose(fitted.matrix_, linear.coef_.reshape(4, 4), atol=1e-4)
    np.testing.assert_allclose(
        fitted.log_odds(v, i, j), linear.log_odds(x.reshape(400, -1)), atol=1e-3
    )
    assert fitted.duality_gap_ <= 1e-10
    assert fitted.dual_objective_ <= linear.objective_ * (1 + 1e-9)


def test_gradient_equals_finite_differences(problem):
    v, i, j, y = problem
    weights = np.random.default_rng(2).random(len(i))
    fit = _Fit(np.hstack([np.ones((60, 1)), v]), (i, j), y == 1, weights, 0.7)
    w = np.random.default_rng(1).normal(size=(4, 4))
    w = w + w.T
    _, gradient = fit._value(w)
    for a, b in [(0, 0), (1, 3), (2, 1)]:
        step = np.zeros((4, 4))
        step[a, b] += 1e-6
        step[b, a] += 1e-6
        slope = (fit._value(w + step)[0] - fit._value(w - step)[0]) / 2e-6
        assert (gradient * step).sum() / 1e-6 == pytest.approx(slope, rel=1e-5)


def test_all_pairs_at_once_are_the_same_as_one_by_one(problem):
    v, i, j, y = problem
    i, j, y = np.tile(i, 3), np.tile(j, 3), np.tile(y, 3)  # pairs may be given more than once
    z, weights = np.hstack([np.ones((60, 1)), v]), np.random.default_rng(2).random(len(i))
    many = _Fit(z, (i, j), y == 1, weights, 0.7)
    assert many.all_pairs
    few = _Fit(z, (i, j), y == 1, weights, 0.7)
    few.all_pairs = False
    w = np.random.default_rng(1).normal(size=(4, 4))
    for one, other in zip(many._value(w + w.T), few._value(w + w.T), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_layout_of_the_elements_does_not_matter(problem, fitted):
    v, i, j, _ = problem
    plain = fitted.log_odds(v, i, j)
    for other in (np.asfortranarray(v), np.repeat(v, 2, axis=0)[::2]):
        np.testing.assert_allclose(fitted.log_odds(other, i, j), plain, rtol=1e-12)


def test_swapping_the_elements_changes_nothing(problem, fitted):
    v, i, j, y = problem
    np.testing.assert_allclose(fitted.matrix_, fitted.matrix_.T, atol=1e-12)
    np.testing.assert_allclose(fitted.log_odds(v, i, j), fitted.log_odds(v, j, i), atol=1e-12)
    swapped = BilinearPairMeasure(2.0, projection=None, tol=1e-10).fit(v, j, i, y)
    np.testing.assert_allclose(swapped.matrix_, fitted.matrix_, atol=1e-4)


def test_all_pairs_are_one_product(problem, fitted):
    v, *_ = problem
    i, j = np.triu_indices(60, 1)
    expected = fitted.log_odds(v, i, j)
    for rows in (7, 60, 1000):
        np.testing.assert_allclose(
            fitted.all_log_odds(v, dtype=np.float64, rows=rows), expected, atol=1e-10
        )
        square = fitted.all_log_odds(v, condensed=False, rows=rows)
        assert square.dtype == np.float32
        np.testing.assert_array_equal(square, square.T)
        np.testing.assert_allclose(square[i, j], expected, atol=1e-4)
        everyone = np.arange(60)
        np.testing.assert_allclose(
            square.diagonal(), fitted.log_odds(v, everyone, everyone), atol=1e-4
        )
    condensed = fitted.all_log_odds(v)
    assert condensed.dtype == np.float32
    assert condensed.shape == (60 * 59 // 2,)


def test_weights_are_repetitions(problem):
    v, i, j, y = problem
    times = np.arange(400) % 3
    one = BilinearPairMeasure(5.0, projection=None, tol=1e-10).fit(v, i, j, y, times)
    two = BilinearPairMeasure(5.0, projection=None, tol=1e-10)
    two.fit(v, np.repeat(i, times), np.repeat(j, times), np.repeat(y, times))
    assert one.objective_ == pytest.approx(two.objective_, rel=2e-2)  # scales of z differ a little
    assert (one.predict(v, i, j) == two.predict(v, i, j)).mean() > 0.98


@pytest.mark.slow
def test_projection_of_digits_beats_the_pixels_and_probabilities_match():
    x, labels = load_digits(return_X_y=True)
    i, j, y = rt.sample_pairs(labels[:1200], 20000, stratified=True, random_state=0)
    ti, tj, ty = rt.sample_pairs(labels[1200:], 5000, stratified=True, random_state=1)
    measure = BilinearPairMeasure(
        30.0, projection=DiscriminantProjection(20, 9, ridge=1e-2), tol=1e-2
    ).fit(x[:1200], i, j, y)
    pixels = BilinearPairMeasure(30.0, projection=None, tol=1e-2).fit(x[:1200], i, j, y)
    error = (measure.predict(x[1200:], ti, tj) != ty).mean()
    assert error < 0.12
    assert error < (pixels.predict(x[1200:], ti, tj) != ty).mean()
    p = measure.predict_proba(x[1200:], ti, tj)
    log_odds = measure.log_odds(x[1200:], ti, tj)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + 2.0**-log_odds), atol=1e-12)
    assert rt.BilinearPairMeasure is BilinearPairMeasure


def test_limits_and_interruption_keep_the_best(problem):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        few = BilinearPairMeasure(1e-4, projection=None, tol=1e-9, max_iter=2).fit(*problem)
    assert few.objective_ < 400
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        BilinearPairMeasure(1e-4, projection=None, tol=1e-9, time_limit=1e-9).fit(*problem)

    def interrupt(iteration, value, gap):
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interruption"):
        BilinearPairMeasure(1e-4, projection=None, tol=1e-9).fit(*problem, monitor=interrupt)


def test_bad_data_is_refused_and_changes_nothing(problem, fitted):
    v, i, j, y = problem
    measure = clone(fitted).set_params(tol=1e-3).fit(*problem)
    before = dict(vars(measure))
    for bad, rule in [
        ((v, i, j, y[:-1]), "one target per pair"),
        ((v, i, j, y + 1), "1 for related"),
        ((v, i, j, np.ones_like(y)), "one class"),
        ((v, i, j[:-1], y), "equally long"),
        ((v, i + 60, j, y), "rows of v"),
        ((np.where(v > 0, v, np.nan), i, j, y), "NaN"),
        ((v, i, j, y, -np.ones(400)), "sample_weight"),
    ]:
        with pytest.raises(DataError, match=rule):
            measure.fit(*bad)
        assert vars(measure) == before
    with pytest.raises(DataError, match="features"):
        measure.log_odds(v[:, :2], i, j)
    with pytest.raises(NotFittedError):
        clone(measure).log_odds(v, i, j)
    for name, value in [
        ("inverse_sigma_squared", 0),
        ("tol", -1),
        ("max_iter", 0),
        ("time_limit", 0),
        ("projection", "pca"),
    ]:
        with pytest.raises(DataError, match=name):
            clone(measure).set_params(**{name: value}).fit(*problem)


def test_a_type_too_narrow_for_the_features_is_refused():
    rng = np.random.default_rng(0)
    v = rng.normal(size=(12, 3))
    i, j = np.triu_indices(12, 1)
    model = rt.BilinearPairMeasure().fit(v, i, j, rng.integers(0, 2, len(i)))
    with pytest.raises(DataError, match="beyond float16"):
        model.all_log_odds(1e9 * v, dtype=np.float16)
