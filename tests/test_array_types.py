"""The names of array types stand for what kernels are compiled for."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

import relatum as rt
from relatum import array_types


@pytest.mark.parametrize(
    ("name", "dtype"), [("Floats", np.float64), ("Index", np.int64), ("Flags", np.bool_)]
)
def test_names_stand_for_element_types(name, dtype):
    _, element = get_args(getattr(array_types, name))
    assert get_args(element) == (dtype,)
    assert set(array_types.__all__) == {"Flags", "Floats", "Index"}


def test_arrays_of_the_public_types_are_these():
    e = rt.infer(rt.Problem([[0, 2], [2, 0]], rt.EQUIVALENCES))
    assert e.relation.labels.dtype == np.int64
    assert e.relation.matrix().dtype == np.bool_
    assert rt.Problem([[0, 2], [2, 0]], rt.EQUIVALENCES).dense().dtype == np.float64
