"""Random monomials: products by definition, distinct, local, varying."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from relatum.errors import DataError, NotFittedError
from relatum.features import BinaryFeatures, MultilinearLifting, RandomMonomials


@parametrize_with_checks(
    [
        RandomMonomials(n_components=20, random_state=0),
        RandomMonomials(n_components=20, degree=3, random_state=0),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def _bits(rows, n, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (rows, n), dtype=np.uint8)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_products_by_definition_dense_sparse_and_threaded(degree):
    for x in (_bits(700, 12), np.random.default_rng(1).normal(size=(700, 12))):
        lifting = RandomMonomials(10, degree, random_state=0).fit(x)
        assert lifting.monomials_.shape == (10, degree)
        z = lifting.transform(x)
        assert z.dtype == x.dtype
        assert np.allclose(z, naive.products(x.tolist(), lifting.monomials_.tolist()))
        assert np.array_equal(z, lifting.set_params(n_jobs=2).transform(x))
        assert np.array_equal(z, lifting.transform(sparse.csr_matrix(x)))


def test_all_monomials_are_components_of_the_exact_lifting():
    x = _bits(30, 6)
    lifting = RandomMonomials(1000, 2, random_state=0).fit(x)
    assert lifting.monomials_.tolist() == [list(s) for s in combinations(range(6), 2)]
    exact = MultilinearLifting(2).fit(x)
    assert np.array_equal(lifting.transform(x), exact.transform(x)[:, 7:])
    assert lifting.get_feature_names_out().tolist() == exact.get_feature_names_out()[7:].tolist()


def test_draws_are_seeded_and_spread():
    x = _bits(50, 40)
    first = RandomMonomials(200, 2, random_state=1).fit(x).monomials_
    assert np.array_equal(first, RandomMonomials(200, 2, random_state=1).fit(x).monomials_)
    other = RandomMonomials(200, 2, random_state=2).fit(x).monomials_
    assert not np.array_equal(first, other)
    assert len(np.unique(first, axis=0)) == 200
    seen = np.zeros(40)
    for seed in range(200):
        drawn = RandomMonomials(20, 2, random_state=seed).fit(x).monomials_
        seen += np.bincount(drawn.ravel(), minlength=40)
    # 8000 places over 40 features: 200 each, give or take 14
    assert abs(seen - 200).max() < 5 * np.sqrt(200)


def test_constant_features_are_not_drawn():
    x = _bits(50, 20)
    x[:, 5:] = 1
    for data in (x, sparse.csr_matrix(x)):
        lifting = RandomMonomials(100, 2, random_state=0).fit(data)
        assert lifting.monomials_.max() < 5
        assert len(lifting.monomials_) == 10


@pytest.mark.parametrize("degree", [2, 3])
def test_locality_on_a_grid(degree):
    images = np.random.default_rng(0).integers(0, 256, (40, 6 * 7), dtype=np.uint8)
    v = BinaryFeatures(code="thermometer", thresholds=3).fit_transform(images)
    lifting = RandomMonomials(
        400, degree, random_state=0, image_shape=(6, 7), max_distance=2.0
    ).fit(v)
    points = np.stack(np.unravel_index(lifting.monomials_ // 3, (6, 7)), axis=-1)
    # one of the features, the first drawn, is near all others
    apart = np.linalg.norm(points[:, :, None, :] - points[:, None, :, :], axis=-1)
    assert apart.max(axis=2).min(axis=1).max() <= 2.0
    assert apart.max() > 1.0
    assert len(lifting.monomials_) == 400
    if degree == 2:
        everything = RandomMonomials(10**4, random_state=0, image_shape=(6, 7), max_distance=2.0)
        pixel = np.stack(np.unravel_index(np.arange(126) // 3, (6, 7)), axis=-1)
        near = [
            [p, q]
            for p, q in combinations(range(126), 2)
            if np.linalg.norm(pixel[p] - pixel[q]) <= 2.0
        ]
        assert everything.fit(v).monomials_.tolist() == near


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"degree": 0}, "degree must be at least 1"),
        ({"max_distance": 2}, "max_distance needs image_shape"),
        ({"image_shape": (5,)}, r"image_shape \(5,\) has 5 points, which must divide.*got 12"),
        ({"image_shape": (4,), "max_distance": -1}, "max_distance must be at least 0"),
        ({"image_shape": (12,), "max_distance": 0}, "no 2 features lie within max_distance=0"),
        ({"binary": 3}, "binary must be one of"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(DataError, match=message):
        RandomMonomials(**params).fit(_bits(10, 12))


def test_bad_input_is_named():
    x = _bits(10, 12)
    lifting = RandomMonomials(5, random_state=0)
    with pytest.raises(NotFittedError):
        lifting.transform(x)
    with pytest.raises(DataError, match=r"X must be 01-features.*got an entry 3"):
        lifting.fit(x).transform(x * 3)
    with pytest.raises(DataError, match="12 features"):
        lifting.transform(x[:, :4])
