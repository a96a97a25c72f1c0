"""Connected components of pairs that come in batches, in memory of one integer per element."""

from numba import njit


@njit(cache=True, nogil=True)
def root_of(parent, v):
    """Return the root of an element's set, halving the path to it."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@njit(cache=True, nogil=True)
def join_pairs(parent, i, j):
    """Join the sets of each pair; the smallest element of a set is its root."""
    for p in range(i.shape[0]):
        a, b = root_of(parent, i[p]), root_of(parent, j[p])
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b


@njit(cache=True, nogil=True)
def join_pairs_capped(parent, elements, i, j, most):
    """Join the sets of each pair unless the result had more than ``most`` elements.

    ``elements`` holds, at the roots, how many a set has.
    """
    for p in range(i.shape[0]):
        a, b = root_of(parent, i[p]), root_of(parent, j[p])
        if a == b or elements[a] + elements[b] > most:
            continue
        if b < a:
            a, b = b, a
        parent[b] = a
        elements[a] += elements[b]


@njit(cache=True, nogil=True)
def find_roots(parent):
    """Make every element point at the root of its set, in place."""
    for v in range(parent.shape[0]):
        parent[v] = parent[parent[v]]  # roots are smaller, so already at the root


@njit(cache=True, nogil=True)
def count_edges(parent, i, j, counts):
    """Count, at the root of its set, each pair that lies inside a set."""
    for p in range(i.shape[0]):
        a = parent[i[p]]
        if a == parent[j[p]]:
            counts[a] += 1
