"""Forgeries by hand: one for each way in which a certificate might prove what is not so.

Every claim here is false, by trying all relations in exact numbers, and must be refused with a
reason of one line. Where it is short to say, the honest twin of a forgery is accepted.
"""

from __future__ import annotations

import json
import math
import pickle
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from campaign.generation import NAMES
from campaign.mutants import problem_of, sparse_from
from campaign.mutation import raw_cuts
from campaign.truth import Meaning, false_claims
from relatum.proof import (
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Estimate,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    Status,
    SubsetOrder,
    plain,
)

ALL, NONE = np.arange(3), np.empty((0, 3), dtype=np.int64)
TRIANGLE = [[0.0, 2.0, -3.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]  # 2 at best, 4 pair by pair


def asked(name, weights, **extras):
    """A problem over a named set, and its meaning."""
    meaning = Meaning(frozenset(NAMES[name]), np.array(weights, dtype=float), **extras)
    return problem_of(meaning), meaning


def claiming(bound, proof):
    """An estimate that claims a bound, or with -inf that nothing is feasible, and nothing else."""
    status = Status.INFEASIBLE if bound == -math.inf else Status.BOUND_ONLY
    return Estimate(status, None, -math.inf, bound, Certificate(bound, proof))


def having(status, relation, value, bound, proof=None):
    """An estimate with a relation."""
    return Estimate(status, relation, value, bound, Certificate(bound, proof or Leaf()))


def refused(given, estimate):
    """Require that an estimate is false and refused, in one line; return the reason."""
    problem, meaning = given
    assert false_claims(meaning, estimate), "what is claimed here is true"
    return told(problem, estimate)


def told(problem, estimate):
    """Require that an estimate is refused, true or not, in one line; return the reason."""
    report = rt.verify(problem, estimate)
    assert not report.ok, report.reason
    assert report.reason.strip() == report.reason != ""
    assert "\n" not in report.reason
    return report.reason


def row(family, *index, multiplier=1.0):
    return Cuts(family, np.array([index]), np.array([multiplier]))


def test_the_honest_twin_is_accepted():
    problem, _ = asked("EQUIVALENCES", TRIANGLE)
    assert rt.verify(problem, claiming(2.0, Leaf((row("transitive", 0, 1, 2, multiplier=2.0),))))


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [1.7e308, 1e300, 2.0**110, 2.0**101])
@pytest.mark.parametrize("times", [1, 2, 9, 1000])
def test_multipliers_too_large_to_add_up(y, times):
    """Pair 01 is known to be related: what rows take from it must not wrap round or overflow."""
    given = asked("LINEAR_ORDERS", np.ones((3, 3)), related=[(0, 1)])
    for cuts in (
        (Cuts("antisymmetric", np.array([[0, 1]] * times), np.full(times, y)),),
        tuple(row("antisymmetric", 0, 1, multiplier=y) for _ in range(times)),
        (*(row("transitive", 0, 1, 2, multiplier=y),) * times, row("connex", 0, 1, multiplier=y)),
    ):
        for claim in (5.0, 0.0, -1e300):
            refused(given, claiming(claim, Leaf(cuts)))
        refused(given, claiming(-math.inf, Leaf(cuts, infeasible=True)))


def test_multipliers_just_small_enough_many_times():
    """Each row may take a lot, many of them together must not take more than numbers hold."""
    given = asked("LINEAR_ORDERS", np.ones((3, 3)), related=[(0, 1)])
    for power in range(1, 30):
        for times in (1, 2, 16, 300):
            cuts = (row("antisymmetric", 0, 1, multiplier=2.0**power),) * times
            refused(given, claiming(5.0, Leaf(cuts)))
            refused(given, claiming(5.0, Fix(cuts, np.array([[0, 2]]), np.array([True]), Leaf())))


def test_a_certificate_does_not_choose_its_arithmetic_by_its_size():
    given = asked("EQUIVALENCES", np.full((4, 4), 1.0 + 2.0**-52))
    many = 700_000
    for cut in (
        Cuts("transitive", np.tile([[0, 1, 2]], (many, 1)), np.zeros(many)),
        Cuts("transitive", np.tile([[0, 1, 2]], (many, 1)), np.full(many, 5e-324)),
    ):
        refused(given, claiming(16.0, Leaf((cut,))))


def test_the_reason_of_too_many_rows_comes_before_they_are_added_up():
    given = asked("EQUIVALENCES", TRIANGLE)
    cut = Cuts("transitive", np.broadcast_to([[0, 1, 2]], (10**8, 3)), np.zeros(10**8))
    before = time.perf_counter()
    refused(given, claiming(1.0, Leaf((cut,))))
    cut = Cuts("two_partition", np.full((1, 10**5), -1), np.zeros(1))
    refused(given, claiming(1.0, Leaf((cut,))))
    assert time.perf_counter() - before < 60  # not the hours and terabytes that they ask for


