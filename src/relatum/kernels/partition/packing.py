"""Packing of conflicts: bounds for clusterings too large for linear programs.

Two pairs that want to be related and a third that does not are in conflict: of the row
x_ba + x_ac - x_bc <= 1 a multiplier m lowers the bound by m, as long as the residual
log-odds of the first two stay positive and that of the third negative. So conflicts are
packed greedily into the residuals. In sparse problems the two pairs become a path.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.condensed import place
from relatum.kernels.hashing import find


@njit(cache=True)
def append(index, multipliers, count, triangle, m):
    """Write a triangle and its multiplier down; return the new count."""
    index[count, 0], index[count, 1], index[count, 2] = triangle
    multipliers[count] = m
    return count + 1


@njit(cache=True)
def pack_triangles(residual, n, order, probes, least, index, multipliers, count):
    """Pack triangles with residuals above ``least``, apex by apex in the given order.

    ``residual`` is condensed and changed in place. Triangles (b, a, c) and multipliers are
    appended from ``count`` on, while there is room; returns the new count. For each pair of
    an apex, at most ``probes`` others are looked at.
    """
    row = np.empty(n)
    near = np.empty(n, np.int64)
    for a in order:
        k = 0
        for b in range(n):
            row[b] = 0.0
            if b != a:
                row[b] = residual[place(a, b, n)]
                if row[b] > least:
                    near[k] = b
                    k += 1
        for i in range(k - 1):
            b = near[i]
            # of each two neighbours the smaller scans for the larger: a row is contiguous
            first = i + 1 + (i * 7919 + a) % (k - i - 1)
            for q in range(min(probes, k - i - 1)):
                if row[b] <= least or count == multipliers.size:
                    break
                j = first + q
                if j >= k:
                    j -= k - i - 1
                c = near[j]
                third = place(b, c, n)
                if residual[third] < -least and row[c] > least:
                    m = min(row[b], row[c], -residual[third])
                    row[b] -= m
                    row[c] -= m
                    residual[third] += m
                    count = append(index, multipliers, count, (b, a, c), m)
        for i in range(k):
            b = near[i]
            residual[place(a, b, n)] = row[b]
    return count


@njit(cache=True)
def _path(graph, residual, labels, limits, ends, search):
    """Look for a short path between the ends over pairs with residuals above ``least``.

    At most one pair of it leads from one set to another, none if both ends are in one set.
    ``search`` holds, for each element and each number of such pairs passed, the state it
    was reached from and by which edge, a stamp, and the queue; returns the number of edges
    of the path, 0 if there is none short enough, and the state of its end.
    """
    pointer, neighbour, edge = graph
    by, stamp, before, depth, queue = search
    least, longest, most_scans = limits
    u, v = ends
    n = labels.size
    crossings = 0 if labels[u] == labels[v] else 1
    scans = 0
    mark = stamp[-1] + 1
    stamp[-1] = mark
    stamp[u] = mark
    depth[u] = 0
    queue[0] = u
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
        head += 1
        passed = 1 if state >= n else 0
        p = state - passed * n
        if depth[state] == longest or scans > most_scans:
            return 0, 0
        scans += pointer[p + 1] - pointer[p]
        for q in range(pointer[p], pointer[p + 1]):
            w = neighbour[q]
            if residual[edge[q]] <= least:
                continue
            now = passed
            if labels[w] != labels[p]:
                now += 1
                if now > crossings or labels[w] != labels[v]:
                    continue
            to = w + now * n
            if stamp[to] == mark:
                continue
            stamp[to] = mark
            depth[to] = depth[state] + 1
            by[to] = edge[q]
            before[to] = state
            if w == v:
                return depth[to], to
            queue[tail] = to
            tail += 1
    return 0, 0


@njit(cache=True)
def pack_paths(graph, residual, labels, ends, limits, index, multipliers, count):
    """Pack paths between the ends of pairs with negative residuals.

    ``graph`` is (pointer, neighbour, edge) of the pairs in compressed rows, ``ends`` the
    elements of the pairs to be closed, by edge number: rows (edge, u, v). Paths are written
    to ``index`` as elements from u to v, padded with -1. ``limits`` are the residual that a
    pair must exceed, the most pairs of a path, and the most pairs looked at in search of one.
    Only paths are packed whose rows hold with equality for the partition with the given
    labels; if these are all the same, all paths.
    """
    n = labels.size
    search = (
        np.empty(2 * n, np.int64),
        np.zeros(2 * n + 1, np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
    )
    for f in range(ends.shape[0]):
        e, u, v = ends[f, 0], ends[f, 1], ends[f, 2]
        while residual[e] < -limits[0] and count < multipliers.size:
            length, end = _path(graph, residual, labels, limits, (u, v), search)
            if length == 0:
                break
            m = -residual[e]
            p = end
            while p != u:
                m = min(m, residual[search[0][p]])
                p = search[2][p]
            p, i = end, length
            while p != u:
                index[count, i] = p % n
                residual[search[0][p]] -= m
                p = search[2][p]
                i -= 1
            index[count, 0] = u
            for i in range(length + 1, index.shape[1]):
                index[count, i] = -1
            residual[e] += m
            multipliers[count] = m
            count += 1
    return count


@njit(cache=True)
def pack_wedges(graph, residual, labels, limits, table, index, multipliers, count):
    """Pack triangles whose third pair is not listed and has a negative background score.

    ``limits`` are the background, the others looked at for each pair, and how many of the
    two listed pairs lead from one set to another: one or none, as then the row holds with
    equality for the partition. ``table`` is (keys, used): a hash table of unlisted pairs
    a * n + b (a < b), -1 where free, of which listed pairs have been entered with ``used``
    = infinity, and of what has been packed into the others. ``used`` has one more entry: how
    many pairs may still be entered.
    """
    pointer, neighbour, edge = graph
    background, probes, crossings = limits
    keys, used = table
    n = pointer.size - 1
    for a in range(n):
        for q in range(pointer[a], pointer[a + 1]):
            left = probes
            for s in range(q + 1, pointer[a + 1]):
                if residual[edge[q]] <= 0.0 or left == 0 or count == multipliers.size:
                    break
                if residual[edge[s]] <= 0.0:
                    continue
                b, c = neighbour[q], neighbour[s]
                crossed = (labels[a] != labels[b]) + (labels[a] != labels[c])
                if crossed != crossings:
                    continue
                left -= 1
                h = find(keys, min(b, c) * n + max(b, c))
                spare = -background - (used[h] if keys[h] != -1 else 0.0)
                if spare <= 0.0:
                    continue
                if keys[h] == -1:
                    if used[-1] <= 0.0:
                        return count
                    used[-1] -= 1.0
                    keys[h] = min(b, c) * n + max(b, c)
                    used[h] = 0.0
                m = min(residual[edge[q]], residual[edge[s]], spare)
                residual[edge[q]] -= m
                residual[edge[s]] -= m
                used[h] += m
                count = append(index, multipliers, count, (b, a, c), m)
    return count


@njit(cache=True)
def enter_keys(keys, used, listed):
    """Enter listed pairs into the hash table of `pack_wedges` as used up."""
    for key in listed:
        h = find(keys, key)
        keys[h] = key
        used[h] = np.inf
