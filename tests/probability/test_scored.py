"""Pairs of a problem once each, whatever its layout."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.probability import scored
from relatum.probability.scored import fixed_pairs, is_related, scored_pairs

E = rt.EQUIVALENCES


def open_scores(problem):
    found = scored_pairs(problem)
    rows = zip(found.i[found.open], found.j[found.open], found.bits[found.open], strict=True)
    return {(int(a), int(b)): float(w) for a, b, w in rows}


def test_layouts_of_a_clustering_give_the_same_pairs():
    matrix = np.array([[0, 1.0, 2.0], [0.5, 0, 3.0], [0.25, -1.0, 0]])
    expected = {(0, 1): 1.5, (0, 2): 2.25, (1, 2): 2.0}
    assert open_scores(rt.Problem(matrix, E)) == expected
    condensed = rt.Problem([1.5, 2.25, 2.0], E & rt.evidence(related=[(1, 0)]))
    assert open_scores(condensed) == {(0, 2): 2.25, (1, 2): 2.0}
    sparse = rt.Problem.from_pairs([0, 2], [1, 0], [1.5, 2.25], n=3, background=-1.0, feasible=E)
    assert open_scores(sparse) == {(0, 1): 1.5, (0, 2): 2.25}


def test_pairs_of_an_order_are_differences():
    order = rt.Problem([[0, 5.0], [2.0, 0]], rt.LINEAR_ORDERS)
    assert open_scores(order) == {(0, 1): 3.0}
    listed = rt.Problem.from_pairs([1, 2], [0, 1], [4.0, 3.0], n=3, feasible=rt.LINEAR_ORDERS)
    assert open_scores(listed) == {(1, 0): 4.0, (2, 1): 3.0}


def test_pairs_of_maps_are_all_pairs():
    assert open_scores(rt.Problem([[1.0, 2.0], [-np.inf, 4.0]], rt.PARTIAL_MAPS)) == {
        (0, 0): 1.0,
        (0, 1): 2.0,
        (1, 1): 4.0,
    }


def test_what_is_fixed_is_the_same_in_large_problems(monkeypatch):
    groups = rt.one_per_group([0, 0, 1, 1, 2])
    feasible = E & groups & rt.evidence(related=[(0, 4)], unrelated=[(3, 4)])
    problem = rt.Problem(np.zeros(10), feasible)
    i, j = np.divmod(np.arange(25), 5)
    small = fixed_pairs(problem, i, j)
    monkeypatch.setattr(scored, "SMALL", 1)
    assert np.array_equal(fixed_pairs(problem, i, j), small)


@pytest.mark.parametrize(
    "truth",
    [rt.Partition([0, 1, 0]), rt.LinearOrder([2, 0, 1]), rt.Relation(np.eye(3, dtype=bool))],
)
def test_related_pairs_are_those_of_the_matrix(truth):
    i, j = np.divmod(np.arange(9), 3)
    assert np.array_equal(is_related(truth, i, j), truth.matrix()[i, j])
