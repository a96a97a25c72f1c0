from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

import relatum as rt
from naive import probability as naive
from probability.random_problems import FAMILIES, random_problem
from relatum.errors import ProblemError, SolverError


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_are_as_frequent_as_their_probabilities(family):
    seed, count = 0, 2000
    while True:
        problem, scores, ys = random_problem(family, seed)
        if 1 < len(ys) <= 60:
            p = naive.distribution(scores, ys)[0]
            if p.max() < 0.95:
                break
        seed += 1
    drawn = Counter(y.matrix().tobytes() for y in rt.sample(problem, count, seed=1))
    assert sum(drawn.values()) == count
    assert set(drawn) <= {y.tobytes() for y in ys}
    # relations of less than five expected draws are counted together
    common = p * count >= 5
    observed = [drawn[y.tobytes()] for y in ys[common]]
    expected = (p[common] * count).tolist()
    observed.append(count - sum(observed))
    expected.append(count - sum(expected))
    if expected[-1] < 5:
        observed[0] += observed.pop()
        expected[0] += expected.pop()
    if len(observed) > 1:
        assert chisquare(observed, expected).pvalue > 1e-4


def test_the_same_seed_draws_the_same():
    problem = rt.Problem(np.random.default_rng(0).normal(size=(6, 6)), rt.EQUIVALENCES)
    assert rt.sample(problem, 5, seed=3) == rt.sample(problem, 5, seed=3)
    assert rt.sample(problem, 0) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"draws": 0}, "whole number"),
        ({"draws": 1.5}, "whole number"),
        ({"seed": -1}, "seed"),
        ({"time_limit": 0}, "positive number of seconds"),
        ({"time_limit": "x"}, "positive number of seconds"),
        ({"across": 1}, "across is True or False"),
    ],
)
def test_arguments_that_are_none_are_refused(arguments, said):
    with pytest.raises(ProblemError, match=said):
        rt.probabilities(rt.Problem([1.0], rt.EQUIVALENCES), **arguments)


def test_only_problems_have_probabilities():
    with pytest.raises(ProblemError, match=r"relatum\.Problem, got list"):
        rt.probabilities([1.0])


def test_what_is_too_large_is_refused_in_a_sentence():
    problem = rt.Problem(np.zeros((30, 30)), rt.EQUIVALENCES)
    with pytest.raises(SolverError, match="at most 20 elements, and one has 30"):
        rt.probabilities(problem, method="exact")


def test_time_is_kept():
    problem = rt.Problem(np.zeros((20, 20)), rt.EQUIVALENCES)
    with pytest.raises(SolverError, match=r"not complete after 0\.01 seconds"):
        rt.probabilities(problem, method="exact", time_limit=0.01)


def test_scores_that_are_too_large_are_refused_unless_fixed():
    with pytest.raises(ProblemError, match="write inf or -inf"):
        rt.probabilities(rt.Problem([2.0**1000, 1.0, 1.0], rt.EQUIVALENCES))
    scores = np.diag([2.0**900] * 3) + 0.0
    p = rt.probabilities(rt.Problem(scores, rt.EQUIVALENCES))
    assert p.pairs(0, 1) == pytest.approx(2 / 5)
    assert sum(2.0 ** p.of(rt.Partition(y)) for y in naive.partitions(3)) == pytest.approx(1.0)
    problem = rt.Problem([np.inf, 1.0, 2.0], rt.EQUIVALENCES)
    assert rt.probabilities(problem).pairs([0, 0], [1, 2]) == pytest.approx([1.0, 8 / 9])
