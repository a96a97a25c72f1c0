"""Places of unordered pairs in a condensed upper triangle: row by row, a < b."""

from numba import njit


@njit(cache=True)
def place(a, b, n):
    """Return the place of a pair of different elements, in any order."""
    if a > b:
        a, b = b, a
    return a * (2 * n - a - 1) // 2 + b - a - 1
