"""The plain twin of the random generator."""

from __future__ import annotations


def split_mix(state):
    """Next state and next number in [0, 1) of SplitMix64."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return state, (z >> 11) / 2**53
