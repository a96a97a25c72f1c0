"""Connected components of pairs, compared with scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from relatum.solvers.reductions import connected


@pytest.mark.parametrize("seed", range(20))
def test_labels_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    i, j = rng.integers(0, n, (2, int(rng.integers(0, n + 1))))
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    expected = connected_components(graph, directed=False)[1]
    half = len(i) // 2
    batches = [(i[:half], j[:half]), (i[half:].astype(np.int32), j[half:].astype(np.int32))]
    found = connected(n, batches)
    assert found.dtype == np.int64
    assert found.tolist() == expected.tolist()


def test_without_pairs_every_element_is_alone():
    assert connected(3, []).tolist() == [0, 1, 2]
    assert connected(0, []).tolist() == []