@pytest.mark.parametrize("penalty", [-1e9, -1e15, -1e300])
def test_a_value_that_a_penalty_hides(penalty):
    given = problem, _ = asked("RELATIONS", [[0.25, penalty], [0.5, 0.125]])
    best = rt.Relation([[1, 0], [1, 1]])
    for off in (math.nextafter(0.875, 1), math.nextafter(0.875, 0), 0.8, 1.0, 0.875 + 1e-12):
        refused(given, having(Status.FEASIBLE, best, off, 2.0))
    everything = rt.Relation([[1, 1], [1, 1]])
    refused(given, having(Status.FEASIBLE, everything, 2.0 * penalty, 2.0))
    worse = rt.Relation([[1, 0], [1, 0]])
    refused(given, having(Status.OPTIMAL, worse, 0.75, 0.75))
    refused(given, having(Status.OPTIMAL, worse, 0.75, 0.875))
    if penalty > -1e20:
        assert rt.verify(problem, having(Status.OPTIMAL, best, 0.875, 0.875))


def test_optimal_besides_a_large_diagonal():
    c = np.diag([1e10] * 3) + np.array(TRIANGLE) * 0.05
    given = problem, meaning = asked("EQUIVALENCES", c)
    proof = Leaf((row("transitive", 0, 1, 2, multiplier=0.1),))
    for labels in ([0, 1, 2], [0, 0, 0]):
        relation = rt.Partition(labels)
        value = float(meaning.value(relation.matrix()))
        bounds = (value, float(meaning.best), math.nextafter(value, math.inf))
        for bound in bounds:
            refused(given, having(Status.OPTIMAL, relation, value, bound, proof))
    best = rt.Partition([0, 0, 1])
    value = float(meaning.value(best.matrix()))
    bound = math.nextafter(value, math.inf)
    assert rt.verify(problem, having(Status.OPTIMAL, best, value, bound, proof))


@pytest.mark.parametrize("gap", [2.0**-19, 2.0**-20 + 2.0**-40])
def test_optimal_means_within_a_gap_that_does_not_grow(gap):
    given = asked("RELATIONS", [[gap, 0.0]])
    nothing = rt.Relation([[0, 0]])
    for bound in (0.0, gap, 2.0**-20):
        refused(given, having(Status.OPTIMAL, nothing, 0.0, bound))


@pytest.mark.parametrize("field", ["value", "bound", "certificate"])
def test_nan_is_no_claim(field):
    given = problem, _ = asked("RELATIONS", [[1.0, -1.0]])
    honest = having(Status.OPTIMAL, rt.Relation([[1, 0]]), 1.0, 1.0)
    assert rt.verify(problem, honest)
    wrong = Certificate(math.nan, Leaf()) if field == "certificate" else math.nan
    refused(given, replace(honest, **{field: wrong}))
    refused(given, replace(honest, status=Status.FEASIBLE, **{field: wrong}))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, -1.0, -5e-324])
def test_multipliers_are_numbers_from_zero_on(wrong):
    given = asked("EQUIVALENCES", TRIANGLE)
    cut = row("transitive", 0, 1, 2, multiplier=wrong)
    refused(given, claiming(1.0, Leaf((cut,))))
    refused(given, claiming(-math.inf, Leaf((cut,), infeasible=True)))
    refused(given, claiming(1.0, Fix((cut,), np.array([[0, 1]]), np.array([False]), Leaf())))
    refused(given, claiming(1.0, Prices((cut,), np.zeros(3))))


@pytest.mark.parametrize("tiny", [2.0**-1022, 2.0**-1000, 2.0**-150])
def test_scores_below_the_grid_count(tiny):
    given = asked("RELATIONS", [[1.0, tiny]])
    refused(given, claiming(1.0, Leaf()))
    alone = asked("RELATIONS", [[tiny, tiny]])
    refused(alone, claiming(tiny, Leaf()))
    refused(alone, claiming(0.0, Leaf((row("at_most", 0, 1, multiplier=tiny),))))


def test_a_bound_is_not_one_ulp_too_low():
    for c in (0.1, 1 / 3, 1e15 + 0.125, 7e-300, 2.0**1000):
        given = problem, _ = asked("RELATIONS", [[c, -c]])
        assert rt.verify(problem, claiming(c, Leaf()))
        refused(given, claiming(math.nextafter(c, -math.inf), Leaf()))


@pytest.mark.parametrize("kind", [Fraction, np.longdouble, str, lambda x: [x], np.float32])
def test_bounds_of_other_types_are_not_rounded_in_their_favour(kind):
    problem, _ = asked("RELATIONS", [[1.0, -1.0]])
    below = kind(1)
    if kind is Fraction:
        below -= Fraction(1, 10**40)
    elif kind is np.longdouble:
        below = np.nextafter(below, kind(0))
    elif kind is np.float32:
        below = kind(1 - 2.0**-30) - np.finfo(kind).epsneg
    estimate = Estimate(Status.BOUND_ONLY, None, -math.inf, below, Certificate(below, Leaf()))
    told(problem, estimate)


# --- rows ---------------------------------------------------------------------------------------


