"""The exact lifting: by definition, and every Boolean function is linear in it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from relatum.errors import DataError, NotFittedError
from relatum.features import MultilinearLifting


@parametrize_with_checks([MultilinearLifting(), MultilinearLifting(degree=2)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_function_of_bits_is_linear_with_unique_coefficients(n):
    v = np.array(list(product([0, 1], repeat=n)))
    lifted = MultilinearLifting().fit_transform(v).astype(float)
    assert lifted.shape == (2**n, 2**n)
    assert abs(abs(np.linalg.det(lifted)) - 1.0) < 1e-9
    f = np.random.default_rng(n).normal(size=2**n)
    theta = np.linalg.solve(lifted, f)
    assert np.allclose(lifted @ theta, f)
    # the coefficients are the Moebius transform of f over subsets
    moebius = [
        sum(
            (-1) ** (sum(s) - sum(t)) * f[k]
            for k, t in enumerate(v)
            if all(a <= b for a, b in zip(t, s, strict=True))
        )
        for s in v
    ]
    names = MultilinearLifting().fit(v).monomials_
    place = {tuple(np.flatnonzero(s)): k for k, s in enumerate(v)}
    assert np.allclose(theta, [moebius[place[s]] for s in names])


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 7, None])
def test_products_by_definition_dense_and_sparse(degree):
    rng = np.random.default_rng(0)
    limit = 5 if degree is None else min(degree, 5)
    for x in (rng.integers(0, 2, (9, 5)), rng.random((9, 5)) * rng.integers(0, 2, (9, 5))):
        lifting = MultilinearLifting(degree).fit(x)
        expected = [naive.multilinear_lifting(row, limit) for row in x.tolist()]
        z = lifting.transform(x)
        assert z.dtype == (np.uint8 if x.dtype.kind == "i" else np.float64)
        assert np.allclose(z, expected)
        rows = lifting.transform(sparse.csr_matrix(x))
        assert rows.format == "csr"
        assert rows.dtype == z.dtype
        assert np.allclose(rows.toarray(), expected)


def test_names_and_columns_are_those_of_the_peer():
    x = np.random.default_rng(0).normal(size=(7, 4))
    ours = MultilinearLifting(3).fit(x)
    peer = PolynomialFeatures(3, interaction_only=True).fit(x)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert np.allclose(ours.transform(x), peer.transform(x))


def test_bad_input_is_named():
    bits = np.array([[0, 1, 1], [1, 0, 1]])
    with pytest.raises(NotFittedError):
        MultilinearLifting().transform(bits)
    with pytest.raises(DataError, match=r"X must be 01-features.*got an entry 2"):
        MultilinearLifting().fit(bits).transform(bits + 1)
    with pytest.raises(DataError, match="X must be 01-features"):
        MultilinearLifting(binary=True).fit(bits * 0.5)
    with pytest.raises(DataError, match="binary must be one of 'auto', True, False"):
        MultilinearLifting(binary="maybe").fit(bits)
    with pytest.raises(DataError, match="degree must be at least 0"):
        MultilinearLifting(-1).fit(bits)
    with pytest.raises(DataError, match="NaN"):
        MultilinearLifting().fit(bits * np.nan)
    wide = np.zeros((1, 40), dtype=np.uint8)
    with pytest.raises(DataError, match=r"got 1099511627776 of degree at most 40.*TensorSketch"):
        MultilinearLifting().fit(wide)
    assert MultilinearLifting(2).fit(wide).transform(wide).shape == (1, 1 + 40 + 780)
