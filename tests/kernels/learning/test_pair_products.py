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
    both = np.column_stack([i, j]).astype(np.int32)
    both.flags.writeable = left.flags.writeable = False
    np.testing.assert_array_equal(
        pair_products(left, right, both[:, 0], both[:, 1]), pair_products(left, right, i, j)
    )
