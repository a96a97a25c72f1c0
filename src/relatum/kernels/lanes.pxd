"""The best of many, looked for in lanes.

Of the elements that are LANES apart, a lane keeps the best value, which is quick because lanes do
not wait for one another; then the first element that has the best value of all is looked up. Rows
of arrays are padded to full lanes. What must not be chosen is not a number, and so neither larger
nor smaller than the best so far.
"""

from libc.stdint cimport int64_t

cdef enum:
    LANES = 32


cdef inline int64_t full_lanes(int64_t n) noexcept nogil:
    """Round a number of elements up to full lanes."""
    return (n + LANES - 1) // LANES * LANES


cdef inline double largest_lane(const double* lanes) noexcept nogil:
    """Return the largest number in the lanes."""
    cdef double a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3]
    cdef int64_t j
    for j in range(4, LANES, 4):  # four at a time: they do not wait for one another
        a, b = max(a, lanes[j]), max(b, lanes[j + 1])
        c, d = max(c, lanes[j + 2]), max(d, lanes[j + 3])
    return max(max(a, b), max(c, d))


cdef inline double least_lane(const double* lanes) noexcept nogil:
    """Return the least number in the lanes."""
    cdef double a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3]
    cdef int64_t j
    for j in range(4, LANES, 4):
        a, b = min(a, lanes[j]), min(b, lanes[j + 1])
        c, d = min(c, lanes[j + 2]), min(d, lanes[j + 3])
    return min(min(a, b), min(c, d))
