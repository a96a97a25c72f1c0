from __future__ import annotations

import math

import numpy as np
import pytest

import relatum as rt
from relatum.errors import SolverError
from relatum.probability.exact import enumeration
from relatum.probability.exact.enumeration import refusal
from relatum.probability.methods import Task


@pytest.mark.parametrize(
    ("feasible", "n", "count"),
    [
        (rt.PREORDERS, 3, 29),
        (rt.PREORDERS, 4, 355),
        (rt.PARTIAL_ORDERS, 4, 219),
        (rt.TRANSITIVE, 3, 171),
        (rt.PARTIAL_ORDERS & rt.evidence([(0, 1), (1, 2), (2, 3)]), 4, 1),
    ],
)
def test_equal_scores_count_members(feasible, n, count):
    p = rt.probabilities(rt.Problem(np.zeros((n, n)), feasible))
    assert p.method == "enumeration"
    assert p.log2_normalizer == pytest.approx(math.log2(count), abs=1e-13)


def test_too_many_pairs_and_too_many_members_are_refused(monkeypatch):
    task = Task(rt.Problem(np.zeros((8, 8)), rt.PARTIAL_ORDERS))
    assert "at most 25 pairs, not 64" in (refusal(task) or "")
    monkeypatch.setattr(enumeration, "MEMBERS", {False: 100, True: 100})
    with pytest.raises(SolverError, match="at most 100 relations of PREORDERS"):
        rt.probabilities(rt.Problem(np.zeros((4, 4)), rt.PREORDERS))
