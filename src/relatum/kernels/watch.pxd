"""What a kernel that may run long looks at now and then; ``watch.pyx`` says how."""

from libc.stdint cimport int64_t


cdef class Watch:
    cdef object expired, clock, error
    cdef double seconds, last
    cdef int64_t left, amount
    cdef readonly bint over

    cdef bint look(self) noexcept nogil


cdef inline bint is_over(Watch watch, int64_t work) noexcept nogil:
    """Say whether to stop, after so much more work: about as many nanoseconds, or so."""
    watch.left = watch.left - work
    return watch.over if watch.left > 0 else watch.look()
