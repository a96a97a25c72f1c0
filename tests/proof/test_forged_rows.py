"""Forgeries by rows: that do not hold, of elements that there are not, in odd arrays."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from campaign.forging import TRIANGLE, asked, claiming, refused, row, told
from campaign.row_mutation import raw_cuts
from relatum.proof import (
    Branch,
    Cuts,
    Decompose,
    Fix,
    Imply,
    Leaf,
)


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
