"""Violated rows of linear orders at a fractional point: 3-dicycles and {0,1/2}-cuts.

``x[a, b]`` is full and complementary: x[b, a] = 1 - x[a, b]. The two rows of a triple
i < j < k are 0 <= s <= 1 with s = x[i, j] + x[j, k] - x[i, k].
"""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit


@njit(cache=True)
def violated_dicycles(x, tolerance, per_pair):
    """Triples i < j < k with s < -tolerance or s > 1 + tolerance.

    For every pair the `per_pair` most violated thirds are kept (at most 2), each triple
    once. Returns the triples, as found, and how much each is violated.
    """
    n = x.shape[0]
    found = np.empty((n * n, 3), np.int64)
    amount = np.empty(n * n)
    count = 0
    for a in range(n):
        for b in range(a + 1, n):
            # s > 1 for the cycles a b c and b a c: x_ab + x_bc + x_ca > 2
            first, second = tolerance, tolerance
            c_first, c_second = -1, -1
            for c in range(n):
                if c in (a, b):
                    continue
                t = x[b, c] + x[c, a]
                v = x[a, b] + t - 2.0
                if -v > 1.0:
                    v = -1.0 - v  # the opposite cycle has 3 - (x_ab + t)
                if v > first:
                    second, c_second = first, c_first
                    first, c_first = v, c
                elif v > second:
                    second, c_second = v, c
            for which in range(per_pair):
                c = c_first if which == 0 else c_second
                if c < 0:
                    break
                i, j, k = min(a, b, c), max(min(a, b), min(max(a, b), c)), max(a, b, c)
                found[count, 0], found[count, 1], found[count, 2] = i, j, k
                amount[count] = first if which == 0 else second
                count += 1
                if count == found.shape[0]:
                    return _unique_triples(found, amount, count, n)
    return _unique_triples(found, amount, count, n)


@njit(cache=True)
def _unique_triples(found, amount, count, n):
    key = (found[:count, 0] * n + found[:count, 1]) * n + found[:count, 2]
    order = np.argsort(key)
    keep = np.empty(count, np.bool_)
    for p in range(count):
        keep[p] = p == 0 or key[order[p]] != key[order[p - 1]]
    chosen = order[keep]
    return found[chosen], amount[chosen]


@njit(cache=True)
def _arc(high, low, g):
    """Cheapest side of a triple and row of the box, by parity of the right-hand side.

    `high` and `low` are the slacks of the triple's sides, g is the pair that is weakened.
    Returns the weight for parity 0 and 1, and a code for each: bit 0 = high side of the
    triple, bit 1 = the box row x <= 1 (otherwise x >= 0).
    """
    w0, c0 = high + 1.0 - g, 3
    if low + g < w0:
        w0, c0 = low + g, 0
    w1, c1 = high + g, 1
    if low + 1.0 - g < w1:
        w1, c1 = low + 1.0 - g, 2
    return w0, c0, w1, c1


@njit(cache=True)
def _pair(i, j, k, which):
    """Return the pair ij, jk or ik of a triple."""
    return (j if which == 1 else i), (j if which == 0 else k)


@njit(cache=True)
def half_cycles(x, sources, most, effort):
    """Odd cycles of weight below 1 in the graph of pairs, one from each source at most.

    Nodes are the pairs, twice (even and odd). A triple, weakened in one of its pairs by a
    row of the box, joins its other two. A closed odd walk of total slack w below 1 makes a
    {0,1/2}-cut violated by (1 - w) / 2.

    Parameters
    ----------
    x : float64 array (n, n)
    sources : int64 array (r, 2), pairs a < b
    most : float
        Only walks of weight below this.
    effort : int
        How many nodes to look at from each source.

    Returns
    -------
    steps : int64 array (t, 5)
        Steps of all walks: i < j < k, the weakened pair (0 ij, 1 jk, 2 ik) and the code.
    ends : int64 array
        Where in `steps` each walk ends.
    weight : float64 array
    """
    n = x.shape[0]
    size = 2 * n * n
    distance = np.full(size, np.inf)
    parent = np.full(size, -1, np.int64)
    move = np.zeros((size, 5), np.int64)
    touched = np.empty(size, np.int64)
    middle = np.empty(7, np.int64)
    steps = np.empty((64 * sources.shape[0] + 64, 5), np.int64)
    ends = np.empty(sources.shape[0], np.int64)
    weight = np.empty(sources.shape[0])
    walks, used = 0, 0
    for r in range(sources.shape[0]):
        start = (sources[r, 0] * n + sources[r, 1]) * 2
        n_touched, w = _odd_walk(
            x, start, (most, effort), (distance, parent, move, touched), middle
        )
        if w < most:
            length = 1
            steps[used] = middle[2:]
            for side in range(2):
                node = middle[side]
                while node != start and length < 64:
                    steps[used + length] = move[node]
                    length += 1
                    node = parent[node]
            if length < 64:
                used += length
                ends[walks] = used
                weight[walks] = w
                walks += 1
        for p in range(n_touched):
            distance[touched[p]] = np.inf
            parent[touched[p]] = -1
    return steps[:used], ends[:walks], weight[:walks]


