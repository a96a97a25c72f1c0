"""Packing of longer paths that close over pairs which are not listed.

Where a pair is worth more than the triangles around it can take, paths of three pairs and more
conflict with pairs further apart. Only those are packed whose rows hold with equality for a
partition: within a set, or over one pair between two sets. Paths come from trees of shortest
paths around elements, nearest first, as a path uses up each pair that it passes.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.partition.packing cimport PackedView, PairsView, is_full
from relatum.kernels.partition.unlisted.wedges cimport Unlisted, close_pair, slot_of, spare
from relatum.kernels.watch cimport Watch, is_over


cdef class _Ball:
    """What is near an element within its set: a tree of shortest paths, nearest first.

    Elements are numbered as they are reached, the source is 0. ``before`` is the number of the
    one before, ``by`` the pair that led from there; ``begin`` where each distance begins.
    """

    cdef int64_t[::1] stamps, element, before, by, begin
    cdef int64_t stamp, count

    def __init__(self, n, most, deepest):
        self.stamps, self.begin = np.zeros(n, np.int64), np.zeros(deepest + 2, np.int64)
        self.element, self.before, self.by = np.empty((3, most), np.int64)
        self.stamp, self.count = 0, 0


cdef int64_t _grow(
    PairsView graph, _Ball ball, const double[::1] residual, const int64_t[::1] labels,
    double least, int64_t source
) noexcept nogil:
    """Reach what is near the source over pairs with residuals above ``least``; return the work."""
    cdef int64_t head = 0, tail = 1, stamp = ball.stamp + 1, work = 0
    cdef int64_t deepest = ball.begin.shape[0] - 2, d, p, q, w
    ball.stamp = stamp
    ball.stamps[source], ball.element[0], ball.before[0] = stamp, source, -1
    for d in range(1, deepest + 1):
        ball.begin[d] = tail
        for head in range(head, ball.begin[d]):
            p = ball.element[head]
            work += 1 + graph.pointer[p + 1] - graph.pointer[p]
            for q in range(graph.pointer[p], graph.pointer[p + 1]):
                w = graph.neighbour[q]
                if labels[w] != labels[p] or ball.stamps[w] == stamp:
                    continue
                if residual[graph.edge[q]] <= least or tail == ball.element.shape[0]:
                    continue
                ball.stamps[w] = stamp
                ball.element[tail], ball.before[tail], ball.by[tail] = w, head, graph.edge[q]
                tail += 1
        head = ball.begin[d]
    ball.begin[deepest + 1] = tail
    ball.count = tail
    return work


cdef inline double _least_of(
    _Ball ball, const double[::1] residual, int64_t i, double m
) noexcept nogil:
    """Return the least residual between an element and the source, ``m`` at most."""
    while i > 0:
        m = min(m, residual[ball.by[i]])
        i = ball.before[i]
    return m


cdef inline int64_t _take(
    _Ball ball, double[::1] residual, int64_t i, double m
) noexcept nogil:
    """Pack so much into all pairs between an element and the source; return how many."""
    cdef int64_t k = 0
    while i > 0:
        residual[ball.by[i]] -= m
        i = ball.before[i]
        k += 1
    return k


cdef void _write(
    _Ball one, int64_t i, _Ball two, int64_t j, int64_t length, double m, PackedView rows
) noexcept nogil:
    """Write a path down: to the source of one ball, and on to an element of the other, if any."""
    cdef int64_t row = rows.count, k = 0
    while i >= 0:
        rows.index[row, k] = <int32_t>one.element[i]
        i = one.before[i]
        k += 1
    for k in range(length + 1, rows.index.shape[1]):
        rows.index[row, k] = -1
    k = length
    while j >= 0:
        rows.index[row, k] = <int32_t>two.element[j]
        j = two.before[j]
        k -= 1
    rows.multipliers[row] = m
    rows.count = row + 1


def close_inside(
    graph, double[::1] residual, const int64_t[::1] labels, limits, table, index, multipliers,
    count, expired=None
):
    """Pack paths within sets, between elements whose pair has a negative score.

    ``limits`` are the background, the residual that a pair must exceed, the most pairs of a path
    and the most elements reached from one. Paths are written to ``index`` as elements from end to
    end, padded with -1, multipliers beside them, from ``count`` on while there is room; returns
    the new count. ``table`` is that of `pack_wedges`.
    """
    cdef PairsView g = PairsView(graph)
    cdef Unlisted unlisted = Unlisted(table, limits[0])
    cdef PackedView rows = PackedView(index, multipliers, count)
    cdef Watch watch = Watch(expired)
    cdef double least = limits[1], m
    cdef int64_t n = labels.shape[0], u, v, i, h
    cdef _Ball ball = _Ball(n, limits[3], limits[2])
    with nogil:
        for u in range(n):
            if is_over(watch, 5 * _grow(g, ball, residual, labels, least, u)):
                break
            for i in range(ball.begin[2], ball.count):
                v = ball.element[i]
                if v < u or is_full(rows):
                    continue
                h = slot_of(unlisted, u, v, n)
                m = spare(unlisted, residual, h)
                if m <= least:
                    continue
                m = _least_of(ball, residual, i, m)
                if m <= least:
                    continue
                close_pair(unlisted, residual, h, u * n + v, m)
                _write(ball, i, ball, -1, _take(ball, residual, i, m), m, rows)
    watch.close()
    return rows.count


cdef void _close_over(
    double[::1] residual, int64_t e, _Ball one, _Ball two, double least, int64_t probes,
    Unlisted table, PackedView rows
) noexcept nogil:
    """Pack paths over the pair ``e`` between what is near its ends, short ones first."""
    cdef int64_t n = one.stamps.shape[0], deepest = one.begin.shape[0] - 2
    cdef int64_t d, near, i, j, a, b, h
    cdef double m
    for d in range(1, deepest + 1):
        for near in range(d + 1):
            for i in range(one.begin[near], one.begin[near + 1]):
                for j in range(two.begin[d - near], two.begin[d - near + 1]):
                    if residual[e] <= least or probes == 0 or is_full(rows):
                        return
                    probes -= 1
                    a, b = one.element[i], two.element[j]
                    h = slot_of(table, a, b, n)
                    m = min(residual[e], spare(table, residual, h))
                    if m <= least:
                        continue
                    m = _least_of(two, residual, j, _least_of(one, residual, i, m))
                    if m <= least:
                        continue
                    residual[e] -= m
                    close_pair(table, residual, h, min(a, b) * n + max(a, b), m)
                    _take(one, residual, i, m)
                    _take(two, residual, j, m)
                    _write(one, i, two, j, d + 1, m, rows)


def close_between(
    graph, double[::1] residual, const int64_t[::1] labels, const int64_t[:, ::1] ends, limits,
    table, rows, expired=None
):
    """Pack paths over one pair between two sets.

    ``ends`` are the pairs to be used up: rows (number, u, v). ``limits`` are those of
    `close_inside`, where the pairs of a path are those within sets, and the most paths looked at
    for one of these pairs; ``rows`` are its index, multipliers and count.
    """
    cdef PairsView g = PairsView(graph)
    cdef Unlisted unlisted = Unlisted(table, limits[0])
    cdef PackedView packed = PackedView(*rows)
    cdef Watch watch = Watch(expired)
    cdef double least = limits[1]
    cdef int64_t n = labels.shape[0], probes = limits[4], f, work
    cdef _Ball one = _Ball(n, limits[3], limits[2]), two = _Ball(n, limits[3], limits[2])
    with nogil:
        for f in range(ends.shape[0]):
            work = probes + _grow(g, one, residual, labels, least, ends[f, 1])
            work += _grow(g, two, residual, labels, least, ends[f, 2])
            if is_over(watch, 5 * work):
                break
            _close_over(residual, ends[f, 0], one, two, least, probes, unlisted, packed)
    watch.close()
    return packed.count
