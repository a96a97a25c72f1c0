"""What the sums over one set share with those over many components."""

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.watch cimport Watch


cdef void weigh(
    int64_t n, const double[:, ::1] pair, const int32_t[:, ::1] places, const int64_t[::1] sizes,
    int64_t cap, double[::1] w, int32_t[::1] we, int32_t[::1] size, double[::1] link,
    int32_t[::1] link_e,
) noexcept nogil

cdef void add_up(
    int64_t n, const double[::1] w, const int32_t[::1] we, double[::1] f, int32_t[::1] fe,
    Watch watch,
) noexcept nogil
