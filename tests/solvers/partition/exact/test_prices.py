"""Prices of elements, against the linear program over all sets that a cap allows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from relatum.solvers.control import Control
from relatum.solvers.partition.exact.prices import SetPool, SetPrices


def weights_of(seed, n=7):
    c = np.random.default_rng(seed).normal(size=(n, n))
    w = c + c.T
    np.fill_diagonal(w, 0.0)
    return w


def all_sets(n, cap):
    sizes = range(1, cap + 1)
    held = [s for size in sizes for s in combinations(range(n), size)]
    return np.array([np.isin(np.arange(n), s) for s in held])


def prices_of(w, cap, labels, apart):
    pool = SetPool(w, cap)
    pool.seed(np.arange(len(w)))
    return pool, SetPrices(pool, labels, apart, 0.0)


@pytest.mark.parametrize("cap", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_that_of_all_sets(seed, cap):
    w = weights_of(seed)
    n = len(w)
    pool, relaxation = prices_of(w, cap, np.arange(n), np.zeros((n, n), dtype=bool))
    priced = relaxation.solve(Control())
    masks = all_sets(n, cap)
    worth = pool.inside(masks)
    best = linprog(-worth, A_eq=masks.T.astype(float), b_eq=np.ones(n))
    assert priced.bound == pytest.approx(-best.fun, abs=1e-6)
    # no set is worth more than its prices, exactly what a checker asks
    assert (masks @ priced.prices >= worth - 1e-9).all()
    assert priced.bound >= priced.prices.sum() - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_what_is_decided_restricts_the_sets(seed):
    w = weights_of(seed)
    n, cap = len(w), 3
    labels = np.array([0, 0, 1, 2, 3, 4, 5])  # elements 0 and 1 are together
    apart = np.zeros((6, 6), dtype=bool)
    apart[1, 2] = apart[2, 1] = True  # elements 2 and 3 are not
    pool, relaxation = prices_of(w, cap, labels, apart)
    priced = relaxation.solve(Control())
    masks = all_sets(n, cap)
    masks = masks[(masks[:, 0] == masks[:, 1]) & ~(masks[:, 2] & masks[:, 3])]
    best = linprog(-pool.inside(masks), A_eq=masks.T.astype(float), b_eq=np.ones(n))
    assert priced.bound == pytest.approx(-best.fun, abs=1e-6)
    assert (relaxation._fits(all_sets(n, cap)).sum()) == len(masks)


def test_rows_about_sets_lower_the_bound_and_never_below_the_best_partition():
    i, j = np.triu_indices(9, 1)
    w = np.zeros((9, 9))
    w[i, j] = np.where(i // 3 == j // 3, 4.0, 0.25)  # half of each pair would be 18 bits
    w += w.T
    _, relaxation = prices_of(w, 2, np.arange(9), np.zeros((9, 9), dtype=bool))
    before = relaxation.solve(Control())
    assert relaxation.separate(before.x, np.random.default_rng(0), 0.02, 100) > 0
    after = relaxation.solve(Control())
    assert before.bound > after.bound + 1.0
    assert after.bound >= 12.25 - 1e-9
