"""Costs of forcing a pair against brute force; chains against plain search."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import ProblemError
from relatum.explanation import pair_log_odds


def folded(problem):
    c = problem.dense()
    return c + c.T - np.diag(np.diagonal(c))


def brute_costs(problem, a, b):
    w = folded(problem)
    feasible = problem.feasible

    def best(rule):
        return naive.best_partition(w, lambda y: feasible.contains(rt.Partition(y)) and rule(y))

    top = best(lambda y: True)
    return top - best(lambda y: y[a] == y[b]), top - best(lambda y: y[a] != y[b])


@pytest.mark.parametrize("seed", range(15))
def test_costs_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    c = rng.normal(size=(n, n)) if seed % 2 else rng.integers(-3, 4, (n, n)).astype(float)
    feasible = rt.EQUIVALENCES
    if seed % 3 == 0:
        feasible = feasible & rt.evidence(related=[(0, 1)], unrelated=[(1, 2)])
    problem = rt.Problem(c, feasible)
    e = rt.infer(problem, prove=True)
    for a, b in [(0, 1), (0, 2), (1, 2), (n - 1, 0)]:
        why = rt.explain(problem, e, a, b)
        together, apart = brute_costs(problem, a, b)
        assert why.related == ((a, b) in e.relation)
        assert why.log_odds == pytest.approx(c[a, b] + c[b, a])
        for cost, want in ((why.together, together), (why.apart, apart)):
            assert cost.exact
            assert cost.high == pytest.approx(want, abs=1e-5)


def widest(w, allowed, a, b):
    """Largest least weight over simple paths of allowed pairs, by trying thresholds."""
    n = len(w)
    for level in sorted(set(w[np.triu_indices(n, 1)]), reverse=True):
        if level <= 0:
            break
        reached, todo = {a}, [a]
        while todo:
            u = todo.pop()
            for v in range(n):
                if v not in reached and v in allowed and w[u, v] >= level:
                    reached.add(v)
                    todo.append(v)
        if b in reached:
            return level
    return None


@pytest.mark.parametrize("seed", range(12))
def test_chains_are_widest(seed):
    rng = np.random.default_rng(100 + seed)
    c = rng.normal(size=(8, 8))
    problem = rt.Problem(c, rt.EQUIVALENCES)
    w = folded(problem)
    e = rt.infer(problem, prove=True)
    for a, b in [(0, 5), (2, 7), (3, 4)]:
        why = rt.explain(problem, e, a, b)
        assert why.chain[0].a == a
        assert why.chain[-1].b == b
        for link, following in zip(why.chain, why.chain[1:], strict=False):
            assert link.b == following.a
        for link in why.chain:
            assert link.log_odds == pytest.approx(w[link.a, link.b])
            assert link.related == ((link.a, link.b) in e.relation)
        same = set(np.flatnonzero(e.relation.labels == e.relation.labels[a]))
        level = widest(w, same if why.related else set(range(8)), a, b)
        if level is None:
            assert len(why.chain) == 1
        else:
            assert min(k.log_odds for k in why.chain) == pytest.approx(level)


def test_all_layouts_score_a_pair_alike():
    rng = np.random.default_rng(0)
    w = rng.normal(size=(6, 6))
    w = w + w.T
    np.fill_diagonal(w, 0.0)
    i, j = np.triu_indices(6, 1)
    dense = rt.Problem(w / 2, rt.EQUIVALENCES)
    condensed = rt.Problem(w[i, j], rt.EQUIVALENCES)
    keep = np.arange(len(i)) % 3 > 0
    sparse = rt.Problem.from_pairs(
        i[keep], j[keep], w[i, j][keep], n=6, background=-0.5, feasible=rt.EQUIVALENCES
    )
    a, b = np.array([0, 4, 3, 2]), np.array([1, 2, 5, 2])
    np.testing.assert_allclose(pair_log_odds(dense, a, b), w[a, b])
    np.testing.assert_allclose(pair_log_odds(condensed, a, b), w[a, b])
    want = folded(sparse)
    np.testing.assert_allclose(pair_log_odds(sparse, a, b), want[a, b])
    e = rt.infer(sparse, prove=True)
    together, apart = brute_costs(sparse, 0, 3)
    why = rt.explain(sparse, e, 0, 3)
    assert why.together.high == pytest.approx(together, abs=1e-5)
    assert why.apart.high == pytest.approx(apart, abs=1e-5)


def test_evidence_that_decides_is_impossible_to_undo():
    feasible = rt.EQUIVALENCES & rt.evidence(related=[(0, 1), (1, 2)])
    problem = rt.Problem([-1.0, -1.0, -1.0], feasible)
    e = rt.infer(problem, prove=True)
    why = rt.explain(problem, e, 0, 2)
    assert math.isinf(why.apart.low)
    assert "nothing else" in why.sentence


def test_without_proof_the_cost_is_bracketed():
    rng = np.random.default_rng(3)
    problem = rt.Problem(rng.normal(size=7 * 6 // 2), rt.EQUIVALENCES)
    exact = rt.infer(problem, prove=True)
    loose = rt.Estimate(
        rt.Status.FEASIBLE, exact.relation, exact.value, exact.value + 2.0, exact.certificate
    )
    for a, b in [(0, 1), (2, 5), (3, 6)]:
        together, apart = brute_costs(problem, a, b)
        why = rt.explain(problem, loose, a, b)
        assert why.together.low - 1e-6 <= together <= why.together.high + 1e-6
        assert why.apart.low - 1e-6 <= apart <= why.apart.high + 1e-6
        assert not why.together.exact


def test_maps_and_orders_have_costs_too():
    problem = rt.Problem([[3.0, 1.0], [2.0, 1.5]], rt.MAPS)
    why = rt.explain(problem, rt.infer(problem), 0, 0)
    assert why.apart.high == pytest.approx(2.0)
    order = rt.Problem([[0, 2.0], [-1.0, 0]], rt.LINEAR_ORDERS)
    why = rt.explain(order, rt.infer(order, prove=True), 0, 1)
    assert why.related
    assert why.apart.high == pytest.approx(3.0)


def test_nonsense_is_refused():
    problem = rt.Problem([1.0, -1.0, 2.0], rt.EQUIVALENCES)
    e = rt.infer(problem, prove=True)
    with pytest.raises(ProblemError, match=r"names 'a', but the elements"):
        rt.explain(problem, rt.infer(problem), "a", "b")
    with pytest.raises(ProblemError, match=r"names 3, but .B. has the 3 elements"):
        rt.explain(problem, e, 0, 3)
    with pytest.raises(ProblemError, match=r"explain speaks of one pair"):
        rt.explain(problem, e, [0, 1], 2)
    with pytest.raises(ProblemError, match="shape"):
        rt.explain(rt.Problem([1.0], rt.EQUIVALENCES), e, 0, 1)
    nothing = rt.Estimate(rt.Status.BOUND_ONLY, None, -math.inf, 1.0)
    with pytest.raises(ProblemError, match="no relation"):
        rt.explain(problem, nothing, 0, 1)


def test_a_switch_is_no_element():
    problem = rt.Problem([1.0, 2.0, 3.0], rt.EQUIVALENCES)
    with pytest.raises(rt.errors.ProblemError, match="names False, but the elements"):
        rt.explain(problem, rt.infer(problem), False, 2)
    assert (False, True) in rt.Partition([0, 0])  # they are numbers in tuples, as in Python


@pytest.mark.parametrize("feasible", [rt.LINEAR_ORDERS, rt.WEAK_ORDERS], ids=str)
def test_places_cost_what_the_best_other_place_of_one_element_costs(feasible):
    rng = np.random.default_rng(5)
    n = 4
    for _ in range(10):
        problem = rt.Problem(rng.normal(size=(n, n)), feasible)
        found = rt.infer(problem, prove=True)
        costs = rt.place_costs(problem, found.relation)
        for a in range(n):
            rest = [k for k in range(n) if k != a]
            own = np.less_equal.outer(found.relation.ranks, found.relation.ranks)
            others = []
            for places in product(range(n), repeat=n):
                y = np.less_equal.outer(places, places)
                kept = np.array_equal(y[np.ix_(rest, rest)], own[np.ix_(rest, rest)])
                strict = feasible is rt.WEAK_ORDERS or len(set(places)) == n
                if kept and strict and not np.array_equal(y, own):
                    others.append((problem.dense() * y).sum())
            assert costs[a] == pytest.approx(found.value - max(others))
            assert costs[a] >= -1e-9


def test_places_are_those_of_orders():
    problem = rt.Problem(np.zeros((3, 3)), rt.LINEAR_ORDERS)
    with pytest.raises(ProblemError, match="linear or weak order of 3"):
        rt.place_costs(problem, rt.Partition([0, 0, 1]))
    with pytest.raises(ProblemError, match="linear or weak order of 3"):
        rt.place_costs(problem, rt.LinearOrder([1, 0]))
