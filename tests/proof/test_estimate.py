"""Estimates and what their statuses say."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest

import relatum as rt
from relatum.proof.estimate import OPTIMAL_GAP, Estimate, Status, closes


def test_every_status_is_a_sentence():
    assert {s.name for s in Status} == {"OPTIMAL", "FEASIBLE", "BOUND_ONLY", "INFEASIBLE"}
    for status in Status:
        assert status.sentence.endswith(".")
        assert Estimate(status, None, 0.0, 0.0).message == status.sentence


def test_the_gap_is_in_bits():
    relation = rt.Partition([0, 0])
    assert Estimate(Status.FEASIBLE, relation, 3.0, 5.5).gap == 2.5
    assert Estimate(Status.OPTIMAL, relation, 3.0, 3.0 - 1e-12).gap == 0.0
    assert Estimate(Status.FEASIBLE, relation, 3.0, math.inf).gap == math.inf
    assert Estimate(Status.BOUND_ONLY, None, -math.inf, 3.0).gap == math.inf
    assert math.isnan(Estimate(Status.INFEASIBLE, None, -math.inf, -math.inf).gap)


def test_estimates_are_frozen_and_pickle():
    e = Estimate(Status.FEASIBLE, rt.Map([0, 1]), 1.0, 2.0, None, "by hand", "so", {"nodes": 3})
    with pytest.raises(AttributeError):
        e.value = 2.0
    with pytest.raises(TypeError):
        e.stats["nodes"] = 4
    copy = pickle.loads(pickle.dumps(e))
    assert copy == e
    assert copy.stats["nodes"] == 3
    assert "FEASIBLE" in repr(e)
    assert "gap=1 bits" in repr(e)


def test_when_a_bound_closes():
    assert closes(5.0, 5.0)
    assert closes(5.0, 4.0)
    assert closes(5.0, 5.0 + OPTIMAL_GAP)
    assert not closes(5.0, 5.0 + 1.001 * OPTIMAL_GAP)
    assert not closes(0.0, math.inf)
    assert not closes(-math.inf, 3.0)
    assert closes(-math.inf, -math.inf)


def test_the_gap_does_not_grow_with_the_values_and_is_compared_exactly():
    assert not closes(1e9, 1e9 + 0.5)
    large = 2.0**60
    assert closes(large, large)
    assert not closes(large, math.nextafter(large, math.inf))
    assert closes(
        Fraction(large) + Fraction(1, 3), Fraction(large) + Fraction(1, 3) + Fraction(1, 2**20)
    )
    assert not closes(Fraction(large) - Fraction(1, 3), large)


def test_the_gap_of_an_optimum_is_not_that_of_floats():
    large = 2.0**60
    apart = large, math.nextafter(large, math.inf)
    assert Estimate(Status.OPTIMAL, rt.Partition([0, 0]), *apart).gap == OPTIMAL_GAP
    assert Estimate(Status.FEASIBLE, rt.Partition([0, 0]), *apart).gap == 256.0
    assert Estimate(Status.OPTIMAL, rt.Partition([0, 0]), 3.0, 5.0).gap == 2.0  # which is a lie
