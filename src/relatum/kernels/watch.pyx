"""How kernels that may run long keep time limits, and hear of Ctrl-C.

A kernel runs without the interpreter, which alone knows of signals, and how much it does in a
second depends on the machine and on who else uses it. So it adds up its work and, whenever
that is about what some hundredths of a second have sufficed for so far, calls back to ask
whether to stop. If so it returns what it has. While it is not told to stop, nothing that it finds
depends on when it asks.
"""

import time

from libc.stdint cimport int64_t


cdef class Watch:
    """Asks now and then whether to stop.

    Parameters
    ----------
    expired : callable () -> bool, or None
        Says whether to stop. None: never.
    seconds : float
        Between two questions, about: a small part of what answers may be late by.
    first : int
        The work before the first question: quick on every machine.
    clock : callable () -> float

    Attributes
    ----------
    over : bool
        Whether it was told to stop, and so does not ask any more.
    """

    def __init__(
        self, expired=None, double seconds=0.02, int64_t first=1_000_000, clock=time.perf_counter
    ):
        self.expired, self.seconds, self.clock = expired, seconds, clock
        self.amount = self.left = first if expired is not None else <int64_t>1 << 62
        self.over = False
        self.last = 0.0 if expired is None else clock()

    cdef bint look(self) noexcept nogil:
        """Ask whether to stop, and set the work until the next question by the time since."""
        with gil:
            if not self.over:
                self._ask()
        return self.over

    def _ask(self):
        cdef double now, factor
        if self.expired is not None:
            try:
                self.over = bool(self.expired())
                now = self.clock()
            except BaseException as error:  # Ctrl-C again: `close` raises it outside of the loop
                self.error, self.over = error, True
                return
            # one disturbed stretch says little about the next
            factor = min(max(self.seconds / max(now - self.last, 1e-9), 0.25), 2.0)
            self.amount = <int64_t>min(max(self.amount * factor, 1.0), 1e15)
            self.last = now
        self.left = self.amount

    def works(self, int64_t work):
        """Say whether to stop, after so much more work: what kernels inline."""
        return is_over(self, work)

    def close(self):
        """Raise what was raised by the question, if anything was; say whether work was cut off."""
        if self.error is not None:
            raise self.error
        return self.over
