from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from naive import probability as naive
from relatum.kernels.probability.set_partitions import (
    draw_partitions,
    partition_sums,
    set_probabilities,
)
from relatum.probability.exact.weights import split


def _pairs(rng, n, spread):
    bits = np.triu(rng.normal(size=(n, n)) * spread, 1)
    allowed = rng.random((n, n)) < 0.85
    return split(bits + bits.T, allowed & allowed.T)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
def test_sums_are_those_over_all_partitions(n, spread):
    rng = np.random.default_rng(n)
    for cap in (1, 2, n, 2 * n):
        mantissa, places = _pairs(rng, n, spread)
        sizes = rng.integers(1, 3, n)
        pair = np.array(naive.power(mantissa, places), dtype=object).reshape(n, n)
        weight, total = naive.partition_totals(pair, sizes.tolist(), cap)
        w, we, f, fe = partition_sums(mantissa, places, sizes, cap)
        for expected, m, e in ((weight, w, we), (total, f, fe)):
            for x, y in zip(expected, naive.power(m, e), strict=True):
                assert y == 0 if x == 0 else abs(y / x - 1) < 1e-13
        if total[-1] > 0:
            p = set_probabilities(w, we, f, fe)
            whole = (1 << n) - 1
            exact = [float(weight[t] * total[whole ^ t] / total[-1]) for t in range(1, whole + 1)]
            assert p[1:] == pytest.approx(exact, rel=1e-12, abs=1e-300)
            sizes_of = np.bitwise_count(np.arange(1 << n, dtype=np.uint64))
            assert (p * sizes_of).sum() == pytest.approx(n)


def test_draws_are_as_frequent_as_their_probabilities():
    rng = np.random.default_rng(3)
    n, count = 4, 20_000
    mantissa, places = split(rng.normal(size=(n, n)))
    table = partition_sums(mantissa, places, np.ones(n, np.int64), n)
    drawn = Counter(map(tuple, draw_partitions(*table, rng.random((count, n))).tolist()))
    pair = np.array(naive.power(mantissa, places), dtype=object).reshape(n, n)
    weight, total = naive.partition_totals(pair, [1] * n, n)
    expected = {}
    for labels in naive.partitions(n):
        sets = {k: sum(1 << a for a in range(n) if labels[a] == k) for k in labels}
        mass = 1
        for s in sets.values():
            mass *= weight[s]
        expected[tuple(labels)] = float(mass / total[-1])
    assert set(drawn) <= set(expected)
    observed = [drawn[key] for key in expected]
    assert chisquare(observed, [count * p for p in expected.values()]).pvalue > 1e-4
