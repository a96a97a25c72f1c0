"""LinearRanker against brute force over permutations."""

from __future__ import annotations

import pickle
from itertools import permutations, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks as checks

import relatum as rt
from relatum.errors import DataError


@pytest.fixture(scope="module")
def ranker():
    return rt.LinearRanker().fit(rt.datasets.load_sentences())


@pytest.mark.parametrize("number", range(12))
def test_predicts_a_most_probable_order(ranker, number):
    items = rt.datasets.load_sentences()[number][:6]
    scores = ranker.log_odds(items)
    n = len(items)

    def value(order):
        return sum(scores[order[p], order[q]] for p in range(n) for q in range(p, n))

    estimate = ranker.infer(items)
    assert estimate.status is rt.Status.OPTIMAL
    assert estimate.value == pytest.approx(max(value(p) for p in permutations(range(n))))
    assert sorted(ranker.predict(items)) == sorted(items)


def test_comparisons_and_consensus():
    rng = np.random.default_rng(0)
    strength = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}
    winners, losers = [], []
    for _ in range(400):
        x, y = rng.choice(list(strength), 2, replace=False)
        first = rng.random() < 1 / (1 + 2.0 ** (strength[y] - strength[x]))
        winners.append(x if first else y)
        losers.append(y if first else x)
    ranker = rt.LinearRanker().fit_comparisons(winners, losers)
    assert ranker.predict(["d", "b", "a", "c"]) == ["a", "b", "c", "d"]
    assert [ranker.items_[k] for k in ranker.estimate_.relation.order] == ["a", "b", "c", "d"]
    assert ranker.gap_ < 1e-6


@pytest.mark.slow
def test_evidence_and_many(ranker):
    items = ["market", "the", "to", "walks"]
    told = ranker.predict(items, evidence=rt.evidence(related=[(0, 3)]))
    assert told.index("market") < told.index("walks")
    lists = [s[:7] for s in rt.datasets.load_sentences()[:10]]
    assert ranker.predict_many(lists) == [ranker.predict(s) for s in lists]
    weak = clone(ranker).set_params(feasible=rt.WEAK_ORDERS).fit(rt.datasets.load_sentences()[:8])
    assert sorted(weak.predict(items[1:3])) == ["the", "to"]


def test_contract_of_estimators():
    """The checks of scikit-learn that do not feed matrices to `fit`."""
    for check in (
        checks.check_parameters_default_constructible,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_no_attributes_set_in_init,
        checks.check_estimator_repr,
        checks.check_estimator_cloneable,
    ):
        check("LinearRanker", rt.LinearRanker())
    sentences = rt.datasets.load_sentences()[:20]
    ranker = rt.LinearRanker(measure=rt.BernoulliMeasure(sigma=1.5), random_state=3)
    assert ranker.get_params()["measure__sigma"] == 1.5
    before = clone(ranker)
    ranker.fit(sentences)
    assert str(before.get_params()) == str(ranker.get_params())
    again = pickle.loads(pickle.dumps(ranker))
    assert again.predict(sentences[3]) == ranker.predict(sentences[3])
    with pytest.raises(NotFittedError):
        rt.LinearRanker().predict(["a"])


@pytest.mark.slow
def test_score_is_the_share_of_pairs_in_order():
    ranker = rt.LinearRanker().fit(["a b c d"] * 3)
    assert ranker.score(["a b c d"]) == 1.0
    assert ranker.score([["d", "c", "b", "a"]]) == 0.0
    assert ranker.score(["b a c d", "c d"]) == pytest.approx(6 / 7)
    assert ranker.score(["b z a c d"]) == pytest.approx(5 / 6)  # z is not known
    with pytest.raises(DataError, match="two items that were seen"):
        ranker.score(["z y"])
    sentences = rt.datasets.load_sentences()
    grid = GridSearchCV(
        rt.LinearRanker(measure=rt.BernoulliMeasure()), {"measure__sigma": [1.2, 2.0]}, cv=3
    ).fit(sentences)
    assert grid.best_score_ > 0.6  # 0.5 is what chance gives


@pytest.mark.slow
def test_n_jobs_change_nothing(ranker):
    lists = [s[:6] for s in rt.datasets.load_sentences()[:8]]
    parallel = clone(ranker).set_params(n_jobs=2, feasible=rt.WEAK_ORDERS)
    serial = clone(parallel).set_params(n_jobs=1)
    few = rt.datasets.load_sentences()[:8]
    assert parallel.fit(few).predict_many(lists) == serial.fit(few).predict_many(lists)


def test_errors(ranker):
    with pytest.raises(DataError, match="'zebra' was in no training sequence"):
        ranker.predict(["the", "zebra"])
    with pytest.raises(DataError, match="at least one sequence"):
        rt.LinearRanker().fit([])
    cycle = rt.evidence(related=[(0, 1), (1, 2), (2, 0)])
    with pytest.raises(DataError, match="There is no order"):
        ranker.predict(["the", "to", "market"], evidence=cycle)


