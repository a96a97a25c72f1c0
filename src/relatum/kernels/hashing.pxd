"""The loops of the hash table, for kernels to inline; ``hashing.py`` says what the table is."""

from libc.stdint cimport int64_t, uint64_t

ctypedef fused value_t:
    int64_t
    double


cdef inline int64_t _home(int64_t key, int64_t mask) noexcept nogil:
    return <int64_t>((<uint64_t>key * <uint64_t>0x9E3779B97F4A7C15) >> 20) & mask


cdef inline int64_t find(const int64_t[::1] keys, int64_t key) noexcept nogil:
    """Return the slot of a key, or the free slot where it would go."""
    cdef int64_t mask = keys.shape[0] - 1
    cdef int64_t i = _home(key, mask)
    while keys[i] != -1 and keys[i] != key:
        i = (i + 1) & mask
    return i


cdef inline void remove(int64_t[::1] keys, value_t[::1] values, int64_t i) noexcept nogil:
    """Free a slot that is taken, closing the gap so that no tombstones are needed."""
    cdef int64_t mask = keys.shape[0] - 1, j = i, home
    cdef bint stays
    while True:
        keys[i] = -1
        while True:
            j = (j + 1) & mask
            if keys[j] == -1:
                return
            home = _home(keys[j], mask)
            # the entry at j may fill the gap at i unless its home lies cyclically in (i, j]
            stays = (i < home <= j) if i <= j else (home > i or home <= j)
            if not stays:
                break
        keys[i], values[i] = keys[j], values[j]
        i = j
