"""Examples, folds and strengths."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from relatum.records import training
from relatum.records.blocking import candidates


def test_folds_keep_entities_together_and_are_of_like_size():
    rng = np.random.default_rng(0)
    entity = np.array([0, 0, 0, 1, 1, 2, -1, 3, 4, 5, 5])
    fold = training.folds_of(entity, 3, rng)
    assert fold[6] == -1
    for e in range(6):
        assert len(set(fold[entity == e])) == 1
    assert np.bincount(fold[fold >= 0]).min() >= 2


def test_pairs_inside_are_all_or_a_choice():
    labels = np.array([0, 1, 0, 0, 1, 2])
    rng = np.random.default_rng(0)
    every = training.pairs_inside(labels, 100, rng)
    assert sorted(map(tuple, every.tolist())) == [(0, 2), (0, 3), (1, 4), (2, 3)]
    assert len(training.pairs_inside(labels, 2, rng)) == 2
    many = training.pairs_inside(np.zeros(400, int), 10**9, rng)
    assert len(many) == 300 * 299 // 2
    assert len(training.pairs_inside(np.arange(4), 5, rng)) == 0


def test_pairs_are_unique_and_in_order():
    rng = np.random.default_rng(0)
    pairs = training.random_pairs(np.array([2, 5, 7]), 200, rng)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert training.unique_pairs(8, pairs, pairs[:3]).tolist() == [[2, 5], [2, 7], [5, 7]]
    assert training.components(4, np.array([[0, 3], [3, 1]])).tolist() == [0, 0, 1, 0]


@pytest.fixture(scope="module")
def examples(compared, people):
    found = candidates(compared.records, compared.frequencies, 5).pairs
    fold = training.folds_of(people.entity, 2, np.random.default_rng(0))
    return training.examples_of(compared, found, people.entity, fold)


def test_the_strength_that_does_best_on_held_out_entities_is_chosen(compared, examples):
    learned = training.learn_by_folds(examples, compared.scales, None, (0.3, 3e4))
    assert learned.strength == 0.3
    assert learned.losses[0.3] < learned.losses[3e4]
    judge = examples.chosen(np.flatnonzero((examples.folds == 0).all(axis=1)))
    bits = learned.by_fold[0].log_odds(judge.levels)
    assert ((bits > 0) == judge.related).mean() > 0.95
    assert training.learnable(examples)
    assert not training.learnable(examples.chosen(np.flatnonzero(examples.related)))


def test_an_interrupted_fit_is_the_last(compared, examples, monkeypatch):
    monkeypatch.setattr("relatum.measures.LogisticMeasure.fit", _told_to_stop)
    with pytest.raises(KeyboardInterrupt):
        training.fitted(examples, compared.scales, 1.0, False)


def _told_to_stop(*_):
    warnings.warn("stopped because it was interrupted; ...", ConvergenceWarning, stacklevel=2)


def test_all_pairs_of_an_entity_count_half_its_records():
    entity = np.array([0] * 9 + [1] * 4 + [2] + [-1])
    inside = np.column_stack(np.triu_indices(9, 1))
    assert training.weight_of(entity, inside).sum() == pytest.approx((9 - 1) / 2)
    others = np.array([[0, 9], [9, 13], [0, 14], [13, 14]])
    assert training.weight_of(entity, others) == pytest.approx([1 / 6, 1 / 2, 1 / 3, 1])


def test_a_score_learned_otherwise_is_one_more_feature(compared, examples):
    base = training.weights_of(
        training.fitted(examples, compared.scales, 1.0, False), compared.scales, None
    )
    fold = training.folds_of(np.arange(len(compared.records)), 2, np.random.default_rng(0))
    entity = np.zeros(len(compared.records), dtype=np.int64)
    entity[examples.pairs[~examples.related][:, 0]] = 1
    more = training.examples_of(compared, examples.pairs, entity, fold, base)
    assert more.extra == pytest.approx(base.log_odds(examples.levels))
    both = replace(examples, extra=more.extra)
    measure = training.fitted(both, compared.scales, 50.0, False)
    weights = training.weights_of(measure, compared.scales, base)
    rows = training._rows(compared.scales, both)
    assert weights.log_odds(both.levels) == pytest.approx(measure.log_odds(rows), abs=1e-3)


def test_a_strong_prior_draws_towards_that_score_and_not_to_nothing(compared, examples):
    half = training.weights_of(
        training.fitted(examples, compared.scales, 1.0, False), compared.scales, None
    )
    base = replace(half, tables=[own / 2 for own in half.tables], intercept=half.intercept / 2)
    both = replace(examples, extra=base.log_odds(examples.levels))
    measure = training.fitted(both, compared.scales, 1000.0, False)
    learned = training.weights_of(measure, compared.scales, base).log_odds(both.levels)
    # what was halved is doubled again: levels have no say, and the score has
    assert np.corrcoef(learned, both.extra)[0, 1] > 0.99
    assert np.polyfit(both.extra, learned, 1)[0] > 1.5
