"""From pairs to variables: values, rows and boxes stay what they were."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.solvers.general.space import PairSpace, RowPool

SETS = {
    "EQUIVALENCES": 6,
    "SYMMETRIC": 6,
    "LINEAR_ORDERS": 6,
    "PREORDERS": 9,
    "MAPS": 9,
}


@pytest.mark.parametrize("name", SETS)
def test_points_of_relations_have_their_values_and_satisfy_their_rows(name):
    rng = np.random.default_rng(0)
    c = rng.normal(size=(3, 3))
    space = PairSpace(rt.Problem(c, getattr(rt, name)))
    assert space.size == SETS[name]
    assert not space.flipped[space.pairs[:, 0], space.pairs[:, 1]].any()
    rows = naive.all_rows(naive.NAMED[name], 3, 3, cap=1 if name == "MAPS" else None)
    for y in naive.members(naive.NAMED[name], 3, 3):
        x = y[space.pairs[:, 0], space.pairs[:, 1]].astype(float)
        assert space.constant + space.cost @ x == pytest.approx(c[y].sum())
        assert np.array_equal(space.matrix_of(x) == 1, y)
        lower, upper = space.box(y.astype(np.int8))
        assert np.array_equal(lower, x)
        assert np.array_equal(upper, x)
        for family, index, terms, rhs in rows:
            matrix, right = space.rows(family, np.array([index]))
            left = sum(k * y[p] for p, k in terms.items())
            assert (matrix @ x)[0] - right[0] == pytest.approx(left - rhs)


def test_rows_are_pooled_without_repeats():
    space = PairSpace(rt.Problem(np.zeros((4, 4)), rt.PREORDERS))
    pool = RowPool(space)
    assert pool.reduced_costs(space.cost, np.empty(0))[1] == 0.0
    assert len(pool.add("transitive", np.array([[0, 1, 2], [1, 2, 3], [0, 1, 2]]))[1]) == 2
    assert pool.add("transitive", np.array([[1, 2, 3]])) is None
    assert len(pool.add("transitive", np.array([[1, 2, 3], [3, 2, 1]]))[1]) == 1
    assert len(pool) == 3
    y = np.array([1.0, 0.0, 2.0])
    r, constant = pool.reduced_costs(np.zeros(space.size), y)
    assert constant == 3.0
    assert np.array_equal(r, -(pool.matrix.T @ y))
    (cuts,) = pool.cuts(y)
    assert cuts.index.tolist() == [[0, 1, 2], [3, 2, 1]]
    assert cuts.multipliers.tolist() == [1.0, 2.0]
    pool.keep(np.array([False, True, True]))
    assert len(pool) == 2
    assert pool.add("transitive", np.array([[0, 1, 2]])) is not None


def test_mirror_rows_are_left_to_the_checker():
    space = PairSpace(rt.Problem(np.zeros((3, 3)), rt.PARTIAL_ORDERS))
    pool = RowPool(space)
    pool.add("antisymmetric", np.array([[0, 1]]))
    assert pool.cuts(np.ones(1)) == ()
