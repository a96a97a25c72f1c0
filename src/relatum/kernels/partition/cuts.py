"""Violated rows of the clique partitioning polytope at a fractional point."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def violated_triangles(x, threshold):
    """For each pair ab the most violated rows x_ab + x_bc - x_ac <= 1 at either end.

    x is symmetric. Returns the triples (a, b, c) and their violations, those above the
    threshold, in the order of the pairs.
    """
    n = x.shape[0]
    size = 1024
    index = np.empty((size, 3), np.int32)
    violation = np.empty(size, np.float64)
    count = 0
    for a in range(n):
        for b in range(a + 1, n):
            # the violation is at most x_ab, because x_bc <= 1 and x_ac >= 0
            if x[a, b] <= threshold:
                continue
            base = x[a, b] - 1.0
            at_b, at_a = threshold, threshold
            c_b, c_a = -1, -1
            shift = (a * 7919 + b * 104729) % n  # ties go to different elements
            for q in range(n):
                c = q + shift if q + shift < n else q + shift - n
                d = x[b, c] - x[a, c]
                if base + d > at_b and c != a and c != b:
                    at_b, c_b = base + d, c
                if base - d > at_a and c != a and c != b:
                    at_a, c_a = base - d, c
            if count + 2 > size:
                size *= 2
                more, more_violation = np.empty((size, 3), np.int32), np.empty(size)
                more[:count] = index[:count]
                more_violation[:count] = violation[:count]
                index, violation = more, more_violation
            if c_b >= 0:
                index[count, 0], index[count, 1], index[count, 2] = a, b, c_b
                violation[count] = at_b
                count += 1
            if c_a >= 0:
                index[count, 0], index[count, 1], index[count, 2] = b, a, c_a
                violation[count] = at_a
                count += 1
    return index[:count], violation[:count]


@njit(cache=True)
def _relax(x, centre, nodes, u, parity, near, parent, done):
    """Shorten the paths that leave node u of the doubled graph."""
    d = nodes.size
    base = near[2 * u + parity] + 0.5 - 0.5 * x[centre, nodes[u]]
    for v in range(d):
        if v == u:
            continue
        k = 2 * v + 1 - parity
        if done[k]:
            continue
        length = base + x[nodes[u], nodes[v]] - 0.5 * x[centre, nodes[v]]
        if length < near[k]:
            near[k] = length
            parent[k] = 2 * u + parity


@njit(cache=True)
def shortest_odd_cycle(x, centre, nodes, source, limit):
    """Bounded Dijkstra in the parity-doubled graph around a centre.

    Pairs uv of ``nodes`` have the length 1/2 + x_uv - (x_cu + x_cv) / 2 (at least 0). The
    result is the shortest closed odd walk through nodes[source], as places in nodes, and
    its length; empty if it is at least ``limit``.
    """
    d = nodes.size
    near = np.full(2 * d, limit)
    parent = np.full(2 * d, -1, np.int64)
    done = np.zeros(2 * d, np.bool_)
    near[2 * source] = 0.0
    while True:
        best, k = limit, -1
        for q in range(2 * d):
            if not done[q] and near[q] < best:
                best, k = near[q], q
        if k < 0:
            return np.empty(0, np.int64), limit
        if k == 2 * source + 1:
            break
        done[k] = True
        _relax(x, centre, nodes, k // 2, k % 2, near, parent, done)
    walk = np.empty(2 * d, np.int64)
    count = 0
    k = parent[2 * source + 1]
    while k >= 0:
        walk[count] = k // 2
        count += 1
        k = parent[k]
    return walk[:count], near[2 * source + 1]


@njit(cache=True)
def violated_wheels(x, centres, priority, threshold, width):
    """Odd wheels around some centres, violated by more than the threshold.

    Row r of the result is the centre and its cycle, padded with -1; cycles longer than
    ``width`` - 1 and walks that visit an element twice are left out. At each centre the 8
    sources of least priority are tried.
    """
    n = x.shape[0]
    index = np.full((8 * centres.size, width), -1, np.int32)
    violation = np.empty(8 * centres.size)
    count = 0
    for c in centres:
        nodes = np.empty(n, np.int64)
        d = 0
        for v in range(n):
            if v != c and 0.01 < x[c, v] < 0.99:
                nodes[d] = v
                d += 1
        if d < 3:
            continue
        nodes = nodes[:d]
        nodes = nodes[np.argsort(priority[nodes])]
        for source in range(min(d, 8)):
            walk, length = shortest_odd_cycle(x, c, nodes, source, 0.5 - threshold)
            simple = walk.size >= 3 and walk.size < width
            if simple and np.unique(walk).size == walk.size:
                index[count, 0] = c
                for i in range(walk.size):
                    index[count, i + 1] = nodes[walk[i]]
                violation[count] = 0.5 - length
                count += 1
    return index[:count], violation[:count]


@njit(cache=True)
def _two_partition_gain(x_to_s, x_to_t, side, sizes):
    """Violation gained by moving an element to a side (0: out, 1: S, 2: T).

    ``sizes`` holds |S| and |T| without the element.
    """
    least = min(sizes[0], sizes[1])
    if side == 1:
        return x_to_t - x_to_s - (min(sizes[0] + 1, sizes[1]) - least)
    if side == 2:
        return x_to_s - x_to_t - (min(sizes[0], sizes[1] + 1) - least)
    return 0.0


@njit(cache=True)
def ascend_two_partition(x, s, t, n_steps, sides):
    """Greedy ascent over (S, T) from ({s}, {t}); each step moves one element once.

    The element and side of the largest change of violation x(S:T) - x(S) - x(T) -
    min(|S|, |T|) are taken, even downhill; the best (S, T) by violation over the norm of
    the row is written to ``sides`` (0: in neither, 1: S, 2: T). Returns its violation.
    """
    n = x.shape[0]
    to_s, to_t = x[s].copy(), x[t].copy()
    now = np.zeros(n, np.int8)
    now[s], now[t] = 1, 2
    moved = np.zeros(n, np.bool_)
    sizes = np.array([1, 1])
    f = x[s, t] - 1.0
    best, best_f = -np.inf, f
    for _ in range(n_steps):
        top, u, to = -np.inf, -1, 0
        for v in range(n):
            if moved[v]:
                continue
            was = now[v]
            if was > 0:
                if sizes[was - 1] == 1:
                    continue
                sizes[was - 1] -= 1
            loss = _two_partition_gain(to_s[v], to_t[v], was, sizes)
            for side in range(3):
                if side != was:
                    gain = _two_partition_gain(to_s[v], to_t[v], side, sizes) - loss
                    if gain > top:
                        top, u, to = gain, v, side
            if was > 0:
                sizes[was - 1] += 1
        if u < 0:
            break
        if now[u] > 0:
            sizes[now[u] - 1] -= 1
            if now[u] == 1:
                to_s -= x[u]
            else:
                to_t -= x[u]
        if to == 1:
            to_s += x[u]
        elif to == 2:
            to_t += x[u]
        if to > 0:
            sizes[to - 1] += 1
        now[u] = to
        moved[u] = True
        f += top
        k = sizes[0] + sizes[1]
        ratio = f / np.sqrt(0.5 * k * (k - 1))
        if ratio > best:
            best, best_f = ratio, f
            sides[:] = now
    return best_f


@njit(cache=True)
def violated_two_partitions(x, pairs, threshold, n_steps):
    """2-partition rows found by ascent from each of some pairs, as rows of sides (0, 1, 2)."""
    n = x.shape[0]
    found = np.zeros((pairs.shape[0], n), np.int8)
    violation = np.empty(pairs.shape[0])
    count = 0
    for p in range(pairs.shape[0]):
        found[count] = 0
        f = ascend_two_partition(x, pairs[p, 0], pairs[p, 1], n_steps, found[count])
        if f > threshold:
            violation[count] = f
            count += 1
    return found[:count], violation[:count]


@njit(cache=True)
def choose_unlike(sides, norms, limit, parallel):
    """Choose 2-partition rows in the order given, none too parallel to a chosen one.

    The coefficient of a pair is 1 across the sides and -1 within one, so the product of
    two rows is (s^2 - k) / 2, where k elements are in both rows and s of them more are on
    equal sides than on opposite ones.
    """
    chosen = np.empty(min(limit, sides.shape[0]), np.int64)
    count = 0
    for r in range(sides.shape[0]):
        if count == chosen.size:
            break
        ok = True
        for q in range(count):
            other = sides[chosen[q]]
            s, k = 0, 0
            for v in range(sides.shape[1]):
                if sides[r, v] != 0 and other[v] != 0:
                    k += 1
                    s += 1 if sides[r, v] == other[v] else -1
            if 0.5 * (s * s - k) > parallel * norms[r] * norms[chosen[q]]:
                ok = False
                break
        if ok:
            chosen[count] = r
            count += 1
    return chosen[:count]
