from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DegenerateWarning, ProblemError, SolverError
from relatum.probability.sampling.chains import (
    CHAINS,
    SKIPPED,
    disagreement,
    effective,
    most_probable,
    picked,
    walk,
)
from relatum.solvers import Control


class Counting:
    """A walker that counts its rows."""

    value = 0.0

    def __init__(self):
        self.count = 0

    def draw(self, out, values, steps, random, expired):
        for k in range(len(out)):
            out[k], values[k] = self.count, self.count
            self.count += 1
        return len(out)


def test_all_chains_draw_and_the_beginning_is_forgotten():
    walks = walk([Counting() for _ in range(4)], 3, 1600, (), (0,), Control())
    assert walks.draws.shape == (4, 400, 3)
    assert walks.complete
    assert (walks.draws[:, 0] == 400 * SKIPPED).all()
    assert (walks.values == walks.draws[..., 0]).all()


def test_what_is_there_when_time_is_up_is_kept_of_all_chains_alike():
    control = Control()
    chains = [Counting(), Counting()]

    class Ends(Counting):
        def draw(self, *arguments):
            done = super().draw(*arguments)
            if self.count > 50:
                control.time_limit = 0.0
                return 0
            return done

    walks = walk([*chains, Ends()], 1, 3000, (), (0,), control)
    assert not walks.complete
    assert walks.draws.shape == (3, 40, 1)
    assert (walks.draws[:, -1] == 49).all()


def test_no_time_for_any_draw_is_an_error():
    with pytest.raises(SolverError, match="no time for draws"):
        walk([Counting()], 1, 100, (), (0,), Control(time_limit=0.0))


def _autoregressive(rho, chains=8, each=4000, seed=0):
    rng, x = np.random.default_rng(seed), np.zeros((chains, each))
    x[:, 0] = rng.normal(size=chains)
    for k in range(1, each):
        x[:, k] = rho * x[:, k - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_draws_are_those_of_autoregression(rho):
    x = _autoregressive(rho)
    assert effective(x) == pytest.approx(x.size * (1 - rho) / (1 + rho), rel=0.15)


def test_chains_around_different_means_disagree():
    x = _autoregressive(0.0, each=200)
    assert disagreement(x) == pytest.approx(1.0, abs=0.02)
    x[:4] += 3.0
    assert disagreement(x) > 1.5
    assert effective(x) < 50
    assert disagreement(np.ones((4, 8))) == 1.0
    assert effective(np.ones((4, 8))) == 32


def test_draws_are_shown_once_as_long_as_there_are_enough():
    rng = np.random.default_rng(0)
    assert sorted(picked(5, 5, rng)) == list(range(5))
    assert len(picked(5, 9, rng)) == 9


def test_what_is_infeasible_has_no_start():
    feasible = rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)], [(0, 2)])
    with pytest.raises(ProblemError):
        most_probable(rt.Problem(np.zeros(3), feasible), Control(time_limit=5.0))


def test_poor_chains_are_told_of(monkeypatch):
    """Two clusterings of thirty elements with nothing probable in between.

    Each look at the clock takes a second, so that time is up after as many draws on every machine.
    """
    looks = itertools.count()
    timed = partial(Control, clock=lambda: float(next(looks)))
    monkeypatch.setattr("relatum.probability.asking.Control", timed)
    n = 30
    side = np.arange(n) < 15
    scores = np.where(side[:, None] == side[None, :], 3.0, 0.0)
    scores[0, 15] = 8.0
    problem = rt.Problem(scores[np.triu_indices(n, 1)], rt.EQUIVALENCES)
    for method, hotter, limit in (("sampling", True, 40.0), ("tempering", False, 400.0)):
        with pytest.warns(DegenerateWarning, match="sampling are poor: time was up") as told:
            rt.probabilities(problem, method=method, draws=10**6, time_limit=limit)
        said = [str(w.message) for w in told if w.category is DegenerateWarning]
        assert all(("hotter chains" in text) == hotter for text in said)
        assert {w.filename for w in told} == {__file__}
    assert CHAINS >= 4