def wrong_rows():
    """Rows that do not hold for every relation of a set, whatever their indices pretend."""
    return [
        ("PREORDERS", {}, row("antisymmetric", 0, 1)),
        ("PARTIAL_ORDERS", {}, row("antisymmetric", 1, 1)),
        ("CONNEX", {}, row("connex", 1, 1)),
        ("PREORDERS", {}, row("transitive", 1, 1, 2)),
        ("PREORDERS", {}, row("transitive", 0, 1, 1)),
        ("PREORDERS", {}, row("path", 0, 1, 0, 2)),
        ("PREORDERS", {}, row("path", 0, 1, -1)),
        ("PREORDERS", {}, row("path", 0, -1, 1, 2)),
        ("PREORDERS", {}, row("path", -1, 0, 1, 2)),
        ("PREORDERS", {}, row("odd_wheel", 0, 1, 2, 3)),
        ("EQUIVALENCES", {}, row("odd_wheel", 0, 1, 2)),
        ("EQUIVALENCES", {}, row("odd_wheel", 0, 1, 1, 1)),
        ("EQUIVALENCES", {}, row("odd_wheel", 0, 0, 1, 2)),
        ("EQUIVALENCES", {}, row("odd_wheel", 0, 1, -1, 2, 3)),
        ("EQUIVALENCES", {}, row("odd_wheel", -1, 0, 1, 2)),
        ("EQUIVALENCES", {}, row("two_partition", 0, 1, 2)),
        ("EQUIVALENCES", {}, row("two_partition", -1, 0, 1)),
        ("EQUIVALENCES", {}, row("two_partition", 0, -1, 0, 1)),
        ("EQUIVALENCES", {}, row("two_partition", 0, 0, -1, 1, 1)),
        ("EQUIVALENCES", {}, row("capped_set", 2, 0, 1, 2)),
        ("EQUIVALENCES", {"cap": 3}, row("capped_set", 2, 0, 1, 2)),
        ("EQUIVALENCES", {"cap": 2}, row("capped_set", 2, 0, 0, 1)),
        ("EQUIVALENCES", {"cap": 2}, row("capped_set", 0, 0, 1)),
        ("EQUIVALENCES", {"cap": 2}, row("capped_set", -1, 0, 1)),
        ("EQUIVALENCES", {"cap": 2}, row("at_most", 0, 1)),
        ("EQUIVALENCES", {"cap": 2}, row("at_most", 0, -5)),
        ("RELATIONS", {}, row("at_most", 0, 1)),
        ("MAPS", {}, row("at_most", 0, 0)),
        ("MAPS", {}, row("at_most", 0, -1)),
        ("PARTIAL_MAPS", {}, row("has_image", 0)),
        ("HAS_IMAGE", {}, row("has_preimage", 0)),
        ("MAPS", {}, row("unique_preimage", 0)),
        ("WEAK_ORDERS", {}, row("half_dicycle", 0, 1, 1, 0, 1, 1)),
        ("LINEAR_ORDERS", {}, row("half_dicycle", 0, 1, 1)),  # odd
        ("LINEAR_ORDERS", {}, row("half_dicycle", 0, 1, 2, 1, 0, 0)),  # odd
        ("LINEAR_ORDERS", {}, row("half_dicycle", 0, 0, 1, 0, 0, 1)),
        ("LINEAR_ORDERS", {}, row("half_dicycle", 0, 1, 0, 0, 1, 0)),
        ("LINEAR_ORDERS", {}, row("half_dicycle", 0, 1, -1, 0, 1, -1)),
        ("LINEAR_ORDERS", {}, row("half_dicycle", 0, 1, 1, -1)),
        ("SYMMETRIC", {}, row("transitive", 0, 1, 2)),
        ("TRANSITIVE", {}, row("symmetric", 0, 1)),
    ]


@pytest.mark.parametrize(("name", "extras", "cut"), wrong_rows())
def test_rows_that_do_not_hold_prove_nothing(name, extras, cut):
    for sign in (1.0, -1.0):
        given = problem, meaning = asked(name, np.full((4, 4), sign), **extras)
        for y in (0.5, 1.0, 8.0):
            cuts = (Cuts(cut.family, cut.index, np.array([y])),)
            told(problem, claiming(float(meaning.best) - 0.25, Leaf(cuts)))
            refused(given, claiming(-math.inf, Leaf(cuts, infeasible=True)))
        width = cut.index.shape[1]
        padded = np.full((1, width + 3), -1)
        padded[0, :width] = cut.index
        for pair in ((0, 1), (1, 0), (0, 0)):
            for value in (True, False):
                never = Leaf(infeasible=True)
                both = np.array([pair, pair]), np.array([value, not value])
                imply = Imply((cut.family,) * 2, np.repeat(padded, 2, axis=0), *both, never)
                refused(given, claiming(-math.inf, imply))


def test_a_row_named_twice_counts_twice_on_both_sides():
    given = problem, _ = asked("EQUIVALENCES", TRIANGLE)
    once = Leaf((row("transitive", 0, 1, 2, multiplier=1.0),) * 2)
    assert rt.verify(problem, claiming(2.0, once))
    again = Leaf((row("transitive", 0, 1, 2, multiplier=2.0),) * 2)
    refused(given, claiming(math.nextafter(2.0, 0), again))


