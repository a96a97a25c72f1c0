"""Packing of conflicts along a good partition: multipliers only where it leaves no slack.

A row x_ab + x_bc - x_ac <= 1 holds with equality for a partition in two cases: b and c are
in one set and a is not (a and b swap roles with c), or all three are in one set. Multipliers
of such rows alone can bring the bound down to the value of the partition. So positive
residuals of pairs between sets are packed with positive ones inside sets, and negative
residuals inside sets with two positive ones there. ``sets`` is (label of each element, start
of each set among the members, members), ``rows`` (triangles, multipliers), ``limits`` (others
looked at for each pair, the least multiplier that does not finish the pair).
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.condensed cimport place
from relatum.kernels.partition.packing cimport PackedView, append, is_full
from relatum.kernels.watch cimport Watch, is_over


def rooms_inside(const double[::1] residual, const int64_t[::1] labels, double most):
    """Return the sum of the positive residuals of each element inside its set.

    Also returned are sum and number of all positive residuals up to ``most``.
    """
    inside = np.zeros(len(labels))
    cdef double[::1] room = inside
    cdef int64_t n = labels.shape[0], count = 0, k = 0, a, b
    cdef double total = 0.0, r
    with nogil:
        for a in range(n - 1):
            for b in range(a + 1, n):
                r = residual[k]
                k += 1
                if r > 0.0:
                    if r <= most:
                        total += r
                        count += 1
                    if labels[a] == labels[b]:
                        room[a] += r
                        room[b] += r
    return inside, total, count


cdef class _Along:
    """A partition, the residuals, and what packing along it needs."""

    cdef const int64_t[::1] labels, starts, members
    cdef double[::1] residual, room
    cdef int64_t n, probes
    cdef double least

    def __init__(self, residual, sets, limits, room):
        self.labels, self.starts, self.members = sets
        self.residual, self.room = residual, room
        self.probes, self.least = limits
        self.n = len(self.labels)


cdef double _lean_on(
    _Along along, PackedView rows, int64_t a, int64_t b, double p
) noexcept nogil:
    """Pack a positive residual between a and the set of b with what b has inside its set.

    ``p`` is the residual. Returns what is left of it.
    """
    cdef int64_t n = along.n, start = along.starts[along.labels[b]]
    cdef int64_t size = along.starts[along.labels[b] + 1] - start
    cdef int64_t j = (a * 7919 + b * 104729) % size, c, inside, across, _
    cdef double m
    for _ in range(min(along.probes, size)):
        c = along.members[start + j]
        j += 1
        if j == size:
            j = 0
        if c == b:
            continue
        inside = place(b, c, n)
        if along.residual[inside] <= 0.0:
            continue
        across = place(a, c, n)
        m = min(p, along.residual[inside], -along.residual[across])
        if m <= 0.0 or (m < p and m < along.least):
            continue
        if is_full(rows):
            break
        along.residual[inside] -= m
        along.residual[across] += m
        along.room[b] -= m
        along.room[c] -= m
        append(rows, a, b, c, m)
        p -= m
        if p <= 0.0:
            break
    return p


def pack_between(
    residual, sets, const int64_t[::1] order, limits, room, rows, count, expired=None
):
    """Pack positive residuals between sets, each at its end with more room inside first.

    ``residual`` is condensed and changed in place, and so is ``room``. Triangles and
    multipliers are appended from ``count`` on, while there is room; returns the new count.
    Ends before if ``expired`` says so, as do the others here.
    """
    cdef Watch watch = Watch(expired)
    cdef _Along along = _Along(residual, sets, limits, room)
    cdef PackedView packed = PackedView(*rows, count)
    cdef int64_t o, u, v, a, b, k
    cdef double p
    with nogil:
        for o in range(order.shape[0]):
            u = order[o]
            if is_over(watch, (along.n - u) * (4 + along.probes // 8)):
                break
            for v in range(u + 1, along.n):
                k = place(u, v, along.n)
                p = along.residual[k]
                if p <= 0.0 or along.labels[u] == along.labels[v]:
                    continue
                a, b = u, v
                if along.room[u] > along.room[v]:
                    a, b = v, u
                p = _lean_on(along, packed, a, b, p)
                if p > 0.0:
                    p = _lean_on(along, packed, b, a, p)
                along.residual[k] = p
    watch.close()
    return packed.count


cdef double _close(
    _Along along, PackedView rows, int64_t u, int64_t v, double p
) noexcept nogil:
    """Pack a negative residual of two elements of a set with positive ones there.

    ``p`` is the residual without its sign. Returns what is left of it. The loop over others
    resembles that of `_lean_on`: one for both, with a sign, made that a tenth slower.
    """
    cdef int64_t n = along.n, start = along.starts[along.labels[u]]
    cdef int64_t size = along.starts[along.labels[u] + 1] - start
    cdef int64_t j = (u * 7919 + v * 104729) % size, c, one, two, _
    cdef double m
    for _ in range(min(along.probes, size)):
        c = along.members[start + j]
        j += 1
        if j == size:
            j = 0
        if c == u or c == v:
            continue
        one = place(u, c, n)
        if along.residual[one] <= 0.0:
            continue
        two = place(v, c, n)
        m = min(p, along.residual[one], along.residual[two])
        if m <= 0.0 or (m < p and m < along.least):
            continue
        if is_full(rows):
            break
        along.residual[one] -= m
        along.residual[two] -= m
        along.room[u] -= m
        along.room[v] -= m
        along.room[c] -= 2 * m
        append(rows, u, c, v, m)
        p -= m
        if p <= 0.0:
            break
    return p


def pack_inside(
    residual, sets, const int64_t[::1] order, limits, room, rows, count, expired=None
):
    """Pack negative residuals inside sets; arguments and result as in `pack_between`."""
    cdef Watch watch = Watch(expired)
    cdef _Along along = _Along(residual, sets, limits, room)
    cdef PackedView packed = PackedView(*rows, count)
    cdef int64_t o, u, v, i, k, label
    cdef double p
    with nogil:
        for o in range(order.shape[0]):
            u = order[o]
            label = along.labels[u]
            k = along.starts[label + 1] - along.starts[label]
            if is_over(watch, k * (4 + min(along.probes, k) // 2)):
                break
            for i in range(along.starts[label], along.starts[label + 1]):
                v = along.members[i]
                if v <= u:
                    continue
                k = place(u, v, along.n)
                p = -along.residual[k]
                if p > 0.0:
                    along.residual[k] = -_close(along, packed, u, v, p)
    watch.close()
    return packed.count


cdef void _count_leftovers(
    const double[::1] residual, const int64_t[::1] labels, int64_t[::1] degree
) noexcept nogil:
    """Count the positive residuals between sets of each element."""
    cdef int64_t n = labels.shape[0], k = 0, a, b, own, one
    for a in range(n - 1):
        own = 0
        for b in range(a + 1, n):
            one = (residual[k + b - a - 1] > 0.0) & (labels[a] != labels[b])
            degree[b] += one
            own += one
        degree[a] += own
        k += n - a - 1


cdef void _list_leftovers(
    const double[::1] residual, const int64_t[::1] labels, int64_t[::1] at,
    int32_t[::1] neighbour
) noexcept nogil:
    """Write the others of these pairs down, those of element a from ``at[a]`` on."""
    cdef int64_t n = labels.shape[0], k = 0, a, b, own
    for a in range(n - 1):
        own = at[a]
        for b in range(a + 1, n):
            if residual[k] > 0.0 and labels[a] != labels[b]:
                neighbour[own], neighbour[at[b]] = <int32_t>b, <int32_t>a
                own += 1
                at[b] += 1
            k += 1


def leftovers(const double[::1] residual, const int64_t[::1] labels):
    """Return compressed rows (pointer, neighbour) of positive residuals between sets."""
    pointer = np.zeros(len(labels) + 1, np.int64)
    cdef int64_t[::1] degree = pointer[1:]
    with nogil:
        _count_leftovers(residual, labels, degree)
    np.cumsum(pointer, out=pointer)
    neighbour = np.empty(pointer[len(labels)], np.int32)
    cdef int64_t[::1] at = pointer[:len(labels)].copy()
    cdef int32_t[::1] others = neighbour
    with nogil:
        _list_leftovers(residual, labels, at, others)
    return pointer, neighbour


cdef void _pack_leftovers(
    double[::1] residual, const int64_t[::1] pointer, const int32_t[::1] neighbour, int64_t a,
    int64_t probes, PackedView rows
) noexcept nogil:
    """Pack triangles with the apex ``a``."""
    cdef int64_t n = pointer.shape[0] - 1, end = pointer[a + 1], i, j, b, c, one, two, three, _
    cdef double m
    for i in range(pointer[a], end - 1):
        b = neighbour[i]
        one = place(a, b, n)
        j = i + 1 + (i * 7919 + a) % (end - i - 1)
        for _ in range(min(probes, end - i - 1)):
            if residual[one] <= 0.0 or is_full(rows):
                break
            c = neighbour[j]
            j += 1
            if j == end:
                j = i + 1
            two = place(a, c, n)
            if residual[two] <= 0.0:
                continue
            three = place(b, c, n)
            m = min(residual[one], residual[two], -residual[three])
            if m > 0.0:
                residual[one] -= m
                residual[two] -= m
                residual[three] += m
                append(rows, b, a, c, m)


def pack_leftovers(
    double[::1] residual, lists, const int64_t[::1] order, int64_t probes, rows, count,
    expired=None
):
    """Pack triangles of two positive residuals of the lists and a negative one.

    These rows are slack for the partition: half as good, but better than nothing.
    """
    cdef const int64_t[::1] pointer = lists[0]
    cdef const int32_t[::1] neighbour = lists[1]
    cdef PackedView packed = PackedView(*rows, count)
    cdef Watch watch = Watch(expired)
    cdef int64_t o, a
    with nogil:
        for o in range(order.shape[0]):
            a = order[o]
            _pack_leftovers(residual, pointer, neighbour, a, probes, packed)
            if is_over(watch, 4 * (1 + pointer[a + 1] - pointer[a]) * probes):
                break
    watch.close()
    return packed.count
