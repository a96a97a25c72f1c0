"""Violated rows of the clique partitioning polytope at a fractional point.

The best of many is looked for in lanes: of the elements LANES apart each lane keeps its best,
which is quick because lanes do not wait for one another, and then the first of the best lanes
is taken. What must not be chosen is not a number, and so never larger than the best so far.
"""

import numpy as np

from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t

cdef enum:
    LANES = 16


cdef void _top_violations(
    const double[:, ::1] x, int64_t a, int64_t b, double threshold, double* at_b, double* at_a
) noexcept nogil:
    """Return the largest violation above the threshold at either end of a pair."""
    cdef double[LANES] top_b, top_a
    cdef double base = x[a, b] - 1.0, d
    cdef int64_t n = x.shape[0], begin = 0, width, j
    for j in range(LANES):
        top_b[j], top_a[j] = threshold, threshold
    while begin < n:
        width = min(<int64_t>LANES, n - begin)
        for j in range(width):
            d = x[b, begin + j] - x[a, begin + j]
            top_b[j] = base + d if base + d > top_b[j] else top_b[j]
            top_a[j] = base - d if base - d > top_a[j] else top_a[j]
        begin += width
    at_b[0], at_a[0] = threshold, threshold
    for j in range(LANES):
        at_b[0], at_a[0] = max(at_b[0], top_b[j]), max(at_a[0], top_a[j])


cdef int64_t _third(
    const double[:, ::1] x, int64_t a, int64_t b, double violation
) noexcept nogil:
    """Return the element c whose row x_ab + x_bc - x_ac <= 1 is violated by so much."""
    cdef int64_t n = x.shape[0], c = (min(a, b) * 7919 + max(a, b) * 104729) % n, q
    cdef double base = x[a, b] - 1.0
    for q in range(n):  # ties go to different elements
        if base + (x[b, c] - x[a, c]) == violation:
            return c
        c += 1
        if c == n:
            c = 0
    return -1


cdef int64_t _violated_triangles(
    const double[:, ::1] x, double threshold, int32_t[:, ::1] index, double[::1] violation
) noexcept nogil:
    cdef int64_t count = 0, a, b
    cdef double at_b, at_a
    for a in range(x.shape[0]):
        for b in range(a + 1, x.shape[0]):
            # the violation is at most x_ab, because x_bc <= 1 and x_ac >= 0
            if x[a, b] <= threshold:
                continue
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


def violated_triangles(x, double threshold):
    """For each pair ab the most violated rows x_ab + x_bc - x_ac <= 1 at either end.

    x is symmetric. Returns the triples (a, b, c) and their violations, those above the
    threshold, in the order of the pairs.
    """
    cdef double[:, ::1] point = np.array(x, np.float64, order="C")
    cdef int64_t most = 0, count, a, b
    with nogil:
        for a in range(point.shape[0]):
            for b in range(a):
                most += 2 if point[a, b] > threshold else 0
            point[a, a] = NAN
    triples, violations = np.empty((most, 3), np.int32), np.empty(most)
    cdef int32_t[:, ::1] index = triples
    cdef double[::1] violation = violations
    with nogil:
        count = _violated_triangles(point, threshold, index, violation)
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
    cdef int64_t d

    def __init__(self, n):
        self.nodes, self.walk = np.empty(n, np.int64), np.empty(2 * n, np.int64)
        self.has, self.visited = np.zeros(n, np.int8), np.zeros(n, np.int8)
        self.half, self.between, self.near = np.empty(n), np.empty((n, n)), np.empty((2, n))
        self.parent = np.empty((2, n), np.int64)


cdef void _surround(_Around around, const double[:, ::1] x, int64_t centre) noexcept nogil:
    """Prepare searches around a centre, once the ``d`` nodes are known."""
    cdef int64_t v
    for v in range(around.d):
        around.has[v] = False
        around.half[v] = 0.5 * x[centre, around.nodes[v]]


