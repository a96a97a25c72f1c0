"""Violated rows of properties at a fractional point."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over


cdef int64_t _violated_transitivity(
    const double[:, ::1] x, double tolerance, int64_t[:, ::1] index, double[::1] violation,
    Watch watch
) noexcept nogil:
    cdef int64_t n = x.shape[0], count = 0, a, b, c, best_c
    cdef double ab, v, best
    for a in range(n):
        for b in range(n):
            ab = x[a, b]
            # x_ab + x_bc - x_ac > 1 needs x_ab > x_ac, hence x_ab > 0
            if a == b or ab <= tolerance:
                continue
            best = tolerance
            best_c = -1
            if is_over(watch, n):
                return count
            for c in range(n):
                v = ab + x[b, c] - x[a, c] - 1.0
                if v > best:
                    if c != b:
                        best = v
                        best_c = c
            if best_c >= 0:
                index[count, 0], index[count, 1], index[count, 2] = a, b, best_c
                violation[count] = best
                count += 1
    return count


def violated_transitivity(const double[:, ::1] x, double tolerance, int64_t limit, expired=None):
    """Rows x_ab + x_bc - x_ac <= 1 that x breaks by more than the tolerance.

    For every pair ab the most violated c is kept, so that the rows found spread over the
    pairs. Triples with a = c are included: they matter where the diagonal is free.

    Returns
    -------
    index : int64 array (r, 3)
    violation : float64 array (r,)
        Sorted from the most violated down; at most `limit` rows. Those found until `expired`
        says to stop.
    """
    cdef Watch watch = Watch(expired)
    cdef int64_t n = x.shape[0], count
    index, violation = np.empty((n * n, 3), np.int64), np.empty(n * n)
    cdef int64_t[:, ::1] rows = index
    cdef double[::1] amounts = violation
    with nogil:
        count = _violated_transitivity(x, tolerance, rows, amounts, watch)
    watch.close()
    order = (-violation[:count]).argsort(kind="stable")[:limit]
    return index[order], violation[order]


cdef (int64_t, int64_t, int64_t) _first_intransitivity(const uint8_t[:, ::1] y) noexcept nogil:
    cdef int64_t n = y.shape[0], a, b, c
    cdef uint8_t missing
    for a in range(n):
        for b in range(n):
            if a == b or not y[a, b]:
                continue
            missing = 0
            for c in range(n):
                missing |= y[b, c] > y[a, c]
            if missing:
                c = 0
                while y[b, c] <= y[a, c]:
                    c += 1
                return a, b, c
    return -1, -1, -1


def first_intransitivity(y):
    """Return a triple (a, b, c) with ab and bc related but not ac, or (-1, -1, -1)."""
    cdef const uint8_t[:, ::1] related = y.view(np.uint8)
    cdef (int64_t, int64_t, int64_t) found
    with nogil:
        found = _first_intransitivity(related)
    return found