@pytest.mark.parametrize("place", [-1, -2, 3, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1])
def test_elements_that_do_not_exist(place):
    given = asked("LINEAR_ORDERS", np.ones((3, 3)))
    for family, index in (
        ("transitive", (0, 1, place)),
        ("antisymmetric", (0, place)),
        ("has_image", (place,)),
        ("path", (0, 1, place, 2)),
        ("half_dicycle", (0, 1, place, 0, 1, place)),
    ):
        refused(given, claiming(5.0, Leaf((row(family, *index),))))
        refused(given, claiming(-math.inf, Leaf((row(family, *index),), infeasible=True)))
    pair, yes = np.array([[0, place]]), np.array([True])
    refused(given, claiming(5.0, Branch((0, place), Leaf(), Leaf())))
    refused(given, claiming(5.0, Fix((), pair, yes, Leaf())))
    refused(given, claiming(5.0, Imply(("connex",), np.array([[0, 1]]), pair, yes, Leaf())))
    refused(given, claiming(5.0, Decompose(((np.array([0, place]), 0.0, Leaf()),))))


def unpickled(family, index, multipliers):
    """Cuts as unpickling makes them: no constructor has looked at the arrays."""
    return pickle.loads(pickle.dumps(raw_cuts(family, index, multipliers)))


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("LINEAR_ORDERS", ("antisymmetric", np.array([[0, 0.4]]), np.array([50.0]))),
        ("CONNEX", ("connex", np.array([[1, 1.4]]), np.array([50.0]))),
        ("LINEAR_ORDERS", ("antisymmetric", np.array([[0, Fraction(1, 2)]]), np.array([50.0]))),
        ("HAS_IMAGE", ("has_image", np.array([[0]]), np.array([0.0, 1e3]))),
        ("HAS_IMAGE", ("has_image", np.array([[0]]), np.array([[0.0, 1e3]]))),
        ("HAS_IMAGE", ("has_image", np.array([[[0]]]), np.array([1e3]))),
        ("HAS_IMAGE", ("has_image", np.array([0]), np.array([1e3]))),
        ("HAS_IMAGE", ("has_image", [[0]], [1e3])),
        ("HAS_IMAGE", ("has_image", np.array([[0]]), np.array([1e3 + 1e3j]))),
        ("HAS_IMAGE", ("has_image", np.array([["0"]]), np.array(["1e3"]))),
    ],
)
def test_arrays_that_no_constructor_has_seen(name, cut):
    given = asked(name, [[-1.0, -1.0], [-1.0, -1.0]])
    cuts = (unpickled(*cut),)
    refused(given, claiming(-math.inf, Leaf(cuts, infeasible=True)))
    refused(given, claiming(-100.0, Leaf(cuts)))


def test_small_integers_do_not_overflow_in_a_row():
    """20 elements in sets of up to 20 have 190 pairs, which is no number of 8 bits."""
    n = 20
    problem = rt.Problem(np.triu(np.ones((n, n)), 1), rt.EQUIVALENCES & rt.at_most(n))
    index = np.array([[n, *range(n)]], dtype=np.int8)
    report = rt.verify(
        problem, claiming(189.0, Leaf((unpickled("capped_set", index, np.ones(1)),)))
    )
    assert not report
    assert rt.verify(problem, claiming(190.0, Leaf()))


# --- nodes --------------------------------------------------------------------------------------


def test_references_in_a_circle_are_refused():
    given = asked("EQUIVALENCES", TRIANGLE)
    fix = Fix((), np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool), Leaf())
    object.__setattr__(fix, "then", fix)
    branch = Branch((0, 1), Leaf(), Leaf())
    object.__setattr__(branch, "related", branch)
    part = Decompose(())
    object.__setattr__(part, "parts", ((ALL, 1.0, part),))
    for proof in (fix, branch, part, Contract(ALL, branch)):
        refused(given, claiming(1.0, proof))


def test_shared_children_are_not_looked_at_two_to_the_sixtieth_times():
    given = asked("EQUIVALENCES", TRIANGLE)
    proof = Leaf((row("transitive", 0, 1, 2, multiplier=2.0),))
    for _ in range(60):
        proof = Branch((0, 1), proof, proof)
    refused(given, claiming(1.0, proof))
    told(given[0], claiming(2.0, proof))


def test_the_proof_of_another_problem_is_no_proof():
    problem, meaning = asked("EQUIVALENCES", TRIANGLE)
    proof = Leaf((row("transitive", 0, 1, 2, multiplier=2.0),))
    order = [0, 2, 1]
    permuted = asked("EQUIVALENCES", (meaning.weights + meaning.weights.T)[np.ix_(order, order)])
    best = rt.Partition([0, 0, 1])
    honest = having(Status.OPTIMAL, best, 2.0, 2.0, proof)
    assert rt.verify(problem, honest)
    told(permuted[0], honest)
    refused(asked("EQUIVALENCES", np.array(TRIANGLE) * 2), claiming(2.0, proof))
    refused(asked("SYMMETRIC", TRIANGLE), claiming(2.0, proof))
    refused(asked("EQUIVALENCES", np.zeros((3, 3))), claiming(-math.inf, proof))
    told(asked("EQUIVALENCES", np.zeros((4, 4)))[0], honest)


