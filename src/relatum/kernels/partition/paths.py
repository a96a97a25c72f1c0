"""Short paths between the ends of pairs: rows that a fractional point violates.

A point x of a relaxation gives every pair the length 1 - x. A path from u to v that is
shorter than 1 - x_uv contradicts x: the row sum of x over the path - x_uv <= length - 1 of
every transitive relation is violated, by the difference.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.heap import drop_top, push

HOP = 1e-3  # what a pair of a path costs beyond its length: of equal paths the shorter is taken


@njit(cache=True)
def _reach(graph, x, source, limits, search):
    """Search from one element up to a radius; return the number of elements reached.

    ``limits`` are the radius, the number of elements that are wanted, the most pairs looked
    at and the most pairs of a path.
    """
    pointer, neighbour, edge = graph
    near, before, hops, reached, done, wanted, heap, key = search
    radius, left, most, longest = limits
    near[source], hops[source] = 0.0, 0
    reached[0] = source
    count, size, scans = 1, 1, 0
    heap[0], key[0] = source, 0.0
    while size > 0:
        p, d = heap[0], key[0]
        size -= 1
        drop_top(key, heap, size)
        if done[p]:
            continue
        done[p] = True
        left -= wanted[p]
        if left == 0:
            break
        if hops[p] >= longest:
            continue
        scans += pointer[p + 1] - pointer[p]
        if scans > most:
            break
        for q in range(pointer[p], pointer[p + 1]):
            w = neighbour[q]
            if done[w]:
                continue
            far = d + max(0.0, 1.0 - x[edge[q]]) + HOP
            if far < near[w] and far <= radius:
                if near[w] == np.inf:
                    reached[count] = w
                    count += 1
                near[w], before[w], hops[w] = far, p, hops[p] + 1
                push(key, heap, size, far, w)
                size += 1
    return count


@njit(cache=True)
def short_paths(graph, x, sources, span, limits, index, violation, count):
    """Find paths between the ends of pairs whose rows the point violates.

    ``graph`` is (pointer, neighbour, edge) of the pairs in compressed rows, ``x`` a value
    for each edge. A pair is looked at from its end that comes first among ``sources``,
    which are all elements in some order; of these the ``span`` from one place to another is
    gone through. ``limits`` are the least violation, and the most pairs looked at from one
    source and for each pair it searches for. Rows of ``index`` from ``count`` on receive
    elements from end to end, padded with -1; paths that do not fit, or come when it is
    full, are left out. Returns the new count.
    """
    pointer, neighbour, edge = graph
    least, most, more = limits
    n, width = pointer.size - 1, index.shape[1]
    near, before, hops = np.full(n, np.inf), np.empty(n, np.int64), np.zeros(n, np.int64)
    reached, done = np.empty(n, np.int64), np.zeros(n, np.bool_)
    wanted = np.zeros(n, np.int64)
    heap, key = np.empty(neighbour.size + 2, np.int64), np.empty(neighbour.size + 2)
    search = (near, before, hops, reached, done, wanted, heap, key)
    rank = np.empty(n, np.int64)
    rank[sources] = np.arange(n)
    for u in sources[span[0] : span[1]]:
        radius, left = 0.0, 0
        for q in range(pointer[u], pointer[u + 1]):
            far = 1.0 - x[edge[q]] - least
            if rank[neighbour[q]] > rank[u] and far > 0.0:
                radius = max(radius, far)
                wanted[neighbour[q]] = 1
                left += 1
        if left == 0:
            continue
        total = _reach(graph, x, u, (radius, left, most + more * left, width - 1), search)
        for q in range(pointer[u], pointer[u + 1]):
            v = neighbour[q]
            wanted[v] = 0
            if rank[v] < rank[u] or hops[v] < 2 or count == violation.size:
                continue
            gain = 1.0 - x[edge[q]] - (near[v] - HOP * hops[v])
            if near[v] < np.inf and gain > least:
                p = v
                for i in range(hops[v], -1, -1):
                    index[count, i] = p
                    p = before[p]
                index[count, hops[v] + 1 :] = -1
                violation[count] = gain
                count += 1
        for i in range(total):
            near[reached[i]] = np.inf
            hops[reached[i]] = 0
            done[reached[i]] = False
    return count
