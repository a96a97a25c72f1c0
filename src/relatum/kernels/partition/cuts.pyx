"""Violated triangles and odd wheels of the clique partitioning polytope at a fractional point.

Best values are looked for in lanes, see ``lanes.pxd``: rows are padded to full lanes with what is
not a number.
"""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int8_t, int32_t, int64_t

from relatum.kernels.lanes cimport LANES, full_lanes, largest_lane, least_lane
from relatum.kernels.watch cimport Watch, is_over


cdef void _top_violations(
    const double[:, ::1] x, int64_t a, int64_t b, double threshold, double* at_b, double* at_a
) noexcept nogil:
    """Return the largest violation above the threshold at either end of a pair."""
    cdef double[LANES] top_b, top_a
    cdef double base = x[a, b] - 1.0, d
    cdef int64_t begin = 0, j
    for j in range(LANES):
        top_b[j], top_a[j] = threshold, threshold
    while begin < x.shape[1]:
        for j in range(LANES):
            d = x[b, begin + j] - x[a, begin + j]
            top_b[j] = base + d if base + d > top_b[j] else top_b[j]
            top_a[j] = base - d if base - d > top_a[j] else top_a[j]
        begin += LANES
    at_b[0], at_a[0] = largest_lane(top_b), largest_lane(top_a)


cdef int64_t _third(
    const double[:, ::1] x, int64_t a, int64_t b, double violation
) noexcept nogil:
    """Return the element c whose row x_ab + x_bc - x_ac <= 1 is violated by so much."""
    cdef int64_t n = x.shape[0], c = (min(a, b) * 7919 + max(a, b) * 104729) % n, _
    cdef double base = x[a, b] - 1.0
    for _ in range(n):  # ties go to different elements
        if base + (x[b, c] - x[a, c]) == violation:
            break
        c += 1
        if c == n:
            c = 0
    return c


cdef int64_t _violated_triangles(
    const double[:, ::1] x, double threshold, int32_t[:, ::1] index, double[::1] violation,
    Watch watch
) noexcept nogil:
    cdef int64_t count = 0, a, b
    cdef double at_b, at_a
    for a in range(x.shape[0]):
        for b in range(a + 1, x.shape[0]):
            # the violation is at most x_ab, because x_bc <= 1 and x_ac >= 0
            if x[a, b] <= threshold:
                continue
            if is_over(watch, x.shape[0]):
                return count
            _top_violations(x, a, b, threshold, &at_b, &at_a)
            if at_b > threshold:
                index[count, 0], index[count, 1] = <int32_t>a, <int32_t>b
                index[count, 2], violation[count] = <int32_t>_third(x, a, b, at_b), at_b
                count += 1
            if at_a > threshold:
                index[count, 0], index[count, 1] = <int32_t>b, <int32_t>a
                index[count, 2], violation[count] = <int32_t>_third(x, b, a, at_a), at_a
                count += 1
    return count


cdef int64_t _pad_point(
    const double[:, ::1] x, double threshold, double[:, ::1] point
) noexcept nogil:
    """Copy x to full lanes, without a diagonal; return how many of its numbers are larger."""
    cdef int64_t n = x.shape[0], count = 0, a, b
    for a in range(n):
        for b in range(n):
            point[a, b] = x[a, b]
            count += x[a, b] > threshold
        for b in range(n, point.shape[1]):
            point[a, b] = NAN
        point[a, a] = NAN
    return count


def violated_triangles(const double[:, ::1] x, double threshold, expired=None):
    """For each pair ab the most violated rows x_ab + x_bc - x_ac <= 1 at either end.

    x is symmetric. Returns the triples (a, b, c) and their violations, those above the
    threshold, in the order of the pairs, until ``expired`` says to stop.
    """
    cdef Watch watch = Watch(expired)
    cdef double[:, ::1] point = np.empty((x.shape[0], full_lanes(x.shape[0])))
    cdef int64_t most, count
    with nogil:
        most = _pad_point(x, threshold, point)
    triples, violations = np.empty((most, 3), np.int32), np.empty(most)
    cdef int32_t[:, ::1] index = triples
    cdef double[::1] violation = violations
    with nogil:
        count = _violated_triangles(point, threshold, index, violation, watch)
    watch.close()
    return triples[:count], violations[:count]


