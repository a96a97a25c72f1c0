"""Short paths between the ends of pairs: rows that a fractional point violates.

A point x of a relaxation gives every pair the length 1 - x. A path from u to v that is
shorter than 1 - x_uv contradicts x: the row sum of x over the path - x_uv <= length - 1 of
every transitive relation is violated, by the difference.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from relatum.kernels.heap cimport drop_top, push
from relatum.kernels.partition.packing cimport PairsView
from relatum.kernels.watch cimport Watch, is_over

HOP = 1e-3  # what a pair of a path costs beyond its length: of equal paths the shorter is taken
cdef double _HOP = HOP


cdef class _Search:
    """Scratch space of a search from one element; between searches nothing is reached."""

    cdef double[::1] near, key
    cdef int64_t[::1] before, hops, reached, wanted, heap

    def __init__(self, n, entries):
        self.near = np.full(n, np.inf)
        self.before, self.reached = np.empty((2, n), np.int64)
        self.hops, self.wanted = np.zeros((2, n), np.int64)
        self.heap, self.key = np.empty(entries, np.int64), np.empty(entries)


cdef int64_t _reach(
    PairsView graph, _Search search, const double[::1] x, int64_t source, double radius,
    int64_t left, int64_t most, int64_t longest
) noexcept nogil:
    """Search from one element up to a radius; return the number of elements reached.

    ``left`` is the number of elements that are wanted, ``most`` that of the pairs looked at,
    ``longest`` that of the pairs of a path.
    """
    cdef double[::1] near = search.near, key = search.key
    cdef int64_t[::1] heap = search.heap
    cdef int64_t count = 1, size = 1, scans = 0, p, q, w
    cdef double d, far
    near[source], search.hops[source] = 0.0, 0
    search.reached[0] = source
    heap[0], key[0] = source, 0.0
    while size > 0:
        p, d = heap[0], key[0]
        size -= 1
        drop_top(key, heap, size)
        if d > near[p]:  # it has been reached on a shorter way, and left already
            continue
        left -= search.wanted[p]
        if left == 0:
            break
        if search.hops[p] >= longest:
            continue
        scans += graph.pointer[p + 1] - graph.pointer[p]
        if scans > most:
            break
        for q in range(graph.pointer[p], graph.pointer[p + 1]):
            w = graph.neighbour[q]
            far = d + max(0.0, 1.0 - x[graph.edge[q]]) + _HOP
            if far < near[w] and far <= radius:
                if near[w] == INFINITY:
                    search.reached[count] = w
                    count += 1
                near[w], search.before[w], search.hops[w] = far, p, search.hops[p] + 1
                push(key, heap, size, far, w)
                size += 1
    return count


cdef void _write_path(
    _Search search, int32_t[:, ::1] index, int64_t row, int64_t v
) noexcept nogil:
    """Write the elements of the path to ``v`` down, padded with -1."""
    cdef int64_t p = v, i
    for i in range(search.hops[v] + 1, index.shape[1]):
        index[row, i] = -1
    for i in range(search.hops[v], -1, -1):
        index[row, i] = <int32_t>p
        p = search.before[p]


cdef void _forget(_Search search, int64_t count) noexcept nogil:
    """Forget the elements reached."""
    cdef int64_t i, v
    for i in range(count):
        v = search.reached[i]
        search.near[v], search.hops[v] = INFINITY, 0


cdef int64_t _paths_from(
    PairsView graph, _Search search, const double[::1] x, int64_t u, const int64_t[::1] rank,
    double least, int32_t[:, ::1] index, double[::1] violation, int64_t count
) noexcept nogil:
    """Write violated paths from ``u`` down, once it has been searched from; return the count."""
    cdef int64_t q, v
    cdef double gain
    for q in range(graph.pointer[u], graph.pointer[u + 1]):
        v = graph.neighbour[q]
        search.wanted[v] = 0
        if rank[v] < rank[u] or search.hops[v] < 2 or count == violation.shape[0]:
            continue
        gain = 1.0 - x[graph.edge[q]] - (search.near[v] - _HOP * search.hops[v])
        if search.near[v] < INFINITY and gain > least:
            _write_path(search, index, count, v)
            violation[count] = gain
            count += 1
    return count


def short_paths(
    graph, const double[::1] x, const int64_t[::1] sources, span, limits, int32_t[:, ::1] index,
    double[::1] violation, int64_t count, expired=None
):
    """Find paths between the ends of pairs whose rows the point violates.

    ``graph`` is (pointer, neighbour, edge) of the pairs in compressed rows, ``x`` a value
    for each edge. A pair is looked at from its end that comes first among ``sources``,
    which are all elements in some order; of these the ``span`` from one place to another is
    gone through. ``limits`` are the least violation, and the most pairs looked at from one
    source and for each pair it searches for. Rows of ``index`` from ``count`` on receive
    elements from end to end, padded with -1; paths that do not fit, or come when it is
    full, are left out. Returns the new count. Ends before if ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef PairsView g = PairsView(graph)
    cdef _Search search = _Search(len(sources), len(graph[1]) + 2)
    cdef double least = limits[0], radius, far
    cdef int64_t most = limits[1], more = limits[2], begin = span[0], end = span[1]
    cdef int64_t[::1] rank = np.empty(len(sources), np.int64)
    cdef int64_t longest = index.shape[1] - 1, i, u, q, v, left, reached
    with nogil:
        for i in range(sources.shape[0]):
            rank[sources[i]] = i
        for i in range(begin, end):
            u = sources[i]
            radius, left = 0.0, 0
            for q in range(g.pointer[u], g.pointer[u + 1]):
                v = g.neighbour[q]
                far = 1.0 - x[g.edge[q]] - least
                if rank[v] > i and far > 0.0:
                    radius = max(radius, far)
                    search.wanted[v] = 1
                    left += 1
            if is_over(watch, 5 * (1 + g.pointer[u + 1] - g.pointer[u])):
                break
            if left == 0:
                continue
            is_over(watch, 4 * (most + more * left))  # answered next time
            reached = _reach(g, search, x, u, radius, left, most + more * left, longest)
            count = _paths_from(g, search, x, u, rank, least, index, violation, count)
            _forget(search, reached)
    watch.close()
    return count
