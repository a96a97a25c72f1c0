"""Which bound is reported where a solver proves none."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from partitions import proved
from relatum.bounds import trivial_bound
from relatum.packing import packing_bound
from relatum.solvers.bounding import affordable_bound
from relatum.solvers.control import Control


@pytest.fixture
def problem():
    c = np.random.default_rng(0).normal(size=40 * 39 // 2) * 2
    return rt.Problem(c, rt.EQUIVALENCES)


def test_clusterings_get_the_packing_bound(problem):
    bound, _ = affordable_bound(problem, Control(time_limit=10.0))
    assert bound == packing_bound(problem)[0]
    assert bound < trivial_bound(problem)[0]


def test_sparse_clusterings_get_a_bound_by_paths():
    problem = rt.Problem.from_pairs(
        [0, 1, 2, 3, 0, 1],
        [1, 2, 3, 4, 4, 3],
        [2.0, 2.0, 2.0, 2.0, -3.0, -3.0],
        n=5,
        feasible=rt.EQUIVALENCES,
    )
    bound, proof = affordable_bound(problem, Control(), rt.Partition([0, 0, 0, 1, 1]))
    assert proved(problem, bound, proof)
    # one cut ends both conflicts: the packing, one conflict after the other, may say so or not
    assert bound == pytest.approx(6.0, abs=1e-4)


def test_without_time_pairs_are_bounded_one_by_one(problem):
    assert affordable_bound(problem, Control(time_limit=1e-9))[0] == trivial_bound(problem)[0]


def test_other_relations_are_bounded_pair_by_pair():
    orders = rt.Problem(np.random.default_rng(1).normal(size=(5, 5)), rt.LINEAR_ORDERS)
    assert affordable_bound(orders, Control())[0] == trivial_bound(orders)[0]
