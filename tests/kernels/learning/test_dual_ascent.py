import math

import numpy as np
import pytest

import naive
from relatum.kernels.learning.dual_ascent import ascend_block, optimal_logit


@pytest.mark.parametrize("margin", [-40.0, -1.3, 0.0, 0.7, 35.0])
@pytest.mark.parametrize("curvature", [0.0, 1e-3, 2.0, 1e6])
@pytest.mark.parametrize("share", [0.0, 1e-9, 0.4, 1.0])
def test_step_maximises_the_dual_in_one_variable(margin, curvature, share):
    weight = 1.7
    u = optimal_logit(margin, share * weight, weight, curvature)
    a = weight / (1.0 + math.exp(-u))
    expected = naive.dual_ascent_step(margin, share * weight, weight, curvature)
    assert a == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_block_equals_sequential_ascent_on_the_features():
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, size=(9, 5)).astype(float)
    related = rng.random((3, 9)) < 0.5
    weights = np.append(rng.random(8) + 0.1, 0.0)
    lam = 2.5
    share = rng.random((3, 9))
    duals = np.where(related, 1, -1) * weights * share
    w = duals @ x / lam
    order = rng.permutation(9)
    new = duals.copy()
    scores = w @ x.T
    gaps = ascend_block(scores, x @ x.T, related, weights, new, 1 / lam, order)
    expected_w, expected_duals = naive.dual_ascent_block(
        x.tolist(), w, related.tolist(), weights.tolist(), duals, lam, order
    )
    np.testing.assert_allclose(new, expected_duals, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(new @ x / lam, expected_w, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scores, expected_w @ x.T, rtol=1e-6, atol=1e-9)
    assert (gaps >= 0).all()


def test_gaps_of_a_visit_without_effect_sum_to_the_duality_gap():
    """With no inner products every score is as before, so the gaps are those of (w, duals)."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(1, 6))
    weights = rng.random(6) + 0.5
    related = rng.random((1, 6)) < 0.5
    sign = np.where(related, 1, -1)
    share = rng.random((1, 6))
    duals = sign * share * weights
    gaps = ascend_block(
        scores.copy(), np.zeros((6, 6)), related, weights, duals.copy(), 1.0, np.arange(6)
    )
    loss = weights * np.log1p(np.exp(-sign * scores))
    entropy = -weights * (share * np.log(share) + (1 - share) * np.log1p(-share))
    assert gaps[0] == pytest.approx((loss - entropy + duals * scores).sum())
