"""Branch and price without a cap: its bounds, its proofs, and when it gives up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import naive
import relatum as rt
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import square
from relatum.solvers.partition.exact.relaxation import Relaxation
from relatum.solvers.partition.exact.whole_sets import PricingSettings, WholeSets


def relaxation_of(scores, n, apart=()):
    state = np.full((n, n), -1, dtype=np.int8)
    for a, b in apart:
        state[a, b] = state[b, a] = 0
    return Relaxation(square(np.asarray(scores, dtype=float), n), state)


def searched(relaxation, cutoff, **settings):
    met = []
    search = WholeSets(
        relaxation,
        lambda: cutoff,
        met.append,
        lambda bound: None,
        Control(),
        PricingSettings(**settings),
    )
    return search, search.solve(np.zeros(relaxation.n, dtype=np.int64)), met


@pytest.mark.parametrize("seed", range(6))
def test_the_root_is_the_linear_program_of_all_sets(seed):
    n = 7
    rng = np.random.default_rng(seed)
    scores, apart = rng.normal(size=n * (n - 1) // 2), [(0, 1), (2, 5)][: seed % 3]
    relaxation = relaxation_of(scores, n, apart)
    sets = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    for a, b in apart:
        sets = sets[sets[:, a] + sets[:, b] < 2]
    worth = 0.5 * np.einsum("si,ij,sj->s", sets, relaxation.weights, sets)
    want = -linprog(-worth, A_eq=sets.T, b_eq=np.ones(n), method="highs").fun
    search, bound, _ = searched(relaxation, -np.inf)
    assert search.root.bound == pytest.approx(want, abs=1e-6)
    # with nothing to stop it, every branch is followed to the end
    best = naive.best_partition(
        relaxation.weights, lambda labels: all(labels[a] != labels[b] for a, b in apart)
    )
    assert bound == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["signs", "normal"])
def test_what_is_proved_is_verified(seed, kind):
    n = 18
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n * (n - 1) // 2)
    problem = rt.Problem(np.sign(scores) if kind == "signs" else scores, rt.EQUIVALENCES)
    best = rt.infer(problem, solver="partition_local_search")
    search, bound, met = searched(
        relaxation_of(problem.folded()[0], n), best.value + (0.99 if kind == "signs" else 1e-6)
    )
    assert best.value <= bound <= best.value + 1
    assert met
    claim = rt.Certificate(bound, search.root.proof())
    estimate = rt.Estimate(rt.Status.BOUND_ONLY, None, -np.inf, bound, claim, "whole_sets")
    report = rt.verify(problem, estimate)
    assert report, report.reason
    # and nothing less than the best value is
    less = rt.Certificate(best.value - 0.01, search.root.proof())
    estimate = rt.Estimate(rt.Status.BOUND_ONLY, None, -np.inf, best.value - 0.01, less, "none")
    assert not rt.verify(problem, estimate)


def test_too_many_sets_prove_nothing():
    n = 30
    scores = np.random.default_rng(1).normal(size=n * (n - 1) // 2)
    search, bound, _ = searched(relaxation_of(scores, n), 0.0, root_steps=10)
    assert search.gave_up
    assert bound == np.inf


def test_noise_of_35_elements_is_proven_and_verified():
    n = 35
    scores = np.random.default_rng(3).integers(-100, 101, n * (n - 1) // 2)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    e = rt.infer(problem, prove=True)
    assert e.status == rt.Status.OPTIMAL
    assert rt.verify(problem, e)
    heuristic = rt.infer(problem, solver="partition_local_search")
    assert heuristic.value <= e.value
