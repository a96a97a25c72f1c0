from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from naive import probability as naive
from relatum.kernels.probability.scaled import scaled_product, scaled_ratio, scaled_sum
from relatum.probability.exact.weights import NEVER


def _numbers(rng, count, spread):
    mantissa = rng.uniform(0.5, 1.0, count)
    places = rng.integers(-spread, spread + 1, count)
    zero = rng.random(count) < 0.2
    return np.where(zero, 0.0, mantissa), np.where(zero, NEVER, places)


@pytest.mark.parametrize("spread", [0, 5, 100, 10**6])
def test_sums_and_products_are_those_of_fractions(spread):
    rng = np.random.default_rng(spread)
    for count in (0, 1, 2, 7, 30):
        mantissa, places = _numbers(rng, count, min(spread, 2000))
        exact = naive.power(mantissa, places)
        m, e = scaled_sum(mantissa, places)
        total = sum(exact, start=Fraction(0))
        if total == 0:
            assert (m, e) == (0.0, NEVER)
        else:
            assert 0.5 <= m < 1.0
            assert abs(naive.power([m], [e])[0] / total - 1) < 1e-14
        some = mantissa > 0
        m, e = scaled_product(mantissa[some], places[some])
        product = Fraction(1)
        for x in naive.power(mantissa[some], places[some]):
            product *= x
        assert 0.5 <= m < 1.0
        assert abs(naive.power([m], [e])[0] / product - 1) < 1e-14


def test_exponents_of_any_size_do_not_overflow():
    far = np.array([2**28, -(2**28)])
    m, e = scaled_sum(np.array([0.75, 0.75]), far)
    assert (m, e) == (0.75, 2**28)
    assert scaled_ratio(0.75, -(2**28), 0.75, 2**28) == 0.0


def test_a_ratio_is_a_float():
    assert scaled_ratio(0.5, 3, 0.5, 5) == 0.25
    assert scaled_ratio(0.5, 5, 0.5, 3) == 4.0
    assert scaled_ratio(0.0, NEVER, 0.5, 5) == 0.0
