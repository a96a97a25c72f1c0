"""Bounds, cuts and fixed pairs of the relaxation against all orders of a few elements."""

from itertools import permutations

import numpy as np
import pytest

from relatum.solvers.order.relaxation import OrderIncumbent, OrderRelaxation


def _differences(seed, n):
    w = np.random.default_rng(seed).integers(0, 20, (n, n)).astype(float)
    return w - w.T


def _values(d):
    """Sum of d_ij over i < j with i before j, of every order."""
    n = len(d)
    i, j = np.triu_indices(n, 1)
    orders = np.array(list(permutations(range(n))))
    rank = np.argsort(orders, axis=1)
    return orders, ((rank[:, i] < rank[:, j]) * d[i, j]).sum(axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_with_cuts_and_fixed_pairs(seed):
    d = _differences(seed, 7)
    orders, values = _values(d)
    relaxation = OrderRelaxation(d)
    relaxation.start_from_packing()
    rng = np.random.default_rng(seed)
    for _ in range(12):
        relaxation.lp.run(80)
        assert relaxation.lp.bound >= values.max() - 1e-9
        # the opposite of a pair that may be fixed leads to no order above the target
        target = values.max() - 1.0
        pairs, flags = relaxation.fixable(target)
        rank = np.argsort(orders, axis=1)
        for (a, b), flag in zip(pairs.tolist(), flags.tolist(), strict=True):
            assert flag
            assert values[rank[:, a] > rank[:, b]].max() <= target + 1e-9
        x = relaxation.point()
        np.testing.assert_allclose(x + x.T, 1 - np.eye(7))
        relaxation.separate(x, 0.01, 2)
        relaxation.add_half_cuts(x, 21, rng)


def test_fixed_pairs_are_closed_and_a_copy_stays_as_it_was():
    relaxation = OrderRelaxation(_differences(0, 5))
    copy = relaxation.copy()
    wrap, consistent = copy.assign(np.array([[0, 1], [1, 2]]), np.array([True, True]))
    assert consistent
    assert copy.before[0, 2]
    assert not relaxation.before.any()
    assert copy.point()[[0, 1, 0], [1, 2, 2]].tolist() == [1.0, 1.0, 1.0]
    assert not copy.assign(np.array([[0, 2]]), np.array([False]))[1]
    assert wrap("then").then == "then"


def test_an_incumbent_takes_better_orders_only():
    d = _differences(3, 6)
    orders, values = _values(d)
    worst, best = orders[values.argmin()], orders[values.argmax()]
    incumbent = OrderIncumbent(d, worst)
    assert incumbent.value == values.min()
    assert incumbent.offer(best)
    assert not incumbent.offer(best)
    assert not incumbent.offer(worst)
    assert incumbent.value == values.max()
    assert incumbent.cutoff > incumbent.value  # integers: a bound below the next one will do


@pytest.mark.parametrize("scale", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_open_is_finished_as_by_all_orders(seed, scale):
    d = _differences(seed, 7) * scale
    orders, values = _values(d)
    rank = np.argsort(orders, axis=1)
    rng = np.random.default_rng(seed)
    for known in range(5):
        relaxation = OrderRelaxation(d)
        truth = rng.permutation(7)
        places = np.sort(rng.choice(7, (known, 2)), axis=1)
        pairs = truth[places[places[:, 0] < places[:, 1]]].reshape(-1, 2)
        relaxation.assign(pairs, np.ones(len(pairs), dtype=bool))
        open_ = (rank[:, pairs[:, 0]] < rank[:, pairs[:, 1]]).all(axis=1)
        incumbent = OrderIncumbent(d, orders[int(rng.integers(len(orders)))])
        before = incumbent.value
        assert not relaxation.finish(incumbent, 0)
        assert incumbent.value == before
        assert relaxation.finish(incumbent, 1 << 12)
        assert incumbent.value == pytest.approx(max(before, values[open_].max()), abs=1e-6)
        assert incumbent.value == pytest.approx(incumbent.value_of(incumbent.order))
