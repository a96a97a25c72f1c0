from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from naive.probability import partitions
from relatum.probability.sampling.counting import (
    log2_bell,
    log2_factorial,
    log2_orders,
    log2_partitions,
)


@pytest.mark.parametrize("seed", range(6))
def test_orders_are_counted(seed):
    n, rng = 7, np.random.default_rng(seed)
    place = rng.permutation(n)
    before = (rng.random((n, n)) < 0.1) & (place[:, None] < place[None, :])
    for k in range(n):  # transitive
        before |= before[:, [k]] & before[[k], :]
    i, j = np.nonzero(before)
    count = sum(
        all(order.index(a) < order.index(b) for a, b in zip(i, j, strict=True))
        for order in permutations(range(n))
    )
    assert 2 ** log2_orders(before) == pytest.approx(count)


def test_many_orders_and_long_chains():
    assert log2_orders(np.zeros((40, 40), bool)) == pytest.approx(log2_factorial(40))
    assert log2_orders(np.triu(np.ones((16, 16), bool), 1)) == pytest.approx(0.0)
    assert log2_orders(np.triu(np.ones((17, 17), bool), 1)) is None


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("cap", [1, 2, 3, 9])
def test_partitions_are_counted(n, cap):
    count = sum(max(np.bincount(labels)) <= cap for labels in partitions(n))
    assert 2 ** log2_partitions(np.ones(n, int), cap) == pytest.approx(count)
    assert 2 ** log2_partitions(np.full(n, 3), 3 * cap) == pytest.approx(count)


def test_large_numbers_of_bell():
    # B(n + 1) is the sum of C(n, k) B(k)
    from scipy.special import gammaln

    n, k = 200, np.arange(201)
    terms = (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)) / np.log(2)
    terms += [log2_bell(int(m)) for m in k]
    assert log2_bell(n + 1) == pytest.approx(np.logaddexp2.reduce(terms), abs=1e-8)
    assert log2_partitions(np.array([1, 2, 1]), 3) is None
