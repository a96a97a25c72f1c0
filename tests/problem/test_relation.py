"""Relations are values: equal whatever their kind, immutable, and round trips lose nothing."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from relatum.errors import RelationError
from relatum.problem.relation import LinearOrder, Map, PartialMap, Partition, Relation, WeakOrder

labels = st.lists(st.integers(0, 5), min_size=1, max_size=8)
KINDS = {
    Partition: naive.NAMED["EQUIVALENCES"],
    WeakOrder: naive.NAMED["WEAK_ORDERS"],
    LinearOrder: naive.NAMED["LINEAR_ORDERS"],
    Map: naive.NAMED["MAPS"],
    PartialMap: naive.NAMED["PARTIAL_MAPS"],
}


@st.composite
def some_relation(draw):
    kind = draw(st.sampled_from([*sorted(KINDS, key=str), Relation]))
    values = draw(labels)
    if kind is Relation:
        width = draw(st.integers(1, 5))
        return Relation([[(v >> k) & 1 for k in range(width)] for v in values])
    if kind is LinearOrder:
        return LinearOrder(draw(st.permutations(range(len(values)))))
    if kind is PartialMap:
        return PartialMap(np.array(values) - 1, n_labels=draw(st.integers(5, 7)))
    if kind is Map:
        return Map(values, n_labels=draw(st.integers(6, 7)))
    return kind(values)


@given(some_relation())
@settings(max_examples=300, deadline=None)
def test_round_trips_keep_equality_and_hash(relation):
    plain = Relation(relation.matrix())
    assert plain == relation
    assert relation == plain
    assert hash(plain) == hash(relation)
    assert type(relation).from_matrix(relation.matrix()) == relation
    assert plain.to(type(relation)) == relation
    for copied in (pickle.loads(pickle.dumps(relation)), copy.deepcopy(relation)):
        assert copied == relation
        assert type(copied) is type(relation)
        assert hash(copied) == hash(relation)
    assert len({plain, relation}) == 1
    assert relation.n_pairs == len(relation.pairs()) == int(relation.matrix().sum())
    assert all(tuple(pair) in relation for pair in relation.pairs().tolist())


@given(some_relation(), some_relation())
@settings(max_examples=300, deadline=None)
def test_equality_is_that_of_the_matrices(r, s):
    same = r.shape == s.shape and bool((r.matrix() == s.matrix()).all())
    assert (r == s) is same
    assert (r != s) is not same
    if same:
        assert hash(r) == hash(s)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_from_matrix_accepts_exactly_the_members(kind):
    square = kind not in (Map, PartialMap)
    for shape in ((1, 1), (2, 2), (3, 3)) if square else ((1, 2), (2, 2), (3, 2), (2, 3)):
        good = {y.tobytes() for y in naive.members(KINDS[kind], *shape)}
        for y in naive.relations(*shape):
            if y.tobytes() in good:
                assert np.array_equal(kind.from_matrix(y).matrix(), y)
            else:
                with pytest.raises(RelationError, match=kind.kind):
                    kind.from_matrix(y)


def test_equality_across_kinds_and_with_other_things():
    assert Partition([0, 1]) == Relation(np.eye(2))
    assert Partition([0, 0]) == WeakOrder([1, 1])
    assert Map([0, 1]) == Partition([0, 1])
    assert Map([0, 1], n_labels=3) != Map([0, 1])
    assert Partition([5, 5, 1]) == Partition([0, 0, 7])
    assert Relation([[1]]) != "a relation"


def test_relations_are_immutable_and_copy_their_input():
    source = np.eye(3, dtype=bool)
    relation = Relation(source)
    source[:] = True
    assert relation.n_pairs == 3
    with pytest.raises(AttributeError, match="immutable"):
        relation.shape = (1, 1)
    with pytest.raises(ValueError, match="read-only"):
        relation.matrix()[0, 0] = False
    given_labels = np.array([0, 1, 0])
    partition = Partition(given_labels)
    given_labels[:] = 0
    assert partition.n_sets == 2
    given_map = np.array([0, 1, 0])
    a_map = Map(given_map)
    given_map[:] = 1
    assert a_map.labels.tolist() == [0, 1, 0]
    assert given_map.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1


def test_the_parts_of_compact_kinds():
    partition = Partition([3, 1, 3, 2])
    assert partition.labels.tolist() == [0, 1, 0, 2]
    assert [s.tolist() for s in partition.sets()] == [[0, 2], [1], [3]]
    assert partition.sizes().tolist() == [2, 1, 1]
    order = WeakOrder([5, 0, 5, -2])
    assert order.ranks.tolist() == [2, 1, 2, 0]
    assert order.order.tolist() == [3, 1, 0, 2]
    assert [c.tolist() for c in order.classes()] == [[3], [1], [0, 2]]
    assert LinearOrder.from_order([2, 0, 1]).order.tolist() == [2, 0, 1]
    assert (0, 0) in partition
    assert (0, 1) not in partition
    assert (9, 0) not in partition
    assert "no pair" not in partition


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Relation([1, 0]), "two non-empty axes"),
        (lambda: Relation(np.empty((0, 2))), "two non-empty axes"),
        (lambda: Relation([[0.5]]), "zeros and ones only"),
        (lambda: Relation([[np.nan]]), "zeros and ones only"),
        (lambda: Map([-1, 0]), "between 0 and n_labels - 1"),
        (lambda: PartialMap([-2]), "between -1 and"),
        (lambda: Map([3], n_labels=3), "n_labels - 1 = 2"),
        (lambda: Map([]), "non-empty vector"),
        (lambda: Map([0.5]), "must be integers"),
        (lambda: Partition([np.inf, 0.0]), "must be integers"),
        (lambda: Partition([np.nan]), "must be integers"),
        (lambda: Partition(["a"]), "must be integers"),
        (lambda: Partition([[0]]), "non-empty vector"),
        (lambda: LinearOrder([0, 0, 1]), "no ties"),
        (lambda: LinearOrder.from_order([0, 0, 1]), "exactly once"),
        (lambda: Partition.from_matrix([[1, 0]]), "on one set"),
        (lambda: Relation([[1, 1], [0, 1]]).to(Partition), "not a partition"),
        (lambda: Relation([[1, 1], [0, 1]]).to(Map), "element 0 has 2 images"),
        (lambda: Relation([[0, 0], [0, 1]]).to(Map), "element 0 has 0 images"),
    ],
)
def test_errors_say_what_is_wrong(build, message):
    with pytest.raises(RelationError, match=message):
        build()
