"""The best state of every pair, against all states of both directions in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import relatum as rt
from relatum.solvers.pair_states import PairStates, best_sum, mirror_states, mirrored_state

SETS = [
    rt.RELATIONS,
    rt.SYMMETRIC,
    rt.ANTISYMMETRIC,
    rt.CONNEX,
    rt.ANTISYMMETRIC & rt.CONNEX,
    rt.REFLEXIVE,
    rt.REFLEXIVE & rt.SYMMETRIC,
]


def allowed(feasible, y, facts):
    """Say whether a matrix has the properties of mirror pairs and agrees with what is given."""
    return feasible.contains(rt.Relation(y)) and all(y[a, b] == v for a, b, v in facts)


def by_brute_force(c, feasible, facts):
    n = len(c)
    values = []
    for bits in product((False, True), repeat=n * n):
        y = np.array(bits).reshape(n, n)
        if allowed(feasible, y, facts):
            values.append(sum((Fraction(v) for v in c[y].tolist()), Fraction()))
    return max(values, default=None)


@pytest.mark.parametrize("feasible", SETS, ids=str)
def test_the_best_of_every_pair_is_the_best_of_all(feasible):
    rng = np.random.default_rng(len(str(feasible)))
    for number in range(12):
        c = rng.normal(size=(3, 3)) * 10.0 ** rng.integers(-9, 10, (3, 3))
        if number % 3 == 0:
            c[1, 0] = -c[0, 1]  # both are worth nothing together
        facts = [(0, 1, bool(rng.integers(2))), (1, 0, bool(rng.integers(2)))][: number % 3]
        known = rt.evidence(
            [(a, b) for a, b, v in facts if v], [(a, b) for a, b, v in facts if not v]
        )
        problem = rt.Problem(c, feasible & known)
        want = by_brute_force(c, feasible, facts)
        assert best_sum(problem) == want
        states = PairStates(problem, problem.dense())
        assert states.empty == (want is None)
        if want is not None:
            assert allowed(feasible, states.related, facts)
            assert problem.exact_value(rt.Relation(states.related)) == want


def test_of_equal_states_the_one_with_fewer_related_pairs_is_taken():
    problem = rt.Problem(np.array([[0.0, 1.0], [-1.0, 0.0]]), rt.SYMMETRIC)
    assert not PairStates(problem, problem.dense()).related.any()


def test_what_scores_lack_decides_where_they_cancel():
    problem = rt.Problem(np.zeros((2, 2)), rt.SYMMETRIC)
    c, rest = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros((2, 2))
    for lacking, related in ((2.0**-60, True), (-(2.0**-60), False)):
        rest[0, 1] = lacking
        assert bool(PairStates(problem, c, rest).related[0, 1]) == related


def test_what_is_fixed_is_carried_over_to_mirror_pairs():
    for feasible, given, mirror in (
        (rt.SYMMETRIC, True, 1),
        (rt.SYMMETRIC, False, 0),
        (rt.ANTISYMMETRIC, True, 0),
        (rt.ANTISYMMETRIC, False, -1),
        (rt.CONNEX, False, 1),
        (rt.CONNEX, True, -1),
    ):
        known = rt.evidence([(0, 1)] if given else [], [] if given else [(0, 1)])
        state, clash = mirrored_state(rt.Problem(np.zeros((2, 2)), feasible & known))
        assert (state[0, 1], state[1, 0], clash) == (int(given), mirror, False)
    both = rt.ANTISYMMETRIC & rt.evidence([(0, 1), (1, 0)])
    assert mirrored_state(rt.Problem(np.zeros((2, 2)), both))[1]


def test_states_of_mirror_pairs():
    counts = [len(mirror_states(rt.Problem(np.zeros((2, 2)), f))) for f in SETS]
    assert counts == [4, 2, 3, 3, 2, 4, 2]
