"""Questions: those of most entropy, and fewer of them than by scores."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError, ProblemError
from relatum.probability.matchings import best_matching

MATCHINGS = rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE


def entropy(p):
    return sum(-q * np.log2(q) for q in (p, 1 - p) if q > 0)


def test_the_first_question_has_the_largest_entropy():
    rng = np.random.default_rng(0)
    problem = rt.Problem(3 * rng.normal(size=15), rt.EQUIVALENCES)
    p = rt.probabilities(problem).matrix()
    first = rt.questions(problem)[0]
    best = max(entropy(p[a, b]) for a in range(6) for b in range(a))
    assert first.entropy == pytest.approx(best)
    assert first.probability == pytest.approx(p[first.i, first.j])
    everything = rt.questions(problem, 99)
    assert len(everything) == 15
    assert len({(q.i, q.j) for q in everything}) == 15


def test_questions_at_once_have_no_common_element():
    problem = rt.Problem(np.zeros(28), rt.EQUIVALENCES)
    ends = [end for q in rt.questions(problem, 4) for end in (q.i, q.j)]
    assert len(set(ends)) == 8


def test_costs_and_ids():
    table = {"unique_id_l": ["x", "y"], "unique_id_r": ["y", "z"], "match_weight": [0.0, 3.0]}
    pd = pytest.importorskip("pandas")
    problem = rt.Problem.from_table(pd.DataFrame(table), background=-9.0, feasible=rt.EQUIVALENCES)
    # the score of x and y is 0, but y is rather with z: four relations weigh 1, 1, 8 and little
    first = rt.questions(problem)[0]
    assert first.ids == ("y", "z")
    assert first.probability == pytest.approx(0.8, abs=0.01)
    dear = rt.questions(problem, cost=lambda i, j: np.where(i + j == 3, 100.0, 1.0))[0]
    assert dear.ids == ("x", "y")
    with pytest.raises(DataError, match="positive"):
        rt.questions(problem, cost=lambda i, j: 0.0 * i)


def two_sources(seed, n=60):
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.6, np.arange(n), -1)
    scores = -6 + 2.5 * rng.normal(size=(n, n))
    own = np.flatnonzero(truth >= 0)
    scores[own, own] += 7
    return rt.Problem(scores, MATCHINGS), truth


def test_answers_are_learned_and_fewer_are_needed_than_by_scores():
    problem, truth = two_sources(1)
    rows = np.arange(len(truth))

    def wrong(relation):
        return int(np.count_nonzero(relation.matrix() != (truth[:, None] == rows[None, :])))

    start = wrong(rt.learn_by_asking(problem, lambda i, j: False, 0).relation)
    told = rt.learn_by_asking(problem, lambda i, j: bool(truth[i] == j), 25)
    assert len(told.answers) == 25
    assert all(related == (truth[q.i] == q.j) for q, related in told.answers)
    assert told.problem.feasible.contains(told.relation)
    assert "25 answers" in repr(told)
    # the same number of answers about the scores nearest 0
    scores = np.array(problem.log_odds)
    nearest = np.argsort(np.abs(scores), axis=None)[:25]
    for i, j in zip(*np.unravel_index(nearest, scores.shape), strict=True):
        if truth[i] == j:
            scores[i, :] = scores[:, j] = -99
            scores[i, j] = 99
        else:
            scores[i, j] = -99
    i, j = np.divmod(np.arange(scores.size), len(truth))
    matrix = np.zeros(scores.shape, bool)
    matrix[best_matching(i, j, scores.ravel())] = True
    assert wrong(told.relation) < wrong(rt.Relation(matrix)) < start


def test_batches_and_an_end_of_questions():
    problem = rt.Problem([0.5, -0.5, 0.1], rt.EQUIVALENCES)
    told = rt.learn_by_asking(problem, lambda i, j: i + j == 1, 99, batch=2)
    assert told.relation.labels.tolist() == [0, 0, 1]
    assert len(told.answers) <= 3
    assert rt.infer(told.problem).relation == told.relation


def test_what_is_refused():
    problem = rt.Problem([0.5], rt.EQUIVALENCES)
    with pytest.raises(ProblemError, match=r"about a relatum\.Problem"):
        rt.questions([0.5])
    with pytest.raises(DataError, match="oracle is a function"):
        rt.learn_by_asking(problem, True, 1)
    with pytest.raises(DataError, match="True or False"):
        rt.learn_by_asking(problem, lambda i, j: "yes", 1)
    with pytest.raises(DataError, match="cost is a function"):
        rt.questions(problem, cost=3)
