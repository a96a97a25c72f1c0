from libc.stdint cimport int32_t, int64_t


cdef class ComponentsView:
    cdef const int64_t[::1] element_ptr, pair_ptr, fixed_ptr, groups, start
    cdef const int32_t[::1] i, j
    cdef const int32_t[:, ::1] fixed
    cdef const double[::1] log_odds
