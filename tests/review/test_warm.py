"""Components solved again: against brute force, inference from nothing, and the checker."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import Component, Settings, solve_component
from relatum.review.facts import Fact, Ledger
from relatum.review.warm import Base, Warm, agree, problem_with, search_proof


def base_of(seed, n, density=0.5, groups=None, cap=None):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    keep[[0, 1]] = True
    component = Component(n, i[keep], j[keep], rng.normal(0.3, 3, int(keep.sum())), groups=groups)
    settings = Settings(-0.5, cap)
    found = solve_component(component, settings)
    elements = np.arange(n) * 3 + 5
    ids = [1000 - k for k in range(n)]  # numbers, which must not be taken for those of elements
    return Base(elements, ids, component, found.labels, found.gap, settings)


def answers(base, seed, count, ledger):
    rng = np.random.default_rng(seed)
    for k in range(count):
        a, b = rng.choice(base.elements, 2, replace=False).tolist()
        ledger.add([Fact(a, b, bool(rng.random() < 0.4), k + 1)])
        yield frozenset(ledger.held)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ruled", [False, True])
def test_small_components_are_optimal_after_every_answer(seed, ruled):
    groups = np.array([0, 1, 2, 0, 1, -1, -1, 3]) if ruled else None
    base = base_of(seed, 8, groups=groups, cap=4 if ruled else None)
    by_element = None if groups is None else dict(zip(base.elements.tolist(), groups, strict=True))
    warm, ledger = Warm(base), Ledger(by_element, 4 if ruled else None)
    for facts in answers(base, seed, 10, ledger):
        solved = warm.solved(facts)
        assert agree(base, solved.labels, facts)
        best = rt.infer(problem_with(base, facts), prove=True)
        assert solved.value == pytest.approx(best.value, abs=1e-9)
        assert solved.bound >= best.value - 1e-9
        assert solved.gap == pytest.approx(0, abs=1e-9)
    # and back again
    everything = sorted(facts, key=lambda f: -f.action)
    for k in range(len(everything)):
        fewer = frozenset(everything[k + 1 :])
        best = rt.infer(problem_with(base, fewer), prove=True)
        assert warm.solved(fewer).value == pytest.approx(best.value, abs=1e-9)


@pytest.mark.parametrize("n", [40, 150])
def test_larger_components_agree_with_answers_and_bounds_hold(n):
    base = base_of(1, n, 0.15)
    warm, ledger = Warm(base), Ledger()
    for facts in answers(base, 2, 12, ledger):
        solved = warm.solved(facts)
        problem = solved.problem
        assert problem.feasible.contains(rt.Partition(solved.labels))
        assert solved.value == pytest.approx(problem.value(rt.Partition(solved.labels)))
    found = rt.infer(solved.problem, start=rt.Partition(solved.labels), time_limit=1.0)
    assert solved.bound >= found.value - 1e-6
    assert solved.value >= found.value - 0.02 * abs(found.value)


def test_an_answer_that_agrees_changes_nothing():
    base = base_of(3, 30)
    warm = Warm(base)
    first = warm.solved(frozenset())
    a, b = (int(base.elements[k]) for k in np.flatnonzero(base.labels == base.labels[0])[:2])
    again = warm.solved(frozenset([Fact(a, b, True, 1)]))
    assert again.labels is first.labels
    assert again.bound == first.bound


def test_a_proof_is_one_that_the_checker_takes():
    base = base_of(4, 24)
    warm = Warm(base)
    facts = frozenset([Fact(5, 8, base.labels[0] != base.labels[1], 1)])
    tried = warm.solved(facts)
    warm.learn(tried, search_proof(tried, 10.0))
    proved = warm.solved(facts)
    assert proved.gap == 0
    assert rt.verify(proved.problem, proved.estimate)


def test_what_is_proved_late_holds_with_answers_that_came_meanwhile():
    base = base_of(4, 24)
    warm = Warm(base)
    tried = warm.solved(frozenset())
    found = search_proof(tried, 10.0)
    fact = Fact(5, 8, bool(base.labels[0] != base.labels[1]), 1)
    warm.solved(frozenset([fact]))
    warm.learn(tried, found)
    now = warm.solved(frozenset([fact]))
    assert now.bound <= found.bound + 1e-9
    best = rt.infer(now.problem, prove=True, time_limit=10.0)
    assert now.bound >= best.value - 1e-6
    assert warm.solved(frozenset()).value == pytest.approx(found.value)


def test_the_same_answers_give_the_same_clusters_after_a_restart():
    base = base_of(5, 60, 0.2)
    warm, ledger = Warm(base), Ledger()
    for facts in answers(base, 6, 10, ledger):
        last = warm.solved(facts)
    anew = Warm(base).solved(facts)
    assert np.array_equal(anew.labels, last.labels)
