from libc.stdint cimport int32_t, int64_t


cdef class RulesView:
    cdef const int64_t[::1] sizes, cannot_ptr, cannot_idx, group_ptr, group_idx
    cdef int64_t cap, n_groups


cdef class SetsView:
    cdef int32_t[::1] labels
    cdef int64_t[::1] size, occupied


cpdef bint can_enter(RulesView rules, SetsView sets, int64_t v, int64_t c) noexcept nogil
cpdef bint can_join(
    RulesView rules, SetsView sets, const int64_t[::1] members, int64_t count, int64_t a
) noexcept nogil
cpdef bint can_exchange(RulesView rules, SetsView sets, int64_t v, int64_t u) noexcept nogil
cpdef void enter_groups(RulesView rules, SetsView sets, int64_t v, int64_t c) noexcept nogil
cpdef void leave_groups(RulesView rules, SetsView sets, int64_t v, int64_t c) noexcept nogil
