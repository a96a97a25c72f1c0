"""Questions about a component: probabilities against the library's own, and counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import Component, Settings, solve_component
from relatum.probability import OpenPairs, open_pairs_of
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
    monkeypatch.setattr("relatum.review.near.LARGEST", 5)
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


def test_large_matchings_are_asked_about_by_probabilities_of_the_matching(monkeypatch):
    """Also where a component of no groups would be too large."""
    monkeypatch.setattr("relatum.review.near.LARGEST", 5)
    sides = np.arange(8) % 2
    i, j = (x.ravel() for x in np.meshgrid(np.arange(0, 8, 2), np.arange(1, 8, 2), indexing="ij"))
    bits = np.random.default_rng(4).normal(1.0, 3.0, len(i))
    component = Component(8, np.minimum(i, j), np.maximum(i, j), bits, groups=sides)
    settings = Settings(-0.5)
    found = solve_component(component, settings)
    base = Base(np.arange(8), list(range(8)), component, found.labels, found.gap, settings)
    solved = Warm(base).solved(frozenset())
    agenda = agenda_of(solved, Ledger())
    exact = rt.probabilities(solved.problem, method="exact").matrix()
    near = open_pairs_of(solved.problem, solved.labels)
    told = {(a, b): p for a, b, p in zip(near.i, near.j, near.probability, strict=True)}
    for question in agenda.questions:
        p = told.get((question.a, question.b), told.get((question.b, question.a)))
        assert question.probability == pytest.approx(p)
        assert question.probability == pytest.approx(exact[question.a, question.b], abs=0.05)
    alone = {tuple(sorted(e)): 1 / (1 + 2**-b) for *e, b in zip(i, j, bits, strict=True)}
    first = agenda.questions[0]
    assert abs(first.probability - alone[tuple(sorted((first.a, first.b)))]) > 0.01
