"""The heap against sorting."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.inlined import drop_top, push


@pytest.mark.parametrize("seed", range(20))
def test_the_least_key_is_always_on_top(seed):
    rng = np.random.default_rng(seed)
    keys, items, plain = np.empty(50), np.empty(50, np.int64), []
    for step in range(300):
        if len(plain) == 50 or (plain and rng.random() < 0.45):
            drop_top(keys, items, len(plain) - 1)
            plain.pop(0)
        else:
            key = float(rng.integers(0, 30))  # with ties
            push(keys, items, len(plain), key, step)
            plain = sorted([*plain, (key, step)])
        size = len(plain)
        if size:
            assert keys[0] == plain[0][0]
            plain.remove((keys[0], items[0]))  # of equal keys, any may be on top
            plain.insert(0, (keys[0], items[0]))
        assert sorted(zip(keys[:size], items[:size], strict=True)) == sorted(plain)
