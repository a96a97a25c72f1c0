from libc.stdint cimport int64_t


cdef inline int64_t root_of(int64_t[::1] parent, int64_t v) noexcept nogil:
    """Return the root of an element's set, halving the path to it."""
    cdef int64_t up = parent[v]
    while up != v:
        up = parent[v] = parent[up]
        v, up = up, parent[up]
    return v
