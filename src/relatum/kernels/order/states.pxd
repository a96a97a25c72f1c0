from libc.stdint cimport int64_t, uint64_t

from relatum.kernels.watch cimport Watch


cdef class Scratch:
    cdef int64_t n, states
    cdef double[:, ::1] d, loss, rest, own, cost
    cdef int64_t[:, ::1] cycles, parent
    cdef double[::1] weight, freed, added
    cdef int64_t[::1] start, opened, order, best
    cdef uint64_t[::1] masks, keys
    cdef uint64_t[:, ::1] table
    cdef Watch watch


cdef Scratch borrow(int64_t n, int64_t most)
cdef void give_back(Scratch scratch)
cdef bint order_pruned(Scratch s, int64_t n, int64_t most) noexcept nogil
