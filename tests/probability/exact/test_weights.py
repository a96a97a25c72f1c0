from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from relatum.errors import ProblemError, SolverError
from relatum.probability.exact.weights import (
    NEVER,
    bit_sums,
    infeasible,
    log2_of,
    opened,
    pair_sums,
    require_moderate,
    require_time,
    split,
)
from relatum.solvers import Control


def test_powers_of_two_are_split_and_put_together():
    bits = np.concatenate(
        [np.random.default_rng(0).normal(size=200) * 100, [0.0, -1e-17, 1 - 2**-53]]
    )
    mantissa, places = split(bits)
    assert ((mantissa >= 0.5) & (mantissa < 1.0)).all()
    for b, m, e in zip(bits, mantissa, places, strict=True):
        assert float(log2_of(m, e) - Fraction(float(b))) == pytest.approx(0.0, abs=1e-14)
    mantissa, places = split(np.array([1.0, 1.0]), np.array([True, False]))
    assert mantissa.tolist() == [0.5, 0.0]
    assert places.tolist() == [2, NEVER]


def test_what_is_fixed_is_set_aside_exactly():
    feasible = rt.EQUIVALENCES & rt.evidence([(0, 1)], [(2, 0)])
    found = opened(rt.Problem([[1e100, 2.0, 3.0], [4.0, 0.0, 5.0], [6.0, 7.0, 1.0]], feasible))
    assert found.constant == Fraction(1e100) + 1 + 6
    assert found.scores.tolist() == [[0, 0, 0], [0, 0, 5.0], [0, 7.0, 0]]
    assert found.unrelated[0, 2]
    assert found.unrelated[2, 0]


def test_what_nothing_agrees_with_is_refused():
    feasible = rt.EQUIVALENCES & rt.evidence([(0, 1)], [(1, 0)])
    problem = rt.Problem([[0.0, 1.0], [1.0, 0.0]], feasible)
    with pytest.raises(ProblemError, match=r"0~1 given, .* So none has a probability"):
        opened(problem)
    assert "So none has a probability" in str(infeasible(problem))


def test_sums_that_are_too_large_are_refused():
    require_moderate(np.array([1e8]))
    with pytest.raises(ProblemError, match="what is certain is evidence"):
        require_moderate(np.array([1e8, -1e12]))


def test_time_that_is_up_is_an_error():
    require_time(Control(time_limit=100.0))
    with pytest.raises(SolverError, match="time_limit"):
        require_time(Control(time_limit=0.0))
    stopped = Control()
    stopped.stop()
    with pytest.raises(KeyboardInterrupt):
        require_time(stopped)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_sums_over_subsets_that_hold_an_element(n):
    weights = np.random.default_rng(n).random(1 << n)
    expected = [math.fsum(w for s, w in enumerate(weights) if s >> a & 1) for a in range(n)]
    assert bit_sums(weights) == pytest.approx(expected, rel=1e-14)


def test_sums_over_sets_that_hold_a_pair():
    n = 4
    sets = np.random.default_rng(0).random(1 << n)
    pairs = pair_sums(sets)
    for a in range(n):
        for b in range(n):
            exact = math.fsum(w for s, w in enumerate(sets) if s >> a & 1 and s >> b & 1)
            assert pairs[a, b] == pytest.approx(1.0 if a == b else exact, rel=1e-14)
