"""Batches: elements and pairs sorted by component, evidence with them."""

from __future__ import annotations

import numpy as np

from relatum.pair_tables import Component, batch_of, component_of
from relatum.pair_tables.solve.batching import ends_of, first_elements, with_pairs


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


def test_a_component_comes_out_of_its_batch_as_it_went_in():
    one = Component(4, [2, 1], [0, 3], [1.5, -2.0], [[3, 2]], [[0, 1]], [0, 1, 0, -1], [5, 5, 6, 6])
    again = component_of(one.batch(), 0)
    assert again.n == 4
    assert (again.i.tolist(), again.j.tolist()) == ([0, 1], [2, 3])
    assert again.log_odds.tolist() == [1.5, -2.0]
    assert (again.related.tolist(), again.unrelated.tolist()) == ([[2, 3]], [[0, 1]])
    assert (again.groups.tolist(), again.start.tolist()) == ([0, 1, 0, -1], [5, 5, 6, 6])
    assert Component(0, [], [], []).batch().element_ptr.tolist() == [0, 0]


def test_ends_are_numbered_through_the_batch():
    component = np.array([7, 3, 7, 3, 7])
    pairs = (np.array([4, 1, 2, 0]), np.array([0, 3, 1, 2]), np.array([1.0, 2.0, 3.0, 4.0]))
    batch, order = batch_of(component, pairs)
    owner, a, b = ends_of(batch)
    assert owner.tolist() == [0, 1, 1]
    found = {frozenset(p) for p in zip(order[a].tolist(), order[b].tolist(), strict=True)}
    assert found == {frozenset(p) for p in ((1, 3), (0, 2), (0, 4))}  # 1, 2 lies between
    other = with_pairs(batch, (np.array([2, 3]), np.array([4, 4]), np.array([8.0, 9.0])))
    assert (ends_of(other)[1].tolist(), ends_of(other)[2].tolist()) == ([2, 3], [4, 4])
    assert (other.i.tolist(), other.pair_ptr.tolist()) == ([0, 1], [0, 0, 2])
    empty, _ = batch_of(np.empty(0, np.int64), (np.empty(0, int), np.empty(0, int), np.empty(0)))
    assert empty.element_ptr.tolist() == [0]


def test_the_first_element_of_each_cluster():
    batch, _ = batch_of(
        np.array([0, 0, 0, 1, 1, 1]), (np.array([0]), np.array([1]), np.array([1.0]))
    )
    labels = np.array([0, 1, 0, 0, 1, 1])
    assert first_elements(batch, labels).tolist() == [0, 1, 0, 3, 4, 4]
