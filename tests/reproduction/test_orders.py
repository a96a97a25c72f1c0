"""Orders of words: sentences kept apart, equal words exchanged, distances from scratch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relatum as rt
from instances.reproduction import TINY
from relatum.reproduction.orders import METRICS, _problems, _same_words_in_order, corpora


@pytest.fixture(scope="module")
def corpus():
    return corpora(TINY)[0]


def test_sentences_are_tested_or_learned_from(corpus):
    train, test = ({tuple(s) for s in part} for part in (corpus.train, corpus.test))
    assert len(corpus.test) == TINY.sentences
    assert not train & test
    assert len(train | test) == len(rt.datasets.load_sentences())


def test_equal_words_are_exchanged_so_that_the_earlier_come_first():
    words = np.array([4, 7, 4, 4], dtype=np.int32)
    found = _same_words_in_order(words, np.array([3, 1, 0, 2]))
    assert found.tolist() == [0, 1, 2, 3]


def test_every_order_is_proven_and_distances_are_those_of_the_orders(tiny, corpus):
    found = tiny.results("orders")["embedded"]
    for row in found["by_sigma"]:
        assert row["optimal"] == row["verified"] == len(corpus.test)
    row = found["by_sigma"][0]
    offsets = np.concatenate([[0], np.cumsum([len(t) for t in corpus.train])])
    measure = rt.BernoulliMeasure(sigma=row["sigma"]).fit_sequences(
        np.concatenate(corpus.train), offsets, corpus.words
    )
    problems, shown = _problems(corpus, measure)
    inversions = []
    for words, order, problem in zip(corpus.test, shown, problems, strict=True):
        found_order = rt.infer(problem, prove=True).relation.order
        places = _same_words_in_order(words, order[found_order]).tolist()
        pairs = list(itertools.combinations(places, 2))
        inversions.append(np.mean([a > b for a, b in pairs]))
    # another optimum may be found, so not exactly the same
    assert row["kendall"] == pytest.approx(np.mean(inversions), abs=0.03)


def test_random_orders_are_as_far_as_expected(tiny, corpus):
    random = tiny.results("orders")["embedded"]["random"]
    rng = np.random.default_rng(0)
    for metric in METRICS:
        drawn = [
            rt.metrics.permutation_distance(np.arange(len(t)), rng.permutation(len(t)), metric)
            for t in corpus.test
            for _ in range(60)
        ]
        assert random[metric] == pytest.approx(np.mean(drawn), abs=0.02)


def test_seconds_cover_all_lengths(tiny, corpus):
    rows = tiny.results("orders")["embedded"]["by_length"]
    assert sum(row["sentences"] for row in rows) == len(corpus.test)
    assert {row["length"] for row in rows} == {len(t) for t in corpus.test}
