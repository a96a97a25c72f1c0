import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from relatum.errors import DataError, NotFittedError
from relatum.measures import DiscriminantProjection


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    i, j = np.triu_indices(len(x), 1)
    same = np.random.default_rng(0).choice(np.flatnonzero(y[i] == y[j]), 5000, replace=False)
    return x, y, i[same], j[same]


def ratio(z, y):
    """Variance over all elements in units of the variance within classes, mean over columns."""
    within = np.mean([z[y == c].var(axis=0) for c in np.unique(y)], axis=0)
    return (z.var(axis=0) / within).mean()


def test_discriminants_separate_better_than_principal_components(digits):
    x, y, i, j = digits
    projection = DiscriminantProjection(20, 5).fit(x, i, j)
    z = projection.transform(x)
    assert z.shape == (len(x), 5 + 15)
    components = projection.lifting_.pca_.transform(x)[:, :5]
    assert ratio(z[:, :5], y) > 2 * ratio(components, y)
    np.testing.assert_allclose((z[:, :5] ** 2).mean(axis=0), 1.0, rtol=1e-2)


def test_features_are_the_discriminants_and_their_quadratics(digits):
    x, _, i, j = digits
    z = DiscriminantProjection(10, 2).fit(x, i, j).transform(x[:7])
    d = z[:, :2]
    quadratics = np.column_stack([d[:, 0] ** 2, d[:, 0] * d[:, 1], d[:, 1] ** 2])
    np.testing.assert_allclose(z[:, 2:], quadratics)


def test_fewer_dimensions_than_asked_for(digits):
    x, *_ = digits
    z = (
        DiscriminantProjection(60, 12)
        .fit(x[:40, 20:22], [0, 1, 2], [10, 11, 12])
        .transform(x[:3, 20:22])
    )
    assert np.isfinite(z).all()
    assert z.shape == (3, 5 + 15)


@pytest.mark.parametrize(
    "parameters", [{"n_components": 0}, {"n_discriminants": 1.5}, {"ridge": 0}]
)
def test_bad_parameters(digits, parameters):
    x, _, i, j = digits
    with pytest.raises(DataError, match=next(iter(parameters))):
        DiscriminantProjection(**parameters).fit(x, i, j)


def test_bad_pairs(digits):
    x, *_ = digits
    projection = DiscriminantProjection(5, 2)
    for i, j, rule in [
        ([], [], "none"),
        ([0, 1], [2], "equally long"),
        ([0], [len(x)], "rows of v"),
        ([-1], [0], "rows of v"),
        ([0.5], [1.0], "integers"),
    ]:
        with pytest.raises(DataError, match=rule):
            projection.fit(x, i, j)
    with pytest.raises(NotFittedError):
        clone(projection).transform(x)
