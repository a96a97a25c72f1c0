"""Forgeries of prices of pairs: none may prove a bound below the best clustering of two groups.

Every claim is checked, false by trying all relations, in dense and sparse views and by the plain
checker. The honest twin is accepted by all of them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import relatum as rt
from campaign.generation import NAMES
from campaign.mutants import problem_of, sparse_from
from campaign.truth import Meaning, false_claims
from relatum.proof import Certificate, Contract, Cuts, Decompose, Estimate, Prices, Status, plain

# two left elements, 0 and 1, and two right ones: 0-3 and 1-2, worth 8, against 0-2 and 1-3, worth 6
WEIGHTS = np.array([[0, 9, 5, 4], [0, 0, 4, 1], [0, 0, 0, 9], [0, 0, 0, 0.0]])
SIDES = [0, 0, 1, 1]
HONEST = np.array([4.0, 3.0, 1.0, 0.0])


def asked(weights=WEIGHTS, **extras):
    """A clustering, and what it means."""
    meaning = Meaning(frozenset(NAMES["EQUIVALENCES"]), np.array(weights, dtype=float), **extras)
    return problem_of(meaning), meaning


def claiming(bound, proof):
    """An estimate that claims a bound, or that nothing is feasible, and nothing else."""
    status = Status.INFEASIBLE if bound == -math.inf else Status.BOUND_ONLY
    return Estimate(status, None, -math.inf, bound, Certificate(bound, proof))


def verdicts(problem, estimate, path):
    """The answers of the checker, with dense and sparse views, and of the plain one."""
    with sparse_from(1):
        sparse = bool(rt.verify(problem, estimate))
    rt.io.save_estimate(path, problem, estimate)
    return bool(rt.verify(problem, estimate)), sparse, plain.check(str(path))[0] == 0


def test_honest_prices_are_accepted_by_all(tmp_path):
    problem, _ = asked(groups=[SIDES])
    found = verdicts(problem, claiming(8.0, Prices((), HONEST)), tmp_path / "e.npz")
    assert found == (True, True, True)
    known, _ = asked(groups=[SIDES], related=[(1, 3)])
    # 1 + 5: known pairs cost what they are worth
    prices = np.array([5.0, 1.0, 0.0, 0.0])
    assert verdicts(known, claiming(6.0, Prices((), prices)), tmp_path / "e.npz") == (True,) * 3


FORGERIES = {
    "lower": ({"groups": [SIDES]}, 7.0, HONEST - [1, 0, 0, 0]),
    "negative": ({"groups": [SIDES]}, 7.0, HONEST - [0, 0, 0, 1]),
    "far below": ({"groups": [SIDES]}, 0.0, np.full(4, -100.0)),
    "up and down": ({"groups": [SIDES]}, 7.0, np.array([100.0, 100.0, -97.0, -96.0])),
    "known pair": ({"groups": [SIDES], "related": [(1, 3)]}, 5.0, np.array([5, -50.0, 0, 0])),
    "known pair, both": ({"groups": [SIDES], "related": [(1, 3)]}, 5.0, np.array([5, -9, 0, 9.0])),
    "three groups": ({"groups": [[0, 1, 2, 2]]}, 8.0, HONEST),
    "no groups": ({}, 8.0, HONEST),
    "one group of two": ({"groups": [[0, 0, 1, 2]]}, 8.0, HONEST),
    "cap of three": ({"cap": 3}, 8.0, HONEST),
    "cap of two": ({"cap": 2}, 17.0, HONEST),
    "not feasible": ({"groups": [SIDES]}, -math.inf, HONEST),
    "evidence of other sides": ({"unrelated": [(0, 1)]}, 8.0, HONEST),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_prices_prove_nothing(name, tmp_path):
    extras, bound, prices = FORGERIES[name]
    problem, meaning = asked(**extras)
    estimate = claiming(bound, Prices((), prices))
    assert false_claims(meaning, estimate), "the claim is true"
    assert verdicts(problem, estimate, tmp_path / "e.npz") == (False, False, False)


@pytest.mark.parametrize(
    "prices", [HONEST[:3], np.full(4, math.nan), np.full(4, math.inf), [SIDES]]
)
def test_what_is_no_price_of_each_element_is_refused(prices):
    problem, _ = asked(groups=[SIDES])
    for elements in (1, 2000):
        with sparse_from(elements):
            assert not rt.verify(problem, claiming(8.0, Prices((), np.array(prices))))


def test_pairs_that_are_not_listed_count_if_they_are_worth_something():
    feasible = rt.EQUIVALENCES & rt.one_per_group(SIDES)
    for background, accepted in ((-1.0, True), (0.0, True), (2.0, False)):
        problem = rt.Problem.from_pairs([0], [2], [5.0], n=4, background=background,
                                        feasible=feasible)  # fmt: skip
        with sparse_from(1):
            answer = rt.verify(problem, claiming(5.0, Prices((), np.array([5.0, 0, 0, 0]))))
        assert bool(answer) is accepted


def test_nodes_around_and_rows_within_change_nothing():
    problem, meaning = asked(groups=[SIDES])
    everyone = np.arange(4)
    short = Prices((), HONEST - [1, 0, 0, 0])
    wheel = Cuts("transitive", np.array([[0, 2, 1]]), np.array([2.0]))
    for proof in (
        Decompose(((everyone, 7.0, short),)),
        Decompose(((everyone[:2], 0.0, Prices((), np.zeros(2))), (everyone[2:], 0.0, short))),
        Contract(everyone, short),
        Contract(np.array([0, 0, 1, 1]), Prices((), np.zeros(2))),
        Prices((wheel,), HONEST - 1.0),
    ):
        estimate = claiming(7.0, proof)
        assert false_claims(meaning, estimate)
        for elements in (1, 2000):
            with sparse_from(elements):
                assert not rt.verify(problem, estimate)


@pytest.mark.parametrize("known", [[(0, 2), (0, 3)], [(0, 2), (1, 2)]])
def test_three_elements_together_are_not_feasible(known, tmp_path):
    problem, meaning = asked(groups=[SIDES], related=known)
    estimate = claiming(-math.inf, Prices((), HONEST))
    assert meaning.best is None
    assert verdicts(problem, estimate, tmp_path / "e.npz")[:2] == (True, True)


def test_prices_of_large_problems_need_sets_of_two():
    problem, _ = asked(np.zeros((4, 4)), groups=[[0, 1, 2, 2]])
    with sparse_from(1):
        answer = rt.verify(problem, claiming(8.0, Prices((), HONEST)))
    assert "at most two" in answer.reason