def test_elements_are_not_contracted_without_being_known_to_be_related():
    given = asked("EQUIVALENCES", -np.ones((3, 3)))
    for labels in ([0, 0, 0], [0, 0, 1], [1, 0, 0]):
        refused(given, claiming(-4.0, Contract(np.array(labels), Leaf())))
    known = problem, _ = asked("EQUIVALENCES", -np.ones((3, 3)), related=[(0, 1)])
    assert rt.verify(problem, claiming(-5.0, Contract(np.array([0, 0, 1]), Leaf())))
    refused(known, claiming(-9.0, Contract(np.array([0, 0, 0]), Leaf())))
    refused(known, claiming(-6.0, Contract(np.array([0, 1, 1]), Leaf())))
    for labels in ([0, 0, 2], [0, 0, -1], [0, 0], [0, 0, 2**62], [0, 0, math.nan], [[0, 0, 1]]):
        told(problem, claiming(-5.0, Contract(np.array(labels), Leaf())))


@pytest.mark.parametrize("dense", [2000, 0])
def test_what_is_known_moves_with_the_elements_of_a_contraction(dense):
    """Labels may also renumber: groups and evidence must follow the elements."""
    for extras in (
        {"groups": [[0, 0, 1, 2]]},
        {"unrelated": [(0, 1)]},
        {"groups": [[0, 0, 1, 2]], "unrelated": [(0, 2)]},
    ):
        c = np.zeros((4, 4))
        c[2, 3] = 5.0
        given = asked("EQUIVALENCES", c, **extras)
        for labels in ([2, 3, 0, 1], [3, 2, 1, 0], [1, 2, 3, 0]):
            with sparse_from(dense):
                refused(given, claiming(4.0, Contract(np.array(labels), Leaf())))
                refused(given, claiming(4.0, Contract(np.array(labels), Contract(labels, Leaf()))))


@pytest.mark.parametrize("family", ["at_most", "capped_set"])
def test_caps_do_not_count_contracted_elements(family):
    """A class of two counts as one: sets of at most three elements may be two classes."""
    c = np.zeros((4, 4))
    c[0, 2] = c[1, 2] = c[0, 3] = c[1, 3] = 3.0
    given = asked("EQUIVALENCES", c, related=[(0, 1)], cap=3)
    index = (0, 1) if family == "at_most" else (1, 0, 1, 2)
    for y in (0.0, 1.0, 3.0, 6.0):
        cut = row(family, *index, multiplier=y)
        refused(given, claiming(5.0, Contract(np.array([0, 0, 1, 2]), Leaf((cut,)))))
        told(given[0], claiming(6.0, Contract(np.array([0, 0, 1, 2]), Leaf((cut,)))))


def test_a_background_is_not_contracted_into_less_than_it_is():
    problem = rt.Problem.from_pairs(
        [0], [1], [0.0], n=4, background=1.0,
        feasible=rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]),
    )  # fmt: skip
    c = np.triu(np.ones((4, 4)), 1)
    c[0, 1] = 0.0
    meaning = Meaning(frozenset(NAMES["EQUIVALENCES"]), c, related=[(0, 1)])
    assert meaning.best == 5
    for dense in (2000, 0):
        with sparse_from(dense):
            for labels in ([0, 0, 1, 2], [0, 1, 2, 3], [3, 2, 1, 0]):
                refused((problem, meaning), claiming(4.5, Contract(np.array(labels), Leaf())))
            parts = (np.array([0, 1]), 0.0, Leaf()), (np.array([2, 3]), 0.0, Leaf())
            refused((problem, meaning), claiming(4.5, Decompose(parts)))
            refused((problem, meaning), claiming(4.5, Leaf()))
            refused((problem, meaning), claiming(-math.inf, Leaf(infeasible=True)))


def test_pairs_are_not_implied_by_rows_that_leave_them_open():
    given = asked("LINEAR_ORDERS", np.triu(np.ones((3, 3))), related=[(0, 1)])
    for family, index in (
        ("transitive", (0, 1, 2)),
        ("transitive", (1, 2, 0)),
        ("antisymmetric", (1, 2)),
        ("connex", (0, 2)),
        ("has_image", (0, -1, -1)),
    ):
        for pair in ((0, 2), (1, 2), (2, 0)):
            for value in (True, False):
                step = np.array([index]), np.array([pair]), np.array([value])
                refused(given, claiming(5.5, Imply((family,), *step, Leaf())))


