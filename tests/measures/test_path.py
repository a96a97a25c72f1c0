import numpy as np
import pytest
from sklearn.datasets import load_digits

import relatum as rt
from relatum.errors import DataError
from relatum.measures import LogisticMeasure, regularization_path

STRENGTHS = 2.0 ** np.array([1, 7, 3, 5])


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return (x > 7).astype(np.int8), y


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_path_holds_the_single_fits_in_the_order_asked_for(digits, solver):
    x, y = digits
    path = regularization_path(
        x, y, STRENGTHS, measure=LogisticMeasure(solver=solver, max_epochs=2000)
    )
    assert [m.inverse_sigma_squared for m in path.measures] == STRENGTHS.tolist()
    for strength, measure in zip(STRENGTHS, path.measures, strict=True):
        alone = LogisticMeasure(strength).fit(x, y)
        assert measure.objective_ == pytest.approx(alone.objective_, rel=2e-4)
        assert measure.duality_gap_ <= 1e-4


def test_best_has_the_smallest_error(digits):
    x, y = digits
    path = regularization_path(x[:1000], y[:1000], STRENGTHS)
    errors = path.errors(x[1000:], y[1000:])
    best = path.best(x[1000:], y[1000:])
    assert (best.predict(x[1000:]) != y[1000:]).mean() == pytest.approx(errors.min())


def test_default_is_the_papers_sweep():
    x = np.eye(4, dtype=np.int8)
    path = rt.regularization_path(x, [0, 0, 1, 1])
    np.testing.assert_array_equal(path.inverse_sigma_squared, 2.0 ** np.arange(1, 36))


def test_bad_strengths():
    for bad in ([], [1.0, 0.0], [[1.0]]):
        with pytest.raises(DataError, match="positive"):
            regularization_path(np.eye(2), [0, 1], bad)
