from libc.stdint cimport int16_t, int32_t, int64_t

from relatum.kernels.partition.rules cimport RulesView, SetsView

ctypedef fused weight_t:
    float
    double

ctypedef fused sum_t:
    float
    double

# annealing may do with scores and sums that are small integers
ctypedef fused term_t:
    float
    double
    int16_t

ctypedef fused total_t:
    float
    double
    int16_t


cdef class DenseView(SetsView):
    cdef int32_t[::1] slots, place
    cdef double[::1] own
    cdef int64_t[::1] counters


cdef void relocate_into(
    const term_t[:, ::1] weights, RulesView rules, DenseView state, total_t[:, ::1] table,
    int64_t v, int64_t c
) noexcept nogil
