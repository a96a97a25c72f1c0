"""Random walks over linear orders whose long-run frequencies are the probabilities 2^value / Z.

An element, or a block of neighbours, is taken out and put back at one of all places, with the
probabilities that these have given the order of all others (Gibbs). A block is chosen by its length
and its place alone, so that every place it may go to would have chosen it as well.
"""

import numpy as np

from libc.math cimport INFINITY, exp2
from libc.stdint cimport int32_t, int64_t, uint64_t

from relatum.kernels.randomness cimport next_below, next_uniform
from relatum.kernels.watch cimport Watch, is_over

cdef double FAR = -60.0  # bits below the largest: never drawn in this universe


cdef class Ordering:
    """A linear order on its walk."""

    cdef const double[:, ::1] ahead
    cdef int64_t n
    cdef readonly double value  # what was gained since the start, in bits
    cdef readonly int64_t moves, block_moves, blocks
    cdef int32_t[::1] at, rest, block
    cdef double[::1] gain

    def __init__(self, const double[:, ::1] ahead, order):
        """Begin at some order.

        Parameters
        ----------
        ahead : (n, n) array
            By how much the value is larger if a comes before b than if b comes before a, in
            row a and column b; inf if it must, -inf if it must not. Antisymmetric.
        order : int array
            A feasible order: first comes first.
        """
        self.ahead, self.n = ahead, ahead.shape[0]
        self.at = np.array(order, np.int32)
        self.rest, self.block = np.empty((2, self.n), np.int32)
        self.gain = np.empty(self.n + 1)

    @property
    def order(self):
        """The elements in their order now."""
        return np.array(self.at)

    def reheat(self, const double[:, ::1] ahead, double ratio):
        """Go on with all scores multiplied by a ratio."""
        self.ahead = ahead
        self.value = self.value * ratio

    def draw(self, int32_t[:, ::1] out, double[::1] values, steps, uint64_t[::1] random, expired):
        """Walk; write the place of each element after every ``steps`` into a row of `out`.

        Steps are (moves, blocks, longest): so many elements and blocks are moved, blocks of 2 to
        `longest` elements. Returns the number of rows that were complete before time was up.
        """
        cdef int64_t moves, blocks, longest, k, m, _m, done = 0, size
        cdef Watch watch = Watch(expired)
        moves, blocks, longest = steps
        longest = min(longest, self.n - 1)
        with nogil:
            for k in range(out.shape[0]):
                for _m in range(moves if self.n > 1 else 0):
                    if is_over(watch, 4 * self.n):
                        break
                    self.moves = self.moves + self._replace(next_below(random, self.n), 1, random)
                for _m in range(blocks if longest > 1 else 0):
                    size = 2 + next_below(random, longest - 1)
                    if is_over(watch, (2 + size) * self.n):
                        break
                    self.blocks = self.blocks + 1
                    self.block_moves = self.block_moves + self._replace(
                        next_below(random, self.n - size + 1), size, random
                    )
                if watch.over:
                    break
                for m in range(self.n):
                    out[k, self.at[m]] = <int32_t>m
                values[k], done = self.value, k + 1
        watch.close()
        return done

    cdef bint _replace(self, int64_t first, int64_t size, uint64_t[::1] random) noexcept nogil:
        """Put the elements at places first ... first + size - 1 anywhere; say if they moved."""
        cdef int64_t n = self.n - size, p, b, low = 0, high = n, chosen
        cdef double x, here = 0.0, top = -INFINITY, total = 0.0, u, w
        for p in range(size):
            self.block[p] = self.at[first + p]
        for p in range(n):
            self.rest[p] = self.at[p if p < first else p + size]
        self.gain[0] = 0.0  # of the block at the place p: after the first p of the others
        for p in range(n):
            x = 0.0
            for b in range(size):
                w = self.ahead[self.rest[p], self.block[b]]
                if w == INFINITY:
                    low = p + 1
                elif w == -INFINITY:
                    high = min(high, p)
                else:
                    x += w
            self.gain[p + 1] = self.gain[p] + x
        here = self.gain[first]
        for p in range(low, high + 1):
            top = max(top, self.gain[p])
        for p in range(low, high + 1):
            x = self.gain[p] - top
            total += exp2(x) if x > FAR else 0.0
        u, chosen = next_uniform(random) * total, first
        for p in range(low, high + 1):
            x = self.gain[p] - top
            if x > FAR:
                chosen = p  # if rounding leaves something over, the last
                u -= exp2(x)
                if u < 0.0:
                    break
        if chosen == first:
            return False
        self.value = self.value + self.gain[chosen] - here
        for p in range(n):
            self.at[p if p < chosen else p + size] = self.rest[p]
        for p in range(size):
            self.at[chosen + p] = self.block[p]
        return True
