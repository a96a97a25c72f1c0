"""Questions about a component: probabilities against the library's own, and counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import Component, Settings, solve_component
from relatum.probability import OpenPairs
from relatum.review.doubtful import LEAST, agenda_of, likely_left
from relatum.review.facts import Fact, Ledger
from relatum.review.warm import Base, Warm


def base_of(n=7, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    component = Component(n, i[keep], j[keep], rng.normal(0.5, 3, int(keep.sum())))
    found = solve_component(component, Settings(-0.5))
    return Base(np.arange(n) + 10, list(range(n)), component, found.labels, found.gap, Settings())


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_of_questions_are_exact_in_small_components(seed):
    solved = Warm(base_of(seed=seed)).solved(frozenset([Fact(10, 11, True, 1)]))
    ledger = Ledger()
    ledger.add(solved.facts)
    agenda = agenda_of(solved, ledger)
    p = rt.probabilities(solved.problem, method="exact", across=False).matrix()
    for question in agenda.questions:
        assert question.probability == pytest.approx(p[question.a - 10, question.b - 10])
        assert {question.a, question.b} != {10, 11}
    worth = [q.worth for q in agenda.questions]
    assert worth == sorted(worth, reverse=True)
    asked = [q for q in rt.questions(solved.problem, 100, across=False) if q.worth > LEAST]
    first, best = agenda.questions[0], asked[0]
    assert (first.a - 10, first.b - 10) == (best.i, best.j)
    assert sorted(worth) == pytest.approx(sorted(q.worth for q in asked))
    assert (agenda.left > 0) == bool(agenda.questions)


def test_what_follows_from_answers_is_not_asked():
    base = base_of()
    facts = [Fact(10, 11, True, 1), Fact(11, 12, True, 2)]
    ledger = Ledger()
    ledger.add(facts)
    agenda = agenda_of(Warm(base).solved(frozenset(facts)), ledger)
    assert all({q.a, q.b} != {10, 12} for q in agenda.questions)


def test_large_components_are_asked_about_by_their_scores(monkeypatch):
    monkeypatch.setattr("relatum.review.doubtful.ASKED", 5)
    base = base_of(density=0.6)
    agenda = agenda_of(Warm(base).solved(frozenset()), Ledger())
    first = agenda.questions[0]
    scores = base.problem.scores
    best = int(np.argmin(np.abs(scores.log_odds)))
    assert (first.a - 10, first.b - 10) == (scores.i[best], scores.j[best])


@pytest.mark.parametrize(
    ("p", "left"),
    [
        ([0.99, 0.99, 0.99], 0),
        ([0.99, 0.6, 0.6], 1),  # 2 with {0, 1}
        ([0.5, 0.5, 0.5], 2),  # two joins, and the third follows
        ([0.4, 0.4, 0.4], 3),  # all apart: each is asked
        ([0.01, 0.02, 0.01], 0),
    ],
)
def test_how_many_questions_are_left(p, left):
    i, j = np.array([0, 0, 1]), np.array([1, 2, 2])
    assert likely_left(3, OpenPairs(i, j, np.array(p))) == left