cdef class _Around:
    """The doubled graph around a centre, and a search for a shortest odd walk in it.

    Node v is there twice, reached by an even and by an odd number of pairs: ``near[parity, v]``
    is the length of the shortest walk so far, not a number when it is known to be the shortest.
    The lengths are made of x between nodes (``between``, a row at a time, where ``has``) and
    of half of x to the centre (``half``).
    """

    cdef int64_t[::1] nodes, walk
    cdef int8_t[::1] has, visited
    cdef double[::1] half
    cdef double[:, ::1] between, near
    cdef int64_t[:, ::1] parent
    cdef int64_t d, padded  # the number of nodes, and that rounded up to full lanes

    def __init__(self, n):
        most = full_lanes(n)
        self.nodes, self.walk = np.empty(n, np.int64), np.empty(2 * n, np.int64)
        self.has, self.visited = np.zeros(n, np.int8), np.zeros(n, np.int8)
        self.half, self.between = np.zeros(most), np.empty((n, most))
        self.near, self.parent = np.empty((2, most)), np.empty((2, most), np.int64)


cdef void _surround(_Around around, const double[:, ::1] x, int64_t centre) noexcept nogil:
    """Prepare searches around a centre, once the ``d`` nodes are known."""
    cdef int64_t v
    around.padded = full_lanes(around.d)
    for v in range(around.d):
        around.has[v] = False
        around.half[v] = 0.5 * x[centre, around.nodes[v]]


cdef void _gather(_Around around, const double[:, ::1] x, int64_t u) noexcept nogil:
    """Gather x between a node and all others, if that has not been done."""
    cdef int64_t v
    if not around.has[u]:
        around.has[u] = True
        for v in range(around.d):
            around.between[u, v] = x[around.nodes[u], around.nodes[v]]
        around.between[u, u] = NAN
        for v in range(around.d, around.padded):
            around.between[u, v] = NAN


cdef inline void _relax(
    double[:, ::1] near, int64_t[:, ::1] parent, const double[:, ::1] between,
    const double[::1] half, int64_t padded, int64_t code
) noexcept nogil:
    """Shorten the walks that leave node ``code`` = 2 u + parity, which is then done."""
    cdef int64_t u = code // 2, other = 1 - code % 2, v, before
    cdef double base = near[1 - other, u] + 0.5 - half[u], length, known
    near[1 - other, u] = NAN
    for v in range(padded):
        length = base + between[u, v] - half[v]
        known, before = near[other, v], parent[other, v]
        near[other, v] = length if length < known else known
        parent[other, v] = code if length < known else before


cdef inline int64_t _nearest(
    const double[:, ::1] near, int64_t padded, double limit
) noexcept nogil:
    """Return the node that is nearest among those not done, if nearer than the limit, or -1."""
    cdef int64_t begin = 0, j, v, first = padded
    cdef double even, odd, least
    cdef double[LANES] low
    for j in range(LANES):
        low[j] = limit
    while begin < padded:
        for j in range(LANES):
            even, odd = near[0, begin + j], near[1, begin + j]
            even = even if even < low[j] else low[j]
            low[j] = odd if odd < even else even
        begin += LANES
    least = least_lane(low)
    if least == limit:
        return -1
    for j in range(LANES):
        v = j if low[j] == least else padded
        while v < first:
            if near[0, v] == least or near[1, v] == least:
                first = v
            v += LANES
    return 2 * first if near[0, first] == least else 2 * first + 1


