"""Groups of elements: trees, damped scores, and what to ask about them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

import relatum as rt
from relatum.probability.linkage import (
    ALIKE,
    Known,
    damped,
    group_questions,
    independent,
    tree_of,
)


def _scores(n, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, n))
    w = x + x.T
    np.fill_diagonal(w, 0.0)
    return w


def _known(w, labels, together=(), apart=()):
    n = len(labels)
    yes, no = np.zeros((n, n), bool), np.zeros((n, n), bool)
    for flags, pairs in ((yes, together), (no, apart)):
        for i, j in pairs:
            flags[i, j] = flags[j, i] = True
    return Known(w, ~np.eye(n, dtype=bool), np.asarray(labels), yes, no)


def test_sets_are_put_together_first_and_means_are_means():
    w, labels = _scores(12), np.repeat([0, 1, 2], 4)
    tree = tree_of(w, labels)
    assert len(tree.groups) == 11
    assert [g.inside for g in tree.groups] == [True] * 9 + [False] * 2
    for group in tree.groups:
        a, b = tree.members[group.first], tree.members[group.second]
        assert group.mean == pytest.approx(w[np.ix_(a, b)].mean(), abs=1e-9)
    assert sorted(tree.members[-1]) == list(range(12))
    alone = tree_of(w[:4, :4], np.zeros(4, int))
    expected = linkage((w.max() - w[:4, :4])[np.triu_indices(4, 1)], "average")
    assert [g.first for g in alone.groups] == expected[:, 0].tolist()


def test_damped_scores_add_up_to_what_independent_ones_are_worth():
    w, labels = _scores(10, 1), np.repeat([0, 1], 5)
    new, tree = damped(w, labels), tree_of(w, labels)
    assert new == pytest.approx(new.T)
    for group in tree.groups:
        a, b = tree.members[group.first], tree.members[group.second]
        alike = ALIKE if group.inside else 1.0
        worth = w[np.ix_(a, b)].mean() * independent(float(len(a) * len(b)), alike)
        assert new[np.ix_(a, b)].sum() == pytest.approx(worth)


def test_an_answer_moves_a_group_where_plain_scores_move_one_element():
    """Two sets of ten, apart by many small scores: one pair is said to be related."""
    n, side = 20, np.arange(20) // 10
    w = np.where(side[:, None] == side[None, :], 3.0, -2.0)
    np.fill_diagonal(w, 0.0)
    told = rt.EQUIVALENCES & rt.evidence(related=[(0, 10)])
    upper = np.triu_indices(n, 1)
    plain = rt.infer(rt.Problem(w[upper], told), prove=True).relation.labels
    groups = rt.infer(rt.Problem(damped(w, side)[upper], told), prove=True).relation.labels
    assert len(np.unique(plain)) == 2
    assert len(np.unique(groups)) == 1


def test_the_largest_doubtful_sets_are_asked_about_first_and_known_ones_never():
    labels = np.repeat([0, 1, 2, 3], [8, 8, 2, 2])
    w = np.where(labels[:, None] == labels[None, :], 9.0, -1.0)
    np.fill_diagonal(w, 0.0)
    first = group_questions(_known(w, labels))
    assert {labels[first.i[0]], labels[first.j[0]]} == {0, 1}
    assert first.probability[0] == pytest.approx(1 / 3)
    assert first.worth[0] == pytest.approx(64 / 3)
    assert (np.diff(first.worth) <= 0).all()
    assert len(set(zip(first.i, first.j, strict=True))) == len(first.i)
    told = group_questions(_known(w, labels, apart=[(0, 8)]))
    assert {labels[told.i[0]], labels[told.j[0]]} != {0, 1}


def test_a_weak_seam_of_a_set_is_asked_about_unless_it_is_known():
    side = np.arange(16) // 8
    w = np.where(side[:, None] == side[None, :], 9.0, 0.5)
    np.fill_diagonal(w, 0.0)
    one = np.zeros(16, int)
    first = group_questions(_known(w, one))
    assert side[first.i[0]] != side[first.j[0]]
    assert first.probability[0] > 0.5
    known = group_questions(_known(w, one, together=[(3, 12)]))
    assert (side[known.i] == side[known.j]).all()


@pytest.mark.slow
def test_fewer_answers_than_scores_nearest_zero():
    """Errors that whole groups share: an answer about one pair corrects them all."""
    n, truth = 120, np.repeat(np.arange(12), 10)
    half = np.arange(n) // 5  # every entity is written in two ways
    w = np.where(truth[:, None] == truth[None, :], 1.0, -5.0)
    w[(truth[:, None] == truth[None, :]) & (truth < 6)[None, :]] = -1.5  # which scores do not know
    w = np.where(half[:, None] == half[None, :], 5.0, w) + 0.3 * _scores(n, 3)
    problem = rt.Problem(w[np.triu_indices(n, 1)], rt.EQUIVALENCES)

    def wrong(labels):
        same = labels[:, None] == labels[None, :]
        return int((same != (truth[:, None] == truth[None, :])).sum())

    told = rt.learn_by_asking(problem, lambda i, j: bool(truth[i] == truth[j]), 30, batch=5)
    assert wrong(told.relation.labels) < 0.2 * wrong(rt.infer(problem).relation.labels)
    i, j = np.triu_indices(n, 1)
    near = np.argsort(np.abs(w[i, j]))[:30]
    yes = [(int(i[k]), int(j[k])) for k in near if truth[i[k]] == truth[j[k]]]
    no = [(int(i[k]), int(j[k])) for k in near if truth[i[k]] != truth[j[k]]]
    plain = rt.infer(problem.with_feasible(rt.EQUIVALENCES & rt.evidence(yes, no)))
    assert wrong(told.relation.labels) < 0.5 * wrong(plain.relation.labels)