def test_implications_come_in_order_and_complete():
    problem, _ = asked("EQUIVALENCES", TRIANGLE, related=[(0, 1)], unrelated=[(0, 2)])
    first = [0, 1, 2], [1, 2], False
    rows, pairs, values = (np.array([part]) for part in first)
    good = Imply(("transitive",), rows, pairs, values, Leaf())
    assert rt.verify(problem, claiming(2.0, good))
    for change in (
        {"families": ("transitive", "transitive")},
        {"families": ()},
        {"rows": rows[:0]},
        {"values": np.array([True])},
        {"values": np.array([], dtype=bool)},
        {"pairs": np.array([[1, 2], [0, 2]])},
    ):
        told(problem, claiming(2.0, replace(good, **change)))


def test_fixed_pairs_need_a_bound_on_their_other_value():
    given = problem, _ = asked("EQUIVALENCES", TRIANGLE)
    cuts = (row("transitive", 0, 1, 2, multiplier=2.0),)
    both = np.array([[0, 1], [1, 2]])
    for values in ([False, False], [True, False], [True, True], [False, True]):
        for claim in (1.0, 0.0, -3.0):
            refused(given, claiming(claim, Fix(cuts, both, np.array(values), Leaf())))
    odd = np.array([2, 0], dtype=np.uint8).view(bool)  # a truth value that is neither 0 nor 1
    for values in (odd, np.array(["", "0"]), np.array([0.0, math.nan]), np.array([True])):
        refused(given, claiming(1.0, Fix(cuts, both, values, Leaf())))
    assert rt.verify(problem, claiming(2.0, Fix(cuts, both, np.array([True, False]), Leaf(cuts))))


def test_prices_of_sets_that_do_not_exist():
    c = np.triu(np.full((4, 4), 2.0), 1)
    given = problem, meaning = asked("EQUIVALENCES", c, cap=2)
    assert meaning.best == 4
    assert rt.verify(problem, claiming(4.0, Prices((), np.ones(4))))
    for prices in (
        [1.0, 1.0, 1.0, math.nextafter(1.0, 0)],
        [2.0, 2.0, -0.5, -0.5],
        [1e308, -1e308, 1.0, 1.0],
        [-1e308] * 4,
        [math.nan] * 4,
        [-math.inf] * 4,
        [1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0, 1.0, -1.0],
        [[1.0, 1.0, 1.0, 0.5]],
        np.array([1.0, 1.0, 1.0, 0.5], dtype=object),
    ):
        refused(given, claiming(math.nextafter(4.0, 0), Prices((), np.array(prices))))
    unlimited = asked("EQUIVALENCES", c)
    refused(unlimited, claiming(4.0, Prices((), np.ones(4))))
    refused(asked("PREORDERS", c), claiming(4.0, Prices((), np.ones(4))))
    known = asked("EQUIVALENCES", c, related=[(0, 1)], cap=3)
    refused(known, claiming(3.0, Prices((), np.full(4, 0.75))))


def test_a_tree_cut_short_proves_nothing():
    given = asked("EQUIVALENCES", TRIANGLE)
    tight = Leaf((row("transitive", 0, 1, 2, multiplier=2.0),))
    for missing in (None, "Leaf", {}, 0, Leaf, object()):
        refused(given, claiming(1.0, missing))
        refused(given, claiming(1.0, Branch((0, 1), Leaf(infeasible=True), missing)))
        refused(given, claiming(1.0, Fix((), NONE[:, :2], np.array([], dtype=bool), missing)))
        refused(given, claiming(1.0, Decompose(((ALL, 1.0, missing),))))
    refused(given, claiming(1.0, Branch((0, 1), tight, Leaf(infeasible=True))))
    refused(given, claiming(1.0, Branch((0, 1), Leaf(infeasible=True), tight)))
    refused(given, claiming(1.0, Decompose(())))


@pytest.mark.parametrize("claim", [-math.inf, math.nan, math.inf, -1e308, 1e308, -5.0])
def test_what_parts_claim_is_proved(claim):
    c = np.zeros((4, 4))
    c[0, 1] = c[2, 3] = 1.0
    given = asked("EQUIVALENCES", c)
    one, two = np.array([0, 1]), np.array([2, 3])
    for other in (1.0, math.inf, 1e308):
        for proof in (Leaf(), Leaf(infeasible=True), Decompose(())):
            parts = ((one, claim, proof), (two, other, Leaf()))
            refused(given, claiming(1.5, Decompose(parts)))
            refused(given, claiming(-math.inf, Decompose(parts)))


def test_parts_are_disjoint_and_what_is_between_them_counts():
    c = np.triu(np.ones((3, 3)), 1)
    given = problem, _ = asked("EQUIVALENCES", c)
    pair, rest = np.array([0, 1]), np.array([2])
    assert rt.verify(problem, claiming(3.0, Decompose(((pair, 1.0, Leaf()), (rest, 0.0, Leaf())))))
    for parts in (
        ((pair, 1.0, Leaf()), (rest, 0.0, Leaf())),
        ((pair, 1.0, Leaf()),),
        ((np.array([0, 1, 2, 0]), 2.0, Leaf()),),
        ((pair, 1.0, Leaf()), (pair, 1.0, Leaf())),
        ((np.array([]), -5.0, Leaf()), (ALL, 3.0, Leaf())),
        ((np.array([0.0, 1.0, 1.9]), 1.0, Leaf()),),
        ((ALL[:, None], 2.0, Leaf()),),
    ):
        refused(given, claiming(2.5, Decompose(parts)))


