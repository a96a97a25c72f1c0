"""Inner products of chosen pairs of rows."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def pair_products(left, right, first, second):
    """Inner products <left[first[k]], right[second[k]]>, without copies of the rows.

    Parameters
    ----------
    left, right : (elements, width) float64
    first, second : (pairs,) int64

    Returns
    -------
    (pairs,) float64
    """
    width = left.shape[1]
    out = np.empty(len(first))
    for k in range(len(first)):
        a = left[first[k]]
        b = right[second[k]]
        total = 0.0
        for j in range(width):
            total += a[j] * b[j]
        out[k] = total
    return out
