"""Random walks over clusterings whose long-run frequencies are the probabilities 2^value / Z.

Two kinds of steps. An element is taken out and put into one of the sets, or a new one, with the
probabilities that these have given all others (Gibbs). And of two elements, their sets are
joined, or their common set is split: its other elements choose a side one after the other, in a
random order, and the proposal is accepted or not such that probabilities are kept (Metropolis and
Hastings; sequentially allocated splits, Dahl). Sums over neighbours are made anew for each step:
nothing drifts.
"""

import numpy as np

from libc.math cimport INFINITY, exp2, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from relatum.kernels.randomness cimport next_below, next_uniform
from relatum.kernels.watch cimport Watch, is_over

cdef double FAR = -60.0  # bits below the largest: never drawn in this universe


cdef class Clustering:
    """A clustering on its walk; the pairs' scores are the background but for listed neighbours."""

    cdef const int64_t[::1] start, sizes
    cdef const int32_t[::1] other
    cdef const double[::1] above
    cdef double background
    cdef int64_t cap, n, used
    cdef readonly double value  # what was gained since the start, in bits
    cdef readonly int64_t proposed_splits, proposed_joins, splits, joins, moves
    cdef int32_t[::1] label, follower, leader, head, slot, at, order
    cdef int64_t[::1] mass
    cdef uint8_t[::1] side
    cdef double[::1] sums, weight

    def __init__(self, neighbours, sizes, double background, int64_t cap, labels):
        """Begin at some labels.

        Parameters
        ----------
        neighbours : (start, other, above)
            Rows of listed neighbours, both ways: by how much their scores exceed the
            background (times both sizes), -inf if they must not be together.
        sizes : int64 array
            How many elements each element stands for.
        background : float
        cap : int
            Largest sum of sizes of a set.
        labels : int array
            A feasible clustering; numbers from 0 to n - 1.
        """
        cdef int64_t v, n = len(sizes)
        self.start, self.other, self.above = neighbours
        self.sizes, self.background, self.cap, self.n = sizes, background, cap, n
        self.label, self.follower, self.leader, self.slot, self.at, self.order = (
            np.full((6, n), -1, np.int32)
        )
        self.head = np.full(n, -1, np.int32)
        self.mass, self.side = np.zeros(n, np.int64), np.zeros(n, np.uint8)
        self.sums, self.weight = np.zeros(n), np.empty(n + 1)
        cdef const int32_t[::1] given = np.ascontiguousarray(labels, np.int32)
        for v in range(n):
            self.slot[v] = <int32_t>v  # the first `used` are those of sets, the others are free
            self.at[v] = <int32_t>v
        for v in range(n):
            self._enter(v, given[v])

    @property
    def labels(self):
        """The set of each element now."""
        return np.array(self.label)

    def reheat(self, const double[::1] above, double background, double ratio):
        """Go on with all scores multiplied by a ratio."""
        self.above, self.background = above, background
        self.value = self.value * ratio

    def draw(self, int32_t[:, ::1] out, double[::1] values, steps, uint64_t[::1] random, expired):
        """Walk, and write the labels after every ``steps = (moves, pairs)`` into a row of `out`.

        `moves` elements choose their sets, and `pairs` pairs of elements are split or joined.
        Returns the number of rows that were complete before time was up.
        """
        cdef int64_t moves, pairs, k, _m, v, done = 0, spread
        cdef Watch watch = Watch(expired)
        moves, pairs = steps
        spread = self.start[self.n] // max(self.n, 1) + 8
        with nogil:
            for k in range(out.shape[0]):
                for _m in range(moves):
                    if is_over(watch, spread + 4 * self.used):
                        break
                    self._choose(next_below(random, self.n), random)
                for _m in range(pairs if self.n > 1 else 0):
                    if is_over(watch, spread):
                        break
                    self._split_or_join(random, watch)
                if watch.over:
                    break
                for v in range(self.n):
                    out[k, v] = self.label[v]
                values[k], done = self.value, k + 1
        watch.close()
        return done

    cdef void _leave(self, int64_t v) noexcept nogil:
        """Take v out of its set; a set without elements becomes free."""
        cdef int64_t c = self.label[v], before = self.leader[v], after = self.follower[v], p
        cdef int32_t last
        if before < 0:
            self.head[c] = <int32_t>after
        else:
            self.follower[before] = <int32_t>after
        if after >= 0:
            self.leader[after] = <int32_t>before
        self.mass[c] = self.mass[c] - self.sizes[v]
        self.label[v] = -1
        if self.head[c] < 0:
            self.used = self.used - 1
            p, last = self.at[c], self.slot[self.used]
            self.slot[p], self.at[last] = last, <int32_t>p
            self.slot[self.used], self.at[c] = <int32_t>c, <int32_t>self.used

    cdef void _enter(self, int64_t v, int64_t c) noexcept nogil:
        """Put v into the set c, or begin it."""
        cdef int64_t first = self.head[c], p
        cdef int32_t other
        if first < 0:
            p, other = self.at[c], self.slot[self.used]
            self.slot[p], self.at[other] = other, <int32_t>p
            self.slot[self.used], self.at[c] = <int32_t>c, <int32_t>self.used
            self.used = self.used + 1
        else:
            self.leader[first] = <int32_t>v
        self.follower[v], self.leader[v], self.head[c] = <int32_t>first, -1, <int32_t>v
        self.label[v] = <int32_t>c
        self.mass[c] = self.mass[c] + self.sizes[v]

    cdef void _choose(self, int64_t v, uint64_t[::1] random) noexcept nogil:
        """Let v choose its set anew, given all others."""
        cdef int64_t e, p, c, old = self.label[v], chosen
        cdef double x, top = 0.0, total, here, u
        self._leave(v)
        for p in range(self.used):
            self.sums[self.slot[p]] = 0.0
        for e in range(self.start[v], self.start[v + 1]):
            c = self.label[self.other[e]]
            self.sums[c] = self.sums[c] + self.above[e]
        for p in range(self.used):
            c = self.slot[p]
            x = self.sums[c] + self.background * <double>(self.sizes[v] * self.mass[c])
            if self.mass[c] + self.sizes[v] > self.cap:
                x = -INFINITY
            self.weight[p] = x
            top = max(top, x)
        # a set of its own has the value 0; if v was alone, `old` is the first free one
        here = 0.0 if self.at[old] >= self.used else self.weight[self.at[old]]
        total = exp2(-top) if top < -FAR else 0.0
        for p in range(self.used):
            x = self.weight[p] - top
            self.sums[self.slot[p]] = exp2(x) if x > FAR else 0.0
            total += self.sums[self.slot[p]]
        u, chosen = next_uniform(random) * total, self.used
        for p in range(self.used):
            u -= self.sums[self.slot[p]]
            if u < 0.0:
                chosen = p
                break
        if chosen == self.used and top >= -FAR:  # rounding has left something over
            for p in range(self.used):
                if self.sums[self.slot[p]] > 0.0:
                    chosen = p
        x = 0.0 if chosen == self.used else self.weight[chosen]
        self.value = self.value + x - here
        c = self.slot[chosen]
        self.moves = self.moves + (c != old)
        self._enter(v, c)

    cdef void _split_or_join(self, uint64_t[::1] random, Watch watch) noexcept nogil:
        """Split the common set of two elements, or join their sets, if the proposal is accepted."""
        cdef int64_t i = next_below(random, self.n), j, v, p, m = 0, a, b
        cdef double cut, q = 0.0, left, right, share, u
        cdef bint common
        # which two does not depend on what is related: so both ways are equally probable
        if next_uniform(random) < 0.5 and self.start[i + 1] > self.start[i]:
            j = self.start[i] + next_below(random, self.start[i + 1] - self.start[i])
            j = self.other[j]
        else:
            j = next_below(random, self.n - 1)
            j += j >= i
        a, b = self.label[i], self.label[j]
        common = a == b
        if not common and self.mass[a] + self.mass[b] > self.cap:
            self.proposed_joins = self.proposed_joins + 1
            return
        m = self._others(i, j, a, 0)
        if not common:
            m = self._others(i, j, b, m)
        for p in range(m - 1, 0, -1):
            v = next_below(random, p + 1)
            self.order[p], self.order[v] = self.order[v], self.order[p]
        self.side[i], self.side[j] = 1, 2
        a, b = self.sizes[i], self.sizes[j]  # of both sides so far
        self._towards(i, a, b, &left, &cut)
        for p in range(m):
            v = self.order[p]
            if is_over(watch, self.start[v + 1] - self.start[v] + 20):
                break
            self._towards(v, a, b, &left, &right)
            if common:
                share = 1.0 / (1.0 + exp2(min(1000.0, right - left)))  # of the side of i
                self.side[v] = 1 if next_uniform(random) < share else 2
            elif self.label[v] == self.label[i]:
                self.side[v] = 1
            else:
                self.side[v] = 2
            if self.side[v] == 1:
                q, cut, a = q - _either(right - left), cut + right, a + self.sizes[v]
            else:
                q, cut, b = q - _either(left - right), cut + left, b + self.sizes[v]
            if cut == -INFINITY:
                break
        u = next_uniform(random)
        if not watch.over:
            self._settle(i, j, m, cut, q, u)
        self.side[i], self.side[j] = 0, 0
        for p in range(m):
            self.side[self.order[p]] = 0

    cdef void _settle(
        self, int64_t i, int64_t j, int64_t m, double cut, double q, double u
    ) noexcept nogil:
        """Accept or refuse a split (what is cut is lost) or its reverse."""
        cdef int64_t p, v, a, b
        if self.label[i] == self.label[j]:
            self.proposed_splits = self.proposed_splits + 1
            if log2(u + 1e-300) >= -cut - q:
                return
            self.splits, self.value = self.splits + 1, self.value - cut
            b = self.slot[self.used]
            self._leave(j)
            self._enter(j, b)
            for p in range(m):
                v = self.order[p]
                if self.side[v] == 2:
                    self._leave(v)
                    self._enter(v, b)
            return
        self.proposed_joins = self.proposed_joins + 1
        if cut == -INFINITY or log2(u + 1e-300) >= cut + q:
            return
        self.joins, self.value = self.joins + 1, self.value + cut
        a, b = self.label[i], self.label[j]
        while self.head[b] >= 0:
            v = self.head[b]
            self._leave(v)
            self._enter(v, a)

    cdef int64_t _others(self, int64_t i, int64_t j, int64_t c, int64_t m) noexcept nogil:
        """Note the elements of a set but i and j, after m others, by their numbers in the list."""
        cdef int64_t v = self.head[c]
        while v >= 0:
            if v != i and v != j:
                self.order[m] = <int32_t>v
                m += 1
            v = self.follower[v]
        return m

    cdef void _towards(
        self, int64_t v, int64_t a, int64_t b, double* left, double* right
    ) noexcept nogil:
        """Add up the scores between v and both sides, whose sizes are a and b."""
        cdef int64_t e
        cdef double x = 0.0, y = 0.0, each = self.background * <double>self.sizes[v]
        for e in range(self.start[v], self.start[v + 1]):
            if self.side[self.other[e]] == 1:
                x += self.above[e]
            elif self.side[self.other[e]] == 2:
                y += self.above[e]
        left[0], right[0] = x + each * <double>a, y + each * <double>b


cdef inline double _either(double x) noexcept nogil:
    """Return log2(1 + 2^x)."""
    return x if x > -FAR else log2(1.0 + exp2(x))
