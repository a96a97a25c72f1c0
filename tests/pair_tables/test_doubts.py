"""Doubts against brute force: every change of the kinds that are looked at, in small tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import Doubt, Settings, batch_of
from relatum.pair_tables.doubts import JOINS, LEAVES, PARTS, cheapest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")


def small(seed, n=9):
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(n, 1)
    keep = rng.random(len(a)) < 0.6
    return a[keep], b[keep], rng.normal(0.5, 3, size=int(keep.sum()))


def problem_of(i, j, w, n, rules=rt.EQUIVALENCES):
    return rt.Problem.from_pairs(i, j, w, n=n, background=-1.0, feasible=rules)


def moves(problem, labels):
    """Cost of every single move and join that is feasible, by what it separates or joins."""
    base = problem.value(rt.Partition(labels))
    n, leaving, joining = len(labels), {}, {}
    for e in range(n):
        if (labels == labels[e]).sum() > 1:
            costs = []
            for target in {*labels.tolist(), n} - {labels[e]}:
                other = labels.copy()
                other[e] = target
                p = rt.Partition(other)
                if problem.feasible.contains(p):
                    costs.append(base - problem.value(p))
            if costs:
                leaving[e] = min(costs)
    for x, y in itertools.combinations(sorted(set(labels.tolist())), 2):
        p = rt.Partition(np.where(labels == y, x, labels))
        if problem.feasible.contains(p):
            joining[x, y] = base - problem.value(p)
    return leaving, joining


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ruled", [False, True])
def test_costs_are_those_of_the_moves(seed, ruled):
    i, j, w = small(seed)
    n, fixed, groups, rules = 9, None, None, rt.EQUIVALENCES
    settings = Settings(-1.0, 4 if ruled else None)
    if ruled:
        groups = np.array([0, 1, 2, 3, 4, 0, 1, -1, -1])
        alone = np.where(groups < 0, 10 + np.arange(n), groups)
        fixed = np.array([[2, 3, 0], [4, 8, 1]])
        rules = rules & rt.one_per_group(alone) & rt.at_most(4)
        rules = rules & rt.evidence([(4, 8)], [(2, 3)])
    problem = problem_of(i, j, w, n, rules)
    labels = rt.infer(problem, prove=True).relation.labels
    batch, order = batch_of(np.zeros(n, np.int64), (i, j, w), fixed, groups)
    assert order.tolist() == list(range(n))
    found = cheapest([(batch, np.arange(n))], labels, settings, 100)
    leaving, joining = moves(problem, labels)
    listed = dict(zip(zip(i.tolist(), j.tolist(), strict=True), w.tolist(), strict=True))
    assert found == sorted(found, key=lambda c: c[0])
    assert len({frozenset(c[1:3]) for c in found}) == len(found)
    for cost, a, b, kind, bits in found:
        assert listed[min(a, b), max(a, b)] == bits
        assert (labels[a] == labels[b]) == (kind != JOINS)
        if kind == LEAVES:
            assert cost == pytest.approx(max(0.0, leaving[a]))
        elif kind == JOINS:
            key = tuple(sorted((labels[a], labels[b])))
            assert cost == pytest.approx(max(0.0, joining[key]))
        forced = {"unrelated" if kind != JOINS else "related": [(a, b)]}
        other = rt.infer(problem.with_feasible(rules & rt.evidence(**forced)), prove=True)
        assert cost >= problem.value(rt.Partition(labels)) - other.value - 1e-6
    told = {k for c in found if c[3] == JOINS for k in [tuple(sorted(labels[list(c[1:3])]))]}
    linked = {tuple(sorted((labels[a], labels[b]))) for a, b in listed if labels[a] != labels[b]}
    assert told == linked & set(joining)


def test_clusters_part_at_their_weakest_link():
    i, j = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
    w = np.array([9.0, 9, 9, 9, 9, 9, 6])
    batch, _ = batch_of(np.zeros(6, np.int64), (np.array(i), np.array(j), w))
    found = cheapest([(batch, np.arange(6))], np.zeros(6, np.int64), Settings(-0.25), 1)
    assert found == [(6 - 8 * 0.25, 2, 3, PARTS, 6.0)]


def test_the_whole_table_is_looked_through_and_named():
    names = ["a", "b", "c", "d", "e", "f"]
    pairs = pa.table(
        {
            "unique_id_l": ["a", "b", "d", "e", "c"],
            "unique_id_r": ["b", "c", "e", "f", "d"],
            "match_weight": [8.0, 7.0, 1.0, 9.0, -0.25],
        }
    )
    found = rt.cluster_pairs(pairs)
    doubts = found.uncertain(3)
    assert [d.cost for d in doubts] == sorted(d.cost for d in doubts)
    assert len(found.uncertain(100)) <= len(pairs)
    first = doubts[0]
    assert isinstance(first, Doubt)
    assert {first.a, first.b} == {"d", "e"}
    assert first.cost == 0.5  # 1 bit, and half a bit of d and f
    assert str(first) == "d and e are together: taking d out of the cluster would cost 0.5 bits"
    assert all({d.a, d.b} <= set(names) for d in doubts)
    values = {"d|e|f": 0.0, "de|f": 1.0, "d|ef": 9.0, "df|e": -0.5, "def": 9.5}
    weights = {k: 2.0**v for k, v in values.items()}
    right = (weights["de|f"] + weights["def"]) / sum(weights.values())
    assert first.probability == pytest.approx(right)
    for d in found.uncertain(10):  # c and d are in two components: nobody asks about them
        why = found.explain(d.a, d.b)
        other = why.apart if d.related else why.together
        assert other.low <= d.cost + 1e-6
    with pytest.raises(rt.errors.DataError, match="k"):
        found.uncertain(0)


def test_larger_components_are_sampled():
    rng = np.random.default_rng(3)
    i, j = np.triu_indices(18, 1)
    bits = 2 * rng.normal(size=len(i)) - 0.5
    pairs = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    found = rt.cluster_pairs(pairs, background=0.0, confidence=True)
    problem = found.problem(0)
    assert problem.n == 18
    exact = rt.probabilities(problem, method="exact", across=False)
    place = {int(x): k for k, x in enumerate(problem.ids)}
    doubts = found.uncertain(5)
    assert len(doubts) == 5
    for d in doubts:
        assert not d.exact
        assert d.probability == pytest.approx(exact.pairs(place[d.a], place[d.b]), abs=0.12)


def test_in_the_largest_a_decision_is_compared_with_its_opposite():
    bits = np.full(119, 20.0)
    bits[-1] = 1.5
    pairs = pa.table(
        {"unique_id_l": np.arange(119), "unique_id_r": np.arange(1, 120), "match_weight": bits}
    )
    found = rt.cluster_pairs(pairs, background=0.0)
    (first,) = found.uncertain(1)
    assert {first.a, first.b} == {118, 119}
    assert (first.related, first.exact) == (True, False)
    assert first.probability == pytest.approx(2**1.5 / (1 + 2**1.5))
