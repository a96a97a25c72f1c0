"""Violated rows of the clique partitioning polytope at a fractional point.

The best of many is looked for in lanes: of the elements that are LANES apart, a lane keeps the
best value, which is quick because lanes do not wait for one another; then the first element that
has the best value of all is looked up. Rows of arrays are padded to full lanes. What must not be
chosen is not a number, and so neither larger nor smaller than the best so far.
"""

import numpy as np

from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t

cdef enum:
    LANES = 32


cdef inline int64_t _padded(int64_t n) noexcept nogil:
    """Round a number of elements up to full lanes."""
    return (n + LANES - 1) // LANES * LANES


cdef inline double _largest(const double* lanes) noexcept nogil:
    """Return the largest number in the lanes."""
    cdef double a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3]
    cdef int64_t j
    for j in range(4, LANES, 4):  # four at a time: they do not wait for one another
        a, b = max(a, lanes[j]), max(b, lanes[j + 1])
        c, d = max(c, lanes[j + 2]), max(d, lanes[j + 3])
    return max(max(a, b), max(c, d))


cdef inline double _least(const double* lanes) noexcept nogil:
    """Return the least number in the lanes."""
    cdef double a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3]
    cdef int64_t j
    for j in range(4, LANES, 4):
        a, b = min(a, lanes[j]), min(b, lanes[j + 1])
        c, d = min(c, lanes[j + 2]), min(d, lanes[j + 3])
    return min(min(a, b), min(c, d))


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
    at_b[0], at_a[0] = _largest(top_b), _largest(top_a)


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


def violated_triangles(const double[:, ::1] x, double threshold):
    """For each pair ab the most violated rows x_ab + x_bc - x_ac <= 1 at either end.

    x is symmetric. Returns the triples (a, b, c) and their violations, those above the
    threshold, in the order of the pairs.
    """
    cdef double[:, ::1] point = np.empty((x.shape[0], _padded(x.shape[0])))
    cdef int64_t most, count
    with nogil:
        most = _pad_point(x, threshold, point)
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
    cdef int64_t d, padded  # the number of nodes, and that rounded up to full lanes

    def __init__(self, n):
        most = _padded(n)
        self.nodes, self.walk = np.empty(n, np.int64), np.empty(2 * n, np.int64)
        self.has, self.visited = np.zeros(n, np.int8), np.zeros(n, np.int8)
        self.half, self.between = np.zeros(most), np.empty((n, most))
        self.near, self.parent = np.empty((2, most)), np.empty((2, most), np.int64)


cdef void _surround(_Around around, const double[:, ::1] x, int64_t centre) noexcept nogil:
    """Prepare searches around a centre, once the ``d`` nodes are known."""
    cdef int64_t v
    around.padded = _padded(around.d)
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
    least = _least(low)
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
    return wheels[:count], violations[:count]


cdef class _Ascent:
    """Sides S and T that grow, and the sums of x over them for each element.

    These sums are not numbers for elements that have been put on a side. Those of the two
    elements that the sides begin with are in ``end_to_s`` and ``end_to_t``: these two may still
    move, and are -1 in ``ends`` when they have.
    """

    cdef double[::1] to_s, to_t
    cdef int8_t[::1] now  # the side of each element: 0 neither, 1 S, 2 T
    cdef int64_t[::1] sizes  # of the sides
    cdef int64_t[::1] ends
    cdef double[::1] end_to_s, end_to_t

    def __init__(self, n):
        self.to_s, self.to_t = np.full((2, _padded(n)), np.nan)
        self.now = np.empty(n, np.int8)
        self.sizes, self.ends = np.zeros(3, np.int64), np.empty(2, np.int64)
        self.end_to_s, self.end_to_t = np.empty((2, 2))


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


cdef inline double _entry_gain(
    double x_to_s, double x_to_t, double pay_s, double pay_t
) noexcept nogil:
    """Violation gained by the better side for an element that is on none."""
    cdef double one = x_to_t - x_to_s - pay_s, two = x_to_s - x_to_t - pay_t
    return one if one > two else two


cdef inline _Move _best_entry(
    const double[::1] to_s, const double[::1] to_t, int64_t in_s, int64_t in_t
) noexcept nogil:
    """Return the move of an element that is on no side; its element is -1 if there is none."""
    # an element that enters pays if it makes the smaller side larger
    cdef double pay_s = 1.0 if in_s < in_t else 0.0, pay_t = 1.0 if in_t < in_s else 0.0, gain
    cdef int64_t padded = to_s.shape[0], begin = 0, j, v
    cdef double[LANES] top
    cdef _Move best
    for j in range(LANES):
        top[j] = -INFINITY
    while begin < padded:
        for j in range(LANES):
            gain = _entry_gain(to_s[begin + j], to_t[begin + j], pay_s, pay_t)
            top[j] = gain if gain > top[j] else top[j]
        begin += LANES
    best.gain, best.element, best.side = _largest(top), padded, 1
    for j in range(LANES):
        v = j if top[j] == best.gain else padded
        while v < best.element:
            if _entry_gain(to_s[v], to_t[v], pay_s, pay_t) == best.gain:
                best.element = v
            v += LANES
    v = best.element
    if v == padded:
        best.element = -1
    elif to_t[v] - to_s[v] - pay_s != best.gain:
        best.side = 2
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
    cdef int64_t v, k, _
    cdef _Move move
    _begin(ascent, x, s, t)
    for v in range(x.shape[0]):
        sides[row, v] = 0
    for _ in range(n_steps):
        move = _best_entry(ascent.to_s, ascent.to_t, ascent.sizes[1], ascent.sizes[2])
        move = _better_of_ends(ascent, move)
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
    cdef _Ascent ascent = _Ascent(len(x))
    cdef double violation
    with nogil:
        violation = _ascend(ascent, x, s, t, n_steps, rows, 0)
    return violation


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
