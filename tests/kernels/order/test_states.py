from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import numpy as np
import pytest

import naive
from relatum.kernels.order.states import greedy_order, least_loss, pack_cycles, pruned_order


def _weights(rng, n, kind):
    w = rng.normal(size=(n, n)) if kind == "normal" else rng.integers(-2, 3, (n, n)).astype(float)
    np.fill_diagonal(w, 0.0)
    if kind == "excluded":  # a consistent part of what a random order excludes
        rank = rng.permutation(n)
        w[(rank[:, None] > rank[None, :]) & (rng.random((n, n)) < 0.3)] = -np.inf
    return w


@pytest.mark.parametrize("kind", ["normal", "ties", "excluded"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_pruned_order_is_the_best_of_all_orders(n, kind):
    rng = np.random.default_rng(n)
    for _ in range(15):
        w = _weights(rng, n, kind)
        found, order = pruned_order(w, 1 << n)
        assert found
        assert sorted(order.tolist()) == list(range(n))
        value = naive.order_value(w.tolist(), order.tolist())
        assert value == pytest.approx(naive.best_linear_order(w.tolist()), abs=1e-9)


def test_packed_cycles_use_every_loss_once_and_bound_every_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(3, 7))
        d = rng.integers(-4, 5, (n, n))
        loss = np.maximum(d - d.T, 0).astype(float)
        cycles, weight = pack_cycles(loss)
        used = np.zeros((n, n))
        for (a, b, c), w in zip(cycles.tolist(), weight.tolist(), strict=True):
            assert w > 0
            for p, q in ((a, b), (b, c), (c, a)):
                used[p, q] += w
        assert (used <= loss + 1e-12).all()
        least = min(naive.order_value(loss.T.tolist(), o) for o in permutations(range(n)))
        assert weight.sum() <= least + 1e-12


def test_greedy_takes_the_least_loss_each_time_and_what_must_come_first():
    loss = np.array([[0, 5, 0, 0], [0, 0, 2, 0], [1, 0, 0, 0], [0, 0, np.inf, 0]])
    order = greedy_order(loss).tolist()
    assert order == naive.greedy_order(loss.tolist())
    assert order.index(3) < order.index(2)


@pytest.mark.parametrize("kind", ["ties", "excluded"])
@pytest.mark.parametrize("n", [1, 3, 6, 10])
def test_packing_and_greedy_order_equal_their_twins(n, kind):
    rng = np.random.default_rng(n)
    for _ in range(10):
        w = _weights(rng, n, kind)
        loss = np.maximum(w - w.T, 0.0)
        cycles, weight = pack_cycles(loss)
        packed = list(zip(map(tuple, cycles.tolist()), weight.tolist(), strict=True))
        assert packed == naive.pack_cycles(loss.tolist())
        assert greedy_order(loss).tolist() == naive.greedy_order(loss.tolist())


@pytest.mark.parametrize("kind", ["normal", "ties", "excluded"])
def test_least_loss_is_that_of_all_orders_if_within_the_limit(kind):
    rng = np.random.default_rng(4)
    for _ in range(40):
        n = int(rng.integers(3, 7))
        w = _weights(rng, n, kind)
        loss = np.maximum(w - w.T, 0.0)
        np.fill_diagonal(loss, 0.0)
        best = naive.least_loss(loss.tolist())
        done, lost, order = least_loss(loss, best + 1e-9, 1 << n, 1 << n)
        assert done
        assert lost == pytest.approx(best, abs=1e-9)
        assert -naive.order_value((-loss.T).tolist(), order.tolist()) == pytest.approx(lost)
        assert least_loss(loss, best - 0.5, 1 << n, 1 << n)[:2] == (True, np.inf)
        # too few states, or too narrow a layer: nothing is claimed
        assert not least_loss(loss, 1e9, 1, 1 << n)[0]
        if kind != "excluded":
            assert not least_loss(loss, 1e9, 1 << n, 0)[0]


@pytest.mark.parametrize("kind", ["normal", "ties", "excluded"])
def test_least_loss_where_all_subsets_are_looked_at(kind):
    rng = np.random.default_rng(5)
    for n in (3, 10, 7, 10):  # scratch space grows and is used again
        w = _weights(rng, n, kind)
        loss = np.maximum(w - w.T, 0.0)
        done, lost, order = least_loss(loss, 1e9, 1 << n, 1 << n)
        assert done
        assert lost == pytest.approx(naive.least_loss_by_subsets(loss.tolist()), abs=1e-9)
        assert naive.order_value(loss.T.tolist(), order.tolist()) == pytest.approx(lost)


def test_an_order_does_not_depend_on_layout_or_on_other_threads():
    rng = np.random.default_rng(6)
    problems = [_weights(rng, int(n), "normal") for n in rng.integers(2, 30, 60)]
    alone = [pruned_order(w, 300) for w in problems]
    with ThreadPoolExecutor(4) as executor:
        together = list(executor.map(lambda w: pruned_order(np.asfortranarray(w), 300), problems))
    for (found, order), (same, other) in zip(alone, together, strict=True):
        assert found == same
        assert order.tolist() == other.tolist()