cdef int64_t _nearest(_Around around, double limit, int64_t* parity) noexcept nogil:
    """Return the node that is nearest among those not done, if nearer than the limit, or -1."""
    cdef double[LANES] low
    cdef double best = limit
    cdef int64_t begin, width, j, p, v
    for j in range(LANES):
        low[j] = limit
    for p in range(2):
        begin = 0
        while begin < around.d:
            width = min(<int64_t>LANES, around.d - begin)
            for j in range(width):
                low[j] = (
                    around.near[p, begin + j] if around.near[p, begin + j] < low[j] else low[j]
                )
            begin += width
    for j in range(LANES):
        best = min(best, low[j])
    if best < limit:
        for v in range(around.d):
            for p in range(2):
                if around.near[p, v] == best:
                    parity[0] = p
                    return v
    return -1


cdef void _relax(
    _Around around, const double[:, ::1] x, int64_t u, int64_t parity
) noexcept nogil:
    """Shorten the walks that leave node u of the doubled graph, which is then done."""
    cdef int64_t v, code = 2 * u + parity, other = 1 - parity
    cdef double base = around.near[parity, u] + 0.5 - around.half[u], length
    around.near[parity, u] = NAN
    if not around.has[u]:
        around.has[u] = True
        for v in range(around.d):
            around.between[u, v] = x[around.nodes[u], around.nodes[v]]
        around.between[u, u] = NAN
    for v in range(around.d):
        length = base + around.between[u, v] - around.half[v]
        around.parent[other, v] = (
            code if length < around.near[other, v] else around.parent[other, v]
        )
        around.near[other, v] = (
            length if length < around.near[other, v] else around.near[other, v]
        )


cdef int64_t _odd_walk(
    _Around around, const double[:, ::1] x, int64_t source, double limit
) noexcept nogil:
    """Find the shortest closed odd walk through a source; return the number of its nodes.

    The walk is left in ``around.walk``, and nothing (0) is found if it is not below the limit.
    """
    cdef int64_t v, u, k, count = 0, parity = 0
    for v in range(around.d):
        around.near[0, v], around.near[1, v] = limit, limit
        around.parent[0, v], around.parent[1, v] = -1, -1
    around.near[0, source] = 0.0
    while True:
        u = _nearest(around, limit, &parity)
        if u < 0:
            return 0
        if u == source and parity == 1:
            break
        _relax(around, x, u, parity)
    k = around.parent[1, source]
    while k >= 0:
        around.walk[count] = k // 2
        count += 1
        k = around.parent[k % 2, k // 2]
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
    const double[:, ::1] x, const int64_t[::1] centres, priority, double threshold, int64_t width
):
    """Odd wheels around some centres, violated by more than the threshold.

    Row r of the result is the centre and its cycle, padded with -1; cycles longer than
    ``width`` - 1 and walks that visit an element twice are left out. At each centre the 8
    sources of least priority are tried.
    """
    wheels = np.full((8 * len(centres), width), -1, np.int32)
    violations = np.empty(8 * len(centres))
    cdef int32_t[:, ::1] index = wheels
    cdef double[::1] violation = violations
    cdef const int64_t[::1] order = np.argsort(priority, kind="stable")
    cdef _Around around = _Around(len(x))
    cdef int64_t count = 0, i, k, c, v
    with nogil:
        for i in range(centres.shape[0]):
            c = centres[i]
            around.d = 0
            for k in range(order.shape[0]):
                v = order[k]
                if v != c and 0.01 < x[c, v] < 0.99:
                    around.nodes[around.d] = v
                    around.d += 1
            if around.d >= 3:
                count = _wheels_around(around, x, c, threshold, index, violation, count)
    return wheels[:count], violations[:count]


cdef class _Ascent:
    """Sides S and T that grow, and the sums of x over them for each element.

    These sums are not numbers for elements that have been put on a side. Those of the two
    elements that the sides begin with are in ``end_to_s`` and ``end_to_t``: these two may still
    move, and are -1 in ``ends`` when they have.
    """

    cdef double[::1] to_s, to_t
    cdef int8_t[::1] now  # the side of each element: 0 neither, 1 S, 2 T
    cdef int64_t[3] sizes  # of the sides
    cdef int64_t[2] ends
    cdef double[2] end_to_s, end_to_t

    def __init__(self, n):
        self.to_s, self.to_t = np.empty(n), np.empty(n)
        self.now = np.empty(n, np.int8)


cdef struct _Move:
    double gain
    int64_t element, side


