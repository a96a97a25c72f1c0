"""A binary heap in two arrays, least key first: the keys and the items that belong to them."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused item_t:
    int32_t
    int64_t


cdef inline void push(
    double[::1] keys, item_t[::1] items, int64_t size, double key, item_t item
) noexcept nogil:
    """Enter an item into a heap that has ``size`` entries before."""
    cdef int64_t i = size, p
    while i > 0:
        p = (i - 1) // 2
        if keys[p] <= key:
            break
        keys[i], items[i] = keys[p], items[p]
        i = p
    keys[i], items[i] = key, item


cdef inline void drop_top(double[::1] keys, item_t[::1] items, int64_t size) noexcept nogil:
    """Remove the first entry of a heap that has ``size`` entries afterwards."""
    cdef double key = keys[size]
    cdef item_t item = items[size]
    cdef int64_t i = 0, c
    while True:
        c = 2 * i + 1
        if c >= size:
            break
        if c + 1 < size and keys[c + 1] < keys[c]:
            c += 1
        if keys[c] >= key:
            break
        keys[i], items[i] = keys[c], items[c]
        i = c
    keys[i], items[i] = key, item
