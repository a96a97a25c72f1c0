"""Answers taken one by one: what is set aside contradicts the rest, by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relatum as rt
from relatum.review.facts import Contradiction, Fact, Ledger, facts_of


def partitions(n):
    """Yield all partitions as labels."""
    for labels in itertools.product(range(n), repeat=n):
        if all(x <= max((*labels[:k], -1)) + 1 for k, x in enumerate(labels)):
            yield np.array(labels)


def possible(facts, n, groups=None, cap=None):
    for labels in partitions(n):
        if cap is not None and np.bincount(labels).max() > cap:
            continue
        if groups is not None and any(
            labels[a] == labels[b] and groups[a] == groups[b] >= 0
            for a, b in itertools.combinations(range(n), 2)
        ):
            continue
        if all((labels[f.a] == labels[f.b]) == f.same for f in facts):
            return True
    return False


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ruled", ["", "groups", "cap"])
def test_what_is_set_aside_contradicts_what_holds(seed, ruled):
    rng = np.random.default_rng(seed)
    n = 5
    groups = np.array([0, 1, 0, 1, -1]) if ruled == "groups" else None
    cap = 3 if ruled == "cap" else None
    facts = []
    for k in range(9):
        a, b = rng.choice(n, 2, replace=False).tolist()
        facts.append(Fact(a, b, bool(rng.random() < 0.6), k + 1))
    ledger = Ledger(groups, cap)
    ledger.add(facts)
    held, aside = [], []
    for fact in facts:
        (held if possible([*held, fact], n, groups, cap) else aside).append(fact)
    assert ledger.held == held
    assert [c.fact for c in ledger.contradictions] == aside
    for found in ledger.contradictions:
        assert not possible(found.facts, n, groups, cap)
        for less in range(len(found.facts)):  # nothing is superfluous
            rest = found.facts[:less] + found.facts[less + 1 :]
            assert possible(rest, n, groups, cap)
    for a, b in itertools.combinations(range(n), 2):
        said = ledger.says(a, b)
        if said is not None:  # what it says follows
            assert not possible([*held, Fact(a, b, not said)], n, groups, cap)


def test_the_sentence_is_that_of_inference():
    ledger = Ledger()
    ledger.add([Fact(0, 1, True, 1), Fact(1, 2, True, 2), Fact(0, 2, False, 3)])
    (found,) = ledger.contradictions
    told = found.sentence({0: "a", 1: "b", 2: "c"})
    evidence = rt.evidence(related=[(0, 1), (1, 2)], unrelated=[(0, 2)])
    problem = rt.Problem.from_pairs([], [], [], n=3, feasible=rt.EQUIVALENCES & evidence)
    problem.ids = np.array(["a", "b", "c"], dtype=object)
    assert told == rt.infer(problem).message


def test_a_rule_alone_can_rule_an_answer_out():
    ledger = Ledger(np.array([7, 7]))
    ledger.add([Fact(0, 1, True, 1)])
    (found,) = ledger.contradictions
    assert found == Contradiction(Fact(0, 1, True, 1), ())
    assert "No relation is feasible" in found.sentence({0: "a", 1: "b"}, np.array([7, 7]))


def test_rows_are_facts_that_were_known_before():
    assert facts_of([[1, 2, 1], [2, 3, 0]]) == [Fact(1, 2, True), Fact(2, 3, False)]
