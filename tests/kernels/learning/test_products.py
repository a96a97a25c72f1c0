"""Products of columns equal their plain twin."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.learning import products as kernels


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_products_equal_their_twin(degree, dtype):
    rng = np.random.default_rng(degree)
    x = rng.integers(0, 2 if dtype == np.uint8 else 5, (6, 8)).astype(dtype)
    columns = rng.integers(0, 8, (11, degree)).astype(np.int32)
    x.flags.writeable = columns.flags.writeable = False
    out = np.empty((6, 11), dtype=dtype)
    kernels.products(x, columns, out)
    assert np.array_equal(out, naive.products(x.tolist(), columns.tolist()))
