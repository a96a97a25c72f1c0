"""Held-out clusters: pairs scored by weights that know neither entity, and the best offset."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import relatum as rt
from relatum.records.held_out import OutOfFold, Trial, _best_offset, clusters_of, held_out


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


@pytest.mark.parametrize("best", [-9.0, -3.0, 0.0, 1.0, 5.0, 11.0])
def test_the_offset_is_found_where_one_is_best(best):
    asked = []

    def worth(x):
        asked.append(x)
        return -abs(x - best)

    assert _best_offset(worth) == best
    assert len(asked) <= 14


def test_offsets_end_somewhere():
    assert _best_offset(lambda x: x) <= 14


def test_an_offset_makes_up_for_scores_that_are_too_low():
    rng = np.random.default_rng(0)
    entity = np.repeat(np.arange(40), 2)
    i, j = np.triu_indices(80, 1)
    bits = np.where(entity[i] == entity[j], 4.0, -6.0) + rng.normal(size=len(i)) - 4
    table = np.zeros((80, 80))
    table[i, j] = table[j, i] = bits
    scores = _Table(table, entity % 2)
    trial = Trial(scores, np.column_stack([i, j]), bits, entity, -4.0, np.arange(80) % 2)
    found = held_out(trial, None)
    assert found.offset > 1
    assert found.f1 > 0.98
    assert found.tried[0.0] < found.f1
    assert held_out(trial, 0.0).offset == 0.0
    assert held_out(trial, 0.0).f1 == found.tried[0.0]


class _Table:
    """Scores of pairs in a table, for a trial."""

    def __init__(self, table, fold):
        self.table, self.fold, self.by_fold = table, fold, [None, None]

    def __call__(self, i, j):
        return self.table[i, j]
