"""The hash table against Python's, with values and as a set."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.hashing import table_length
from relatum.kernels.inlined import find, remove


@pytest.mark.parametrize("with_values", [True, False])
def test_it_holds_what_a_dictionary_holds(with_values):
    rng = np.random.default_rng(0)
    keys, plain = np.full(64, -1, np.int64), {}
    values = np.zeros(64) if with_values else keys
    for _ in range(4000):
        key, value = int(rng.integers(0, 200)), float(rng.normal())
        slot = find(keys, key)
        assert (keys[slot] == key) == (key in plain)
        if key in plain and rng.random() < 0.7:
            remove(keys, values, slot)
            del plain[key]
        elif len(plain) < 32:
            keys[slot] = plain[key] = key
            if with_values:
                values[slot] = plain[key] = value
        assert sorted(keys[keys >= 0].tolist()) == sorted(plain)
        assert all(values[find(keys, k)] == plain[k] for k in plain)


def test_lengths_are_the_least_powers_of_two():
    lengths = [table_length(least) for least in range(1, 70)]
    assert lengths == [min(2**k for k in range(1, 9) if 2**k >= least) for least in range(1, 70)]
