"""What all relations have in common changes nothing but values and bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from relatum.proof import Certificate
from relatum.proof.checker import check_certificate
from relatum.solvers.reductions import Constants, checkable

ALL = rt.evidence([(0, 1)], [(2, 3)])


def problems():
    rng = np.random.default_rng(0)
    c = rng.normal(size=(5, 5))
    c[np.diag_indices(5)] = 1e10 + rng.normal(size=5)
    c[0, 1], c[2, 3] = -3e9, 7e9
    for feasible in (rt.EQUIVALENCES, rt.PREORDERS, rt.LINEAR_ORDERS):
        yield rt.Problem(c, feasible)
        yield rt.Problem(c, feasible & ALL)
    yield rt.Problem(c.astype(np.float32), rt.EQUIVALENCES & ALL & rt.one_per_group(range(5)))
    yield rt.Problem(c, rt.EQUIVALENCES & ALL & rt.at_most(2))
    yield rt.Problem(c[np.triu_indices(5, 1)], rt.EQUIVALENCES & ALL)
    i, j = np.nonzero(rng.random((5, 5)) < 0.8)
    for feasible in (rt.EQUIVALENCES, rt.PREORDERS):
        yield rt.Problem.from_pairs(
            i, j, c[i, j], n=5, background=-0.5, feasible=feasible & ALL, combine="sum"
        )


def relations(problem):
    """Some feasible relations, found for other log-odds."""
    for seed in range(4):
        scores = np.random.default_rng(seed).normal(size=problem.shape)
        other = rt.Problem(scores, problem.feasible)
        yield rt.infer(other).relation


@pytest.mark.parametrize("number", range(11))
def test_values_differ_by_the_constant_and_no_large_log_odds_is_left(number):
    problem = list(problems())[number]
    before = problem.log_odds.copy()
    assert Constants().accepts(problem)
    reduced = Constants().apply(problem)
    (left,) = reduced.parts
    for relation in relations(problem):
        assert problem.exact_value(relation) == left.exact_value(relation) + reduced.constant
        assert reduced.invert(reduced.divide(relation)) == relation
    assert np.array_equal(problem.log_odds, before)
    if problem.feasible.cap is None:
        assert float(np.abs(left.log_odds).max()) < 10 or problem.feasible <= rt.PREORDERS
    assert not Constants().accepts(left) or problem.feasible.cap is not None


@pytest.mark.parametrize("number", range(11))
def test_proofs_of_what_is_left_prove_the_whole(number):
    problem = list(problems())[number]
    reduced = Constants().apply(problem)
    e = rt.infer(reduced.parts[0], prove=True)
    bound, proof = checkable(problem, *reduced.prove([e.bound], [e.certificate.proof]))
    assert bound >= Fraction(e.bound) + reduced.constant
    check_certificate(problem, Certificate(bound, proof))
    with pytest.raises(rt.errors.CertificateError):
        check_certificate(problem, Certificate(bound - Fraction(1, 10), proof))


def test_what_is_small_or_open_stays():
    assert not Constants().accepts(rt.Problem(np.diag([100.0, 200.0]), rt.EQUIVALENCES))
    assert not Constants().accepts(rt.Problem(np.diag([1e9, 1e9]), rt.TRANSITIVE))
    clash = rt.evidence([(0, 1)], [(1, 0)])
    assert not Constants().accepts(rt.Problem(np.full((2, 2), 1e9), rt.EQUIVALENCES & clash))


@pytest.mark.parametrize("size", [1e4, 1e10, 1e14])
@pytest.mark.parametrize("feasible", [rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.PREORDERS], ids=str)
def test_a_large_diagonal_hides_nothing_and_keeps_nothing_from_being_proved(feasible, size):
    c = np.random.default_rng(3).normal(size=(8, 8))
    np.fill_diagonal(c, 0.0)
    want = rt.infer(rt.Problem(c, feasible), prove=True)
    large = rt.Problem(c + size * np.eye(8), feasible)
    e = rt.infer(large, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert large.exact_value(e.relation) - 8 * Fraction(size) == pytest.approx(want.value, abs=1e-6)
    report = rt.verify(large, e)
    assert report, report.reason


def test_steps_between_values_are_those_of_all_log_odds():
    """Values are multiples of 1/2 for a fixed pair's sake only: no bound may be rounded to 1."""
    for known, large in ((rt.evidence(related=[(0, 1)]), 1e9 + 0.5), (rt.evidence(), 1e9)):
        c = np.array([[3.0, large, -3.0], [0.0, 3.0, 6.0], [0.0, 9.0, 3.0]])
        problem = rt.Problem(c, rt.TRANSITIVE & known)
        (left,) = Constants().apply(problem).parts
        fixed = left.log_odds[0, 1]
        assert fixed == (0.5 if len(problem.evidence) else large)
        e = rt.infer(problem, prove=True)
        assert e.status is rt.Status.OPTIMAL
        assert rt.verify(problem, e), rt.verify(problem, e).reason
