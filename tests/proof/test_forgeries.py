"""Forgeries by hand: one for each way in which a certificate might prove what is not so.

Every claim here is false, by trying all relations in exact numbers, and must be refused with a
reason of one line. Where it is short to say, the honest twin of a forgery is accepted.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from campaign.forging import TRIANGLE, asked, claiming, having, refused, row, told
from campaign.generation import NAMES
from relatum.proof import (
    Certificate,
    Cuts,
    Estimate,
    Leaf,
    Status,
    plain,
)


def test_the_honest_twin_is_accepted():
    problem, _ = asked("EQUIVALENCES", TRIANGLE)
    assert rt.verify(problem, claiming(2.0, Leaf((row("transitive", 0, 1, 2, multiplier=2.0),))))


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
