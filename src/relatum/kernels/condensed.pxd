"""Places of unordered pairs in a condensed upper triangle: row by row, a < b."""

from libc.stdint cimport int64_t


cdef inline int64_t place(int64_t a, int64_t b, int64_t n) noexcept nogil:
    """Return the place of a pair of different elements, in any order."""
    if a > b:
        a, b = b, a
    return a * (2 * n - a - 1) // 2 + b - a - 1
