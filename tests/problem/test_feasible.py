"""Feasible sets against enumeration: members, implications, inclusion, equality."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import FeasibleSetError
from relatum.problem.feasible import _SIMPLE, NAMED_SETS, FeasibleSet

COUNTS = {  # sizes 1, 2, 3, ...
    "RELATIONS": [2, 16, 512],
    "TRANSITIVE": [2, 13, 171],
    "PREORDERS": [1, 4, 29, 355],
    "EQUIVALENCES": [1, 2, 5, 15],
    "WEAK_ORDERS": [1, 3, 13, 75],
    "LINEAR_ORDERS": [1, 2, 6, 24],
    "PARTIAL_ORDERS": [1, 3, 19, 219],
    "MAPS": [1, 4, 27, 256],
    "PARTIAL_MAPS": [2, 9, 64],
    "INJECTIONS": [1, 2, 6, 24],
    "BIJECTIONS": [1, 2, 6, 24],
    "SYMMETRIC": [2, 8, 64, 1024],
    "REFLEXIVE": [1, 4, 64, 4096],
}


def named(names):
    return FeasibleSet(_SIMPLE[n] for n in names)


def accepted(feasible, n_a, n_b):
    ys = naive.relations(n_a, n_b)
    return np.array([feasible.contains(rt.Relation(y)) for y in ys])


@pytest.mark.parametrize("name", naive.NAMED)
def test_members_of_named_sets_equal_enumeration(name):
    feasible = getattr(rt, name)
    for n in (1, 2, 3):
        expected = np.zeros(2 ** (n * n), dtype=bool)
        ys = naive.members(naive.NAMED[name], n, n)
        found = accepted(feasible, n, n)
        assert int(found.sum()) == len(ys)
        assert np.array_equal(naive.relations(n, n)[found], ys)
        assert expected.size == found.size
    if not feasible.homogeneous:
        for shape in ((2, 3), (3, 2), (1, 3)):
            expected = naive.members(naive.NAMED[name], *shape)
            assert np.array_equal(naive.relations(*shape)[accepted(feasible, *shape)], expected)


@pytest.mark.parametrize("name", COUNTS)
def test_known_counts(name):
    """The brute force itself, against counts that are known."""
    for n, count in enumerate(COUNTS[name], start=1):
        assert len(naive.members(naive.NAMED[name], n, n)) == count


def test_members_at_four_elements_equal_enumeration():
    names = ("EQUIVALENCES", "LINEAR_ORDERS", "WEAK_ORDERS", "PARTIAL_ORDERS", "PREORDERS")
    for name in names:
        feasible, ys = getattr(rt, name), naive.members(naive.NAMED[name], 4, 4)
        assert all(feasible.contains(rt.Relation(y)) for y in ys)
        others = naive.members(naive.NAMED[name][:-1], 4, 4)
        assert sum(feasible.contains(rt.Relation(y)) for y in others) == len(ys)


def test_ten_random_intersections_equal_enumeration():
    rng = np.random.default_rng(42)
    everything = sorted(naive.ALL_PROPERTIES)
    for _ in range(10):
        names = rng.choice(everything, size=rng.integers(2, 5), replace=False).tolist()
        cap = int(rng.integers(1, 4)) if rng.random() < 0.5 else None
        groups = rng.integers(0, 2, 3).tolist() if rng.random() < 0.5 else None
        related = [tuple(rng.integers(0, 3, 2).tolist())]
        unrelated = [tuple(rng.integers(0, 3, 2).tolist())]
        feasible = named(names) & rt.evidence(related, unrelated)
        feasible = feasible if cap is None else feasible & rt.at_most(cap)
        feasible = feasible if groups is None else feasible & rt.one_per_group(groups)
        ys = naive.feasible(names, (3, 3), related, unrelated, cap, groups)
        assert np.array_equal(naive.relations(3, 3)[accepted(feasible, 3, 3)], ys)


# --- implications ---------------------------------------------------------------------------------


def all_subsets():
    names = sorted(naive.ALL_PROPERTIES)
    for size in range(len(names) + 1):
        yield from combinations(names, size)


def test_implications_are_sound_and_complete_at_up_to_four_elements():
    """Over all 2^9 sets of simple properties, on one set."""
    names = sorted(naive.ALL_PROPERTIES)
    packed = {
        name: np.concatenate([np.packbits(naive.having(name, n, n)) for n in (1, 2, 3, 4)])
        for name in names
    }
    one_set = rt.one_per_group(np.arange(4))  # says nothing, and makes the set homogeneous
    for subset in all_subsets():
        keep = np.full_like(packed["reflexive"], 255)
        # packed bits of n = 1 are padded with zeros in every property alike
        for name in subset:
            keep = keep & packed[name]
        if not subset:
            keep = np.concatenate(
                [np.packbits(np.ones(2 ** (n * n), dtype=bool)) for n in (1, 2, 3, 4)]
            )
        true = {name for name in names if not (keep & ~packed[name]).any()}
        assert (named(subset) & one_set).names == true, subset


def test_on_two_sets_nothing_follows_from_counting():
    assert rt.MAPS & rt.HAS_PREIMAGE != rt.BIJECTIONS
    assert not rt.UNIQUE_IMAGE & rt.HAS_PREIMAGE <= rt.HAS_IMAGE
    assert rt.BIJECTIONS <= rt.MAPS & rt.HAS_PREIMAGE
    onto = naive.members(("has_image", "unique_image", "has_preimage"), 3, 2)
    assert len(onto) == 6
    assert all((rt.MAPS & rt.HAS_PREIMAGE).contains(rt.Relation(y)) for y in onto)


def test_inclusion_and_equality_equal_enumeration():
    """A <= B iff every member of A is one of B, for homogeneous sets."""
    rng = np.random.default_rng(7)
    subsets = [s for s in all_subsets() if set(s) & set(naive.ON_ONE_SET)]
    for _ in range(2000):
        one, two = (subsets[k] for k in rng.integers(len(subsets), size=2))
        true = all(not (member_bits(one, n) & ~member_bits(two, n)).any() for n in (1, 2, 3, 4))
        assert (named(one) <= named(two)) == true, (one, two)
        if named(one) == named(two):
            assert hash(named(one)) == hash(named(two))
            assert true


_BITS = {}


def member_bits(names, n):
    key = (tuple(names), n)
    if key not in _BITS:
        keep = np.ones(2 ** (n * n), dtype=bool)
        for name in names:
            keep &= naive.having(name, n, n)
        _BITS[key] = np.packbits(keep)
    return _BITS[key]


def test_sets_written_differently_are_equal():
    assert rt.SYMMETRIC & rt.TRANSITIVE & rt.HAS_IMAGE == rt.EQUIVALENCES
    assert rt.PARTIAL_ORDERS & rt.CONNEX == rt.LINEAR_ORDERS
    assert rt.WEAK_ORDERS & rt.ANTISYMMETRIC == rt.LINEAR_ORDERS
    assert rt.at_most(1) == rt.UNIQUE_IMAGE
    assert rt.at_most(3) & rt.at_most(2) == rt.at_most(2)
    assert rt.evidence([(0, 1)]) & rt.evidence([(0, 2)]) == rt.evidence([(0, 2), (0, 1)])
    assert rt.evidence() == rt.RELATIONS
    assert rt.one_per_group(["x", "y", "x"]) == rt.one_per_group([0, 5, 0])
    assert rt.EQUIVALENCES != rt.PREORDERS
    assert rt.EQUIVALENCES != "EQUIVALENCES"
    assert rt.LINEAR_ORDERS < rt.PREORDERS < rt.REFLEXIVE
    assert rt.REFLEXIVE > rt.PREORDERS >= rt.LINEAR_ORDERS
    assert rt.MAPS & rt.at_most(2) == rt.MAPS
    assert rt.EQUIVALENCES & rt.at_most(2) < rt.EQUIVALENCES & rt.at_most(3)
    assert rt.EQUIVALENCES & rt.evidence([(0, 1)]) < rt.EQUIVALENCES
    assert not rt.one_per_group([0, 0]) >= rt.EQUIVALENCES
    copy = pickle.loads(pickle.dumps(rt.EQUIVALENCES & rt.evidence([(0, 1)])))
    assert copy == rt.EQUIVALENCES & rt.evidence([(0, 1)])


def test_the_repr_says_the_set():
    """Evaluating the repr gives an equal set, for all sets of simple properties."""
    for subset in all_subsets():
        feasible = named(subset)
        assert eval(repr(feasible), dict(vars_of_relatum())) == feasible, subset
    for extra in (rt.at_most(2), rt.evidence([(0, 1)], [(2, 0)])):
        for base in NAMED_SETS.values():
            feasible = base & extra
            assert eval(repr(feasible), dict(vars_of_relatum())) == feasible


def vars_of_relatum():
    return {name: getattr(rt, name) for name in rt.__all__ if not name.startswith("_")}


@pytest.mark.slow
def test_membership_of_compact_kinds_equals_that_of_matrices():
    rng = np.random.default_rng(3)
    extras = [
        rt.RELATIONS, rt.at_most(2), rt.one_per_group([0, 0, 1, 2]),
        rt.evidence([(0, 1)], [(2, 3)]),
    ]  # fmt: skip
    for _ in range(60):
        values = rng.integers(0, 4, 4)
        kinds = [
            rt.Partition(values), rt.WeakOrder(values), rt.Map(values, n_labels=4),
            rt.PartialMap(values - 1, n_labels=4), rt.LinearOrder(rng.permutation(4)),
        ]  # fmt: skip
        for relation in kinds:
            for base in NAMED_SETS.values():
                for extra in extras:
                    feasible = base & extra
                    plain = rt.Relation(relation.matrix())
                    assert feasible.contains(relation) == feasible.contains(plain)


def test_errors_say_what_is_wrong():
    with pytest.raises(FeasibleSetError, match="on one set"):
        rt.EQUIVALENCES.contains(rt.Relation(np.ones((2, 3))))
    with pytest.raises(FeasibleSetError, match="got a single string"):
        rt.one_per_group("abc")
    for missing in (np.array([0.0, np.nan]), np.array(["a", None], dtype=object)):
        with pytest.raises(FeasibleSetError, match="no label for element 1"):
            rt.one_per_group(missing)
    with pytest.raises(FeasibleSetError, match="k is a whole number from 1"):
        rt.at_most(0)
    with pytest.raises(TypeError):
        rt.EQUIVALENCES & "MAPS"
