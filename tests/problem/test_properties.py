"""Properties against their definitions: membership, rows, violated rows, fixed pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import EvidenceError, FeasibleSetError
from relatum.problem.properties import (
    Antisymmetric,
    AtMost,
    Connex,
    Evidence,
    HasImage,
    HasPreimage,
    OnePerGroup,
    Reflexive,
    Symmetric,
    Transitive,
    UniquePreimage,
)
from relatum.proof.certificate import FAMILIES

PROPERTIES = {
    "reflexive": Reflexive(),
    "symmetric": Symmetric(),
    "antisymmetric": Antisymmetric(),
    "transitive": Transitive(),
    "connex": Connex(),
    "has_image": HasImage(),
    "unique_image": AtMost(1),
    "has_preimage": HasPreimage(),
    "unique_preimage": UniquePreimage(),
}


def shapes(name):
    squares = [(1, 1), (2, 2), (3, 3)]
    return squares if name in naive.ON_ONE_SET else [*squares, (2, 3), (3, 2), (1, 3)]


def rows_hold(p, y):
    """Whether a 01-point satisfies every row and every fixed pair of a property."""
    shape = y.shape
    yes, no = p.fixed(shape)
    if not y[yes[:, 0], yes[:, 1]].all() or y[no[:, 0], no[:, 1]].any():
        return False
    index = p.index(shape)
    if len(index) == 0 or p.name not in FAMILIES:
        return True
    rows = FAMILIES[p.name].rows(index, shape)
    left = np.zeros(len(rows))
    np.add.at(left, rows.row_of_term(), rows.coefficient * y[rows.a, rows.b])
    return bool((left <= rows.rhs).all())


@pytest.mark.parametrize("name", PROPERTIES)
def test_members_are_the_points_that_satisfy_all_rows(name):
    p = PROPERTIES[name]
    for shape in shapes(name):
        expected = naive.having(name, *shape)
        for y, member in zip(naive.relations(*shape), expected, strict=True):
            assert p.contains(y) == member
            assert rows_hold(p, y) == member


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_row_is_valid_for_its_property(name):
    p = PROPERTIES[name]
    feasible = rt.FeasibleSet([p])
    for shape in shapes(name):
        index = p.index(shape)
        if len(index):
            assert FAMILIES[p.name].valid(feasible, index, shape)


@pytest.mark.parametrize("name", [n for n in PROPERTIES if n != "reflexive"])
def test_violated_rows_are_violated_worst_first_and_none_is_missed(name):
    p = PROPERTIES[name]
    rng = np.random.default_rng(0)
    rows_names = (name,)
    cap = 1 if name == "unique_image" else None
    for shape in [(4, 4), (5, 5), *([(3, 5)] if name not in naive.ON_ONE_SET else [])]:
        every = naive.all_rows(rows_names, *shape, cap=cap)
        for _ in range(20):
            x = rng.random(shape).round(2)
            true = {}
            for family, index, terms, rhs in every:
                excess = sum(k * x[a, b] for (a, b), k in terms.items()) - rhs
                if excess > 0.055:
                    true[index] = excess
                    assert family == p.name
            found = [tuple(row) for row in p.violated(x, tolerance=0.055).tolist()]
            assert set(found) <= set(true)
            assert bool(found) == bool(true)
            excess = [true[index] for index in found]
            assert all(a >= b - 1e-9 for a, b in pairwise(excess))
            if name != "transitive":  # which keeps the worst c of each pair ab
                assert set(found) == set(true)
            elif found:
                assert excess[0] == pytest.approx(max(true.values()))
            assert len(p.violated(x, tolerance=0.055, limit=2)) == min(2, len(found))


def test_caps_and_groups_against_their_definitions():
    groups = ["a", "b", "a"]
    for y in naive.relations(3, 3):
        for k in (1, 2, 3):
            assert AtMost(k).contains(y) == bool((y.sum(axis=1) <= k).all())
        same = any(y[a, b] for a, b in ((0, 2), (2, 0)))
        p = OnePerGroup(groups)
        assert p.contains(y) is not same
        assert rows_hold(p, y) is not same


def test_evidence_is_a_set_of_facts():
    e = Evidence(related=[(1, 0), (0, 1), (1, 0)], unrelated=np.array([[2, 2]]))
    assert e.related.tolist() == [[0, 1], [1, 0]]
    assert len(e) == 3
    assert Evidence.of_facts(e.facts()) == e
    assert hash(Evidence.of_facts(e.facts())) == hash(e)
    assert e.implies(Evidence(related=[(0, 1)]))
    assert not Evidence(related=[(0, 1)]).implies(e)
    assert e.merged(Evidence(unrelated=[(0, 0)])).unrelated.tolist() == [[0, 0], [2, 2]]
    for y in naive.relations(3, 3):
        assert e.contains(y) == (y[0, 1] and y[1, 0] and not y[2, 2])


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: AtMost(0), FeasibleSetError, "k is a whole number from 1 .*got 0"),
        (lambda: AtMost(True), FeasibleSetError, "got True"),
        (lambda: AtMost(1.5), FeasibleSetError, "got 1.5"),
        (lambda: Evidence(related=(0, 1)), EvidenceError, "list of pairs"),
        (lambda: Evidence(related=[(0, 1, 2)]), EvidenceError, r"shape \(1, 3\)"),
        (lambda: Evidence(related=[(0, 1), (2,)]), EvidenceError, "list of pairs"),
        (lambda: Evidence(related=3), EvidenceError, "list of pairs"),
        (lambda: Evidence(unrelated=[(0, 0.5)]), EvidenceError, "dtype float64"),
        (lambda: Evidence(unrelated=[(0, -1)]), EvidenceError, "numbered from 0"),
        (lambda: OnePerGroup([[0]]), FeasibleSetError, "one group label per element"),
        (lambda: OnePerGroup([0]).check((2, 2)), FeasibleSetError, "1 group labels for 2"),
        (lambda: Evidence([(0, 5)]).check((2, 2)), EvidenceError, r"\(0, 5\)"),
        (lambda: Transitive().check((2, 3)), FeasibleSetError, r"\|A\| = 2"),
    ],
)
def test_errors_say_what_is_wrong(build, error, message):
    with pytest.raises(error, match=message):
        build()
