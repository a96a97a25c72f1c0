from libc.stdint cimport int32_t, int64_t, uint8_t

from relatum.kernels.partition.rules cimport RulesView, SetsView


cdef class GraphView:
    cdef const int64_t[::1] indptr
    cdef const int32_t[::1] indices
    cdef const double[::1] excess
    cdef double background


cdef class SparseView(SetsView):
    cdef int32_t[::1] free, queue, near
    cdef int64_t[::1] counters
    cdef uint8_t[::1] queued, seen
    cdef double[::1] sums


cdef void relocate_listed(RulesView rules, SparseView state, int64_t v, int64_t c) noexcept nogil
