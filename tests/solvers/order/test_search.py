import numpy as np
import pytest

import naive
from relatum.solvers.order.search import SETTINGS, OrderSearch


def _differences(seed, n):
    w = np.random.default_rng(seed).integers(0, 100, (n, n)).astype(float)
    return w - w.T


@pytest.mark.parametrize("seed", range(3))
def test_the_order_does_not_depend_on_the_number_of_threads(seed):
    d = _differences(seed, 70)
    found = []
    for threads in (1, 2, 5):
        search = OrderSearch(d, np.arange(70), seed, threads)
        for _ in range(2):
            search.cycle(20_000)
        found.append((search.order.tolist(), search.gain))
    assert found[0] == found[1] == found[2]
    assert OrderSearch(d, np.arange(70), seed + 1, 1).cycle(20_000)


def test_chains_differ_and_the_best_is_kept():
    d = _differences(7, 60)
    gains = []
    for chain in range(SETTINGS.chains):
        search = OrderSearch(d, np.arange(60))
        order = search._chain(3_000, ((3.0, 0.1),), chain)
        gains.append(naive.order_value(d.tolist(), order.tolist()))
    assert len(set(gains)) == SETTINGS.chains
    search = OrderSearch(d, np.arange(60))
    assert search.anneal(3_000, ((3.0, 0.1),), chains=SETTINGS.chains)
    assert search.gain == max(gains)


@pytest.mark.parametrize("n", [5, 7])
def test_small_orders_are_found_best(n):
    for seed in range(5):
        d = _differences(seed, n)
        search = OrderSearch(d, np.arange(n), seed)
        search.cycle(4_000)
        assert search.gain == naive.best_linear_order(d.tolist())


def test_a_search_that_is_told_to_stop_returns_what_it_has():
    d = _differences(1, 200)
    search = OrderSearch(d, np.arange(200), expired=lambda: True)
    start = search.gain
    search.cycle(10**9)
    assert search.gain >= start
    assert sorted(search.order.tolist()) == list(range(200))
