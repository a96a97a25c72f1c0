"""A hash table in two arrays: keys, -1 where a slot is free, and the values that belong to them.

Lengths are powers of two, and never all slots are taken. Keys are integers from 0 on. A set
has no values; where a function wants these, the keys are given once more.
"""

import numpy as np
from numba import njit


def table_length(least: int) -> int:
    """Return the least power of two that is not below a number, and not below two."""
    return 1 << max(1, (least - 1).bit_length())


@njit(cache=True, nogil=True)
def _home(key, mask):
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask


@njit(cache=True, nogil=True)
def find(keys, key):
    """Return the slot of a key, or the free slot where it would go."""
    mask = keys.shape[0] - 1
    i = _home(key, mask)
    while keys[i] != -1 and keys[i] != key:
        i = (i + 1) & mask
    return i


@njit(cache=True, nogil=True)
def remove(keys, values, i):
    """Free a slot that is taken, closing the gap so that no tombstones are needed."""
    mask = keys.shape[0] - 1
    j = i
    while True:
        keys[i] = -1
        while True:
            j = (j + 1) & mask
            if keys[j] == -1:
                return
            home = _home(keys[j], mask)
            # the entry at j may fill the gap at i unless its home lies cyclically in (i, j]
            stays = (i < home <= j) if i <= j else (home > i or home <= j)
            if not stays:
                break
        keys[i], values[i] = keys[j], values[j]
        i = j
