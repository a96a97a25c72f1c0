"""Sets under prices, and sets that hold too much, against plain enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.sets import best_sets, good_sets, violated_capped_sets


def instance(seed, ties=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    w = rng.integers(-2, 4, (n, n)) * 1.0 if ties else rng.normal(size=(n, n)) + 0.3
    w = np.triu(w, 1)
    prices = rng.integers(0, 3, n) * 0.5 if ties else rng.normal(size=n) + 0.5
    sizes = rng.integers(1, 3, n)
    forbidden = np.triu(rng.random((n, n)) < 0.2, 1)
    return w + w.T, prices, sizes, forbidden | forbidden.T, int(rng.integers(1, n + 2))


def held(row):
    return tuple(v for v in row.tolist() if v >= 0)


@pytest.mark.parametrize("seed", range(80))
def test_best_sets_equal_enumeration(seed):
    given = instance(seed, ties=seed % 2 == 0)
    w, prices, sizes, forbidden, cap = given
    want = naive.best_excess(*given)
    allowed = set(naive.allowed_sets(sizes, forbidden, cap))
    excess, members, left = best_sets(*given, -np.inf, 10**6)
    assert left > 0
    assert excess == pytest.approx(want, abs=1e-9)
    for v, row in enumerate(members):
        if want[v] > -np.inf:
            assert held(row) in allowed
            assert row[0] == v
            assert naive.set_excess(w, prices, held(row)) == pytest.approx(want[v], abs=1e-9)
    # with a least value, only what is above it is found
    excess, members, _ = best_sets(*given, 0.2, 10**6)
    assert excess == pytest.approx(np.maximum(want, 0.2), abs=1e-9)
    assert ((members[:, 0] >= 0) == (want > 0.2)).all()


def test_best_sets_say_when_they_give_up():
    rng = np.random.default_rng(0)
    w = np.triu(rng.random((20, 20)), 1)
    nothing = np.zeros((20, 20), dtype=bool)
    excess, _, left = best_sets(w + w.T, np.zeros(20), np.ones(20, int), nothing, 8, -1.0, 50)
    assert left < 0
    assert excess.max() > 0  # what was met so far


@pytest.mark.parametrize("seed", range(80))
def test_good_sets_are_allowed_and_no_change_gains(seed):
    given = instance(seed, ties=seed % 2 == 0)
    w, prices, sizes, forbidden, cap = given
    allowed = set(naive.allowed_sets(sizes, forbidden, cap))
    excess, members = good_sets(*given, -1e9)
    for root, row in enumerate(members):
        members_of = held(row)
        if sizes[root] > cap:
            assert members_of == ()
            continue
        assert members_of in allowed
        assert root in members_of
        value = naive.set_excess(w, prices, members_of)
        assert excess[root] == pytest.approx(value, abs=1e-9)
        for other in allowed:
            gone, new = set(members_of) - set(other), set(other) - set(members_of)
            if root in other and len(gone) <= 1 and len(new) <= 1:
                assert naive.set_excess(w, prices, other) <= value + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_capped_sets_grow_as_plainly(seed):
    rng = np.random.default_rng(seed)
    n, cap = 8, int(rng.integers(2, 5))
    x = np.triu(rng.random((n, n)) * 0.9, 1)
    x += x.T
    noise = rng.random((2 * n, n)) * np.repeat([0.0, 0.3], n)[:, None]
    sets, violation = violated_capped_sets(x, noise, cap, 7, 0.05)
    grown = [naive.grown_capped_set(x, q % n, noise[q], cap, 7, 0.05) for q in range(2 * n)]
    want = [g for g in grown if g is not None]
    assert [np.flatnonzero(row).tolist() for row in sets] == [g[0] for g in want]
    assert violation == pytest.approx([g[1] for g in want])
    for row, over in zip(sets, violation, strict=True):
        inside = sum(x[a, b] for a, b in combinations(np.flatnonzero(row), 2))
        assert over == pytest.approx(inside - naive.most_capped_pairs(int(row.sum()), cap))
