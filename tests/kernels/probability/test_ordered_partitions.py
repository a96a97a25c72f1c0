from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from naive import probability as naive
from relatum.kernels.probability.ordered_partitions import (
    draw_rankings,
    ranking_probabilities,
    ranking_sums,
)
from relatum.kernels.probability.permutations import Placing
from relatum.kernels.probability.set_partitions import set_weights
from relatum.probability.exact.weights import pair_sums, split


def _tables(bits, strict=None, tied=None):
    placing = Placing(*split(bits, strict))
    return placing, set_weights(*split(bits + bits.T, tied))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
def test_sums_are_those_over_all_rankings(n, spread):
    rng = np.random.default_rng(n)
    bits = rng.normal(size=(n, n)) * spread
    np.fill_diagonal(bits, 0.0)
    placing, tie = _tables(bits)
    f, fe = ranking_sums(placing, *tie)
    ys = naive.weak_orders(n)
    p, log2 = naive.distribution(bits, ys)
    assert np.log2(f[-1]) + fe[-1] == pytest.approx(log2, rel=1e-13, abs=1e-13)
    before, classes, g, ge = ranking_probabilities(placing, *tie, f, fe)
    assert np.log2(g[0]) + ge[0] == pytest.approx(log2, rel=1e-13, abs=1e-13)
    expected = np.tensordot(p, ys & ~ys.transpose(0, 2, 1), axes=1)
    assert before == pytest.approx(expected, abs=1e-12)
    ties = np.tensordot(p, ys & ys.transpose(0, 2, 1), axes=1)
    assert pair_sums(classes) == pytest.approx(ties, abs=1e-12)
    sizes = np.bitwise_count(np.arange(1 << n, dtype=np.uint64))
    assert (classes * sizes).sum() == pytest.approx(n)


def test_what_is_excluded_adds_nothing():
    strict = np.array([[True, True, True], [False, True, True], [True, True, True]])
    tied = np.array([[True, True, False], [True, True, True], [False, True, True]])
    placing, tie = _tables(np.zeros((3, 3)), strict, tied)
    f, fe = ranking_sums(placing, *tie)
    ys = naive.weak_orders(3)
    ys = ys[~(ys[:, 1, 0] & ~ys[:, 0, 1]) & ~(ys[:, 0, 2] & ys[:, 2, 0])]
    assert f[-1] * 2.0 ** fe[-1] == len(ys)


def test_draws_are_as_frequent_as_their_probabilities():
    rng = np.random.default_rng(5)
    n, count = 3, 20_000
    bits = rng.normal(size=(n, n))
    np.fill_diagonal(bits, 0.0)
    placing, tie = _tables(bits)
    f, fe = ranking_sums(placing, *tie)
    _, _, g, ge = ranking_probabilities(placing, *tie, f, fe)
    drawn = draw_rankings(placing, *tie, g, ge, rng.random((count, n)))
    counted = Counter((r[:, None] <= r[None, :]).tobytes() for r in drawn)
    ys = naive.weak_orders(n)
    p, _ = naive.distribution(bits, ys)
    assert chisquare([counted[y.tobytes()] for y in ys], count * p).pvalue > 1e-4
