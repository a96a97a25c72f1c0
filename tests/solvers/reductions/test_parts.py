"""Bounds of parts are raised, and the whole by as much."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import relatum as rt
from relatum.proof import Certificate, Contract, Cuts, Decompose, Fix, Leaf, Merge, SubsetOrder
from relatum.proof.checker import check_certificate
from relatum.solvers.reductions import checkable, lost_by_prices
from relatum.solvers.reductions.parts import raised, with_more

PARTS = (np.array([0, 2]), 1.0, Leaf()), (np.array([1, 3]), 2.0, Leaf())


def test_every_part_is_given_what_its_elements_add():
    worth = [1, 10, 100, 1000]
    proof, added, lost = with_more(
        Decompose(PARTS), lambda part: Fraction(sum(np.array(worth)[part].tolist())), 4
    )
    assert [part[1] for part in proof.parts] == [102.0, 1012.0]
    assert (added, lost) == (1111, 0)


def test_elements_are_followed_through_contractions_and_parts_of_parts():
    seen = []

    def more(part):
        seen.append(np.flatnonzero(part).tolist())
        return Fraction(1)

    inner = Decompose(((np.array([1]), 0.0, Leaf()),))
    outer = Decompose(((np.array([0, 2]), 1.0, inner),))
    for wrap in (Contract, Merge):
        seen.clear()
        nested = Fix((), np.empty((0, 2)), np.empty(0), wrap(np.array([0, 1, 2, 0]), outer))
        proof, added, lost = with_more(nested, more, 4)
        assert seen == [[2], [0, 2, 3]]
        assert (added, lost) == (1, 0)
        assert proof.then.then.parts[0][1] == 2.0


def test_what_floats_cannot_hold_is_lost():
    proof, added, lost = with_more(Decompose(PARTS), lambda part: Fraction(2**60) + 1, 4)
    claims = [Fraction(part[1]) for part in proof.parts]
    assert sum(claims) == 3 + added + lost
    assert all(c >= b + 2**60 + 1 for c, b in zip(claims, (1, 2), strict=True))
    orders = Decompose(tuple((e, b, SubsetOrder()) for e, b, _ in PARTS))
    proof, added, lost = with_more(orders, lambda part: Fraction(2**60) + 1, 4)
    assert isinstance(proof, SubsetOrder)
    assert lost == 0


def test_bounds_are_raised_to_what_a_checker_finds():
    problem = rt.Problem([0.1, -1e15, 0.3], rt.EQUIVALENCES)
    cuts = (Cuts("transitive", np.array([[0, 1, 2]]), np.array([0.1])),)
    exact = Fraction(0.1) + Fraction(0.3) - Fraction(0.1)
    bound, proof = checkable(problem, exact, Leaf(cuts))
    assert exact < bound < exact + Fraction(1, 2**25)
    check_certificate(problem, Certificate(bound, proof))


def test_what_need_not_be_raised_stays():
    problem = rt.Problem([3.0, 2.0, -1.0], rt.EQUIVALENCES)
    proof = Leaf((Cuts("transitive", np.array([[1, 0, 2]]), np.ones(1)),))
    assert checkable(problem, Fraction(4), proof) == (4, proof)
    assert checkable(problem, math.inf, proof) == (math.inf, proof)
    assert checkable(problem, -math.inf, proof) == (-math.inf, proof)


def test_an_error_may_be_in_every_part_and_between_parts():
    bound, proof = raised(3.0, Decompose(PARTS), Fraction(1, 4), 4)
    assert [part[1] for part in proof.parts] == [1.25, 2.25]
    assert bound == Fraction(15, 4)
    assert raised(3.0, Leaf(), Fraction(1, 4), 4)[0] == Fraction(13, 4)
    assert raised(math.inf, Leaf(), Fraction(1, 4), 4)[0] == math.inf


def test_what_prices_lose_grows_with_the_largest_score():
    """And what is listed cannot be proved by them: there is no score for every pair."""
    c = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]])
    small = lost_by_prices(rt.Problem(c, rt.EQUIVALENCES))
    large = lost_by_prices(rt.Problem(np.where(c < 0, -(2.0**40), c), rt.EQUIVALENCES))
    assert 0 < 2**30 * small < large
    listed = rt.Problem.from_pairs([0], [1], [1.0], n=3, feasible=rt.EQUIVALENCES)
    assert lost_by_prices(listed) == np.inf
