"""The relaxation of preorders and their kin, against all of them on four elements."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.solvers.order.preorder_relaxation import PreorderIncumbent, PreorderRelaxation
from relatum.solvers.order.preorder_search import PreorderSearch

FAMILIES = ("PREORDERS", "PARTIAL_ORDERS", "WEAK_ORDERS")


def case(name, seed, n=4):
    c = np.random.default_rng(seed).normal(size=(n, n))
    state = np.full((n, n), -1, dtype=np.int8)
    np.fill_diagonal(state, 1)
    all_of_them = np.array(naive.members(naive.NAMED[name], n, n), dtype=bool)
    off = c * ~np.eye(n, dtype=bool)
    return c, state, all_of_them, (all_of_them * off).sum(axis=(1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_and_fixings_hold_for_every_relation(name, seed):
    c, state, members, values = case(name, seed)
    relaxation = PreorderRelaxation(c, getattr(rt, name), state)
    for _ in range(4):
        relaxation.lp.run(200)
        relaxation.separate(relaxation.point(), 0.01)
        assert relaxation.lp.bound >= values.max() - 1e-9
    best = members[values.argmax()]
    pairs, fixed = relaxation.fixable(values.max() - 1e-6)
    assert all(best[a, b] == value for (a, b), value in zip(pairs, fixed, strict=True))


@pytest.mark.parametrize("name", FAMILIES)
def test_what_follows_from_a_pair_is_fixed_with_it(name):
    c, state, members, _ = case(name, 9)
    relaxation = PreorderRelaxation(c, getattr(rt, name), state)
    _, consistent = relaxation.assign(np.array([[0, 1], [1, 2]]), np.array([True, True]))
    assert consistent
    open_ = members[members[:, 0, 1] & members[:, 1, 2]]
    same = (open_ == open_[0]).all(axis=0)  # pairs on which all that are left agree
    known = relaxation.state >= 0
    assert (known <= same).all()
    assert relaxation.state[0, 2] == 1
    assert (open_[0][known] == relaxation.state[known]).all()
    _, consistent = relaxation.assign(np.array([[0, 2]]), np.array([False]))
    assert not consistent


@pytest.mark.parametrize("name", FAMILIES)
def test_points_are_rounded_to_relations_of_the_family(name):
    c, state, members, values = case(name, 5)
    family = getattr(rt, name)
    search = PreorderSearch(
        c,
        state,
        members[values.argmin()],
        ties=not family.has("antisymmetric"),
        connex=family.has("connex"),
    )
    incumbent = PreorderIncumbent(search, PreorderRelaxation(c, family, state), offset=0.0)
    incumbent.improve(members[values.argmax()].astype(float), np.random.default_rng(0))
    assert incumbent.value == pytest.approx(values.max())
    assert family.contains(rt.Relation(search.best))
