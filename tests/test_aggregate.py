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


def test_evidence_is_respected():
    votes = rt.Votes.from_rankings([[0, 1, 2]] * 5)
    assert rt.consensus(votes).ranking == [0, 1, 2]
    turned = rt.consensus(votes, feasible=rt.evidence(related=[(2, 0)]))
    assert turned.ranking.index(2) < turned.ranking.index(0)


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


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: rt.consensus([[0, 1], [1, 0]]),
            r"Votes\.from_rankings.* got \[\[0, 1\], \[1, 0\]\]",
        ),
        (lambda: rt.consensus(None), "got None"),
        (lambda: rt.consensus(rt.Votes.from_rankings([[0, 1]]), ties="yes"), "True or False"),
        (lambda: rt.consensus(rt.Votes.from_rankings([[0, 1]]), feasible="x"), "got 'x'"),
        (lambda: rt.consensus(rt.Votes.from_rankings([[0, 1]]), prove="yes"), "prove is True or"),
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
