"""What may still be packed into a pair, listed or not, for kernels to inline."""

from libc.stdint cimport int64_t

from relatum.kernels.hashing cimport find


cdef class Unlisted:
    cdef int64_t[::1] keys
    cdef double[::1] used
    cdef double background


cdef inline int64_t slot_of(Unlisted table, int64_t a, int64_t b, int64_t n) noexcept nogil:
    """Return the slot of a pair, or the one where it would be entered."""
    return find(table.keys, min(a, b) * n + max(a, b))


cdef inline double spare(Unlisted table, const double[::1] residual, int64_t slot) noexcept nogil:
    """Return how much speaks against the pair of a slot still."""
    cdef double used = table.used[slot]
    if table.keys[slot] == -1:
        return -table.background if table.used[table.used.shape[0] - 1] > 0.0 else 0.0
    return -table.background - used if used >= 0.0 else -residual[<int64_t>(-used) - 1]


cdef inline void close_pair(
    Unlisted table, double[::1] residual, int64_t slot, int64_t key, double m
) noexcept nogil:
    """Pack so much into the pair of a slot, and enter it if it is new."""
    if table.keys[slot] == -1:
        table.used[table.used.shape[0] - 1] -= 1.0
        table.keys[slot], table.used[slot] = key, m
    elif table.used[slot] >= 0.0:
        table.used[slot] += m
    else:
        residual[<int64_t>(-table.used[slot]) - 1] += m
