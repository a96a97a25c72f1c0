"""Consensus rankings against brute force over all rankings."""

from itertools import permutations, product

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io import read_preflib


def _kendall(p, q):
    n = len(p)
    return sum((p[a] < p[b]) != (q[a] < q[b]) for a in range(n) for b in range(a))


def test_kemeny_consensus_minimises_kendall_distance():
    rng = np.random.default_rng(0)
    for _ in range(15):
        n = int(rng.integers(2, 6))
        ballots = np.array([rng.permutation(n) for _ in range(5)])
        result = rt.consensus(rt.Votes.from_rankings(ballots))
        best = min(sum(_kendall(p, b) for b in ballots) for p in permutations(range(n)))
        assert result.distance == 2 * best
        assert result.estimate.status is rt.Status.OPTIMAL
        assert rt.verify(result.problem, result.estimate)


def _snell(p, q):
    """Ordered pairs on which two rankings with ties disagree; -1 in q says nothing."""
    n = range(len(p))
    pairs = [(a, b) for a in n for b in n if a != b and q[a] >= 0 and q[b] >= 0]
    return sum((p[a] <= p[b]) != (q[a] <= q[b]) for a, b in pairs)


def test_ties_and_partial_rankings():
    rng = np.random.default_rng(1)
    for _ in range(10):
        n = 4
        ballots = rng.integers(-1, 3, (5, n))
        votes = rt.Votes.from_rankings(ballots, counts=[1, 2, 1, 3, 1])
        result = rt.consensus(votes, ties=True)
        weights = (1, 2, 1, 3, 1)
        best = min(
            sum(w * _snell(p, b) for w, b in zip(weights, ballots, strict=True))
            for p in product(range(n), repeat=n)
        )
        assert result.distance == best
        assert rt.verify(result.problem, result.estimate)


def test_evidence_is_respected():
    votes = rt.Votes.from_rankings([[0, 1, 2]] * 5)
    assert rt.consensus(votes).ranking == [0, 1, 2]
    turned = rt.consensus(votes, feasible=rt.evidence(related=[(2, 0)]))
    assert turned.ranking.index(2) < turned.ranking.index(0)


def test_dots_are_recovered_in_their_true_order(data_folder):
    for path in sorted((data_folder / "preflib" / "00024-dots").glob("*.soc")):
        rankings = read_preflib(path)
        result = rt.consensus(rt.Votes.from_rankings(rankings))
        assert rt.verify(result.problem, result.estimate)
        votes = rt.Votes.from_rankings(rankings)
        best = min(votes.distance(rt.LinearOrder(p)) for p in permutations(range(rankings.n)))
        assert result.distance == best


@pytest.mark.parametrize("pattern", ["00006-skate/*1.toc", "00014-sushi/*1.soc", "00052*/*11.soc"])
def test_preflib_consensus_is_certified(data_folder, pattern):
    paths = sorted((data_folder / "preflib").glob(pattern))[:3]
    assert paths
    for path in paths:
        result = rt.consensus(rt.Votes.from_rankings(read_preflib(path)))
        assert result.estimate.status is rt.Status.OPTIMAL
        assert rt.verify(result.problem, result.estimate)


def test_lists_and_files_are_taken_as_they_are():
    lists = [["b", "a", "c"], ["a", "b", "c"], ["b", "c", "a"]]
    result = rt.consensus(lists)
    assert result.ranking == ["b", "a", "c"]
    best = min(
        sum(_kendall([p.index(x) for x in "abc"], [q.index(x) for x in "abc"]) for q in lists)
        for p in permutations("abc")
    )
    assert result.distance == 2 * best
    ranks = np.array([[1, 0, 2], [0, 1, 2], [2, 0, 1]])
    read = rt.io.Rankings(ranks, np.ones(3, np.int64), ["a", "b", "c"])
    assert rt.consensus(read).ranking == result.ranking


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rt.consensus(None), "got None"),
        (lambda: rt.consensus(rt.Votes.from_rankings([[0, 1]]), ties="yes"), "True or False"),
        (lambda: rt.consensus(rt.Votes.from_rankings([[0, 1]]), feasible="x"), "got 'x'"),
        (lambda: rt.consensus(rt.Votes.from_rankings([[0, 1]]), prove="yes"), "prove is True or"),
    ],
)
def test_odd_calls_are_refused(call, says):
    with pytest.raises(DataError if "prove" not in says else ValueError, match=says):
        call()
