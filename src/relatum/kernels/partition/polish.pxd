from libc.stdint cimport int64_t, uint64_t

from relatum.kernels.watch cimport Watch


cdef class SmallSearch:
    cdef const double[::1] weights
    cdef const int64_t[::1] sizes
    cdef int64_t[::1] labels, held, used, labels_before, held_before
    cdef double[::1] table, gain, table_before
    cdef uint64_t[::1] random
    cdef int64_t n, cap, count
    cdef double least
    cdef Watch watch


cdef SmallSearch new_search(
    const double[::1] weights, const int64_t[::1] sizes, int64_t[::1] labels, int64_t cap,
    double least
)
cdef double labels_value(SmallSearch search) noexcept nogil
cdef double polish_labels(SmallSearch search) noexcept nogil
cdef double perturb_labels(SmallSearch search, int64_t iterations, uint64_t seed) noexcept nogil
