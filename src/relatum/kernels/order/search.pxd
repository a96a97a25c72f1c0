from libc.stdint cimport int64_t

from relatum.kernels.watch cimport Watch


cdef double improve_by_insertion(
    const double[:, ::1] d, int64_t[::1] order, int64_t n, double least, Watch watch
) noexcept nogil
