"""The generator: uniform, and a function of its state alone."""

from __future__ import annotations

import numpy as np

from relatum.kernels.inlined import next_below, next_uniform, next_word
from relatum.kernels.randomness import seed_state


def split_mix(state):
    """The published SplitMix64, in Python integers."""
    mask = (1 << 64) - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return state, z ^ (z >> 31)


def test_equals_split_mix():
    state = seed_state(5)
    plain = int(state[0])
    for _ in range(50):
        plain, z = split_mix(plain)
        assert next_uniform(state.copy()) == (z >> 11) / 2**53
        assert int(next_word(state)) == z
        assert int(state[0]) == plain


def test_integers_are_below_and_even():
    state = seed_state(1, 2)
    drawn = np.array([next_below(state, 5) for _ in range(5000)])
    counts = np.bincount(drawn, minlength=5)
    assert len(counts) == 5
    assert abs(counts - 1000).max() < 150  # five standard deviations
