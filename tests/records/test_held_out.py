"""Held-out clusters: pairs scored by weights that know neither entity, and the best offset."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import learn_offset
from relatum.records.held_out import (
    UNLABELLED_OFFSET,
    OutOfFold,
    Trial,
    clusters_of,
    held_out,
)


class Constant:
    """Weights that give every pair the same bits."""

    def __init__(self, bits):
        self.bits = bits

    def log_odds(self, levels):
        return np.full(levels.shape[1], self.bits)


def test_a_pair_is_scored_without_either_fold():
    comparison = SimpleNamespace(levels=lambda i, j: np.zeros((1, len(i)), np.int8))
    scores = OutOfFold(comparison, [Constant(2.0), Constant(10.0)], np.array([0, 0, 1, 1]))
    assert scores(np.array([0, 0, 2]), np.array([1, 2, 3])).tolist() == [2.0, 6.0, 10.0]


def test_clusters_are_those_of_infer():
    rng = np.random.default_rng(1)
    i, j = np.triu_indices(9, 1)
    bits = rng.normal(-1, 3, size=len(i))
    some = rng.random(len(i)) < 0.6
    missing = dict(zip(zip(i.tolist(), j.tolist(), strict=True), bits, strict=True))

    def score(a, b):
        ends = zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True)
        return np.array([missing[e] for e in ends])

    pairs = np.column_stack([i, j])[some]
    found = clusters_of(9, pairs, bits[some], score, -2.0)
    problem = rt.Problem.from_pairs(i, j, bits, n=9, feasible=rt.EQUIVALENCES)
    best = rt.infer(problem, prove=True)
    value = bits[(found[i] == found[j])].sum()
    # pairs that are listed decide what belongs to one component, so that less may be gained
    assert value <= best.value + 1e-9
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    apart = clusters_of(9, pairs, bits[some], score, -2.0, groups)
    assert not ((apart[i] == apart[j]) & (groups[i] == groups[j])).any()


def trial_of(entity, groups, low, noise=1.0):
    rng = np.random.default_rng(0)
    n = len(entity)
    i, j = np.triu_indices(n, 1)
    bits = np.where(entity[i] == entity[j], 4.0, -6.0) + noise * rng.normal(size=len(i)) - low
    table = np.zeros((n, n))
    table[i, j] = table[j, i] = bits
    known = entity[i] >= 0
    pairs = np.column_stack([i, j])[known]
    return Trial(_Table(table, entity % 2), pairs, bits[known], entity, -4.0, groups)


def test_an_offset_makes_up_for_scores_that_are_too_low():
    entity = np.repeat(np.arange(40), 2)
    trial = trial_of(entity, None, 4)
    found = held_out(trial, None)
    assert found.method == "f1"
    assert found.offset > 1
    assert found.f1 > 0.98
    assert found.tried[0.0] < found.f1
    given = held_out(trial, 0.0)
    assert (given.offset, given.method) == (0.0, "given")
    assert given.f1 == pytest.approx(found.tried[0.0])


def test_an_offset_that_gains_nothing_is_none():
    trial = trial_of(np.repeat(np.arange(40), 2), None, 0, 0.1)
    assert held_out(trial, None).offset == 0.0


def test_two_sources_are_matched_as_often_as_they_should():
    # 30 pairs and 40 records alone: between what `learn_offset` says, and what is taken without
    entity = np.concatenate([np.repeat(np.arange(30), 2), np.arange(30, 70)])
    groups = np.arange(100) % 2
    trial = trial_of(entity, groups, 3, 2.0)
    found = held_out(trial, None)
    assert found.method == "likelihood"
    assert not found.capped
    i, j = trial.pairs.T
    same = learn_offset(i, j, trial.bits, entity, groups).bits
    assert same < found.offset < UNLABELLED_OFFSET  # thirty pairs, and a prior
    assert found.f1 > trial.measured(trial.clusters(0.0), np.arange(100))[2]


def test_records_that_all_have_partners_set_no_limit():
    trial = trial_of(np.repeat(np.arange(30), 2), np.arange(60) % 2, 3, 2.0)
    found = held_out(trial, None)
    assert found.capped
    assert found.method == "f1"


class _Table:
    """Scores of pairs in a table, for a trial."""

    def __init__(self, table, fold):
        self.table, self.fold, self.by_fold = table, fold, [None, None]

    def __call__(self, i, j):
        return self.table[i, j]
