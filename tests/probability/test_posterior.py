from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.probability.posterior import BlockMarginals, DenseMarginals, kind_of


def test_blocks_are_a_matrix_with_zeros_between_them():
    matrices = [np.array([[1.0, 0.25], [0.25, 1.0]]), np.ones((1, 1))]
    block, place = np.array([0, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 0])
    marginals = BlockMarginals(block, place, matrices)
    i, j = np.divmod(np.arange(25), 5)
    p, error = marginals.pairs(i, j)
    expected = np.zeros((5, 5))
    for a in range(5):
        for b in range(5):
            if block[a] == block[b]:
                expected[a, b] = matrices[block[a]][place[a], place[b]]
    assert p.reshape(5, 5).tolist() == expected.tolist()
    assert not error.any()


def test_a_matrix_answers_with_its_errors_and_stays_between_0_and_1():
    marginals = DenseMarginals(np.array([[1.0 + 1e-15, 0.5]]), np.array([[0.0, 0.1]]))
    p, error = marginals.pairs(np.array([0, 0]), np.array([0, 1]))
    assert p.tolist() == [1.0, 0.5]
    assert error.tolist() == [0.0, 0.1]


@pytest.mark.parametrize(
    ("feasible", "kind"),
    [
        (rt.EQUIVALENCES & rt.at_most(3), rt.Partition),
        (rt.LINEAR_ORDERS, rt.LinearOrder),
        (rt.WEAK_ORDERS, rt.WeakOrder),
        (rt.BIJECTIONS, rt.Map),
        (rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE, rt.PartialMap),
        (rt.SYMMETRIC, rt.Relation),
    ],
)
def test_relations_are_of_the_most_compact_kind(feasible, kind):
    assert kind_of(feasible) is kind