cdef inline double _two_partition_gain(
    double x_to_s, double x_to_t, int64_t side, int64_t in_s, int64_t in_t
) noexcept nogil:
    """Violation gained by moving an element to a side (0: out, 1: S, 2: T).

    ``in_s`` and ``in_t`` are |S| and |T| without the element.
    """
    if side == 1:
        return x_to_t - x_to_s - <double>(min(in_s + 1, in_t) - min(in_s, in_t))
    if side == 2:
        return x_to_s - x_to_t - <double>(min(in_s, in_t + 1) - min(in_s, in_t))
    return 0.0


cdef _Move _best_entry(_Ascent ascent) noexcept nogil:
    """Return the move of an element that is on no side; its element is -1 if there is none."""
    cdef int64_t in_s = ascent.sizes[1], in_t = ascent.sizes[2], n = ascent.to_s.shape[0]
    cdef int64_t begin = 0, width, j, v
    cdef double to_s, to_t, one, two
    cdef double[LANES] top
    cdef int64_t[LANES] at
    cdef _Move best
    for j in range(LANES):
        top[j], at[j] = -INFINITY, -1
    while begin < n:
        width = min(<int64_t>LANES, n - begin)
        for j in range(width):
            to_s, to_t = ascent.to_s[begin + j], ascent.to_t[begin + j]
            one = _two_partition_gain(to_s, to_t, 1, in_s, in_t)
            two = _two_partition_gain(to_s, to_t, 2, in_s, in_t)
            one = one if one > two else two
            at[j] = begin + j if one > top[j] else at[j]
            top[j] = one if one > top[j] else top[j]
        begin += width
    best.gain, best.element, best.side = top[0], at[0], 1
    for j in range(1, LANES):
        if top[j] > best.gain or (top[j] == best.gain and at[j] < best.element):
            best.gain, best.element = top[j], at[j]
    v = best.element
    if v >= 0:
        one = _two_partition_gain(ascent.to_s[v], ascent.to_t[v], 1, in_s, in_t)
        best.side = 1 if one == best.gain else 2
    return best


cdef _Move _better_of_ends(_Ascent ascent, _Move best) noexcept nogil:
    """Return a move of one of the two first elements, if it is better, or else the given one."""
    cdef int64_t e, v, side, in_s, in_t
    cdef double loss, gain
    for e in range(2):
        v = ascent.ends[e]
        if v < 0 or ascent.sizes[e + 1] == 1:
            continue
        in_s, in_t = ascent.sizes[1] - (e == 0), ascent.sizes[2] - (e == 1)
        loss = _two_partition_gain(ascent.end_to_s[e], ascent.end_to_t[e], e + 1, in_s, in_t)
        for side in range(3):
            if side == e + 1:
                continue
            gain = _two_partition_gain(
                ascent.end_to_s[e], ascent.end_to_t[e], side, in_s, in_t
            ) - loss
            if gain > best.gain or (gain == best.gain and v < best.element):
                best.gain, best.element, best.side = gain, v, side
    return best


cdef void _shift(
    _Ascent ascent, const double[:, ::1] x, int64_t u, int64_t side, double sign
) noexcept nogil:
    """Add the row of ``u`` to the sums over a side, or subtract it."""
    cdef int64_t e, v
    ascent.sizes[side] += 1 if sign > 0.0 else -1
    if side == 1:
        for v in range(x.shape[0]):
            ascent.to_s[v] += sign * x[u, v]
        for e in range(2):
            if ascent.ends[e] >= 0:
                ascent.end_to_s[e] += sign * x[u, ascent.ends[e]]
    elif side == 2:
        for v in range(x.shape[0]):
            ascent.to_t[v] += sign * x[u, v]
        for e in range(2):
            if ascent.ends[e] >= 0:
                ascent.end_to_t[e] += sign * x[u, ascent.ends[e]]


cdef void _begin(_Ascent ascent, const double[:, ::1] x, int64_t s, int64_t t) noexcept nogil:
    """Begin with the sides {s} and {t}."""
    cdef int64_t v
    for v in range(x.shape[0]):
        ascent.to_s[v], ascent.to_t[v], ascent.now[v] = x[s, v], x[t, v], 0
    ascent.now[s], ascent.now[t] = 1, 2
    ascent.sizes[1], ascent.sizes[2] = 1, 1
    ascent.ends[0], ascent.ends[1] = s, t
    ascent.end_to_s[0], ascent.end_to_s[1] = x[s, s], x[s, t]
    ascent.end_to_t[0], ascent.end_to_t[1] = x[t, s], x[t, t]
    ascent.to_s[s], ascent.to_s[t] = NAN, NAN


