import numpy as np

import naive
from relatum.kernels.learning.pair_products import pair_products


def test_products_equal_the_plain_ones():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(7, 5)), rng.normal(size=(9, 5))
    i, j = rng.integers(0, 7, size=20), rng.integers(0, 9, size=20)
    np.testing.assert_allclose(
        pair_products(left, right, i, j), naive.pair_products(left, right, i, j), rtol=1e-12
    )