def test_partial_orders_are_learned_from():
    said = [None, None, rt.evidence(related=[(2, 0)]), rt.evidence()]
    sequences = ["a b c", "a b", "c a b d", "b a"]
    ranker = rt.LinearRanker(semi_supervised=True).fit(sequences, said)
    assert ranker.completed_[:2] == [["a", "b", "c"], ["a", "b"]]
    third = ranker.completed_[2]
    assert sorted(third) == ["a", "b", "c", "d"]
    assert third.index("b") < third.index("c")  # places 2 and 0
    assert ranker.completed_[3] == ["a", "b"]  # learned from the others
    assert ranker.predict(["c", "b", "a"]) == ["a", "b", "c"]
    # the counts are those of the sequences as completed
    plain = rt.LinearRanker().fit(ranker.completed_)
    items = ranker.items_
    assert np.allclose(ranker.log_odds(items), plain.log_odds(items))


def test_without_unknown_orders_semi_supervised_is_supervised():
    sequences = ["a b c", "b c a", "a c"]
    one = rt.LinearRanker(semi_supervised=True).fit(sequences, [None, None, None])
    two = rt.LinearRanker().fit(sequences)
    assert np.allclose(one.log_odds(two.items_), two.log_odds(two.items_))
    with pytest.raises(DataError, match="each of 3 sequences"):
        rt.LinearRanker(semi_supervised=True).fit(sequences, [None])


def _games(seed, n=4, count=14):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.permutation(n)[:2] for _ in range(count)])
    return pairs[:, 0].tolist(), pairs[:, 1].tolist(), rng.choice([0, 0.5, 1], count).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_games_with_draws_against_counting_and_all_weak_orders(seed):
    a, b, outcome = _games(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(a))
    ranker = rt.LinearRanker(feasible=rt.WEAK_ORDERS).fit_comparisons(a, b, outcome, weight)
    n = len(ranker.items_)
    good, bad = np.ones((n, n)), np.ones((n, n))  # sigma = 2: one pseudo-observation of each
    place = {item: k for k, item in enumerate(ranker.items_)}
    for x, y, result, w in zip(a, b, outcome, weight, strict=True):
        i, j = place[x], place[y]
        for p, q, won in ((i, j, result), (j, i, 1 - result)):
            good[p, q] += w * (won >= 0.5)
            bad[p, q] += w * (won < 0.5)
    scores = np.log2(good / bad)
    np.fill_diagonal(scores, 0.0)
    assert ranker.log_odds(ranker.items_) == pytest.approx(scores)
    best = max((scores * np.less_equal.outer(p, p)).sum() for p in product(range(n), repeat=n))
    assert ranker.estimate_.value == pytest.approx(best)
    ranks = ranker.predict_ranks()
    assert (scores * np.less_equal.outer(ranks, ranks)).sum() == pytest.approx(best)


def test_weights_are_repeated_games():
    a, b, outcome = _games(1)
    twice = rt.LinearRanker().fit_comparisons(a * 2, b * 2, outcome * 2)
    heavy = rt.LinearRanker().fit_comparisons(a, b, outcome, [2] * len(a))
    assert np.array_equal(twice.log_odds(twice.items_), heavy.log_odds(twice.items_))


def test_ranks_are_those_of_a_table_of_sports():
    games = [("a", "b", "draw"), ("a", "c", "win"), ("b", "c", "win"), ("c", "d", "win")]
    a, b, outcome = zip(*games, strict=True)
    ranker = rt.LinearRanker(feasible=rt.WEAK_ORDERS).fit_comparisons(a, b, outcome)
    assert ranker.predict_ranks(["d", "c", "b", "a"]).tolist() == [4, 3, 1, 1]
    assert ranker.predict_ranks(["d", "c", "b", "a"], method="dense").tolist() == [3, 2, 1, 1]
    turned = ranker.predict_ranks(["c", "a"], rt.evidence(unrelated=[(1, 0)]))
    assert turned.tolist() == [1, 2]
    with pytest.raises(DataError, match="method is"):
        ranker.predict_ranks(method="max")
    partial = clone(ranker).set_params(feasible=rt.PARTIAL_ORDERS).fit_comparisons(a, b, outcome)
    with pytest.raises(DataError, match="linear or weak order"):
        partial.predict_ranks()


def test_a_win_is_the_default():
    plain = rt.LinearRanker().fit_comparisons(["x", "y", "x"], ["y", "z", "z"])
    said = rt.LinearRanker().fit([("x", "y"), ("y", "z"), ("x", "z")])
    assert np.array_equal(plain.log_odds(list("xyz")), said.log_odds(list("xyz")))


def test_rank_probabilities_are_those_of_all_orders(ranker):
    items = rt.datasets.load_sentences()[0][:5]
    scores, n = ranker.log_odds(items), 5
    for known in (None, rt.evidence([(3, 0)])):
        p, total = np.zeros((n, n)), 0.0
        for order in permutations(range(n)):
            if known is not None and order.index(3) > order.index(0):
                continue
            weight = 2.0 ** sum(scores[order[i], order[j]] for i in range(n) for j in range(i, n))
            total += weight
            p[list(order), range(n)] += weight
        assert ranker.rank_probabilities(items, known) == pytest.approx(p / total, abs=1e-12)
