"""Chains at several temperatures, on five relations whose probabilities are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from relatum.errors import SolverError
from relatum.probability.methods import Task
from relatum.probability.sampling.ladder import LITTLE, Walking, drawn, exchanged
from relatum.solvers import Control

VALUES = np.array([0.0, -14.0, -16.0, -14.0, -0.5])  # two good ones, far apart


class Stepper:
    """A walker that steps to a neighbouring relation, or not."""

    def __init__(self, factor):
        self.factor, self.at, self.value = factor, 0, 0.0

    def draw(self, out, values, steps, random, expired):
        for k in range(len(out)):
            for _ in range(*steps):
                seed = int(random[0])
                random[0] = np.uint64((seed * 6364136223846793005 + 1442695040888963407) % 2**64)
                u = (int(random[0]) >> 11) / 2**53
                to = self.at + (1 if (int(random[0]) >> 5) % 2 else -1)
                if 0 <= to < 5:
                    gain = self.factor * (VALUES[to] - VALUES[self.at])
                    if u < 2.0 ** min(0.0, gain):
                        self.at = to
            self.value = self.factor * VALUES[self.at]
            out[k], values[k] = self.at, self.value
        return len(out)

    def reheat(self, factor):
        self.factor, self.value = factor, factor * VALUES[self.at]


WALKING = Walking(
    1,
    lambda factor: [Stepper(factor) for _ in range(8)],
    lambda walker, old, new: walker.reheat(new),
    (6,),
    (6,),
    (3,),
    np.asarray,
    np.log2(5),
    16.0,
)
WEIGHTS = np.exp2(VALUES)


def test_exchanges_reach_what_no_single_chain_reaches():
    factors = (1.0, 0.7, 0.45, 0.25, 0.1, 1e-5)
    walkers, walks, values, rates = exchanged(WALKING, factors, 4000, Control())
    seen = np.bincount(walks.draws.ravel(), minlength=5) / walks.draws.size
    assert 0.5 * np.abs(seen - WEIGHTS / WEIGHTS.sum()).sum() < 0.05
    assert len(walkers) == 8 * len(factors)
    assert len(rates) == len(factors) - 1
    assert all(0.1 < rate <= 1 for rate in rates)
    assert values[0] == pytest.approx(VALUES[walks.draws[..., 0]])
    hottest = np.unique(values[-1].round(9), return_counts=True)
    assert hottest[1][-1] / values[-1].size == pytest.approx(0.2, abs=0.05)  # all are alike


def test_tempered_draws_know_the_sum():
    problem = rt.Problem(np.zeros((2, 2)), rt.LINEAR_ORDERS)
    found = drawn(WALKING, Task(problem, draws=4000, tempered=True), Control())
    assert found.exchanges
    assert abs(found.gain.bits - np.log2(WEIGHTS.sum())) < 4 * found.gain.error + 0.02
    plain = drawn(WALKING, Task(problem, draws=800, patient=True), Control())
    assert not plain.exchanges
    assert (plain.walks.draws < 4).mean() > 0.9  # it stays where it began


def test_exchanges_unless_asked_otherwise_where_they_cost_little_or_chains_are_stuck():
    problem = rt.Problem(np.zeros((2, 2)), rt.LINEAR_ORDERS)
    auto = drawn(WALKING, Task(problem, draws=4000), Control())
    assert auto.exchanges
    assert (auto.walks.draws == 4).mean() == pytest.approx(0.41, abs=0.08)

    def at(factor):
        walkers = [Stepper(factor) for _ in range(8)]
        for walker in walkers[::2]:
            walker.at = 4  # half of them begin elsewhere, so that they cannot but disagree
        return walkers

    many = replace(WALKING, n=LITTLE + 1, at=at)
    assert drawn(many, Task(problem, draws=800), Control()).exchanges
    assert not drawn(many, Task(problem, draws=800, patient=True), Control()).exchanges
    assert not drawn(replace(many, at=WALKING.at), Task(problem, draws=800), Control()).exchanges


def test_the_same_seed_and_lack_of_time():
    again = [exchanged(WALKING, (1.0, 0.5, 1e-5), 800, Control())[1].draws for _ in range(2)]
    assert np.array_equal(*again)
    with pytest.raises(SolverError, match="no time for draws"):
        exchanged(WALKING, (1.0, 0.5), 800, Control(time_limit=0.0))
