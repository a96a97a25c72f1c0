import numpy as np
import pytest

import naive
from relatum.kernels.order.patterns import fit_pattern


def _instance(seed, n, k):
    """Return a point of sixty-fourths, whose sums are exact, a pattern and some starts."""
    rng = np.random.default_rng(seed)
    x = np.triu(rng.integers(0, 65, (n, n)) / 64.0, 1)
    x = x + np.tril(1 - x.T, -1)
    upper = np.triu(rng.integers(-1, 2, (k, k)), 1)
    starts = np.array([rng.permutation(n)[:k] for _ in range(20)])
    return x, upper - upper.T, starts


@pytest.mark.parametrize(("n", "k"), [(5, 5), (7, 4), (13, 8)])
def test_searches_end_where_the_plain_ones_do(n, k):
    for seed in range(5):
        x, pattern, starts = _instance(seed, n, k)
        elements, values = fit_pattern(x, pattern, starts)
        for start, found, value in zip(starts, elements, values, strict=True):
            there, worth = naive.fitted_pattern(x.tolist(), pattern.tolist(), start.tolist())
            assert found.tolist() == there
            assert value == worth
            assert value >= naive.pattern_value(x.tolist(), pattern.tolist(), start.tolist())


def test_starts_are_left_as_they_were():
    x, pattern, starts = _instance(0, 12, 6)
    before = starts.copy()
    elements, _ = fit_pattern(x, pattern, starts)
    np.testing.assert_array_equal(starts, before)
    assert (elements != starts).any()
