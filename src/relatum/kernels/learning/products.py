"""Products of chosen columns."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def products(x, columns, out):
    """Write to out[row, k] the product of x[row, columns[k, 0]], x[row, columns[k, 1]], ...

    Parameters
    ----------
    x : (rows, n) array, C-contiguous.
    columns : (monomials, degree) int32 array.
    out : (rows, monomials) array of the type of `x`, written.
    """
    count, degree = columns.shape
    for row in range(x.shape[0]):
        values = x[row]
        if degree == 2:  # the usual case, without an inner loop
            for k in range(count):
                out[row, k] = values[columns[k, 0]] * values[columns[k, 1]]
            continue
        for k in range(count):
            product = values[columns[k, 0]]
            for place in range(1, degree):
                product *= values[columns[k, place]]
            out[row, k] = product
