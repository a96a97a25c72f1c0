"""Exact linear orders by dynamic programming over the subsets that may begin a best order.

Against each pair's better direction an order loses. Orders are built from the front; of a
beginning only its set of elements and the least loss matter. A beginning is dropped if its
loss, plus a lower bound on what the rest must lose among itself, exceeds a known loss.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from relatum.kernels.order.search cimport improve_by_insertion
from relatum.kernels.watch cimport Watch, is_over

WORD = 62  # elements of a problem at most: a subset is an integer with one bit for each

cdef enum:
    BLOCK = 8  # columns of losses that are added up at a time
    FIRST_TABLE = 64  # slots of the table of subsets at first; it doubles as they grow in number
    KEPT_STATES = 65536  # subsets of scratch space that is kept at most: some megabytes


cdef int64_t _capacity(int64_t n, int64_t most) noexcept nogil:
    """How many subsets of n elements there may be, if `most` are looked at."""
    return most if n > 30 else min(most, <int64_t>1 << n)


cdef class Scratch:
    """Scratch space to order up to n elements, looking at up to `most` subsets."""

    def __init__(self, int64_t n, int64_t most):
        cdef int64_t states = _capacity(n, most), size = FIRST_TABLE
        while size < 2 * states + 2:
            size *= 2
        self.n, self.states, self.watch = n, states, Watch()
        self.d, self.rest = np.empty((n, n)), np.empty((n, n))
        self.loss = np.zeros((n, (n + BLOCK - 1) // BLOCK * BLOCK))  # whole blocks
        self.cycles, self.weight = np.empty((n * n, 3), np.int64), np.empty(n * n)
        # the cycles of each element: starts, masks, weights and zeros; and their total weight
        self.start, self.freed = np.empty(n + 1, np.int64), np.empty(n)
        self.masks, self.own = np.empty(3 * n * n, np.uint64), np.zeros((3 * n * n, 2))
        # what each element loses if it comes next, and which are not placed yet
        self.added, self.opened = np.empty(self.loss.shape[1]), np.empty(n, np.int64)
        self.order, self.best = np.empty(n, np.int64), np.empty(n, np.int64)
        # of each subset the key, what is lost so far and at least to be lost by the rest, the
        # subset before and the last element
        self.keys, self.cost = np.empty(states + 1, np.uint64), np.empty((states + 1, 2))
        self.parent = np.empty((states + 1, 2), np.int64)
        self.table = np.empty((size, 2), np.uint64)  # keys, 0 in a hole, and their subsets


cdef list _spare = []  # scratch space of the last call: a new one takes longer than small problems


cdef Scratch borrow(int64_t n, int64_t most):
    """Return scratch space that is large enough; give it back when done."""
    cdef Scratch scratch
    try:
        scratch = _spare.pop()
    except IndexError:
        return Scratch(n, most)
    return scratch if scratch.n >= n and scratch.states >= _capacity(n, most) else Scratch(n, most)


cdef void give_back(Scratch scratch):
    """Keep scratch space for the next call, unless it is large."""
    if not _spare and scratch.states <= KEPT_STATES:
        _spare.append(scratch)


cdef int64_t _pack(
    double[:, ::1] rest, int64_t n, int64_t[:, ::1] cycles, double[::1] weight, Watch watch
) noexcept nogil:
    """Do what `pack_cycles` does to what is left of the losses; return the number of cycles."""
    cdef int64_t count = 0, a, b, c
    cdef double w
    for a in range(n):
        for b in range(n):
            if b == a or rest[a, b] <= 0.0:
                continue
            if is_over(watch, 2 * n):
                return count
            for c in range(n):
                w = min(rest[b, c], rest[c, a])
                if w <= 0.0:
                    continue
                w = min(rest[a, b], w)
                if w < INFINITY and count < n * n:
                    cycles[count, 0], cycles[count, 1], cycles[count, 2] = a, b, c
                    weight[count] = w
                    count += 1
                    rest[a, b] -= w
                    rest[b, c] -= w
                    rest[c, a] -= w
                    if rest[a, b] <= 0.0:
                        break
    return count


def pack_cycles(loss, expired=None):
    """Return 3-cycles with weights that together use no loss[a, b] more than once.

    loss[a, b] is lost when a, better placed before b, comes after it. Every order loses at
    least the weight of each cycle. Returns (cycles of shape (t, 3), weights): those found until
    `expired` says to stop.
    """
    cdef Watch watch = Watch(expired)
    cdef double[:, ::1] rest = loss.copy()
    cdef int64_t n = rest.shape[0], count
    cycles, weight = np.empty((n * n, 3), np.int64), np.empty(n * n)
    cdef int64_t[:, ::1] found = cycles
    cdef double[::1] worth = weight
    with nogil:
        count = _pack(rest, n, found, worth, watch)
    watch.close()
    return cycles[:count], weight[:count]


cdef void _open_losses(Scratch s, int64_t n, int64_t count) noexcept nogil:
    """Fill in what each of n elements loses if it comes next, before the other open ones."""
    cdef int64_t block, begin, i, j
    cdef double[BLOCK] sums
    cdef const double* row  # a pointer: compilers see that its columns lie side by side
    for block in range((n + BLOCK - 1) // BLOCK):
        begin = block * BLOCK
        for j in range(BLOCK):
            sums[j] = 0.0
        for i in range(count):
            row = &s.loss[s.opened[i], begin]
            for j in range(BLOCK):
                sums[j] += row[j]
        for j in range(BLOCK):
            s.added[begin + j] = sums[j]


cdef void _greedy(Scratch s, int64_t n) noexcept nogil:
    """Put into the order of the scratch space what `greedy_order` returns."""
    cdef int64_t place, i, at, left = n
    for i in range(n):
        s.opened[i] = i
    for place in range(n):
        _open_losses(s, n, left)
        at = 0
        for i in range(1, left):
            if s.added[s.opened[i]] < s.added[s.opened[at]]:
                at = i
        s.order[place] = s.opened[at]
        left -= 1
        for i in range(at, left):
            s.opened[i] = s.opened[i + 1]


cdef void _load(Scratch s, const double[:, ::1] loss) noexcept nogil:
    """Copy losses into the scratch space."""
    cdef int64_t a, b
    for a in range(loss.shape[0]):
        for b in range(loss.shape[0]):
            s.loss[a, b] = loss[a, b]


def greedy_order(const double[:, ::1] loss):
    """Return an order built from the front, each time by the element that loses least."""
    cdef int64_t n = loss.shape[0], p
    cdef Scratch scratch = borrow(n, 0)
    order = np.empty(n, np.int64)
    cdef int64_t[::1] out = order
    with nogil:
        _load(scratch, loss)
        _greedy(scratch, n)
        for p in range(n):
            out[p] = scratch.order[p]
    give_back(scratch)
    return order


cdef inline uint64_t _find(
    const uint64_t[:, ::1] table, uint64_t mask, uint64_t key
) noexcept nogil:
    """Return the slot of a key in an open-addressing table, or of the hole where it belongs."""
    cdef uint64_t z = key * <uint64_t>0x9E3779B97F4A7C15
    cdef uint64_t slot = (z ^ (z >> 29)) & mask
    while table[slot, 0] and table[slot, 0] != key:
        slot = (slot + 1) & mask
    return slot


cdef void _rebuild(Scratch s, int64_t size, int64_t count) noexcept nogil:
    """Enter the keys of the first subsets into the table, of which `size` slots are used."""
    cdef int64_t i
    cdef uint64_t slot
    for i in range(size):
        s.table[i, 0] = 0
    for i in range(1, count):  # not the empty one
        slot = _find(s.table, <uint64_t>(size - 1), s.keys[i])
        s.table[slot, 0], s.table[slot, 1] = s.keys[i], <uint64_t>i


cdef double _by_element(Scratch s, int64_t n, int64_t count) noexcept nogil:
    """Find the cycles of each element; return the weight of all cycles."""
    cdef int64_t t, p, e
    cdef uint64_t mask
    cdef double total = 0.0
    for e in range(n + 1):
        s.start[e] = 0
    for t in range(count):
        for p in range(3):
            s.start[s.cycles[t, p]] += 1
    for e in range(n):
        s.start[e + 1] += s.start[e]
        s.freed[e] = 0.0
    # starts are now ends; filled in from the back, they become starts
    for t in range(count - 1, -1, -1):
        mask = 0
        for p in range(3):
            mask |= <uint64_t>1 << s.cycles[t, p]
        for p in range(2, -1, -1):
            e = s.cycles[t, p]
            s.start[e] -= 1
            s.masks[s.start[e]], s.own[s.start[e], 0] = mask, s.weight[t]
    for t in range(count):
        total += s.weight[t]
        for p in range(3):
            s.freed[s.cycles[t, p]] += s.weight[t]
    return total


cdef (bint, double) _least_loss(
    Scratch s, int64_t n, double limit, int64_t most, int64_t wide
) noexcept nogil:
    """Return (done, loss) as `least_loss` does, for the losses and into `best` of the scratch."""
    cdef int64_t capacity = _capacity(n, most), first = 0, last = 1, count = 1, size = FIRST_TABLE
    cdef int64_t a, b, i, j, t, at, left
    cdef uint64_t state, next, slot
    cdef double lost, due, total, rest
    for a in range(n):
        s.best[a] = a
        for b in range(n):
            s.rest[a, b] = s.loss[a, b]
    s.keys[0], s.cost[0, 0] = 0, 0.0
    s.cost[0, 1] = _by_element(s, n, _pack(s.rest, n, s.cycles, s.weight, s.watch))
    _rebuild(s, size, count)
    for _ in range(n):
        for a in range(first, last):
            if is_over(s.watch, 4 * n * n):
                return False, INFINITY
            state, lost, due = s.keys[a], s.cost[a, 0], s.cost[a, 1]
            left = 0
            for j in range(n):
                s.opened[left] = j
                left += not (state >> j) & 1
            _open_losses(s, n, left)
            for i in range(left):
                j = s.opened[i]
                total = lost + s.added[j]
                if total + due - s.freed[j] > limit:
                    continue
                rest = due
                for t in range(s.start[j], s.start[j + 1]):
                    rest -= s.own[t, (state & s.masks[t]) != 0]  # its zero: no branch to mispredict
                if total + rest > limit:
                    continue
                next = state | <uint64_t>1 << j
                slot = _find(s.table, <uint64_t>(size - 1), next)
                at = <int64_t>s.table[slot, 1]
                if s.table[slot, 0] == 0:
                    if count > capacity or count - last > wide:
                        return False, INFINITY
                    at = count
                    s.table[slot, 0], s.table[slot, 1] = next, <uint64_t>at
                    s.keys[at] = next
                    s.cost[at, 0], s.cost[at, 1] = INFINITY, rest
                    count += 1
                    if 2 * count > size:
                        size *= 2
                        _rebuild(s, size, count)
                if total < s.cost[at, 0]:
                    s.cost[at, 0] = total
                    s.parent[at, 0], s.parent[at, 1] = a, j
        if last == count:
            return True, INFINITY
        first, last = last, count
    at = first  # the last layer has one state: all elements
    for i in range(n - 1, -1, -1):
        s.best[i] = s.parent[at, 1]
        at = s.parent[at, 0]
    return True, s.cost[first, 0]


def least_loss(const double[:, ::1] loss, double limit, int64_t most, int64_t wide):
    """Return (done, loss, order) of an order that loses least, if that is at most `limit`.

    Parameters
    ----------
    loss : float64 array (n, n)
        loss[a, b] is lost when b comes before a; inf if it must not. At most 64 elements.
    limit : float
    most : int
        How many subsets may be looked at.
    wide : int
        How many of them may have the same number of elements. Layers are widest early: many
        of the few first elements tell soon that there are too many in all.

    Returns
    -------
    done : bool
        False if there are more subsets; then nothing is known.
    loss : float
        inf if every order loses more than `limit`.
    order : int64 array (n,)
    """
    cdef int64_t n = loss.shape[0], p
    cdef Scratch scratch = borrow(n, most)
    cdef bint done
    cdef double least
    order = np.empty(n, np.int64)
    cdef int64_t[::1] out = order
    with nogil:
        _load(scratch, loss)
        done, least = _least_loss(scratch, n, limit, most, wide)
        for p in range(n):
            out[p] = scratch.best[p]
    give_back(scratch)
    return done, least, order


cdef bint order_pruned(Scratch s, int64_t n, int64_t most) noexcept nogil:
    """Order n elements as `pruned_order` does, by d of the scratch space and into its order."""
    cdef int64_t a, b
    cdef double scale = 0.0, limit, least
    cdef bint done
    for a in range(n):
        for b in range(n):
            s.loss[a, b] = max(s.d[a, b], 0.0)
            if s.loss[a, b] < INFINITY:
                scale = max(scale, s.loss[a, b])
    _greedy(s, n)
    improve_by_insertion(s.d, s.order, n, 1e-9 * scale, s.watch)
    limit = 1e-9 * scale
    for a in range(n):
        for b in range(a + 1, n):
            limit += s.loss[s.order[b], s.order[a]]
    done, least = _least_loss(s, n, limit, most, most)
    if not done or least == INFINITY:
        return False
    for a in range(n):
        s.order[a] = s.best[a]
    return True


def pruned_order(w, int64_t most, expired=None):
    """Return (found, order): a best linear order, unless more than `most` subsets matter.

    Or unless `expired` says to stop.

    w[a, b] is what a before b is worth, -inf if excluded; at most 64 elements. If not
    found, the order is one that local search does not improve.
    """
    cdef const double[:, :] worth = w
    cdef int64_t n = worth.shape[0], a, b
    cdef Scratch scratch = borrow(n, most)
    cdef Watch watch = Watch(expired)
    cdef bint found
    order = np.empty(n, np.int64)
    cdef int64_t[::1] out = order
    scratch.watch = watch
    with nogil:
        for a in range(n):
            for b in range(n):
                scratch.d[a, b] = 0.0 if a == b else worth[a, b] - worth[b, a]
        found = order_pruned(scratch, n, most)
        for a in range(n):
            out[a] = scratch.order[a]
    scratch.watch = Watch()
    give_back(scratch)
    watch.close()
    return found, order
