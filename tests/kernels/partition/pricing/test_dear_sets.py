"""Sets of any size above their prices, against plain search and enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.pricing.dear_sets import dear_sets, dearest_sets


def instance(seed, most=9):
    """Random weights and prices; every other one of few numbers, with ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most))
    if seed % 2:
        w, prices = rng.normal(size=(n, n)), rng.random(n) * rng.choice([0.3, 1.0, 2.0])
    else:
        w, prices = rng.integers(-2, 3, (n, n)) * 1.0, rng.integers(-1, 3, n) * 0.5
    w = np.triu(w, 1)
    return w + w.T, prices


def excess_of(w, prices, sets):
    m = sets.astype(float)
    return 0.5 * np.einsum("si,ij,sj->s", m, w, m) - m @ prices


@pytest.mark.parametrize("seed", range(80))
def test_the_dearest_set_is_that_of_enumeration(seed):
    w, prices = instance(seed)
    want = naive.dearest_excess(w, prices)
    sets, left = dearest_sets(w, prices, 1e-9, 50, 10**6)
    assert left > 0
    found = excess_of(w, prices, sets)
    assert max([0.0, *found]) == pytest.approx(want, abs=1e-9)
    assert (np.diff(found) > 0).all()
    # fewer are returned, the best among them; and nothing that is not above the least
    few, _ = dearest_sets(w, prices, 1e-9, 1, 10**6)
    assert max([0.0, *excess_of(w, prices, few)]) == pytest.approx(want, abs=1e-9)
    assert len(dearest_sets(w, prices, want + 1e-9, 5, 10**6)[0]) == 0


def test_a_search_that_is_given_up_says_so():
    rng = np.random.default_rng(0)
    w = np.triu(rng.normal(size=(30, 30)), 1)
    _, left = dearest_sets(w + w.T, np.full(30, 1.0), 0.0, 5, 500)
    assert left < 0


def test_pairs_that_nothing_outweighs_are_in_no_set():
    w, prices = np.ones((6, 6)) - np.eye(6), np.full(6, 0.25)
    w[0, 1] = w[1, 0] = -100.0
    sets, _ = dearest_sets(w, prices, 0.0, 9, 10**6)
    assert not (sets[:, 0] & sets[:, 1]).any()
    assert excess_of(w, prices, sets).max() == 10 - 5 * 0.25


@pytest.mark.parametrize("seed", range(60))
def test_tabu_search_goes_as_its_plain_twin(seed):
    w, prices = instance(seed)
    n = len(prices)
    rng = np.random.default_rng(seed)
    starts = np.concatenate([np.eye(n), rng.random((3, n)) < 0.5]).astype(np.uint8)
    want = [naive.dear_set(w, prices, start, 4 * n) for start in starts]
    want = [(value, found) for value, found in want if found is not None]
    sets, excess = dear_sets(w, prices, starts, 4 * n, 1e-12)
    assert excess == pytest.approx([value for value, _ in want], abs=1e-9)
    assert excess_of(w, prices, sets) == pytest.approx(excess, abs=1e-9)
    if seed % 2:  # without ties the very same sets
        assert (sets.astype(bool) == np.array([f for _, f in want]).reshape(-1, n)).all()
