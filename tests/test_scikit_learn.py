"""Every public estimator keeps scikit-learn's contract, or its tags say what it takes instead."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks as checks
from sklearn.utils import get_tags

import relatum as rt
from relatum.measures.projection import DiscriminantProjection

# Their own tests run all checks; what is to fail there is named with the reason.
TABLES = {
    "BinaryFeatures",
    "LogisticMeasure",
    "MapClassifier",
    "MultilinearLifting",
    "PartitionClustering",
    "PolynomialLifting",
    "RandomMonomials",
    "TensorSketch",
}
# The checks feed tables of any numbers to fit(X, y); these learn from something else.
OTHERS = {
    "BernoulliMeasure": "numbers of classes",
    "BilinearPairMeasure": "pairs of elements",
    "DiffusionPairMeasure": "elements, and says something of pairs",
    "JointEstimator": "classes or features of pairs",
    "LinearRanker": "sequences of items",
    "RecordLinker": "tables of records",
}
WITHOUT_FIT = (
    checks.check_estimator_cloneable,
    checks.check_estimator_repr,
    checks.check_estimator_tags_renamed,
    checks.check_get_params_invariance,
    checks.check_mixin_order,
    checks.check_no_attributes_set_in_init,
    checks.check_parameters_default_constructible,
    checks.check_set_params,
    checks.check_valid_tag_types,
)


def test_every_public_estimator_is_tested():
    public = [getattr(rt, name) for name in rt.__all__]
    found = {p.__name__ for p in public if inspect.isclass(p) and issubclass(p, BaseEstimator)}
    assert found == TABLES | set(OTHERS)


@pytest.mark.parametrize(
    "estimator", [*(getattr(rt, name)() for name in OTHERS), DiscriminantProjection()], ids=str
)
def test_what_takes_no_tables_says_so(estimator):
    name, tags = type(estimator).__name__, get_tags(estimator)
    assert tags._skip_test or not tags.input_tags.two_d_array
    for check in WITHOUT_FIT:
        check(name, estimator)
    with pytest.warns(SkipTestWarning):
        checks.check_estimator(estimator)
    if hasattr(estimator, "predict"):
        with pytest.raises(rt.errors.NotFittedError):
            estimator.predict(*[[0]] * (3 if name.endswith("PairMeasure") else 1))


def test_names_of_columns_follow_those_of_the_input():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (12, 3)), columns=["rain", "wind", "sun"])
    expected = {
        rt.BinaryFeatures(): [f"{name}[bit 0]" for name in frame],
        rt.BinaryFeatures(code="thermometer", thresholds=[1, 2.5]): [
            f"{name}>={t}" for name in frame for t in ("1", "2.5")
        ],
        rt.MultilinearLifting(2): ["1", *frame, "rain wind", "rain sun", "wind sun"],
        rt.RandomMonomials(9, random_state=0): ["rain wind", "rain sun", "wind sun"],
        rt.PolynomialLifting(2): ["1", "pca0", "pca1", "pca0^2", "pca0 pca1", "pca1^2"],
        rt.TensorSketch(2, 2): ["tensorsketch0", "tensorsketch1"],
    }
    for lifting, names in expected.items():
        plain = lifting.fit_transform(frame)
        table = lifting.set_output(transform="pandas").fit_transform(frame)
        assert list(table.columns) == names
        assert table.index.equals(frame.index)
        assert np.array_equal(table.to_numpy(), plain) or lifting.random_state is None
        with pytest.raises(ValueError, match="input_features"):
            lifting.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize("table", ["pandas", "polars"])
def test_no_two_columns_have_one_name(table):
    pytest.importorskip(table)
    x = np.array([[0.0], [0.0], [0.0], [1e-9], [2e-9]])
    odd = pd.DataFrame([[0, 1, 1, 0], [1, 0, 0, 1]], columns=["a b", "c", "a", "b c"])
    with config_context(transform_output=table):
        codes = rt.BinaryFeatures(code="quantiles", thresholds=4).fit_transform(x)
        close = rt.BinaryFeatures(code="thermometer", thresholds=[1.0, 1.0 + 1e-9])
        both = close.fit_transform([[1.0], [2.0]])
        products = rt.MultilinearLifting(2).fit_transform(odd)
    assert list(codes.columns) == ["x0>=0", "x0>=0 (2)", "x0>=4e-10", "x0>=1.2e-09"]
    assert list(both.columns) == ["x0>=1", "x0>=1.0000000010000001"]
    assert len(set(products.columns)) == products.shape[1] == 11
    assert "a b c (2)" in set(products.columns)


def test_batches_of_pairs_are_arrays_whatever_liftings_return():
    v = np.eye(4, dtype=np.uint8)
    lifting = rt.MultilinearLifting(1).fit(rt.pair_features(v, v))
    batches = rt.PairBatches(v, [0, 1, 2], [1, 2, 3], [1, 0, 1], lifting=lifting)
    with config_context(transform_output="pandas"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(batches[0][0], np.ndarray)
