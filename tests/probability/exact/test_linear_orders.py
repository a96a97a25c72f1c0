from __future__ import annotations

import math

import numpy as np
import pytest

import relatum as rt
from relatum.errors import ProblemError
from relatum.probability.exact.linear_orders import refusal
from relatum.probability.methods import Task


def test_equal_scores_are_uniform():
    n = 12
    p = rt.probabilities(rt.Problem(np.zeros((n, n)), rt.LINEAR_ORDERS))
    assert p.log2_normalizer == pytest.approx(math.log2(math.factorial(n)), rel=1e-14)
    assert p.ranks == pytest.approx(np.full((n, n), 1 / n))


def test_scores_of_places_are_plackett_like():
    """If a's scores do not depend on b, orders are those of adding up positions."""
    n = 7
    s = np.random.default_rng(0).normal(size=n)
    p = rt.probabilities(rt.Problem(np.repeat(s[:, None], n, axis=1), rt.LINEAR_ORDERS))
    # value = sum over a of s[a] * (elements after a, itself included)
    order = np.argsort(-s, kind="stable")
    best = rt.LinearOrder.from_order(order)
    assert p.sample(2000, seed=1).count(best) / 2000 == pytest.approx(2.0 ** p.of(best), abs=0.05)
    assert (np.diff(p.ranks[order] @ np.arange(n)) > 0).all()


def test_evidence_is_kept():
    feasible = rt.LINEAR_ORDERS & rt.evidence([(0, 1)], [(2, 3)])
    p = rt.probabilities(rt.Problem(np.zeros((4, 4)), feasible)).matrix()
    assert p[0, 1] == pytest.approx(1.0)
    assert p[3, 2] == pytest.approx(1.0)
    assert p[0, 2] == pytest.approx(5 / 6)  # of six orders


def test_a_cap_below_n_leaves_no_order():
    with pytest.raises(ProblemError, match="So none has a probability"):
        rt.probabilities(rt.Problem(np.zeros((4, 4)), rt.LINEAR_ORDERS & rt.at_most(3)))


def test_many_elements_are_refused():
    task = Task(rt.Problem(np.zeros((21, 21)), rt.LINEAR_ORDERS))
    assert "20 elements (22 if asked for by name), and these are 21" in (refusal(task) or "")