cdef int64_t _odd_walk(
    _Around around, const double[:, ::1] x, int64_t source, double limit
) noexcept nogil:
    """Find the shortest closed odd walk through a source; return the number of its nodes.

    The walk is left in ``around.walk``, and nothing (0) is found if it is not below the limit.
    """
    cdef double[:, ::1] near = around.near
    cdef int64_t[:, ::1] parent = around.parent
    cdef int64_t v, code = 2 * source, count = 0
    for v in range(around.padded):
        near[0, v], near[1, v] = limit, limit
        parent[0, v], parent[1, v] = -1, -1
    near[0, source] = 0.0
    while code != 2 * source + 1:
        if code < 0:
            return 0
        _gather(around, x, code // 2)
        _relax(near, parent, around.between, around.half, around.padded, code)
        code = _nearest(near, around.padded, limit)
    code = parent[1, source]
    while code >= 0:
        around.walk[count] = code // 2
        count += 1
        code = parent[code % 2, code // 2]
    return count


def shortest_odd_cycle(
    const double[:, ::1] x, int64_t centre, const int64_t[::1] nodes, int64_t source, double limit
):
    """Bounded Dijkstra in the parity-doubled graph around a centre.

    Pairs uv of ``nodes`` have the length 1/2 + x_uv - (x_cu + x_cv) / 2 (at least 0). The
    result is the shortest closed odd walk through nodes[source], as places in nodes, and
    its length; empty if it is at least ``limit``.
    """
    cdef _Around around = _Around(len(nodes))
    cdef int64_t count
    around.d = nodes.shape[0]
    around.nodes[:] = nodes
    with nogil:
        _surround(around, x, centre)
        count = _odd_walk(around, x, source, limit)
    return np.array(around.walk[:count]), around.near[1, source] if count else limit


cdef bint _is_simple(_Around around, int64_t count) noexcept nogil:
    """Whether a walk of so many nodes visits none twice."""
    cdef int64_t i
    cdef bint simple = True
    for i in range(count):
        simple = simple and not around.visited[around.walk[i]]
        around.visited[around.walk[i]] = True
    for i in range(count):
        around.visited[around.walk[i]] = False
    return simple


cdef int64_t _wheels_around(
    _Around around, const double[:, ::1] x, int64_t centre, double threshold,
    int32_t[:, ::1] index, double[::1] violation, int64_t count
) noexcept nogil:
    """Write violated wheels around a centre down; return the new count."""
    cdef int64_t source, length, i
    _surround(around, x, centre)
    for source in range(min(around.d, <int64_t>8)):
        length = _odd_walk(around, x, source, 0.5 - threshold)
        if 3 <= length < index.shape[1] and _is_simple(around, length):
            index[count, 0] = <int32_t>centre
            for i in range(length):
                index[count, i + 1] = <int32_t>around.nodes[around.walk[i]]
            violation[count] = 0.5 - around.near[1, source]
            count += 1
    return count


def violated_wheels(
    const double[:, ::1] x, const int64_t[::1] centres, priority, double threshold, int64_t width,
    expired=None
):
    """Odd wheels around some centres, violated by more than the threshold.

    Row r of the result is the centre and its cycle, padded with -1; cycles longer than
    ``width`` - 1 and walks that visit an element twice are left out. At each centre the 8
    sources of least priority are tried. Centres are left out once ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    wheels = np.full((8 * len(centres), width), -1, np.int32)
    violations = np.empty(8 * len(centres))
    cdef int32_t[:, ::1] index = wheels
    cdef double[::1] violation = violations
    cdef const int64_t[::1] order = np.argsort(priority, kind="stable")
    cdef _Around around = _Around(len(x))
    cdef int64_t count = 0, i, k, c, v, d
    with nogil:
        for i in range(centres.shape[0]):
            c = centres[i]
            d = 0
            for k in range(order.shape[0]):
                v = order[k]
                if v != c and 0.01 < x[c, v] < 0.99:
                    around.nodes[d] = v
                    d += 1
            around.d = d
            if d >= 3:
                count = _wheels_around(around, x, c, threshold, index, violation, count)
            if is_over(watch, 8 * d * d):
                break
    watch.close()
    return wheels[:count], violations[:count]
