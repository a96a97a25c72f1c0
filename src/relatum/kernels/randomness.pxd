"""The loops of the generator, for kernels to inline."""

from libc.stdint cimport int64_t, uint64_t


cdef inline uint64_t next_word(uint64_t[::1] state) noexcept nogil:
    """Next 64 bits, well mixed: SplitMix64."""
    cdef uint64_t z = state[0] + <uint64_t>0x9E3779B97F4A7C15
    state[0] = z
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline double next_uniform(uint64_t[::1] state) noexcept nogil:
    """Next float in [0, 1), from the top 53 bits."""
    return <double>(<int64_t>(next_word(state) >> 11)) * (1.0 / 9007199254740992.0)


cdef inline int64_t next_below(uint64_t[::1] state, int64_t n) noexcept nogil:
    """Next integer in [0, n)."""
    return <int64_t>(next_uniform(state) * n)
