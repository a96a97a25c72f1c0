from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import ProblemError
from relatum.kernels.probability.permutations import Placing, order_sums
from relatum.probability.exact.rankings import opened_ranking, ranking_refusal
from relatum.probability.methods import Task


@pytest.mark.parametrize("feasible", [rt.LINEAR_ORDERS, rt.WEAK_ORDERS])
def test_what_is_too_large_is_said(feasible):
    task = Task(rt.Problem(np.zeros((5, 5)), feasible))
    assert ranking_refusal(task, "orders", {False: 5, True: 6}) is None
    said = ranking_refusal(task, "orders", {False: 4, True: 6})
    assert said == "takes orders of at most 4 elements (6 if asked for by name), and these are 5"
    named = Task(task.problem, patient=True)
    assert ranking_refusal(named, "orders", {False: 3, True: 4}).endswith("and these are 5")


def test_weights_are_of_who_comes_first():
    scores = np.array([[0.0, 3.0], [1.0, 0.0]])
    found, weights = opened_ranking(rt.Problem(scores, rt.LINEAR_ORDERS), 48)
    forward, places = order_sums(Placing(*weights), None)[:2]
    assert np.ldexp(forward[-1], places[-1]) == pytest.approx(8.0 + 2.0)
    assert not found.related[0, 1]
    known = rt.LINEAR_ORDERS & rt.evidence(related=[(0, 1)])
    weights = opened_ranking(rt.Problem(scores, known), 48)[1]
    forward, places = order_sums(Placing(*weights), None)[:2]
    assert np.ldexp(forward[-1], places[-1]) == pytest.approx(1.0)  # what is fixed has no score


def test_a_cap_leaves_no_ranking():
    with pytest.raises(ProblemError, match="none has a probability"):
        opened_ranking(rt.Problem(np.zeros((3, 3)), rt.WEAK_ORDERS & rt.at_most(2)), 48)