cdef double _ascend(
    _Ascent ascent, const double[:, ::1] x, int64_t s, int64_t t, int64_t n_steps,
    int8_t[:, ::1] sides, int64_t row
) noexcept nogil:
    cdef double f = x[s, t] - 1.0, best = -INFINITY, best_f = f, ratio
    cdef int64_t v, k
    cdef _Move move
    _begin(ascent, x, s, t)
    for _ in range(n_steps):
        move = _better_of_ends(ascent, _best_entry(ascent))
        if move.element < 0:
            break
        _shift(ascent, x, move.element, ascent.now[move.element], -1.0)
        _shift(ascent, x, move.element, move.side, 1.0)
        ascent.now[move.element] = <int8_t>move.side
        ascent.to_s[move.element] = NAN
        for k in range(2):
            if ascent.ends[k] == move.element:
                ascent.ends[k] = -1
        f += move.gain
        k = ascent.sizes[1] + ascent.sizes[2]
        ratio = f / sqrt(0.5 * k * (k - 1))
        if ratio > best:
            best, best_f = ratio, f
            for v in range(x.shape[0]):
                sides[row, v] = ascent.now[v]
    return best_f


def ascend_two_partition(
    const double[:, ::1] x, int64_t s, int64_t t, int64_t n_steps, sides
):
    """Greedy ascent over (S, T) from ({s}, {t}); each step moves one element once.

    The element and side of the largest change of violation x(S:T) - x(S) - x(T) -
    min(|S|, |T|) are taken, even downhill; the best (S, T) by violation over the norm of
    the row is written to ``sides`` (0: in neither, 1: S, 2: T). Returns its violation.
    """
    cdef int8_t[:, ::1] rows = sides[None]
    return _ascend(_Ascent(len(x)), x, s, t, n_steps, rows, 0)


def violated_two_partitions(
    const double[:, ::1] x, const int64_t[:, ::1] pairs, double threshold, int64_t n_steps
):
    """2-partition rows found by ascent from each of some pairs, as rows of sides (0, 1, 2)."""
    found, violations = np.zeros((len(pairs), len(x)), np.int8), np.empty(len(pairs))
    cdef int8_t[:, ::1] sides = found
    cdef double[::1] violation = violations
    cdef _Ascent ascent = _Ascent(len(x))
    cdef int64_t count = 0, p
    with nogil:
        for p in range(pairs.shape[0]):
            sides[count, :] = 0
            violation[count] = _ascend(
                ascent, x, pairs[p, 0], pairs[p, 1], n_steps, sides, count
            )
            if violation[count] > threshold:
                count += 1
    return found[:count], violations[:count]


cdef bint _is_parallel(
    const int8_t[:, ::1] sign, int64_t r, int64_t q, double most
) noexcept nogil:
    """Whether the product of two rows is larger than ``most``."""
    cdef int32_t s = 0, k = 0, both  # short integers: more of them at a time
    cdef int64_t v
    for v in range(sign.shape[1]):
        both = sign[r, v] * sign[q, v]
        s += both
        k += both * both
    return 0.5 * (<double>s * s - k) > most


def choose_unlike(sides, const double[::1] norms, int64_t limit, double parallel):
    """Choose 2-partition rows in the order given, none too parallel to a chosen one.

    The coefficient of a pair is 1 across the sides and -1 within one, so the product of
    two rows is (s^2 - k) / 2, where k elements are in both rows and s of them more are on
    equal sides than on opposite ones.
    """
    cdef const int8_t[:, ::1] sign = np.array([0, 1, -1], np.int8)[sides]
    found = np.empty(min(limit, len(sides)), np.int64)
    cdef int64_t[::1] chosen = found
    cdef int64_t count = 0, r, q
    with nogil:
        for r in range(sign.shape[0]):
            if count == chosen.shape[0]:
                break
            for q in range(count):
                if _is_parallel(sign, r, chosen[q], parallel * norms[r] * norms[chosen[q]]):
                    break
            else:
                chosen[count] = r
                count += 1
    return found[:count]
