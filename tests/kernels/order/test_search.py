import numpy as np
import pytest

import naive
from relatum.kernels.order.search import anneal_order, insertion_search, order_gain


def _differences(rng, n, ties=False):
    w = rng.integers(-3, 4, (n, n)).astype(float) if ties else rng.normal(size=(n, n))
    return w - w.T


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_insertion_search_equals_its_twin(n, ties):
    rng = np.random.default_rng(n)
    for _ in range(10):
        d = _differences(rng, n, ties)
        start = rng.permutation(n)
        order = start.copy()
        gain = insertion_search(d, order, 1e-9)
        expected, twin = naive.insertion(d.tolist(), start.tolist(), 1e-9)
        assert order.tolist() == twin
        assert gain == pytest.approx(expected)
        assert order_gain(d, order) == pytest.approx(naive.order_value(d.tolist(), order.tolist()))
        # what a move gains is half of what the sum over both directions gains
        assert order_gain(d, order) - order_gain(d, start) == pytest.approx(2 * gain)


@pytest.mark.parametrize("n", [2, 6, 11])
def test_annealing_equals_its_twin(n):
    rng = np.random.default_rng(n)
    d, noise = _differences(rng, n), rng.gumbel(size=37)
    start, state = rng.permutation(n), np.array([12345], np.uint64)
    order = start.copy()
    gain = anneal_order(d, order, np.array([3.0, 0.1]), 200, noise, state)
    expected, twin = naive.anneal(d.tolist(), start, (3.0, 0.1), 200, noise.tolist(), 12345)
    assert order.tolist() == twin
    assert gain == pytest.approx(expected)


def test_known_precedences_are_never_broken():
    rng = np.random.default_rng(3)
    n = 9
    truth = rng.permutation(n)
    rank = np.argsort(truth)
    d = _differences(rng, n) * 5
    known = (rank[:, None] < rank[None, :]) & (rng.random((n, n)) < 0.3)
    d[known], d[known.T] = np.inf, -np.inf
    order = truth.copy()
    anneal_order(d, order, np.array([20.0, 1.0]), 500, rng.gumbel(size=64), np.ones(1, np.uint64))
    insertion_search(d, order, 1e-9)
    place = np.argsort(order)
    assert not np.array_equal(order, truth)
    assert (place[np.nonzero(known)[0]] < place[np.nonzero(known)[1]]).all()
