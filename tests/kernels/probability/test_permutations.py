from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from naive import probability as naive
from relatum.kernels.probability.permutations import Placing, draw_orders, order_sums, placement
from relatum.probability.exact.weights import split


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
def test_sums_are_those_over_all_orders(n, spread):
    rng = np.random.default_rng(n)
    for excluded in (0.0, 0.2):
        mantissa, places = split(rng.normal(size=(n, n)) * spread, rng.random((n, n)) >= excluded)
        before = np.array(naive.power(mantissa, places), dtype=object).reshape(n, n)
        forward, backward = naive.order_totals(before)
        f, fe, g, ge = order_sums(Placing(mantissa, places))
        for expected, m, e in ((forward, f, fe), (backward, g, ge)):
            for x, y in zip(expected, naive.power(m, e), strict=True):
                assert y == 0 if x == 0 else abs(y / x - 1) < 1e-13
        if forward[-1] > 0:
            for a in range(n):
                p = placement(Placing(mantissa, places), a, f, fe, g, ge)
                assert p.sum() == pytest.approx(1.0)
                assert (p[np.arange(1 << n) >> a & 1 == 1] == 0).all()


def test_draws_are_as_frequent_as_their_probabilities():
    rng = np.random.default_rng(5)
    n, count = 4, 20_000
    bits = rng.normal(size=(n, n))
    placing = Placing(*split(bits))
    f, fe, _, _ = order_sums(placing)
    drawn = Counter(map(tuple, draw_orders(placing, f, fe, rng.random((count, n))).tolist()))
    orders = list(permutations(range(n)))
    weights = np.array(
        [2.0 ** sum(bits[o[i], o[j]] for i in range(n) for j in range(i + 1, n)) for o in orders]
    )
    expected = count * weights / weights.sum()
    assert chisquare([drawn[o] for o in orders], expected).pvalue > 1e-4
