"""Votes against counting by hand."""

from itertools import product

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError


def test_unranked_elements_may_come_last():
    votes = rt.Votes.from_rankings([[0, 1, -1], [1, 0, -1], [0, -1, -1]], unranked="last")
    assert votes.before.tolist() == [[0, 2, 3], [1, 0, 2], [0, 0, 0]]
    assert votes.tied.tolist() == [[0] * 3] * 3


def test_bernoulli_log_odds_are_those_of_counts():
    votes = rt.Votes.from_comparisons(
        [("x", "y")] * 3 + [("y", "x"), ("x", "z", "draw"), ("z", "y", "loss")], names="xyz"
    )
    c = votes.log_odds("bernoulli", sigma=2.0)
    assert c[0, 1] == pytest.approx(np.log2(4 / 2))
    assert c[1, 0] == pytest.approx(-c[0, 1])
    assert c[0, 2] == c[2, 0] == pytest.approx(1.0)  # a draw is for both directions
    assert c[1, 2] == pytest.approx(1.0)
    assert np.diagonal(c).tolist() == [0] * 3
    result = rt.consensus(votes, method="bernoulli", ties=True)
    best = max((c * np.less_equal.outer(p, p)).sum() for p in product(range(3), repeat=3))
    assert result.estimate.value == pytest.approx(best)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rt.Votes.from_rankings([0, 1]), "one row per ranking"),
        (lambda: rt.Votes.from_rankings([[0, 1]], counts=[-1]), "from 0 on"),
        (lambda: rt.Votes.from_rankings([[0, 1]], unranked="first"), "unranked"),
        (lambda: rt.Votes.from_comparisons([("a", "b", "maybe")]), "Comparison 0"),
        (lambda: rt.Votes.from_comparisons([("a", "a")]), "itself"),
        (lambda: rt.Votes.from_comparisons([("a", "b")], names=["a"]), "'b'"),
        (lambda: rt.Votes.from_comparisons(["ab"]), "winner, loser"),
        (lambda: rt.Votes.from_rankings([[0, 1]]).log_odds("borda"), "kemeny"),
    ],
)
def test_bad_votes_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rt.Votes.from_rankings(np.ma.array([[0, 1]])), "masked"),
        (lambda: rt.Votes.from_rankings([[0, 1], [0]]), "lists of equal lengths"),
        (lambda: rt.Votes.from_rankings(np.array([[2**63, 1]], np.uint64)), r"below 2\*\*62"),
        (lambda: rt.Votes.from_rankings([[0, 1]], [1e300]), r"below 2\*\*53"),
        (lambda: rt.Votes.from_comparisons(3), "got 3"),
        (lambda: rt.Votes.from_comparisons([]), "no comparisons"),
        (lambda: rt.Votes.from_comparisons([({}, "a")]), "Names are numbers or texts"),
        (lambda: rt.Votes([[1, 2]], [[0, 0]]), "square table"),
        (lambda: rt.Votes([[0, np.nan], [0, 0]], np.zeros((2, 2))), "from 0 on"),
        (lambda: rt.Votes(np.zeros((2, 2)), np.zeros((3, 3))), "as many rows"),
    ],
)
def test_odd_votes_are_refused(call, says):
    with pytest.raises(rt.errors.RelatumError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_votes_that_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setenv("RELATUM_MEMORY", "1MB")
    with pytest.raises(rt.errors.DataError, match=r"1000 elements takes 40 MB of memory"):
        rt.Votes.from_rankings([list(range(1000))])


def test_lists_of_names_are_the_rankings_that_they_say():
    rng = np.random.default_rng(3)
    for _ in range(20):
        places = rng.integers(-1, 4, (4, 5))
        lists = []
        for row in places:
            tied = [[f"n{a}" for a in np.flatnonzero(row == p)] for p in range(4)]
            lists.append([t[0] if len(t) == 1 else t for t in tied if t])
        names = [f"n{a}" for a in range(5)]
        for unranked in ("ignore", "last"):
            one = rt.Votes.from_lists(lists, [1, 2, 3, 4], names=names, unranked=unranked)
            two = rt.Votes.from_rankings(places, [1, 2, 3, 4], names=names, unranked=unranked)
            assert one.names == two.names
            assert np.array_equal(one.before, two.before)
            assert np.array_equal(one.tied, two.tied)


@pytest.mark.parametrize(
    ("rankings", "says"),
    [
        ("abc", "lists of names"),
        (np.zeros((2, 2), int), "from_rankings"),
        (5, "lists of names"),
        ([["a"], "ab"], "Ranking 1 is a list"),
        ([["a", "a"]], "'a' twice"),
        ([["a", ["a", "b"]]], "'a' twice"),
        ([["a", None]], "no name"),
        ([["a", float("nan")]], "no name"),
        ([["a", [["b"]]]], "no name"),
        ([[]], "no rankings"),
        ([], "no rankings"),
    ],
)
def test_odd_lists_are_refused(rankings, says):
    with pytest.raises(DataError, match=says):
        rt.Votes.from_lists(rankings)
    with pytest.raises(DataError, match="not in `names`"):
        rt.Votes.from_lists([["a"]], names=["b"])


def test_counts_beyond_floats_are_refused_without_a_warning():
    counts = np.array([np.longdouble("1e4000"), 1])
    with pytest.raises(DataError, match="counts are 2 numbers"):
        rt.Votes.from_rankings([[0, 1], [1, 0]], counts)
