"""A small random generator whose state is an array, so that a seed means the same everywhere.

Numba's own generator belongs to the thread that runs the kernel; this one belongs to the
search, and so a search gives the same answer on any number of threads.
"""

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def seed_state(*entropy: int) -> np.ndarray:
    """State of a generator, a ``uint64`` array of length 1, from one or more integers >= 0."""
    return np.random.SeedSequence(entropy).generate_state(1, np.uint64)


@njit(cache=True, nogil=True)
def next_word(state):
    """Next 64 bits, well mixed: SplitMix64."""
    z = state[0] + _STEP
    state[0] = z
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@njit(cache=True, nogil=True)
def next_uniform(state):
    """Next float in [0, 1), from the top 53 bits."""
    return np.float64(np.int64(next_word(state) >> _S11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def next_below(state, n):
    """Next integer in [0, n)."""
    return np.int64(next_uniform(state) * n)
