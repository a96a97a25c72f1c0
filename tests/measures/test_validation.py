import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from relatum.errors import DataError, NotFittedError
from relatum.measures import BilinearPairMeasure, LogisticMeasure
from relatum.measures import validation as va


def test_streams_and_tables_are_told_apart():
    assert va.is_stream(iter([]))
    assert va.is_stream(x for x in [])
    for table in ([[1.0]], np.eye(2), sparse.csr_matrix(np.eye(2)), ((1, 2),), 3.0, "text"):
        assert not va.is_stream(table)


def test_failures_restore_every_attribute():
    class Thing:
        pass

    def half_done(thing):
        with va.all_or_nothing(thing):
            thing.kept, thing.new = 2, 3
            raise KeyError

    thing = Thing()
    thing.kept = 1
    with pytest.raises(KeyError):
        half_done(thing)
    assert vars(thing) == {"kept": 1}


def test_targets():
    binary = va.encode_targets(["no", "yes", "no"], 3)
    assert binary.kind == "binary"
    assert binary.related.tolist() == [[False, True, False]]
    several = va.encode_targets([2, 0, 2], 3, classes=[0, 1, 2])
    assert several.kind == "map"
    assert several.related.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 1]]
    relation = va.encode_targets([[1, 0], [0, 1], [0, 0]], 3)
    assert relation.kind == "relation"
    assert relation.related.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_both_libraries_know_the_error_of_an_unfitted_measure():
    with pytest.raises(NotFittedError):
        va.check_fitted(object(), "coef_")
    with pytest.raises(SklearnNotFittedError):
        va.check_fitted(object(), "coef_")


def test_batches():
    with pytest.raises(DataError, match="tuple of 3"):
        va.split_batch((1, 2, 3))
    assert va.split_batch([[1]]) == ([[1]], None)
    with pytest.raises(DataError, match="features"):
        va.checked_batch([[1.0, 2.0]], 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_features_whose_squares_are_no_numbers_are_refused(dtype, layout):
    fine, large = (1e14, 1e20) if dtype is np.float32 else (1e99, 1e120)
    va.require_sizes(layout(np.array([[fine, -fine]], dtype)))
    with pytest.raises(DataError, match="scale them"):
        va.require_sizes(layout(np.array([[1.0, -large]], dtype)))
    with pytest.raises(DataError, match="scale them"):
        LogisticMeasure().fit(layout(np.array([[1.0], [large]], dtype)), [0, 1])


@pytest.mark.parametrize(
    "weights", [[1e-320, 1.0], [1.0, 1e308], np.ma.masked_array([1.0, 2.0], [0, 1]), ["a", 1]]
)
def test_weights_that_count_nothing_are_refused(weights):
    with pytest.raises(DataError, match="sample_weight"):
        va.checked_weights(weights, np.eye(2))
    with pytest.raises(DataError, match="sample_weight"):
        va.pair_weights(weights, 2)


@pytest.mark.parametrize("y", [np.ma.masked_array([0, 1], [0, 1]), [[0, 1], [1]], np.array(3)])
def test_targets_that_are_none(y):
    with pytest.raises(DataError):
        va.encode_targets(y, 2)
    with pytest.raises(DataError):
        va.pair_targets(y, 2)


@pytest.mark.parametrize("strength", [1e-300, 1e300, 10**400])
def test_priors_beyond_reason(strength):
    for measure in (LogisticMeasure(strength), BilinearPairMeasure(strength)):
        given = (np.eye(4), [0, 0, 1], [1, 2, 3], [0, 1, 0])
        with pytest.raises(DataError, match="inverse_sigma_squared must be"):
            measure.fit(*given[: 1 if isinstance(measure, LogisticMeasure) else 3], [0, 1, 0, 1])


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("weight", [1.0, 1e20, 1e90])
@pytest.mark.parametrize("strength", [1e-20, 1.0, 1e20])
def test_extreme_priors_and_weights_are_not_fitted_in_single_precision(strength, weight, relative):
    """The gap is proved in double precision; a warning of overflow would be an error."""
    x = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], dtype=np.float32)
    x *= 1e-17 if relative else 1.0
    measure = LogisticMeasure(strength, relative=relative, max_epochs=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        measure.fit(x, [0, 1, 0, 1], sample_weight=[weight, 1.0, 1.0, weight])
    assert np.isfinite(measure.coef_).all()
    assert np.isfinite(measure.log_odds(x)).all()
