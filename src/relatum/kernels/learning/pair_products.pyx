"""Inner products of chosen pairs of rows."""

import numpy as np

from libc.stdint cimport int64_t


def pair_products(const double[:, ::1] left, const double[:, ::1] right, first, second):
    """Inner products <left[first[k]], right[second[k]]>, without copies of the rows.

    Parameters
    ----------
    left, right : (elements, width) float64
    first, second : (pairs,) int64

    Returns
    -------
    (pairs,) float64
    """
    cdef const int64_t[::1] i = np.ascontiguousarray(first, np.int64)
    cdef const int64_t[::1] j = np.ascontiguousarray(second, np.int64)
    out = np.empty(i.shape[0])
    cdef double[::1] into = out
    cdef double total
    cdef int64_t k, a, b, c
    with nogil:
        for k in range(i.shape[0]):
            a, b = i[k], j[k]
            total = 0.0
            for c in range(left.shape[1]):
                total += left[a, c] * right[b, c]
            into[k] = total
    return out
