"""Conflicting evidence: a small subset of it, minimal, with a sentence and a certificate."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.problem.properties import Evidence
from relatum.proof.checker.verification import check_certificate
from relatum.proof.conflicts import find_conflict
from relatum.proof.estimate import Status

# where step-by-step reasoning finds every contradiction
COMPLETE = ("EQUIVALENCES", "PREORDERS", "PARTIAL_ORDERS", "LINEAR_ORDERS", "WEAK_ORDERS", "MAPS")


def is_empty(name, facts, n=4, cap=None, groups=None):
    related = [(a, b) for a, b, yes in facts if yes]
    unrelated = [(a, b) for a, b, yes in facts if not yes]
    return len(naive.feasible(naive.NAMED[name], (n, n), related, unrelated, cap, groups)) == 0


@pytest.mark.parametrize("name", COMPLETE)
def test_conflicts_are_conflicts_and_minimal(name):
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(120):
        facts = [
            (int(rng.integers(4)), int(rng.integers(4)), bool(rng.random() < 0.6))
            for _ in range(rng.integers(2, 7))
        ]
        cap = 2 if name == "EQUIVALENCES" and rng.random() < 0.3 else None
        groups = [0, 1, 0, 1] if name == "EQUIVALENCES" and rng.random() < 0.3 else None
        feasible = getattr(rt, name) & rt.FeasibleSet([Evidence.of_facts(facts)])
        feasible = feasible if cap is None else feasible & rt.at_most(cap)
        feasible = feasible if groups is None else feasible & rt.one_per_group(groups)
        problem = rt.Problem(np.zeros((4, 4)), feasible)
        conflict = find_conflict(problem)
        if not is_empty(name, facts, cap=cap, groups=groups):
            assert conflict is None
            continue
        assert conflict is not None, (name, facts)
        found += 1
        small = conflict.evidence.facts()
        assert set(small) <= set(Evidence.of_facts(facts).facts())
        assert is_empty(name, small, cap=cap, groups=groups)
        for fact in small:
            rest = [f for f in small if f != fact]
            assert not is_empty(name, rest, cap=cap, groups=groups), (name, small, fact)
        assert conflict.message.startswith("No relation is feasible: ")
        check_certificate(problem, conflict.certificate)
        e = rt.infer(problem)
        assert e.status is Status.INFEASIBLE
        assert e.message == conflict.message
        assert rt.verify(problem, e)
        assert e.stats["conflict"] == conflict.evidence
    assert found > 10


def sentence(feasible, n=3):
    return rt.infer(rt.Problem(np.zeros((n, n)), feasible)).message


def test_sentences_name_evidence_and_properties():
    said = sentence(rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)], [(0, 2)]))
    for part in ("0~1", "1~2", "given", "0~2", "forbidden", "transitive"):
        assert part in said
    said = sentence(rt.LINEAR_ORDERS & rt.evidence([(0, 1), (1, 0)]))
    for part in ("0<=1", "1<=0", "antisymmetric"):
        assert part in said
    said = sentence(rt.RELATIONS & rt.evidence([(0, 1)], [(0, 1)]))
    assert "0->1 is both given and forbidden" in said
    said = sentence(rt.MAPS & rt.evidence([(0, 1), (0, 2)]))
    assert "no element of A more than 1 image" in said
    said = sentence(rt.EQUIVALENCES & rt.one_per_group([0, 0, 1]) & rt.evidence([(0, 1)]))
    assert "no two elements of one group" in said
    said = sentence(rt.EQUIVALENCES & rt.at_most(2) & rt.evidence([(0, 1), (1, 2)]))
    assert "more than 2 images" in said
    said = sentence(rt.REFLEXIVE & rt.evidence(unrelated=[(1, 1)]))
    assert "1->1 forbidden" in said
    assert "reflexive" in said


def test_infinite_log_odds_are_evidence_too():
    c = np.zeros((3, 3))
    c[0, 1] = c[1, 2] = np.inf
    c[0, 2] = -np.inf
    c[1, 0] = 5.0
    problem = rt.Problem(c, rt.TRANSITIVE)
    e = rt.infer(problem)
    assert e.status is Status.INFEASIBLE
    assert "0<=1 and 1<=2 given, 0<=2 forbidden" in e.message
    assert rt.verify(problem, e)


def test_irrelevant_evidence_is_left_out():
    many = [(a, a + 1) for a in range(10, 30)]
    feasible = rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2), *many], [(0, 2), (5, 6)])
    conflict = find_conflict(rt.Problem(np.zeros((32, 32)), feasible))
    assert sorted(conflict.evidence.facts()) == [(0, 1, True), (0, 2, False), (1, 2, True)]


def test_conflicts_that_reasoning_does_not_find_are_found_by_search():
    """Three images for three elements among two: Hall, not unit propagation."""
    rng = np.random.default_rng(4)
    searched = 0
    for _ in range(150):
        name = ("BIJECTIONS", "INJECTIONS")[rng.integers(2)]
        no = [(int(a), int(b)) for a, b in rng.integers(0, 4, (rng.integers(4, 10), 2))]
        problem = rt.Problem(rng.normal(size=(4, 4)), getattr(rt, name) & rt.evidence((), no))
        facts = [(a, b, False) for a, b in set(no)]
        e = rt.infer(problem)
        assert (e.status is Status.INFEASIBLE) == is_empty(name, facts), (name, no)
        assert rt.verify(problem, e), rt.verify(problem, e).reason
        searched += e.status is Status.INFEASIBLE and find_conflict(problem) is None
    assert searched > 0
