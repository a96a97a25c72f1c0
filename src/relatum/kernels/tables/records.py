"""The arrays that kernels of pair tables work on, as named tuples.

Kernels take these from Python and read them through views (`ComponentsView`), whose arrays have
types known when the kernels are compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Components(NamedTuple):
    """Components of scored pairs, and what is known of them; see `component_batch`."""

    element_ptr: NDArray[np.int64]  # int64 (components + 1,)
    pair_ptr: NDArray[np.int64]  # int64 (components + 1,)
    i: NDArray[np.int32]  # int32, counted from the first element of the component
    j: NDArray[np.int32]  # int32
    log_odds: NDArray[np.float64]  # float64
    fixed_ptr: NDArray[np.int64]  # int64 (components + 1,)
    fixed: NDArray[np.int32]  # int32 (fixed, 3): two elements, and 1 (related) or 0 (unrelated)
    groups: NDArray[np.int64]  # int64 (elements,) or (0,): no two of one group; -1 for no group
    start: NDArray[np.int64]  # int64 (elements,) or (0,): labels to start from


class Effort(NamedTuple):
    """What a component may cost."""

    background: float
    cap: int  # the largest number of elements of a set
    largest: int  # elements of the largest component that is solved here
    exact: int  # elements up to which subsets are enumerated
    iterations: int  # of perturbed local search, per element
