"""Pairs that large log-odds decide: the optimum stays, and a proof says why."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from relatum.proof import Certificate
from relatum.proof.checker import check_certificate
from relatum.solvers.reductions import Exclusions


def penalised(n=7, size=-1e9, seed=0):
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(n, n)) + 0.5
    i, j = np.triu_indices(n, 1)
    pick = rng.random(len(i)) < 0.3
    c[i[pick], j[pick]] = c[j[pick], i[pick]] = size
    return c, np.column_stack([i[pick], j[pick]])


def layouts(c):
    n = len(c)
    upper = (c + c.T)[np.triu_indices(n, 1)]
    yield rt.Problem(c, rt.EQUIVALENCES)
    yield rt.Problem(upper, rt.EQUIVALENCES)
    i, j = np.triu_indices(n, 1)
    yield rt.Problem.from_pairs(i, j, upper, n=n, background=-0.1, feasible=rt.EQUIVALENCES)


@pytest.mark.parametrize("few", [40_000, 0])
@pytest.mark.parametrize("size", [-1e9, -1e15])
def test_penalties_are_evidence(monkeypatch, size, few):
    monkeypatch.setattr("relatum.solvers.reductions.exclusions.FEW_PAIRS", few)
    c, pairs = penalised(size=size)
    known = rt.evidence(unrelated=pairs)
    want = rt.infer(rt.Problem(np.where(c == size, 0.0, c), rt.EQUIVALENCES & known), prove=True)
    for problem in layouts(c):
        assert Exclusions().accepts(problem)
        reduced = Exclusions().apply(problem)
        assert set(map(tuple, reduced.parts[0].evidence.unrelated.tolist())) >= set(
            map(tuple, pairs.tolist())
        )
        assert reduced.parts[0].feasible.contains(reduced.start)
        e = rt.infer(problem, prove=True)
        assert e.status is rt.Status.OPTIMAL
        assert e.relation == want.relation
        report = rt.verify(problem, e)
        assert report, report.reason


def test_must_links_written_as_large_log_odds_are_evidence():
    c, _ = penalised()
    c[0, 1] = c[5, 6] = 1e12
    c[0, 5] = c[5, 0] = -1e6
    problem = rt.Problem(c, rt.EQUIVALENCES)
    known = Exclusions().apply(problem).parts[0].evidence
    assert {(0, 1), (5, 6)} <= set(map(tuple, known.related.tolist()))
    e = rt.infer(problem, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert e.relation.labels[0] == e.relation.labels[1] != e.relation.labels[5]
    assert rt.verify(problem, e)


@pytest.mark.parametrize(
    "feasible", [rt.PREORDERS, rt.PARTIAL_ORDERS, rt.LINEAR_ORDERS, rt.WEAK_ORDERS], ids=str
)
def test_other_sets_have_penalties_too(feasible):
    rng = np.random.default_rng(4)
    c = rng.normal(size=(5, 5))
    np.fill_diagonal(c, 0.0)
    c[3, 0] = c[4, 2] = -1e9
    plain = np.where(c == -1e9, 0.0, c)
    known = rt.evidence(unrelated=[(3, 0), (4, 2)])
    want = rt.infer(rt.Problem(plain, feasible & known), prove=True)
    e = rt.infer(rt.Problem(c, feasible), prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert e.value == pytest.approx(want.value, abs=1e-6)
    assert rt.verify(rt.Problem(c, feasible), e)


def test_log_odds_that_decide_nothing_are_left_alone():
    assert not Exclusions().accepts(rt.Problem(np.full((3, 3), -9.0), rt.EQUIVALENCES))
    c = np.full((3, 3), 1e9)  # a bound pair by pair does not rule the penalty out
    c[0, 2] = c[2, 0] = -1e9
    reduced = Exclusions().apply(rt.Problem(c, rt.EQUIVALENCES))
    assert len(reduced.parts[0].evidence) == 0
    assert reduced.prove([1.0], ["as it is"]) == (1.0, "as it is")


def test_the_claim_is_not_below_the_relation_that_is_known():
    c, _ = penalised()
    problem = rt.Problem(c, rt.EQUIVALENCES)
    reduced = Exclusions().apply(problem)
    e = rt.infer(reduced.parts[0], prove=True)
    bound, proof = reduced.prove([Fraction(e.bound)], [e.certificate.proof])
    assert bound >= problem.exact_value(reduced.start)
    check_certificate(problem, Certificate(bound, proof))
    low, _ = reduced.prove([Fraction(-100)], [e.certificate.proof])
    assert low == problem.exact_value(reduced.start)


def test_a_start_with_a_penalty_is_no_obstacle():
    c, _ = penalised()
    problem = rt.Problem(c, rt.EQUIVALENCES)
    together = rt.Partition(np.zeros(7, dtype=int))
    e = rt.infer(problem, prove=True, start=together)
    assert e.status is rt.Status.OPTIMAL
    assert e.value == rt.infer(problem, prove=True).value
