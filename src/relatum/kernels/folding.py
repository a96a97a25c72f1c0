"""Scores of unordered pairs from a square matrix of ordered ones, and back."""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.condensed import place

TILE = 64  # rows and columns that are read together: a column alone is slow to read


@njit(cache=True)
def fold_square(c, out):
    """Write c_ab + c_ba of all pairs a < b to ``out``, in condensed order and float64."""
    n = c.shape[0]
    for first in range(0, n, TILE):
        for other in range(first, n, TILE):
            for a in range(first, min(first + TILE, n)):
                start = place(a, a + 1, n) - a - 1  # where a pair aa would be
                for b in range(max(a + 1, other), min(other + TILE, n)):
                    out[start + b] = np.float64(c[a, b]) + np.float64(c[b, a])


@njit(cache=True)
def unfold(condensed, out):
    """Write the scores of all pairs a < b to both triangles of a square matrix."""
    n = out.shape[0]
    for first in range(0, n, TILE):
        for other in range(first, n, TILE):
            for a in range(first, min(first + TILE, n)):
                start = place(a, a + 1, n) - a - 1
                for b in range(max(a + 1, other), min(other + TILE, n)):
                    out[a, b] = condensed[start + b]
                    out[b, a] = condensed[start + b]
