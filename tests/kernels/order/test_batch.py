import numpy as np
import pytest

import naive
from relatum.kernels.order.batch import (
    order_components,
    order_small,
    order_small_many,
    twin_classes,
)


def _weights(rng, n, kind):
    if kind == "normal":
        w = rng.normal(size=(n, n))
    else:
        w = rng.integers(-2, 3, size=(n, n)).astype(float)
    np.fill_diagonal(w, 0.0)
    if kind == "excluded":  # a consistent part of what a random order excludes
        for a, b in zip(*np.nonzero(rng.random((n, n)) < 0.2), strict=True):
            if a > b:
                w[a, b] = -np.inf
    return w


def test_twins_are_the_exchangeable_elements():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 8))
        copy = rng.integers(0, 4, n)
        w = rng.integers(-1, 2, (4, 4)).astype(float)[np.ix_(copy, copy)]
        w[copy[:, None] == copy[None, :]] = 1.0
        if rng.random() < 0.3:
            w[0, n - 1] = -np.inf
        np.fill_diagonal(w, 0.0)
        labels, count = twin_classes(w)
        assert sorted(set(labels.tolist())) == list(range(count))
        for a in range(n):
            for b in range(a):
                assert (labels[a] == labels[b]) == naive.twins(w.tolist(), a, b)


def test_components_are_mutually_reachable_and_in_topological_order():
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(1, 10))
        w = np.where(rng.random((n, n)) < 0.3, 1.0, 0.0)
        arcs = (w > w.T).tolist()
        labels, count = order_components(w)
        reach = [naive.reachable(arcs, a) for a in range(n)]
        assert labels.max() + 1 == count
        for a in range(n):
            for b in range(n):
                assert (labels[a] == labels[b]) == (b in reach[a] and a in reach[b])
                if arcs[a][b]:
                    assert labels[a] <= labels[b]


@pytest.mark.parametrize("kind", ["normal", "ties", "excluded"])
def test_order_small_is_best_with_and_without_twins(kind):
    rng = np.random.default_rng(2)
    flat, sizes, best = [], [], []
    for number in range(60):
        n = int(rng.integers(1, 7))
        w = _weights(rng, n, kind)
        if number % 2 and kind != "excluded":
            copy = rng.integers(0, n, n)
            w = w[np.ix_(copy, copy)]
            np.fill_diagonal(w, 0.0)
        order, _, component, solved = order_small(w, 1000)
        assert solved[: component.max() + 1].all()
        best.append(naive.best_linear_order(w.tolist()))
        assert naive.order_value(w.tolist(), order.tolist()) == pytest.approx(best[-1], abs=1e-9)
        flat.append(w.ravel())
        sizes.append(n)
    order, _, component, _, worth, value = order_small_many(
        np.concatenate(flat), np.array(sizes), 1000
    )
    row = 0
    for w, n, v in zip(flat, sizes, value, strict=True):
        w, own = w.reshape(n, n), component[row : row + n]
        rank = np.argsort(order[row : row + n])
        chosen = np.where(rank[:, None] <= rank[None, :], w, 0.0)
        inner = [chosen[np.ix_(own == t, own == t)].sum() for t in range(own.max() + 1)]
        np.testing.assert_allclose(worth[row : row + own.max() + 1], inner, atol=1e-9)
        assert v == pytest.approx(chosen.sum())
        row += n
    np.testing.assert_allclose(value, best, atol=1e-9)


def test_components_with_too_many_subsets_are_left_and_said_so():
    squares = {k * k % 11 for k in range(1, 11)}  # the Paley tournament
    w = np.array([[float((b - a) % 11 in squares) for b in range(11)] for a in range(11)])
    order, _, component, solved = order_small(w, 20)
    assert component.tolist() == [0] * 11
    assert not solved[0]
    assert sorted(order.tolist()) == list(range(11))


def test_more_elements_than_bits_are_refused():
    with pytest.raises(ValueError, match="at most 64"):
        order_components(np.zeros((65, 65)))
    with pytest.raises(ValueError, match="at most 64"):
        order_small(np.zeros((65, 65)), 10)
    with pytest.raises(ValueError, match="at most 64"):
        order_small_many(np.zeros(65 * 65), np.array([65]), 10)