def test_properties_that_parts_do_not_inherit():
    """An element may find its image, or its preimage, outside of its part."""
    for name, family in (("HAS_IMAGE", "has_image"), ("HAS_PREIMAGE", "has_preimage")):
        names = frozenset({*NAMES[name], "transitive"})
        meaning = Meaning(names, np.array([[-1.0, 0.0], [0.0, -1.0]]))
        given = problem_of(meaning), meaning
        rows = (row(family, 0),)
        for parts in (
            (np.array([0]), -math.inf, Leaf(rows, infeasible=True)),
            (np.array([0]), -1.0, Leaf(rows)),
        ):
            told(given[0], claiming(float(meaning.best) - 0.5, Decompose((parts,))))
    both = frozenset({"unique_image", "has_preimage", "antisymmetric"})
    meaning = Meaning(both, np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 3.0], [3.0, 0.0, 0.0]]))
    for family in ("has_image", "has_preimage"):
        part = (np.array([0, 1]), 0.0, Leaf((row(family, 0, multiplier=9.0),)))
        refused((problem_of(meaning), meaning), claiming(8.0, Decompose((part,))))


def test_a_leaf_is_not_infeasible_because_numbers_say_so():
    given = asked("MAPS", [[-1e300, -1e300], [-1e300, -1e300]])
    never = [
        Leaf(infeasible=True),
        Leaf((row("has_image", 0, multiplier=0.0),), infeasible=True),
        Leaf((row("has_image", 0, multiplier=1e300),) * 30, infeasible=True),
        Leaf((row("has_image", 0, multiplier=1.7e308), row("at_most", 0, 1)), infeasible=True),
        Leaf((row("has_image", 0, multiplier=5e-324),), infeasible=True),
        Leaf((row("at_most", 0, 1, multiplier=1e308),), infeasible=True),
        Leaf(),
    ]
    for proof in never:
        refused(given, claiming(-math.inf, proof))
        refused(given, replace(claiming(-math.inf, proof), status=Status.BOUND_ONLY))
        refused(given, claiming(-math.inf, Branch((0, 0), proof, proof)))
    claim = Certificate(-1e308, Leaf())
    honest = claiming(-math.inf, Leaf(infeasible=True))
    refused(given, replace(honest, certificate=claim))
    refused(given, replace(honest, certificate=None))


