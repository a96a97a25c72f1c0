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


class Rude:
    """Raises whatever it is asked."""

    def __array__(self, *arguments, **options):
        raise RuntimeError("no array\nof mine")

    def __repr__(self):
        raise RuntimeError("no repr")


LIFTINGS = [
    rt.BinaryFeatures("thermometer"),
    rt.MultilinearLifting(2),
    rt.PolynomialLifting(2),
    rt.RandomMonomials(3),
    rt.TensorSketch(2, 8),
]


@pytest.mark.parametrize("lifting", LIFTINGS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize(
    "x",
    [
        Rude(),
        np.ma.masked_array(np.eye(3), mask=np.eye(3)),
        [[1, 2], [3]],
        [[1j, 2], [3, 4]],
        iter([1, 2]),
        object(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_whatever_is_no_table_is_refused_in_one_line(lifting, x):
    with pytest.raises(DataError) as caught:
        lifting.fit(x)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError):
        lifting.fit(np.eye(3)).transform(x)


def test_types_that_nothing_can_be_made_of_are_errors_of_type_too():
    """As the checks of scikit-learn ask."""
    with pytest.raises(TypeError) as caught:
        rt.BinaryFeatures("thermometer").fit(np.array([[{"a": 1}]], dtype=object))
    assert isinstance(caught.value, DataError)


@pytest.mark.parametrize("lifting", LIFTINGS[1:], ids=lambda x: type(x).__name__)
def test_products_that_are_no_numbers_are_refused(lifting):
    """Without a warning: warnings are errors here."""
    x = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 0.5], [0.5, 3.0, 1.0]])
    fitted = lifting.fit(x)
    assert np.isfinite(fitted.transform(x)).all()
    with pytest.raises(DataError, match="so large that products"):
        fitted.transform(x * 1e300)


def test_labels_are_there_and_can_be_compared():
    assert rules.checked_labels(["a", "b"], 2).tolist() == ["a", "b"]
    for labels, rule in (
        ([1, 2, 3], "shape"),
        ([None, 1], "cannot be compared|missing"),
        ([1.0, np.nan], "missing"),
        (np.ma.masked_array([1, 2], mask=[0, 1]), "masked"),
        (np.array(["a", 1, 2.5], dtype=object)[:2], "cannot be compared"),
    ):
        with pytest.raises(DataError, match=rule):
            rules.checked_labels(labels, 2)


@pytest.mark.parametrize("value", ["no", None, 2, np.ones(2), 0.0, Rude()], ids=lambda x: "x")
def test_switches_are_true_or_false(value):
    with pytest.raises(DataError, match="semi_supervised must be True or False"):
        rt.MapClassifier(semi_supervised=value).fit(np.eye(4), [0, 1, 0, 1])


def test_numbers_and_how_values_are_shown():
    assert rules.is_number(0, 0.0)
    assert rules.is_number(np.float32(2), 0.5)
    for value in (np.nan, -1, True, "1", None, 1j, 10**400):
        assert not rules.is_number(value, 0.0)
    assert rules.shown(Rude()) == "a Rude"
    assert len(rules.shown("x" * 500)) == 80


@pytest.mark.parametrize(
    ("lifting", "rule"),
    [
        (rt.TensorSketch(2, 2**40), "n_components must be at most"),
        (rt.TensorSketch(10**6, 8), "degree must be at most"),
        (rt.TensorSketch(dtype=Rude()), "dtype must be"),
        (rt.TensorSketch(clip_tolerance=np.nan), "clip_tolerance must be"),
        (rt.RandomMonomials(2**50), "not enough memory for n_components"),
        (rt.RandomMonomials(2, image_shape=3), "iterable"),
        (rt.RandomMonomials(2, image_shape=(3,), max_distance="x"), "max_distance must be"),
        (rt.BinaryFeatures("quantiles", thresholds=10**9), "thresholds must be at most"),
        (rt.BinaryFeatures("quantiles", thresholds=Rude()), "no array"),
        (rt.BinaryFeatures("quantiles", dtype=object), "type of numbers"),
        (rt.BinaryFeatures("quantiles", sparse_output="yes"), "sparse_output must be"),
        (rt.PolynomialLifting(2, random_state=-1), "Seed|seed"),
        (rt.MultilinearLifting(binary=np.ones(2)), "binary must be one of"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_parameters_beyond_reason_are_named(lifting, rule):
    with pytest.raises(DataError, match=rule):
        lifting.fit(np.arange(12.0).reshape(4, 3))


def test_thresholds_between_numbers_that_are_too_far_apart():
    x = np.array([[-1.7e308], [1.7e308]])
    with pytest.raises(DataError, match="scale them"):
        rt.BinaryFeatures("thermometer", thresholds=3).fit(x)
