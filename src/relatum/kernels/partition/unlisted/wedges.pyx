"""Packing of triangles that close over pairs which are not listed.

Of sparse problems with a negative background every pair that is not listed speaks a little
against relating its ends: two listed pairs that want to be related are in conflict with it. What
has been packed into such pairs is kept in a hash table.
"""

from libc.stdint cimport int64_t

from relatum.kernels.hashing cimport find
from relatum.kernels.partition.packing cimport PackedView, PairsView, append, is_full
from relatum.kernels.watch cimport Watch, is_over


cdef class Unlisted:
    """Pairs and what is packed into them: a hash table, see `enter_keys`, and the background."""

    def __init__(self, table, background):
        self.keys, self.used = table
        self.background = background


def enter_keys(int64_t[::1] keys, double[::1] used, const int64_t[::1] listed):
    """Enter listed pairs into a hash table, by their numbers.

    Keys of pairs are a * n + b (a < b), -1 where a slot is free. ``used`` is what has been packed
    into a pair that is not listed, and -1 - k for the k-th listed one, whose residual says it. It
    has one more entry: how many pairs may still be entered.
    """
    cdef int64_t i, h
    with nogil:
        for i in range(listed.shape[0]):
            h = find(keys, listed[i])
            keys[h] = listed[i]
            used[h] = -1.0 - i


cdef void _pack_wedges(
    PairsView graph, double[::1] residual, const int64_t[::1] labels, int64_t probes,
    int64_t crossings, Unlisted table, PackedView rows, Watch watch
) noexcept nogil:
    cdef int64_t n = labels.shape[0]
    cdef int64_t a, b, c, q, s, end, left, one, two, crossed, h
    cdef double m
    for a in range(n):
        end = graph.pointer[a + 1]
        for q in range(graph.pointer[a], end):
            b, one, left = graph.neighbour[q], graph.edge[q], probes
            if is_over(watch, 10 + end - q):
                return
            for s in range(q + 1, end):
                if residual[one] <= 0.0 or left == 0 or is_full(rows):
                    break
                c, two = graph.neighbour[s], graph.edge[s]
                if residual[two] <= 0.0:
                    continue
                crossed = (labels[a] != labels[b]) + (labels[a] != labels[c])
                if crossed != crossings:
                    continue
                left -= 1
                h = slot_of(table, b, c, n)
                m = min(residual[one], residual[two], spare(table, residual, h))
                if m <= 0.0:
                    continue
                residual[one] -= m
                residual[two] -= m
                close_pair(table, residual, h, min(b, c) * n + max(b, c), m)
                append(rows, b, a, c, m)


def pack_wedges(
    graph, double[::1] residual, const int64_t[::1] labels, limits, table, index, multipliers,
    count, expired=None
):
    """Pack triangles whose third pair has a negative score, be it listed or of the background.

    ``limits`` are the background, the others looked at for each pair, and how many of the
    two listed pairs lead from one set to another: one or none, as then the row holds with
    equality for the partition. ``table`` is (keys, used), see `enter_keys`.
    """
    cdef PairsView g = PairsView(graph)
    cdef int64_t probes = limits[1], crossings = limits[2]
    cdef Unlisted unlisted = Unlisted(table, limits[0])
    cdef PackedView rows = PackedView(index, multipliers, count)
    cdef Watch watch = Watch(expired)
    with nogil:
        _pack_wedges(g, residual, labels, probes, crossings, unlisted, rows, watch)
    watch.close()
    return rows.count