def test_unlike_elements_are_not_merged():
    c = np.array([[0.0, 5.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    given = asked("LINEAR_ORDERS", c)
    for labels in ([0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0]):
        refused(given, claiming(4.0, Merge(np.array(labels), Leaf())))
        refused(given, claiming(4.0, Merge(np.array(labels), SubsetOrder())))
    for labels in ([0, 0, 2], [0, 0, 2**50], [-1, 0, 1], [0, 1], [0, 1, math.nan]):
        told(given[0], claiming(7.0, Merge(np.array(labels), Leaf())))
    alike = np.ones((3, 3))
    for extras in ({"related": [(0, 1)]}, {"related": [(0, 2)]}, {"unrelated": [(2, 1)]}):
        told(asked("LINEAR_ORDERS", alike, **extras)[0], claiming(9.0, Merge([0, 0, 1], Leaf())))
    for name in ("WEAK_ORDERS", "PARTIAL_ORDERS", "EQUIVALENCES"):
        refused(asked(name, alike), claiming(2.0, Merge(np.array([0, 0, 1]), Leaf())))


def test_only_linear_orders_are_ordered_outright():
    for name in ("WEAK_ORDERS", "PARTIAL_ORDERS", "PREORDERS", "CONNEX", "EQUIVALENCES"):
        given = asked(name, np.where(np.eye(3), 0.0, [[0, 2, 2], [1, 0, 2], [1, 1, 0]]))
        refused(given, claiming(float(given[1].best) - 1.0, SubsetOrder()))
        refused(given, claiming(-math.inf, SubsetOrder()))
    orders = problem, _ = asked("LINEAR_ORDERS", [[0.0, 1.0], [0.0, 0.0]], unrelated=[(1, 0)])
    assert rt.verify(problem, claiming(1.0, SubsetOrder()))
    refused(orders, claiming(math.nextafter(1.0, 0), SubsetOrder()))
    refused(orders, claiming(-math.inf, SubsetOrder()))


@pytest.mark.parametrize("dense", [2000, 0])
def test_bounds_are_rounded_down_to_values_that_there_are(dense):
    """Scores that are multiples of 4: 7.5 proves 4, and nothing proves less than the best."""
    c = np.triu(np.full((4, 4), 4.0), 1)
    c[0, 1] = -8.0
    given = asked("EQUIVALENCES", c, related=[(2, 3)])
    best = given[1].best
    for labels in (None, [0, 1, 2, 2]):
        for y in (0.0, 1.0, 4.0, 6.0):
            leaf = Leaf((row("transitive", 0, 2, 1, multiplier=y),)) if labels is None else Leaf()
            proof = leaf if labels is None else Contract(np.array(labels), leaf)
            with sparse_from(dense):
                refused(given, claiming(float(best) - 0.25, proof))


# --- relations and statuses ---------------------------------------------------------------------


def test_a_relation_is_checked_whatever_its_kind_says_of_itself():
    given = asked("LINEAR_ORDERS", np.ones((3, 3)))
    tied = rt.LinearOrder.trusted(np.array([0, 0, 0]))
    refused(given, Estimate(Status.FEASIBLE, tied, 9.0, math.inf))
    refused(given, having(Status.FEASIBLE, tied, 9.0, 9.0))
    weak = rt.WeakOrder([0, 0, 0])
    refused(given, having(Status.FEASIBLE, weak, 9.0, 9.0))
    pair = asked("MAPS", np.ones((2, 2)))
    refused(pair, having(Status.FEASIBLE, rt.PartialMap([-1, 0], 2), 1.0, 4.0))


class TwoFaced(rt.Relation):
    """A relation that shows itself feasible first, and valuable afterwards."""

    __slots__ = ()
    faces = 0

    def matrix(self):
        TwoFaced.faces += 1
        face = np.triu(np.ones((3, 3), dtype=bool))
        return (
            face if TwoFaced.faces <= len(NAMES["LINEAR_ORDERS"]) else np.ones((3, 3), dtype=bool)
        )


def test_a_relation_is_looked_at_once():
    problem, _ = asked("LINEAR_ORDERS", np.ones((3, 3)))
    TwoFaced.faces = 0
    told(problem, having(Status.FEASIBLE, TwoFaced(np.eye(3)), 9.0, 9.0))


def test_truth_values_that_are_neither_zero_nor_one():
    byte = np.array([[1, 2, 0], [3, 1, 4], [0, 8, 1]], dtype=np.uint8).view(bool)
    given = asked("LINEAR_ORDERS", np.ones((3, 3)))
    refused(given, having(Status.FEASIBLE, rt.Relation(byte), 7.0, 9.0))
    orders = asked("EQUIVALENCES", np.ones((3, 3)), cap=2)
    refused(orders, having(Status.FEASIBLE, rt.Relation(byte), 7.0, 9.0))


@pytest.mark.parametrize("status", ["OPTIMAL", None, 0, "a\nb"])
def test_the_status_is_one_that_there_is(status):
    problem, _ = asked("RELATIONS", [[1.0, -1.0]])
    honest = having(Status.OPTIMAL, rt.Relation([[1, 0]]), 1.0, 1.0)
    assert rt.verify(problem, honest)
    object.__setattr__(honest, "status", status)
    told(problem, honest)


@pytest.mark.parametrize("status", list(Status))
def test_no_status_covers_what_is_false(status):
    given = asked("RELATIONS", [[1.0, -1.0]])
    nothing = rt.Relation([[0, 0]])
    for relation, value in ((nothing, 0.0), (None, -math.inf)):
        for bound in (0.0, 0.5, -math.inf, -1.0):
            estimate = Estimate(status, relation, value, bound, Certificate(bound, Leaf()))
            refused(given, estimate)
            refused(given, replace(estimate, certificate=None))
    refused(given, Estimate(Status.OPTIMAL, nothing, 0.0, math.inf, Certificate(math.inf, Leaf())))
    refused(given, Estimate(Status.OPTIMAL, nothing, 0.0, math.inf, Certificate(0.0, Leaf())))
    refused(given, Estimate(Status.OPTIMAL, nothing, 0.0, 1.0, None))


# --- bundles ------------------------------------------------------------------------------------


def test_element_numbers_in_a_bundle_are_not_written_as_floats(tmp_path):
    """A cap of 2.0 makes b y a float, and what is small besides it is lost."""
    large, small = 2.0**-60, 2.0**-120
    given = problem, meaning = asked("RELATIONS", [[large] * 3, [small] * 3], cap=2)
    cut = Cuts("at_most", np.array([[0, 2], [1, 2]]), np.array([large, small]))
    forged = claiming(2 * large, Leaf((cut,)))
    refused(given, forged)
    rt.io.save_estimate(tmp_path / "saved.npz", problem, forged)
    with np.load(tmp_path / "saved.npz") as archive:
        arrays = dict(archive)
    manifest = json.loads(arrays.pop("manifest").tobytes())
    index = manifest["proof"][0]["cuts"][0]["index"]
    del arrays[f"a{index['array']}"]
    manifest["proof"][0]["cuts"][0]["index"] = [[0, 2.0], [1, 2.0]]
    text = np.frombuffer(json.dumps(manifest).encode(), dtype=np.uint8)
    np.savez(tmp_path / "forged.npz", manifest=text, **arrays)
    assert meaning.best > Fraction(2 * large)
    code, words = plain.check(str(tmp_path / "forged.npz"))
    assert code == 1
    assert "not whole" in words
