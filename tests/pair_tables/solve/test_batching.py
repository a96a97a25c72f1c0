"""Batches: elements and pairs sorted by component, evidence with them."""

from __future__ import annotations

import numpy as np

from relatum.pair_tables import batch_of, component_of


def test_elements_pairs_and_evidence_go_to_their_components():
    component = np.array([7, 3, 7, 3, 7])
    pairs = (np.array([4, 1, 2, 0]), np.array([0, 3, 1, 2]), np.array([1.0, 2.0, 3.0, 4.0]))
    fixed = np.array([[4, 2, 0], [3, 1, 1], [0, 1, 0]])
    batch, order = batch_of(component, pairs, fixed, groups=np.arange(5), start=10 * np.arange(5))
    assert order.tolist() == [1, 3, 0, 2, 4]
    first, second = component_of(batch, 0), component_of(batch, 1)
    assert (first.n, second.n) == (2, 3)
    assert [first.i.tolist(), first.j.tolist(), first.log_odds.tolist()] == [[0], [1], [2.0]]
    assert second.i.tolist() == [0, 0]
    assert second.j.tolist() == [1, 2]
    assert second.log_odds.tolist() == [4.0, 1.0]
    assert first.related.tolist() == [[0, 1]]
    assert second.unrelated.tolist() == [[1, 2]]
    assert second.groups.tolist() == [0, 2, 4]
    assert first.start.tolist() == [10, 30]
