"""What the sums over rankings with ties share with those over orders."""

from libc.stdint cimport int64_t


cdef class Placing:
    cdef readonly int64_t n, half
    cdef double[:, ::1] low, high
    cdef int64_t[:, ::1] low_e, high_e

    cdef double mantissa(self, int64_t a, int64_t s, int64_t *exponent) noexcept nogil
