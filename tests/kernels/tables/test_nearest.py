"""The nearest rows, and products of pairs, against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from naive.tables import nearest_rows as plain
from relatum.kernels.tables.nearest import nearest_rows, pair_products


def drawn(rng, n, terms):
    """A table of whole numbers, so that sums are exact and ties occur."""
    dense = rng.integers(1, 4, size=(n, terms)) * (rng.random((n, terms)) < 0.3)
    return dense, sparse.csr_array(dense.astype(np.float32))


def parts(table):
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("grouped", [False, True])
def test_the_nearest_are_those_of_the_plain_twin(seed, grouped):
    rng = np.random.default_rng(seed)
    n, k = 30, int(rng.integers(1, 8))
    dense, table = drawn(rng, n, 12)
    groups = rng.integers(0, 3, size=n) if grouped else np.empty(0, np.int64)
    sums, touched = np.zeros(n, np.float32), np.empty(n, np.int64)
    found = []
    for start in (0, 11):
        count = min(11, n - start) if start == 0 else n - 11
        near = np.full((count, k), 99, np.int64)
        likes = np.zeros((count, k), np.float32)
        columns = parts(table.T.tocsr())
        nearest_rows(parts(table), columns, groups, start, near, likes, sums, touched)
        found += [[j for j in row if j >= 0] for row in near.tolist()]
        assert not sums.any()
    assert found == plain(dense.tolist(), k, groups if grouped else None)


def test_products_are_those_of_dense_rows():
    rng = np.random.default_rng(0)
    dense, table = drawn(rng, 20, 9)
    i, j = (rng.integers(0, 20, size=50) for _ in range(2))
    out = np.empty(50)
    pair_products(*parts(table), i, j, out)
    assert np.array_equal(out, (dense[i] * dense[j]).sum(axis=1))
