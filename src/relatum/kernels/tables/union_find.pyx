"""Connected components of pairs that come in batches, in memory of one integer per element."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused end_t:
    int32_t
    int64_t


def join_pairs(int64_t[::1] parent, const int64_t[::1] i, const int64_t[::1] j):
    """Join the sets of each pair; the smallest element of a set is its root."""
    cdef int64_t p, a, b
    with nogil:
        for p in range(i.shape[0]):
            a, b = root_of(parent, i[p]), root_of(parent, j[p])
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b


def join_pairs_capped(
    int64_t[::1] parent, int64_t[::1] elements, const int64_t[::1] i, const int64_t[::1] j,
    int64_t most
):
    """Join the sets of each pair unless the result had more than ``most`` elements.

    ``elements`` holds, at the roots, how many a set has.
    """
    cdef int64_t p, a, b
    with nogil:
        for p in range(i.shape[0]):
            a, b = root_of(parent, i[p]), root_of(parent, j[p])
            if a == b or elements[a] + elements[b] > most:
                continue
            if b < a:
                a, b = b, a
            parent[b] = a
            elements[a] += elements[b]


def find_roots(int64_t[::1] parent):
    """Make every element point at the root of its set, in place."""
    cdef int64_t v
    with nogil:
        for v in range(parent.shape[0]):
            parent[v] = parent[parent[v]]  # roots are smaller, so already at the root


def count_edges(
    const int64_t[::1] parent, const end_t[:] i, const end_t[:] j, int64_t[::1] counts
):
    """Count, at the root of its set, each pair that lies inside a set.

    The ends may be columns of a table of records, with other columns between their entries.
    """
    cdef int64_t p, a
    with nogil:
        for p in range(i.shape[0]):
            a = parent[i[p]]
            if a == parent[j[p]]:
                counts[a] += 1
