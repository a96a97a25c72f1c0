from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from naive import probability as naive
from probability.random_problems import FAMILIES, random_problem
from relatum.errors import ProblemError


def _expected_losses(p, ys, loss):
    losses = []
    for y in ys:
        other = ys.astype(float)
        if loss == "kendall":
            differ = (
                np.abs((other - other.transpose(0, 2, 1)) - (y * 1.0 - y.T)).sum(axis=(1, 2)) / 4
            )
        else:
            differ = np.abs(other - y).sum(axis=(1, 2))
        losses.append(float(p @ differ))
    return np.array(losses)


@pytest.mark.parametrize("family", FAMILIES)
def test_decisions_have_the_least_expected_loss(family):
    found = 0
    for seed in range(40):
        problem, scores, ys = random_problem(family, seed)
        if not 1 < len(ys) <= 250 or found >= 4:
            continue
        found += 1
        p = naive.distribution(scores, ys)[0]
        losses = _expected_losses(p, ys, "pairs")
        decided = rt.decide(rt.probabilities(problem), prove=True).relation.matrix()
        place = int(np.flatnonzero((ys == decided).all(axis=(1, 2)))[0])
        assert losses[place] == pytest.approx(losses.min(), abs=1e-9)
    assert found


def test_kendall_is_for_orders():
    rng = np.random.default_rng(0)
    scores, ys = rng.normal(size=(5, 5)), naive.linear_orders(5)
    problem = rt.Problem(scores, rt.LINEAR_ORDERS)
    p = naive.distribution(scores, ys)[0]
    losses = _expected_losses(p, ys, "kendall")
    decided = rt.decide(rt.probabilities(problem), loss="kendall", prove=True).relation.matrix()
    place = int(np.flatnonzero((ys == decided).all(axis=(1, 2)))[0])
    assert losses[place] == pytest.approx(losses.min(), abs=1e-9)
    with pytest.raises(ProblemError, match="is for orders"):
        rt.decide(rt.probabilities(rt.Problem([1.0], rt.EQUIVALENCES)), loss="kendall")


def test_what_is_no_loss_and_no_probability_is_refused():
    p = rt.probabilities(rt.Problem([1.0], rt.EQUIVALENCES))
    with pytest.raises(ProblemError, match='"pairs" or "kendall"'):
        rt.decide(p, loss="square")
    with pytest.raises(ProblemError, match=r"relatum\.probabilities returns"):
        rt.decide(np.eye(2))
