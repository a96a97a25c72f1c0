"""01-features of numbers against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from relatum.errors import DataError, NotFittedError
from relatum.features import BinaryFeatures


@parametrize_with_checks(
    [BinaryFeatures(), BinaryFeatures(code="thermometer"), BinaryFeatures(code="quantiles")]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_all_bits_of_unsigned_types_restore_the_number(dtype):
    top = int(np.iinfo(dtype).max)
    x = np.random.default_rng(0).integers(0, top, (7, 3), dtype=dtype, endpoint=True)
    x[0, 0], x[0, 1] = 0, top
    bits = BinaryFeatures().fit_transform(x)
    digits = np.iinfo(dtype).bits
    assert bits.dtype == np.uint8
    assert bits.shape == (7, 3 * digits)
    for row, codes in zip(x, bits.reshape(7, 3, digits), strict=True):
        for number, code in zip(row, codes, strict=True):
            assert int(number) == sum(int(bit) << k for k, bit in enumerate(code))


def test_signed_and_float_integers_need_no_more_bits_than_seen():
    x = np.array([[0, 5], [6, 1]])
    expected = [[0, 0, 0, 1, 0, 1], [0, 1, 1, 1, 0, 0]]
    for kind in (np.int64, np.float64):
        assert BinaryFeatures().fit_transform(x.astype(kind)).tolist() == expected
    assert BinaryFeatures(n_bits=4).fit(x).transform([[15, 8]]).tolist() == [[1] * 4 + [0, 0, 0, 1]]
    assert BinaryFeatures().fit_transform(np.array([[True], [False]])).tolist() == [[1], [0]]


@pytest.mark.parametrize("code", ["thermometer", "quantiles"])
def test_thresholds_are_reached_or_not(code):
    x = np.random.default_rng(0).normal(size=(50, 3))
    features = BinaryFeatures(code=code, thresholds=5).fit(x)
    z = features.transform(x).reshape(50, 3, 5)
    for row in range(50):
        for j in range(3):
            assert z[row, j].tolist() == [int(x[row, j] >= t) for t in features.thresholds_[j]]
    if code == "thermometer":
        width = x.max(axis=0) - x.min(axis=0)
        first = (features.thresholds_[:, 0] - x.min(axis=0)) / width
        assert np.allclose(first, 1 / 6)
    else:
        share = z.mean(axis=0)
        assert np.allclose(share, 1 - np.arange(1, 6) / 6, atol=0.03)


def test_thermometer_of_pixels_spans_the_type():
    x = np.array([[0], [10]], dtype=np.uint8)
    features = BinaryFeatures(code="thermometer", thresholds=4).fit(x)
    assert np.allclose(features.thresholds_, [[51, 102, 153, 204]])


def test_sparse_output_equals_dense():
    x = np.random.default_rng(0).integers(0, 256, (5, 6), dtype=np.uint8)
    dense = BinaryFeatures().fit_transform(x)
    rows = BinaryFeatures(sparse_output=True).fit_transform(x)
    assert sparse.issparse(rows)
    assert rows.format == "csr"
    assert rows.dtype == dense.dtype
    assert np.array_equal(rows.toarray(), dense)
    assert BinaryFeatures(dtype=np.int8).fit_transform(x).dtype == np.int8


def test_names():
    x = np.array([[0, 3]], dtype=np.int64)
    names = BinaryFeatures().fit(x).get_feature_names_out(["red", "blue"])
    assert names.tolist() == ["red[bit 0]", "red[bit 1]", "blue[bit 0]", "blue[bit 1]"]
    features = BinaryFeatures(code="thermometer", thresholds=[2, 0.5]).fit(x)
    assert features.get_feature_names_out().tolist() == ["x0>=0.5", "x0>=2", "x1>=0.5", "x1>=2"]


@pytest.mark.parametrize(
    ("params", "x", "message"),
    [
        ({}, [[0.5]], r"non-negative integers, got 0\.5.*thermometer"),
        ({}, [[-1]], "Negative values.*non-negative integers, got -1"),
        ({}, [[np.nan]], "NaN"),
        ({"n_bits": 2}, [[4]], r"2 bits hold numbers below 2\^2, got 4; pass a larger n_bits"),
        ({"n_bits": 0}, [[1]], "n_bits must be at least 1"),
        ({"n_bits": 65}, [[1]], "n_bits must be at most 64"),
        ({"code": "gray"}, [[1]], "code must be one of 'bits'"),
        ({"code": "thermometer", "thresholds": 0}, [[1]], "thresholds must be at least 1"),
        ({"code": "thermometer", "thresholds": []}, [[1]], "thresholds must be a positive integer"),
        ({"code": "thermometer", "thresholds": [np.inf]}, [[1]], "finite numbers"),
    ],
)
def test_bad_input_is_named(params, x, message):
    with pytest.raises(DataError, match=message):
        BinaryFeatures(**params).fit(x)


def test_larger_numbers_than_in_training_are_refused():
    features = BinaryFeatures()
    with pytest.raises(NotFittedError):
        features.transform([[1]])
    features.fit([[3]])
    with pytest.raises(DataError, match="2 bits"):
        features.transform([[4]])


def test_bits_of_objects_that_are_no_numbers_are_refused():
    x = np.array([["a", 1.0], ["b", 2.0]], dtype=object)
    with pytest.raises((DataError, ValueError), match=r"integers|convert"):
        BinaryFeatures("bits").fit(x)
