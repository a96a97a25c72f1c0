from libc.stdint cimport int32_t, int64_t


cdef class PairsView:
    cdef const int64_t[::1] pointer
    cdef const int32_t[::1] neighbour, edge


cdef class PackedView:
    cdef int32_t[:, ::1] index
    cdef double[::1] multipliers
    cdef int64_t count


cdef inline bint is_full(PackedView rows) noexcept nogil:
    """Whether there is no room for another row."""
    return rows.count == rows.multipliers.shape[0]


cdef inline void append(
    PackedView rows, int64_t b, int64_t a, int64_t c, double m
) noexcept nogil:
    """Write a triangle (b, a, c) and its multiplier down."""
    cdef int64_t k = rows.count
    rows.index[k, 0], rows.index[k, 1], rows.index[k, 2] = <int32_t>b, <int32_t>a, <int32_t>c
    rows.multipliers[k] = m
    rows.count = k + 1
