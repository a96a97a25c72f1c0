from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from naive import probability as naive
from relatum.errors import ProblemError
from relatum.probability.confidence import confidence_in


def _scores(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n)) * 2


def test_of_a_partition_it_is_that_of_the_set():
    scores, ys = _scores(4), naive.equivalences(4)
    known = rt.probabilities(rt.Problem(scores, rt.EQUIVALENCES))
    p, _ = naive.distribution(scores, ys)
    best = ys[p.argmax()]
    expected = [p[(ys[:, a] == best[a]).all(axis=1)].sum() for a in range(4)]
    assert known.confidence(rt.Partition.from_matrix(best)) == pytest.approx(expected)


def test_of_a_map_it_is_that_of_the_image():
    scores, ys = _scores(3), naive.partial_maps(3, 3)
    known = rt.probabilities(rt.Problem(scores, rt.PARTIAL_MAPS))
    p, _ = naive.distribution(scores, ys)
    for labels in ([0, -1, 2], [-1, -1, -1], [1, 1, 0]):
        y = rt.PartialMap(labels, n_labels=3)
        expected = [p[(ys[:, a] == y.matrix()[a]).all(axis=1)].sum() for a in range(3)]
        assert known.confidence(y) == pytest.approx(expected)


def test_of_a_linear_order_it_is_that_of_the_place():
    known = rt.probabilities(rt.Problem(_scores(5), rt.LINEAR_ORDERS))
    order = rt.LinearOrder.from_order([3, 1, 0, 2, 4])
    assert known.confidence(order).tolist() == known.ranks[np.arange(5), order.ranks].tolist()


def test_of_a_ranking_with_ties_it_is_the_mean_over_the_others():
    scores, ys = _scores(4), naive.weak_orders(4)
    known = rt.probabilities(rt.Problem(scores, rt.WEAK_ORDERS))
    p, _ = naive.distribution(scores, ys)
    y = rt.WeakOrder([0, 1, 1, 2])
    m = y.matrix()
    same = (ys == m) & (ys.transpose(0, 2, 1) == m.T)
    expected = (np.tensordot(p, same, axes=1).sum(axis=1) - 1) / 3
    assert known.confidence(y) == pytest.approx(expected)
    one = rt.probabilities(rt.Problem([[0.0]], rt.WEAK_ORDERS))
    assert one.confidence(rt.WeakOrder([0])).tolist() == [1.0]


def test_of_other_relations_it_is_that_of_the_pairs():
    known = rt.probabilities(rt.Problem(_scores(3), rt.RELATIONS))
    y = rt.Relation(np.eye(3))
    assert known.confidence(y).tolist() == np.diagonal(known.matrix()).tolist()


def test_what_is_of_another_kind_is_refused():
    known = rt.probabilities(rt.Problem(_scores(3), rt.LINEAR_ORDERS))
    with pytest.raises(ProblemError, match="sets with probabilities"):
        known.confidence(rt.Partition([0, 1, 1]))
    with pytest.raises(ProblemError, match="the relation"):
        known.confidence(rt.Partition([0, 1]))
    with pytest.raises(ProblemError, match="A relation is one such as"):
        confidence_in(known.posterior, [0, 1, 2])
