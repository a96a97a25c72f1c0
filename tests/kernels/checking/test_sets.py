"""The checker's own search for sets above their prices, against all sets one by one."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.checking.sets import largest_excess
from relatum.kernels.partition.sets import best_sets

ENOUGH = 10**9


def instance(seed, n, size=4):
    """Weights and prices about as large as ``size``, sizes, forbidden pairs and a cap."""
    rng = np.random.default_rng(seed)
    w = np.triu(rng.integers(-size, 2 * size, (n, n)), 1)
    prices = rng.integers(-size // 2, 3 * size, n)
    sizes = rng.integers(1, 4, n) if seed % 3 else np.ones(n, np.int64)
    forbidden = np.triu(rng.random((n, n)) < 0.2 * (seed % 2), 1)
    return w + w.T, prices, sizes, forbidden | forbidden.T, int(rng.integers(0, n + 4))


@pytest.mark.parametrize("seed", range(300))
def test_equals_enumeration(seed):
    given = instance(seed, seed % 8 + 1)
    excess, left = largest_excess(*given, ENOUGH)
    assert excess == naive.largest_excess(*given)
    assert 0 <= left < ENOUGH


@pytest.mark.parametrize("seed", range(60))
def test_is_exact_for_numbers_that_floats_do_not_hold(seed):
    n = seed % 6 + 2
    w, prices, *rules = instance(seed, n, 2**61 // (2 * n * n + 6 * n))
    assert largest_excess(w, prices, *rules, ENOUGH)[0] == naive.largest_excess(w, prices, *rules)
    free = np.zeros(n, np.int64)
    assert largest_excess(w, free, *rules, ENOUGH)[0] == naive.largest_excess(w, free, *rules)


@pytest.mark.parametrize("seed", range(40))
def test_the_other_search_agrees_on_more_elements(seed):
    n = 24
    w, prices, sizes, forbidden, _ = instance(seed, n, 50)
    prices, cap = prices + 60, 3 + seed % 6
    theirs, _, left = best_sets(w * 1.0, prices * 1.0, sizes, forbidden, cap, 0.0, ENOUGH)
    assert left >= 0  # integers, which floats hold exactly
    excess, left = largest_excess(w, prices, sizes, forbidden, cap, ENOUGH)
    assert left >= 0
    assert excess == theirs.max()


def test_a_set_one_unit_above_its_prices_is_found_and_none_at_them():
    n, big = 12, 2**53
    w = np.full((n, n), big) - big * np.eye(n, dtype=np.int64)
    nothing = np.zeros((n, n), dtype=bool)
    prices = np.full(n, 3 * big // 2)  # of four elements with six pairs: none is above
    sizes = np.ones(n, np.int64)
    assert largest_excess(w, prices, sizes, nothing, 4, ENOUGH)[0] == 0
    prices[7] -= 1
    assert largest_excess(w, prices, sizes, nothing, 4, ENOUGH)[0] == 1
    assert largest_excess(w, prices, sizes, nothing, 3, ENOUGH)[0] == 0
    sizes[7] = 2
    assert largest_excess(w, prices, sizes, nothing, 4, ENOUGH)[0] == 0


def test_says_when_it_gives_up():
    n = 40
    w = np.triu(np.random.default_rng(0).integers(0, 100, (n, n)), 1)
    given = w + w.T, np.full(n, 150), np.ones(n, np.int64), np.zeros((n, n), np.uint8), 8
    for budget in (-1, 0, 50, 5000):
        some, left = largest_excess(*given, budget)
        assert left < 0
        # the budget is kept to about one look at all candidates and their weights
        assert left > -2 * n * n
    best, left = largest_excess(*given, ENOUGH)
    assert left >= 0
    assert best >= some
    again, none = largest_excess(*given, ENOUGH - left)
    assert (again, none) == (best, 0)


def test_no_elements_and_no_room():
    empty = np.zeros((0, 0), np.int64), np.zeros(0, np.int64), np.ones(0, np.int64)
    assert largest_excess(*empty, np.zeros((0, 0), bool), 3, 10) == (0, 10)
    one = np.zeros((1, 1), np.int64), np.array([-5]), np.array([2]), np.zeros((1, 1), bool)
    assert largest_excess(*one, 1, 10)[0] == 0
    assert largest_excess(*one, 2, 10)[0] == 5


def changed(given, place, at, value):
    arrays = [np.array(part) for part in given[:4]]
    arrays[place][at] = value
    return *arrays, given[4]


def test_refuses_what_does_not_fit_together():
    given = instance(1, 5)
    w, prices, sizes, forbidden, cap = given
    for wrong in (
        (w[:4, :4].copy(), prices, sizes, forbidden, cap),
        (w, prices, sizes[:4].copy(), forbidden, cap),
        (w, prices, sizes, forbidden[:4], cap),
        (w, prices, sizes, forbidden.astype(np.int64), cap),
        (w * 1.0, prices, sizes, forbidden, cap),
        changed(given, 0, (1, 2), 77),
        changed(given, 0, (1, 1), 1),
        changed(given, 2, 3, 0),
        changed(given, 3, (0, 1), not forbidden[0, 1]),
    ):
        with pytest.raises(ValueError, match=r"."):
            largest_excess(*wrong, ENOUGH)


def test_refuses_sums_that_do_not_fit_and_takes_those_that_do():
    zero, one = np.zeros((2, 2), np.int64), np.ones(2, np.int64)
    free = np.zeros((2, 2), bool)
    for value in (2**61, -(2**61), -(2**63), 2**63 - 1):
        with pytest.raises(OverflowError, match="add up to less than"):
            largest_excess(zero, np.array([value, 0]), one, free, 2, ENOUGH)
    flip = np.array([[0, 1], [1, 0]])
    half = 2**60
    with pytest.raises(OverflowError, match="add up to less than"):
        largest_excess(flip * half, np.array([-half, 0]), one, free, 2, ENOUGH)
    excess, _ = largest_excess(flip * half, np.array([1 - half, 0]), one, free, 2, ENOUGH)
    assert excess == 2**61 - 1


def test_arrays_that_may_not_be_written_are_read():
    given = instance(4, 6)
    for part in given[:4]:
        part.flags.writeable = False
    assert largest_excess(*given, ENOUGH)[0] == naive.largest_excess(*given)
