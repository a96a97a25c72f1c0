"""Estimates and what their statuses say."""

from __future__ import annotations

import math
import pickle

import pytest

import relatum as rt
from relatum.proof.estimate import Estimate, Status, closes


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
    assert closes(5.0, 5.0 + 1e-7)
    assert not closes(5.0, 5.001)
    assert closes(1e9, 1e9 + 0.5)
    assert not closes(0.0, math.inf)
