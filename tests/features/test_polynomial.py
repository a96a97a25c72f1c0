"""Polynomials in principal components: a basis of what they say, well scaled."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from relatum.errors import DataError, NotFittedError
from relatum.features import PolynomialLifting


@parametrize_with_checks(
    [
        PolynomialLifting(n_components=3, random_state=0),
        PolynomialLifting(n_components=3, n_cubic=2, random_state=0),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def _data(rows=80, n=10):
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, n)) @ rng.normal(size=(n, n)) + 3.0


@pytest.mark.parametrize("scale", ["common", "half", "whiten", "none"])
def test_columns_are_the_named_monomials(scale):
    x = _data()
    lifting = PolynomialLifting(4, 2, scale=scale, random_state=0).fit(x)
    z = PCA(4).fit(x).transform(x)
    if scale == "whiten":
        z = z / z.std(axis=0, ddof=1)
    elif scale == "half":
        deviation = z.std(axis=0, ddof=1)
        z = z / np.sqrt(deviation * np.prod(deviation) ** (1 / 4))
    elif scale == "common":
        z = z / np.sqrt(z.var(axis=0, ddof=1).mean())
    lifted = lifting.transform(x)
    names = lifting.get_feature_names_out()
    assert lifted.shape == (80, 15 + 4)
    assert len(set(names)) == 19
    for name, column in zip(names, lifted.T, strict=True):
        expected = np.ones(80)
        for factor in name.split():
            if factor != "1":
                base, _, power = factor.partition("^")
                expected = expected * z[:, int(base.removeprefix("pca"))] ** int(power or 1)
        # the sign of a principal component is arbitrary
        assert np.allclose(np.abs(column), np.abs(expected))


def test_size_is_that_of_all_quadratics_and_the_cubics():
    x = np.random.default_rng(0).normal(size=(100, 70)).astype(np.float32)
    assert PolynomialLifting(60).fit_transform(x).shape == (100, 1891)
    lifted = PolynomialLifting(60, 25).fit_transform(x)
    assert lifted.shape == (100, 4816)
    assert lifted.dtype == np.float32


def test_rotated_quadratics_stay_in_the_span():
    x = _data(rows=200, n=4)
    target = (x @ np.array([1.0, -2.0, 0.5, 3.0])) ** 2 + x[:, 0] - 7.0
    lifted = PolynomialLifting(4).fit_transform(x)
    residual = np.linalg.lstsq(lifted, target, rcond=None)[0]
    assert np.allclose(lifted @ residual, target)


def test_pixels_are_lifted_in_single_precision_and_constants_are_harmless():
    x = np.random.default_rng(0).integers(0, 256, (30, 6), dtype=np.uint8)
    assert PolynomialLifting(3).fit_transform(x).dtype == np.float32
    for scale in ("common", "half", "whiten"):
        lifted = PolynomialLifting(3, scale=scale).fit_transform(np.ones((5, 4)))
        assert np.allclose(lifted[:, 1:], 0.0)


@pytest.mark.parametrize("scale", ["common", "half", "whiten"])
def test_units_of_the_data_do_not_matter(scale):
    x = _data()
    lifted = PolynomialLifting(4, 2, scale=scale, random_state=0).fit_transform(x)
    for unit in (1e-9, 1e9):
        again = PolynomialLifting(4, 2, scale=scale, random_state=0).fit_transform(unit * x)
        assert np.allclose(again, lifted)


def test_bad_input_is_named():
    with pytest.raises(NotFittedError):
        PolynomialLifting().transform(_data())
    with pytest.raises(DataError, match="n_cubic must be at least 0, got -1"):
        PolynomialLifting(3, -1).fit(_data())
    with pytest.raises(DataError, match="scale must be one of"):
        PolynomialLifting(3, scale="unit").fit(_data())
    with pytest.raises(DataError, match="NaN"):
        PolynomialLifting(3).fit(_data() * np.nan)
