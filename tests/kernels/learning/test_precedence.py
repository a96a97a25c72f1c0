import numpy as np

import naive
from relatum.kernels.learning.precedence import count_precedences


def test_counts_equal_the_plain_ones_and_add_up():
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 6, size=n).tolist() for n in (0, 1, 5, 12, 3)]
    tokens = np.array([t for s in sequences for t in s], dtype=np.int32)
    offsets = np.cumsum([0] + [len(s) for s in sequences])
    table = np.ones((6, 6), dtype=np.int64)
    count_precedences(tokens, offsets, table)
    np.testing.assert_array_equal(table - 1, naive.precedences(sequences, 6))
