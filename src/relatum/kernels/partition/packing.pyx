"""Packing of conflicts: bounds for clusterings too large for linear programs.

Two pairs that want to be related and a third that does not are in conflict: of the row
x_ba + x_ac - x_bc <= 1 a multiplier m lowers the bound by m, as long as the residual
log-odds of the first two stay positive and that of the third negative. So conflicts are
packed greedily into the residuals. In sparse problems the two pairs become a path.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.condensed cimport place
from relatum.kernels.watch cimport Watch, is_over


cdef class PairsView:
    """Pairs in compressed rows, as kernels read them: (pointer, neighbour, edge)."""

    def __init__(self, graph):
        self.pointer, self.neighbour, self.edge = graph


def compressed_pairs(const int64_t[::1] i, const int64_t[::1] j, int64_t n):
    """Return pairs in compressed rows, both ways: pointers, neighbours, numbers of pairs.

    A row has first the pairs of which it is the first element, then those of which it is the
    second, both in the order in which they are given: by counting, not by comparing.
    """
    cdef int64_t m = i.shape[0], k, a
    pointer, neighbour = np.zeros(n + 1, np.int64), np.empty(2 * m, np.int32)
    edge = np.empty(2 * m, np.int32)
    cdef int64_t[::1] ends = pointer, next_ = np.zeros(n + 1, np.int64)
    cdef int32_t[::1] others = neighbour, numbers = edge
    with nogil:
        for k in range(m):
            ends[i[k] + 1] += 1
            ends[j[k] + 1] += 1
        for a in range(n):
            ends[a + 1] += ends[a]
            next_[a] = ends[a]
        for k in range(m):
            a = next_[i[k]]
            next_[i[k]] = a + 1
            others[a], numbers[a] = <int32_t>j[k], <int32_t>k
        for k in range(m):
            a = next_[j[k]]
            next_[j[k]] = a + 1
            others[a], numbers[a] = <int32_t>i[k], <int32_t>k
    return pointer, neighbour, edge


cdef class PackedView:
    """Room for rows and their multipliers, and how many there are."""

    def __init__(self, index, multipliers, count):
        self.index, self.multipliers, self.count = index, multipliers, count


cdef void _load_row(
    const double[::1] residual, int64_t n, int64_t a, double[::1] row
) noexcept nogil:
    """Copy the residuals of an element: those with earlier ones are far apart."""
    cdef int64_t k = a - 1, b
    for b in range(a):
        row[b] = residual[k]
        k += n - b - 2
    row[a] = 0.0
    for b in range(a + 1, n):
        row[b] = residual[k + b - a]


cdef void _pack_apex(
    double[::1] residual, int64_t n, int64_t a, double[::1] row, int64_t[::1] near,
    int64_t probes, double least, PackedView rows
) noexcept nogil:
    """Pack triangles with the apex ``a``, whose residuals are copied to ``row``."""
    cdef int64_t k = 0, i, j, b, c, rest, begin, _
    cdef double left, m
    _load_row(residual, n, a, row)
    for b in range(n):
        if row[b] > least and b != a:
            near[k] = b
            k += 1
    for i in range(k - 1):
        b, rest = near[i], k - i - 1
        left = row[b]
        # of each two neighbours the smaller scans for the larger: a row is contiguous
        begin = place(b, b + 1, n) - b - 1
        j = i + 1 + (i * 7919 + a) % rest
        for _ in range(min(probes, rest)):
            if left <= least:
                break
            c = near[j]
            if residual[begin + c] < -least and row[c] > least:
                if is_full(rows):
                    break
                m = min(left, row[c], -residual[begin + c])
                left -= m
                row[c] -= m
                residual[begin + c] += m
                append(rows, b, a, c, m)
            j += 1
            if j == k:
                j = i + 1
        row[b] = left
    for i in range(k):
        b = near[i]
        residual[place(a, b, n)] = row[b]


def pack_triangles(
    double[::1] residual, int64_t n, const int64_t[::1] order, int64_t probes, double least,
    index, multipliers, count, expired=None
):
    """Pack triangles with residuals above ``least``, apex by apex in the given order.

    ``residual`` is condensed and changed in place. Triangles (b, a, c) and multipliers are
    appended from ``count`` on, while there is room; returns the new count. For each pair of
    an apex, at most ``probes`` others are looked at. Ends before if ``expired`` says so, as do
    the others here.
    """
    cdef Watch watch = Watch(expired)
    cdef PackedView rows = PackedView(index, multipliers, count)
    cdef double[::1] row = np.empty(n)
    cdef int64_t[::1] near = np.empty(n, np.int64)
    cdef int64_t i
    with nogil:
        for i in range(order.shape[0]):
            _pack_apex(residual, n, order[i], row, near, probes, least, rows)
            if is_over(watch, n * (4 + probes // 8)):
                break
    watch.close()
    return rows.count


cdef enum:  # what a search knows of a state, side by side
    STAMP, DEPTH, BY, BEFORE


cdef class _Search:
    """Scratch space of a search for a path.

    A state is an element and the number of pairs passed that lead from one set to another.
    ``states`` has the number of the search that reached it, after how many pairs, by which edge
    and from which state; ``marks`` has the number of the search in which an element was found
    next to the end, and by which edge.
    """

    cdef int64_t[:, ::1] states, marks
    cdef int64_t[::1] queue
    cdef int64_t stamp  # of the latest search

    def __init__(self, n):
        self.states, self.queue = np.zeros((2 * n, 4), np.int64), np.empty(2 * n, np.int64)
        self.marks, self.stamp = np.zeros((n, 2), np.int64), 0


cdef int64_t _two_pairs(
    PairsView graph, _Search search, const double[::1] residual, const int64_t[::1] labels,
    double least, int64_t most_scans, int64_t u, int64_t v, Watch watch
) noexcept nogil:
    """Do what `_path` does for paths of two pairs, by marking what is next to the end.

    That looks at the pairs of two elements, not at those of all neighbours of one.
    """
    cdef int64_t[:, ::1] states = search.states, marks = search.marks
    cdef int64_t n = labels.shape[0], stamp = search.stamp + 1, q, w, to
    cdef int64_t first = graph.pointer[u], last = min(graph.pointer[u + 1], first + most_scans)
    cdef int64_t begin = graph.pointer[v], end = min(graph.pointer[v + 1], begin + most_scans)
    search.stamp = stamp
    is_over(watch, 5 * (1 + last - first + end - begin))  # answered where the next pair begins
    for q in range(begin, end):
        if residual[graph.edge[q]] > least:
            w = graph.neighbour[q]
            marks[w, 0], marks[w, 1] = stamp, graph.edge[q]
    for q in range(first, last):
        w = graph.neighbour[q]
        if marks[w, 0] != stamp or residual[graph.edge[q]] <= least:
            continue
        if labels[w] != labels[u] and labels[w] != labels[v]:
            continue
        to = v if labels[u] == labels[v] else v + n
        if labels[w] != labels[u]:
            w += n
        states[w, DEPTH], states[w, BY], states[w, BEFORE] = 1, graph.edge[q], u
        states[to, DEPTH], states[to, BY], states[to, BEFORE] = 2, marks[w % n, 1], w
        return to
    return -1


cdef int64_t _path(
    PairsView graph, _Search search, const double[::1] residual, const int64_t[::1] labels,
    double least, int64_t longest, int64_t most_scans, int64_t u, int64_t v, Watch watch
) noexcept nogil:
    """Look for a short path between the ends over pairs with residuals above ``least``.

    At most one pair of it leads from one set to another, none if both ends are in one set.
    Returns the state of its end, -1 if there is none short enough.
    """
    cdef int64_t[:, ::1] states = search.states
    cdef int64_t n = labels.shape[0], crossings = 0 if labels[u] == labels[v] else 1
    cdef int64_t head = 0, tail = 1, scans = 0, stamp = search.stamp + 1
    cdef int64_t state, passed, p, q, w, now, to
    search.stamp = stamp
    states[u, STAMP], states[u, DEPTH] = stamp, 0
    search.queue[0] = u
    while head < tail:
        state = search.queue[head]
        head += 1
        passed = 1 if state >= n else 0
        p = state - passed * n
        if states[state, DEPTH] == longest or scans > most_scans:
            return -1
        scans += graph.pointer[p + 1] - graph.pointer[p]
        if is_over(watch, 5 * (1 + graph.pointer[p + 1] - graph.pointer[p])):
            return -1
        for q in range(graph.pointer[p], graph.pointer[p + 1]):
            if residual[graph.edge[q]] <= least:
                continue
            w, now = graph.neighbour[q], passed
            if labels[w] != labels[p]:
                now += 1
                if now > crossings or labels[w] != labels[v]:
                    continue
            to = w + now * n
            if states[to, STAMP] == stamp:
                continue
            states[to, STAMP], states[to, DEPTH] = stamp, states[state, DEPTH] + 1
            states[to, BY], states[to, BEFORE] = graph.edge[q], state
            if w == v:
                return to
            search.queue[tail] = to
            tail += 1
    return -1


cdef double _take_path(
    _Search search, double[::1] residual, int32_t[:, ::1] index, int64_t row, int64_t u,
    int64_t end, double m
) noexcept nogil:
    """Pack what a path allows, at most ``m``, and write its elements down; return how much."""
    cdef int64_t n = search.states.shape[0] // 2, p = end, i = search.states[end, DEPTH], k
    for k in range(i + 1, index.shape[1]):
        index[row, k] = -1
    while p != u:
        m = min(m, residual[search.states[p, BY]])
        p = search.states[p, BEFORE]
    p = end
    while p != u:
        index[row, i] = <int32_t>(p % n)
        residual[search.states[p, BY]] -= m
        p = search.states[p, BEFORE]
        i -= 1
    index[row, 0] = <int32_t>u
    return m


def pack_paths(
    graph, double[::1] residual, const int64_t[::1] labels, const int64_t[:, ::1] ends, limits,
    int32_t[:, ::1] index, double[::1] multipliers, int64_t count, expired=None
):
    """Pack paths between the ends of pairs with negative residuals.

    ``graph`` is (pointer, neighbour, edge) of the pairs in compressed rows, ``ends`` the
    elements of the pairs to be closed, by edge number: rows (edge, u, v). Paths are written
    to ``index`` as elements from u to v, padded with -1. ``limits`` are the residual that a
    pair must exceed, the most pairs of a path, and the most pairs looked at in search of one.
    Only paths are packed whose rows hold with equality for the partition with the given
    labels; if these are all the same, all paths.
    """
    cdef PairsView g = PairsView(graph)
    cdef _Search search = _Search(len(labels))
    cdef Watch watch = Watch(expired)
    cdef double least = limits[0], m
    cdef int64_t longest = limits[1], most_scans = limits[2]
    cdef int64_t f, e, u, v, end
    with nogil:
        for f in range(ends.shape[0]):
            if is_over(watch, 5):
                break
            e, u, v = ends[f, 0], ends[f, 1], ends[f, 2]
            while residual[e] < -least and count < multipliers.shape[0]:
                if longest == 2:
                    end = _two_pairs(g, search, residual, labels, least, most_scans, u, v, watch)
                else:
                    end = _path(
                        g, search, residual, labels, least, longest, most_scans, u, v, watch
                    )
                if end < 0:
                    break
                m = _take_path(search, residual, index, count, u, end, -residual[e])
                residual[e] += m
                multipliers[count] = m
                count += 1
    watch.close()
    return count