@njit(cache=True)
def _odd_walk(x, start, limits, tree, middle):
    """Dijkstra from the even copy of a pair until two paths meet in a closed odd walk.

    What leads from a node to the odd copy of the start mirrors what leads from the start to
    the node's other copy. So half the way is enough: a walk is a path, an arc and a path.
    `middle` gets the ends of both paths and the arc. Returns the number of nodes touched
    and the weight of the walk.
    """
    distance, parent, move, touched = tree
    n = x.shape[0]
    best, effort = limits
    heap = [(0.0, start)]
    distance[start] = 0.0
    touched[0] = start
    count = 1
    while len(heap) > 0:
        w, node = heapq.heappop(heap)
        if w > distance[node]:
            continue
        effort -= 1
        if 2.0 * w >= best or effort < 0:
            break
        parity = node % 2
        a, b = (node // 2) // n, (node // 2) % n
        for c in range(n):
            if c in (a, b):
                continue
            i, k = min(a, c), max(b, c)
            j = a + b + c - i - k
            t = x[i, j] + x[j, k] - x[i, k]
            high, low = max(0.0, 1.0 - t), max(0.0, t)
            if w + min(high, low) >= best:
                continue
            own = 0 if k == c else (1 if i == c else 2)  # which pair of the triple ab is
            for turn in range(1, 3):
                # of the other two pairs one is weakened and one is reached
                third = (own + turn) % 3
                p, q = _pair(i, j, k, third)
                w0, c0, w1, c1 = _arc(high, low, x[p, q])
                u, v = _pair(i, j, k, (own + 3 - turn) % 3)
                for flip in range(2):
                    reach = w + (w1 if flip else w0)
                    to = (u * n + v) * 2 + (parity ^ flip)
                    if reach + distance[to ^ 1] < best - 1e-12:
                        best = reach + distance[to ^ 1]
                        middle[0], middle[1] = node, to ^ 1
                        middle[2], middle[3], middle[4], middle[5] = i, j, k, third
                        middle[6] = c1 if flip else c0
                    if 2.0 * reach < best and reach < distance[to] - 1e-12:
                        if distance[to] == np.inf:
                            touched[count] = to
                            count += 1
                        distance[to] = reach
                        parent[to] = node
                        move[to, 0], move[to, 1], move[to, 2] = i, j, k
                        move[to, 3] = third
                        move[to, 4] = c1 if flip else c0
                        heapq.heappush(heap, (reach, to))
    return count, best


@njit(cache=True)
def close_precedence(before, new):
    """Close a set of precedences under transitivity after adding new ones.

    Parameters
    ----------
    before : bool array (n, n), changed
        Closed: before[a, b] says that a comes before b.
    new : int64 array (r, 2)
        Pairs to add.

    Returns
    -------
    steps : int64 array (t, 3)
        In order: a before c was added because of a before b and b before c.
    clash : int64 array (2,)
        A pair that would have to come in both orders, or -1, -1; then the closure stops,
        with the step that clashes as the last one.
    """
    n = before.shape[0]
    queue = np.empty((n * n, 2), np.int64)
    steps = np.empty((n * n, 3), np.int64)
    head, tail, count = 0, 0, 0
    clash = np.full(2, -1, np.int64)
    for r in range(new.shape[0]):
        a, b = new[r, 0], new[r, 1]
        if a == b or before[b, a]:
            clash[0], clash[1] = a, b
            return steps[:count], clash
        if not before[a, b]:
            before[a, b] = True
            queue[tail, 0], queue[tail, 1] = a, b
            tail += 1
    while head < tail:
        a, b = queue[head, 0], queue[head, 1]
        head += 1
        for c in range(n):
            for side in range(2):
                # a before b before c, then c before a before b
                if side == 0:
                    p, m, q, known = a, b, c, before[b, c]
                else:
                    p, m, q, known = c, a, b, before[c, a]
                if not known or before[p, q]:
                    continue
                steps[count, 0], steps[count, 1], steps[count, 2] = p, m, q
                count += 1
                if p == q or before[q, p]:
                    clash[0], clash[1] = p, q
                    return steps[:count], clash
                before[p, q] = True
                queue[tail, 0], queue[tail, 1] = p, q
                tail += 1
    return steps[:count], clash
