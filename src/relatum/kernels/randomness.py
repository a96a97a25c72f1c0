"""A small random generator whose state is an array, so that a seed means the same everywhere.

The state belongs to the search, not to a thread, and so a search gives the same answer on any
number of threads. The generator itself is in ``randomness.pxd``, for kernels to inline.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def seed_state(*entropy: int) -> NDArray[np.uint64]:
    """State of a generator, a ``uint64`` array of length 1, from one or more integers >= 0."""
    state = np.random.SeedSequence(entropy).generate_state(1, np.uint64)
    return np.asarray(state, dtype=np.uint64)
