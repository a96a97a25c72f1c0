"""Columns of one unit, and of several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from relatum.features import of_different_units


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_matrix])
def test_a_few_columns_that_vary_far_more_are_of_another_unit(made):
    x = np.random.default_rng(0).normal(size=(200, 5))
    assert not of_different_units(made(x))
    assert not of_different_units(made(x * [1, 2, 3, 4, 5]))
    assert of_different_units(made(x * [1, 1, 1, 1, 30]))
    assert not of_different_units(made(x * [0, 0, 0, 0, 30]))  # constant columns have no unit
    assert not of_different_units(made(np.zeros((3, 2))))


@pytest.mark.parametrize("table", [np.array, sparse.csr_array])
def test_columns_too_large_to_be_squared_are_no_error(table):
    x = table(np.array([[1e200, 1.0], [-1e200, 2.0], [0.0, 3.0]]))
    assert not of_different_units(x)  # and no warning, which is an error here
