"""Local search for preorders and their kin: feasible, never worse, and usually best."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.solvers.order.preorder_search import PreorderSearch, classes_of

FAMILIES = ("PREORDERS", "PARTIAL_ORDERS", "WEAK_ORDERS")


def search_of(name, c, start, state=None, seed=0):
    family = getattr(rt, name)
    n = len(c)
    if state is None:
        state = np.full((n, n), -1, dtype=np.int8)
    return PreorderSearch(
        c,
        state,
        start,
        ties=not family.has("antisymmetric"),
        connex=family.has("connex"),
        seed=seed,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_kicks_find_the_best_of_all_relations_on_four_elements(name, seed):
    c = np.random.default_rng(seed).normal(size=(4, 4))
    members = np.array(naive.members(naive.NAMED[name], 4, 4), dtype=bool)
    values = (members * c).sum(axis=(1, 2))
    search = search_of(name, c, members[values.argmin()])
    seen = [search.value]
    for k in range(60):
        search.kick(2 + k % 3)
        seen.append(search.value)
        assert getattr(rt, name).contains(rt.Relation(search.best))
    assert seen == sorted(seen)
    assert search.value == pytest.approx(c[search.best].sum())
    assert search.value == pytest.approx(values.max())


def test_known_pairs_are_kept():
    c = np.random.default_rng(7).normal(size=(6, 6))
    state = np.full((6, 6), -1, dtype=np.int8)
    state[0, 1], state[4, 2] = 1, 0
    start = np.eye(6, dtype=bool)
    start[0, 1] = True
    search = search_of("PREORDERS", c, start, state)
    for _ in range(50):
        search.kick()
        assert search.best[0, 1]
        assert not search.best[4, 2]


def test_classes_are_those_related_both_ways():
    y = np.eye(5, dtype=bool)
    y[0, 3] = y[3, 0] = y[1, 2] = True
    assert classes_of(y).tolist() == [0, 1, 2, 0, 3]
