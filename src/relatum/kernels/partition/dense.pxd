from libc.stdint cimport int32_t, int64_t

from relatum.kernels.partition.rules cimport RulesView, SetsView

ctypedef fused weight_t:
    float
    double

ctypedef fused sum_t:
    float
    double


cdef class DenseView(SetsView):
    cdef int32_t[::1] slots, place
    cdef double[::1] own
    cdef int64_t[::1] counters


cdef void relocate_into(
    const weight_t[:, ::1] weights, RulesView rules, DenseView state, sum_t[:, ::1] table,
    int64_t v, int64_t c
) noexcept nogil
