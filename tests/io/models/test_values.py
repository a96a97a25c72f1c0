"""Values of every kind, written as JSON and arrays and read back."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io.models.values import Reader, Writer


def again(value):
    writer = Writer()
    text = json.dumps(writer.value(value, "a test"), allow_nan=False)
    return Reader(writer.arrays).value(json.loads(text))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        10**30,
        0.1,
        math.inf,
        -math.inf,
        "text é",
        [1, [2.5, "x"]],
        (1, ("a", None)),
        {"a": (1, 2), 3: [], (1, 2): "b"},
        np.dtype(np.float32),
        np.uint8,
        rt.EQUIVALENCES & rt.at_most(3) & rt.one_per_group(["a", "b", "a"]),
        rt.LINEAR_ORDERS & rt.evidence(related=[(0, 1)]),
        rt.RELATIONS,
        rt.BIJECTIONS,
        rt.HAS_IMAGE & rt.at_most(1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back(value):
    got = again(value)
    assert got == value
    assert type(got) is type(value)


def test_arrays_and_numbers_of_numpy_come_back():
    assert math.isnan(again(float("nan")))
    assert again(np.float64(0.1)) == 0.1
    assert again(np.int8(3)) == 3
    assert again(float) is np.float64  # another name of the type
    for array in (
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.asfortranarray(np.random.default_rng(0).normal(size=(3, 2))),
        np.array([True, False]),
        np.array(["a", "bcd"]),
        np.array(["a", None, 3.5], dtype=object),
        np.zeros((0, 4), dtype=np.float32),
    ):
        got = again(array)
        assert got.dtype == array.dtype
        assert got.shape == array.shape
        assert np.array_equal(got, array)


@pytest.mark.parametrize(
    "value",
    [
        print,
        object(),
        {1, 2},
        b"bytes",
        1j,
        np.zeros(2, dtype=complex),
        np.zeros(2, dtype="M8[s]"),
        np.array([print], dtype=object),
        [lambda: 0],
        rt.JointEstimator(),
        str,
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_refused(value):
    with pytest.raises(DataError, match=r"A model file cannot hold .* \(a test\)"):
        Writer().value(value, "a test")


@pytest.mark.parametrize(
    "value",
    [
        {},
        "\ud800",
        {"pickle": "x"},
        {"array": 0, "tuple": []},
        {"array": 1},
        {"array": -1},
        {"array": "0"},
        {"array": True},
        {"dtype": "O"},
        {"dtype": "f8,i4"},
        {"dtype": "(1000000,1000000)f8"},
        {"type": "object_"},
        {"float": "1"},
        {"objects": [1, 2], "shape": [3]},
        {"dict": [[[], 1]]},
        {"feasible": {}},
        {"object": {"class": "Popen", "parameters": {"args": "ls"}, "learned": {}}},
        {"object": {"class": "FunctionTransformer", "parameters": {}, "learned": {}}},
        {"object": {"class": "PCA", "parameters": {"shell": True}, "learned": {}}},
        {"object": {"class": "PCA", "parameters": {}, "learned": {"transform": 1}}},
        {"object": {"class": "PCA", "parameters": {}, "learned": {"__class__": 1}}},
        {"object": {"class": ["PCA"], "parameters": {}, "learned": {}}},
    ],
)
def test_what_was_never_written_is_not_read(value):
    with pytest.raises((ValueError, LookupError, TypeError)):
        Reader([np.zeros(2)]).value(value)
