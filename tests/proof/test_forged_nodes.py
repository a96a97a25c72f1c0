"""Forgeries by nodes: trees, contractions, implications, parts and prices that do not fit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from campaign.forging import ALL, NONE, TRIANGLE, asked, claiming, having, refused, row, told
from campaign.generation import NAMES
from campaign.mutants import problem_of, sparse_from
from campaign.truth import Meaning
from relatum.proof import (
    Branch,
    Certificate,
    Contract,
    Decompose,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    Status,
    SubsetOrder,
)
from relatum.proof.checker.view import Effort


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


def ordered_often(n, depth):
    """An order, and a true proof of it that orders everything outright again and again."""
    order = np.sign(np.arange(n)[None, :] - np.arange(n)[:, None]).astype(float)
    rng = np.random.default_rng(0)
    problem = rt.Problem(order + 0.4 * rng.normal(size=(n, n)), rt.LINEAR_ORDERS)
    estimate = rt.infer(problem, prove=True)
    proof = SubsetOrder()
    for k in range(depth):
        pair = (k % (n - 1), k % (n - 1) + 1)
        proof = Branch(pair, SubsetOrder(), proof)
    bound = estimate.bound + 2.0**-21
    return problem, replace(estimate, bound=bound, certificate=Certificate(bound, proof))


def test_orders_gone_through_again_and_again_are_counted(monkeypatch):
    """A small tree of leaves each of which takes as long as the scores are many."""
    problem, estimate = ordered_often(20, 30)
    assert rt.verify(problem, estimate)
    spent = []
    for depth in (10, 30):
        effort = Effort()
        monkeypatch.setattr("relatum.proof.checker.verification.Effort", lambda e=effort: e)
        assert rt.verify(*ordered_often(20, depth))
        spent.append(Effort().subsets - effort.subsets)
    assert spent[1] > 1.5 * spent[0] > 0
    monkeypatch.setattr("relatum.proof.checker.verification.Effort", lambda: Effort(subsets=1000))
    assert "take too long" in told(problem, estimate)
