"""Labelled elements of a table: which are taken, their pairs, and scores asked for once."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables.options import Settings, Tuning
from relatum.pair_tables.solve.labelled import (
    Labelled,
    Remembered,
    clusters_at,
    codes_of,
    labelled_part,
    pairs_once,
)


def test_labels_of_every_kind():
    assert codes_of([3, -1, 7, 3], "entity").tolist() == [0, -1, 1, 0]
    assert codes_of([2.0, np.nan, 1.0], "entity").tolist() == [1, -1, 0]
    assert codes_of(["b", "a", "b"], "entity").tolist() == [1, 0, 1]
    assert codes_of(np.array(["b", None, "a"], dtype=object), "entity").tolist() == [1, -1, 0]


def test_pairs_are_merged_and_sorted():
    i, j, w = pairs_once([2, 0, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 4.0, 9.0], 3)
    assert (i.tolist(), j.tolist(), w.tolist()) == ([0, 0], [1, 2], [3.0, 1.0])
    with pytest.raises(DataError, match="numbered from 0 to 1"):
        pairs_once([0], [2], [1.0], 2)


def test_labelled_elements_come_with_their_neighbours():
    rows = (np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5]), np.array([1.0, 2.0, 3.0, 4.0]))
    labels = np.array([7, -1, -1, -1, -1, 9])
    found = labelled_part(lambda: [rows], labels, np.arange(6))
    # elements 0, 1, 4, 5
    assert found.labels.tolist() == [0, -1, -1, 1]
    assert found.groups.tolist() == [0, 1, 4, 5]
    assert [x.tolist() for x in found.pairs] == [[0, 2], [1, 3], [1.0, 4.0]]
    assert found.total == 6


def test_of_many_labels_whole_entities_are_taken(monkeypatch):
    monkeypatch.setattr(Tuning, "offset_elements", 300)
    labels = np.arange(3000) // 3
    none = np.empty(0, np.int64)
    found = labelled_part(lambda: [(none, none, np.empty(0))], labels, None)
    sizes = np.bincount(found.labels)
    assert (sizes == 3).all()
    assert 200 < found.n < 400


def test_scores_are_asked_for_once():
    asked = []

    def score(a, b):
        asked.extend(zip(a.tolist(), b.tolist(), strict=True))
        return 10.0 * a + b

    once = Remembered(score, np.array([5, 6, 7]))
    assert once(np.array([0, 2]), np.array([1, 1])).tolist() == [56.0, 67.0]
    assert once(np.array([1, 0, 0]), np.array([2, 1, 2])).tolist() == [67.0, 56.0, 57.0]
    assert sorted(asked) == [(5, 6), (5, 7), (6, 7)]


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_those_of_the_shifted_problem(seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(12, 1)
    take = rng.random(len(i)) < 0.5
    i, j, w = i[take], j[take], 3 * rng.normal(size=take.sum()) - 1
    groups = rng.integers(0, 5, 12) if seed % 2 else None
    case = Labelled((i, j, w), np.zeros(12, np.int64), groups, Settings(-2.0, 3))
    feasible = rt.EQUIVALENCES & rt.at_most(3)
    if groups is not None:
        feasible = feasible & rt.one_per_group(groups)
    problem = rt.Problem.from_pairs(i, j, w + 1.5, n=12, background=-2.0, feasible=feasible)
    found = clusters_at(case, 1.5, -2.0)
    best = rt.infer(problem, prove=True).value
    assert problem.value(rt.Partition(found)) == pytest.approx(best, abs=1e-4)


def test_bits_that_are_not_a_number_are_refused():
    with pytest.raises(DataError, match="those of pair 1 are NaN"):
        pairs_once([0, 1], [1, 2], [1.0, float("nan")], 3)
