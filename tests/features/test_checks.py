"""What feature maps ask of their input: rules kept by good values, errors that show the bad one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

import relatum as rt
from relatum.errors import DataError, NotFittedError
from relatum.features import checks as rules

LAYOUTS = [np.asarray, sparse.csr_array, sparse.csc_matrix]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    ("values", "binary"),
    [([[0, 1], [1, 1]], True), ([[0, 2], [1, 1]], False), ([[0, 0], [0, 0]], True)],
)
def test_binary_means_zeros_and_ones(layout, dtype, values, binary):
    x = layout(np.array(values, dtype=dtype))
    assert rules.is_sparse(x) == (layout is not np.asarray)
    assert rules.is_binary(x) is binary
    if binary:
        rules.require_binary(x, "X")
    else:
        with pytest.raises(
            DataError, match="X must be 01-features, every entry 0 or 1, got an entry 2"
        ):
            rules.require_binary(x, "X")


def test_halves_and_negatives_are_not_binary():
    assert not rules.is_binary(np.array([[0.5]]))
    assert not rules.is_binary(np.array([[-1]]))
    assert rules.is_binary(np.array([[True, False]]))
    assert rules.is_binary(np.zeros((0, 3)))


def test_values_keep_their_width():
    owner = SimpleNamespace()
    assert rules.checked_values(owner, np.array([[0.0, 1.0]]), binary=True).dtype == np.uint8
    for given, kept in ((np.float32, np.float32), (np.int8, np.float64), (np.float64, np.float64)):
        x = sparse.csr_array(np.eye(2, dtype=given))
        found = rules.checked_values(owner, x, binary=False)
        assert found.dtype == kept
        np.testing.assert_array_equal(found.toarray(), np.eye(2))


@pytest.mark.parametrize(("value", "least"), [(3, 1), (np.int64(3), 3), (0, 0)])
def test_counts(value, least):
    found = rules.checked_count(SimpleNamespace(degree=value), "degree", least)
    assert found == value
    assert type(found) is int


@pytest.mark.parametrize("value", [True, 2.0, "2", None, np.bool_(True)])
def test_what_is_no_count(value):
    with pytest.raises(DataError, match="degree must be an integer"):
        rules.checked_count(SimpleNamespace(degree=value), "degree")


def test_counts_and_choices_tell_what_is_allowed():
    with pytest.raises(DataError, match="degree must be at least 2, got 1"):
        rules.checked_count(SimpleNamespace(degree=1), "degree", 2)
    owner = SimpleNamespace(code="bits")
    assert rules.checked(owner, "code", ("bits", "thresholds")) == "bits"
    with pytest.raises(DataError, match="code must be one of 'gray', None, got 'bits'"):
        rules.checked(owner, "code", ("gray", None))


def test_what_is_taken_as_binary():
    auto, yes, no = (SimpleNamespace(binary=value) for value in ("auto", True, False))
    whole, real = np.array([[0, 1]]), np.array([[0.0, 1.0]])
    assert [rules.fits_binary(o, whole) for o in (auto, yes, no)] == [True, True, False]
    assert [rules.fits_binary(o, real) for o in (auto, yes, no)] == [False, True, False]
    with pytest.raises(DataError, match="01-features"):
        rules.fits_binary(yes, np.array([[0.5]]))


def test_seeds_say_everything():
    def draws(seed):
        return rules.checked_seed(seed).integers(0, 1000, 5).tolist()

    assert draws(3) == draws(3) != draws(4)
    assert draws(np.random.RandomState(3)) == draws(3)
    mine = np.random.default_rng(0)
    assert rules.checked_seed(mine) is mine
    assert draws(None) != draws(None)
    with pytest.raises(DataError, match="seed"):
        rules.checked_seed("three")


def test_names_that_come_again_are_numbered():
    names = ["a", "b", "a", "a (2)", "a", "a (2)"]
    found = rules.distinct(names).tolist()
    assert found[:3] == ["a", "b", "a (2)"]
    assert len(set(found)) == len(names)
    assert all(one.startswith(name) for one, name in zip(found, names, strict=True))
    assert rules.distinct(["x"] * 4).tolist() == ["x", "x (2)", "x (3)", "x (4)"]


def test_input_and_fit_are_checked_as_scikit_learn_does():
    lifting = rt.MultilinearLifting(2)
    with pytest.raises(rules.UnfittedError) as error:
        rules.checked_fitted(lifting)
    assert isinstance(error.value, NotFittedError)
    assert isinstance(error.value, SklearnNotFittedError)
    lifting.fit(np.eye(3))
    rules.checked_fitted(lifting)
    with pytest.raises(DataError, match="NaN"):
        rules.checked_input(lifting, [[np.nan, 0, 0]], reset=False)
    with pytest.raises(DataError, match="3 features"):
        rules.checked_input(lifting, [[1.0, 0.0]], reset=False)
