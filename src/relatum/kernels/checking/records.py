"""The arrays that the checker's kernels work on, as named tuples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Parts(NamedTuple):
    """Parts of a table, their listed pairs, and what is known of them; see `part_bounds`."""

    element_ptr: NDArray[np.int64]  # int64 (parts + 1,)
    pair_ptr: NDArray[np.int64]  # int64 (parts + 1,)
    i: NDArray[np.int32]  # int32, counted from the first element of the part
    j: NDArray[np.int32]  # int32
    fixed_ptr: NDArray[np.int64]  # int64 (parts + 1,)
    fixed: NDArray[np.int32]  # int32 (fixed, 3): two elements, and 1 (related) or 0 (unrelated)
    groups: NDArray[np.int64]  # int64 (elements,) or (0,): no two of one group; -1 for no group


class Wide(NamedTuple):
    """Scores of a batch of parts in two limbs, high * 2^48 + low; see `part_bounds`."""

    high: NDArray[np.int64]  # int64 (pairs,)
    low: NDArray[np.int64]  # int64 (pairs,)
    background_high: NDArray[np.int64]  # int64 (parts,)
    background_low: NDArray[np.int64]  # int64 (parts,)
    slack: NDArray[np.int64]  # int64 (parts,): units that rounding up may add to a value
