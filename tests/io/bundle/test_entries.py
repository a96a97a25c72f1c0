"""Problems and relations as entries: what is written is read back, number for number."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import relatum as rt
from relatum.errors import RelatumError
from relatum.io.bundle import entries
from relatum.io.bundle.archive import DamageError
from relatum.io.bundle.entries import (
    fingerprint,
    number,
    problem_entry,
    read_number,
    read_problem_entry,
    read_relation_entry,
    relation_entry,
)

RNG = np.random.default_rng(4)
FROM, TO = np.array([0, 0, 2, 3]), np.array([1, 3, 4, 3])
BITS = np.array([0.1, -2.5, 3.0, 1e-300])


def _problems():
    dense = RNG.normal(size=(5, 5))
    known = rt.evidence(related=[(0, 1)], unrelated=[(3, 2), (1, 4)])
    yield rt.Problem(dense, rt.EQUIVALENCES & known & rt.at_most(3))
    yield rt.Problem(np.asfortranarray(dense), rt.LINEAR_ORDERS)
    yield rt.Problem(dense.astype(np.float32), rt.PREORDERS & rt.one_per_group([0, 1, 1, 0, 2]))
    yield rt.Problem(RNG.normal(size=(2, 5)), rt.MAPS & rt.evidence(unrelated=[(1, 4)]))
    yield rt.Problem([[math.inf, 1.0], [-math.inf, 0.0]], rt.RELATIONS)
    yield rt.Problem(RNG.normal(size=10).astype(np.float32), rt.EQUIVALENCES)
    yield rt.Problem(RNG.normal(size=10), rt.SYMMETRIC & rt.ANTISYMMETRIC)  # images are unique
    for feasible in (rt.EQUIVALENCES, rt.PARTIAL_ORDERS, rt.MAPS):
        yield rt.Problem.from_pairs(FROM, TO, BITS, n=6, background=-0.3, feasible=feasible)
    yield rt.Problem.from_pairs(FROM, TO, BITS, n=(4, 7), background=0.3, feasible=rt.INJECTIONS)
    both = rt.Problem.from_pairs(FROM, TO, BITS, n=(6, 6), background=0.3, feasible=rt.MAPS)
    yield both.with_feasible(rt.TRANSITIVE)
    yield rt.Problem.from_pairs([], [], [], n=3, background=1.0, feasible=rt.EQUIVALENCES)


def _keep(problem):
    arrays = []

    def put(array):
        arrays.append(np.ascontiguousarray(array))
        return {"array": len(arrays) - 1}

    entry = json.loads(json.dumps(problem_entry(problem, put), allow_nan=False))
    return entry, arrays


@pytest.mark.parametrize("problem", [*_problems()], ids=repr)
def test_problems_come_back(problem):
    entry, arrays = _keep(problem)
    again = read_problem_entry(entry, lambda e: arrays[e["array"]])
    assert type(again.scores) is type(problem.scores)
    assert again.shape == problem.shape
    assert again.background == problem.background
    assert np.array_equal(again.log_odds, problem.log_odds)
    assert again.log_odds.dtype == problem.log_odds.dtype
    assert np.array_equal(again.dense(), problem.dense())
    assert again.feasible == problem.feasible
    assert again.evidence == problem.evidence
    assert np.array_equal(again.state, problem.state)
    assert fingerprint(again) == fingerprint(problem)


def test_fingerprints_tell_problems_apart():
    every = [fingerprint(problem) for problem in _problems()]
    assert len(set(every)) == len(every)
    few, more = (
        rt.Problem.from_pairs([0], [1], [1.0], n=n, feasible=rt.EQUIVALENCES) for n in (2, 3)
    )
    assert fingerprint(few) != fingerprint(more)
    assert fingerprint(few, 1) == fingerprint(more, 1)  # as it was


def test_large_problems_leave_a_fingerprint_only(monkeypatch):
    problem = rt.Problem(np.zeros((4, 4)), rt.EQUIVALENCES)
    monkeypatch.setattr(entries, "EMBEDDED", 15)
    entry, arrays = _keep(problem)
    assert (entry, arrays) == ({"fingerprint": fingerprint(problem)}, [])
    assert read_problem_entry(entry, None) is None


def test_changed_problems_are_refused():
    problem = rt.Problem(RNG.normal(size=(3, 3)), rt.EQUIVALENCES & rt.evidence([(0, 1)]))
    entry, arrays = _keep(problem)

    def read(entry, arrays=arrays):
        return read_problem_entry(entry, lambda e: arrays[e["array"]])

    assert read(entry) is not None
    fewer = [name for name in entry["properties"] if name != "symmetric"]
    for change in ({"properties": fewer}, {"cap": 2}, {"fingerprint": "0"}):
        with pytest.raises(DamageError, match="fingerprint"):
            read(entry | change)
    with pytest.raises((DamageError, RelatumError)):
        read(entry | {"shape": [9, 1]})
    for score in (np.nan, np.inf):
        spoiled = [np.full_like(a, score) if a.dtype.kind == "f" else a for a in arrays]
        with pytest.raises(DamageError, match="finite"):
            read(entry, spoiled)
    other = [a + 1 if a.dtype.kind == "f" else a for a in arrays]
    with pytest.raises(DamageError, match="fingerprint"):
        read(entry, other)


@pytest.mark.parametrize(
    "relation",
    [
        None,
        rt.Relation([[1, 0, 1], [0, 0, 1]]),
        rt.Map([2, 0], n_labels=4),
        rt.PartialMap([-1, 1], n_labels=2),
        rt.Partition([0, 1, 0]),
        rt.LinearOrder([2, 0, 1]),
        rt.WeakOrder([0, 1, 1]),
    ],
)
def test_relations_come_back(relation):
    entry = relation_entry(relation, lambda array: array)
    again = read_relation_entry(entry, lambda array: array)
    assert again == relation
    assert type(again) is type(relation)


def test_relations_of_other_types_are_refused():
    for kind, array in (("Partition", np.array([0.0])), ("Relation", np.array([[1, 0]]))):
        with pytest.raises(DamageError):
            read_relation_entry({"kind": kind, "of": [array]}, lambda a: a)


def test_numbers_are_plain_json():
    for x in (0.1, -math.inf, math.inf, 1e308, 5e-324):
        assert read_number(json.loads(json.dumps(number(x), allow_nan=False))) == x
    for wrong in (None, True, [1]):
        with pytest.raises(DamageError, match="stands where a number should"):
            read_number(wrong)
