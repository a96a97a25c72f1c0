"""Plain twins of the kernels that separate rows of clusterings."""

from __future__ import annotations

import numpy as np


def violated_triangles(x, threshold):
    """For each pair and each of its ends, the third element of the most violated row."""
    n = len(x)
    found = {}
    for a in range(n):
        for b in range(n):
            rest = [c for c in range(n) if c not in (a, b)]
            if a == b or not rest:
                continue
            violation = [x[a, b] + x[b, c] - x[a, c] - 1 for c in rest]
            if max(violation) > threshold:
                found[a, b] = max(violation)
    return found


def violated_along(x, labels, threshold):
    """For each pair (a, b), the most violated row whose third element is in the set of b."""
    n = len(x)
    found = {}
    for a in range(n):
        for b in range(n):
            rest = [c for c in range(n) if c not in (a, b) and labels[c] == labels[b]]
            violation = [x[a, b] + x[b, c] - x[a, c] - 1 for c in rest] if a != b else []
            if violation and x[a, b] > threshold and max(violation) > threshold:
                found[a, b] = max(violation)
    return found


def shortest_odd_walk(x, centre, source, limit):
    """Length of the shortest closed odd walk through a source, by repeated relaxation."""
    nodes = [v for v in range(len(x)) if v != centre]
    near = {(v, p): np.inf for v in nodes for p in (0, 1)}
    near[source, 0] = 0.0
    for _ in range(2 * len(nodes)):
        for u, p in list(near):
            for v in nodes:
                if v != u:
                    length = 0.5 + x[u, v] - 0.5 * (x[centre, u] + x[centre, v])
                    near[v, 1 - p] = min(near[v, 1 - p], near[u, p] + length)
    return min(near[source, 1], limit)


def two_partition_violation(x, s, t):
    """The sum x(S:T) - x(S) - x(T) - min(|S|, |T|)."""
    across = sum(x[a, b] for a in s for b in t)
    within = sum(x[a, b] for side in (s, t) for a in side for b in side if a < b)
    return across - within - min(len(s), len(t))


def ascend_two_partition(x, s, t, n_steps):
    """Steepest ascent over (S, T), every element moved at most once; the best by depth."""
    now = {s: 1, t: 2}
    moved = set()
    best = (-np.inf, None, None)
    for _ in range(n_steps):
        options = []
        for v in range(len(x)):
            for side in (0, 1, 2):
                if v in moved or side == now.get(v, 0):
                    continue
                trial = {**now, v: side}
                sides = [[u for u in trial if trial[u] == k] for k in (1, 2)]
                if all(sides):
                    options.append((two_partition_violation(x, *sides), v, side))
        if not options:
            break
        top = max(o[0] for o in options)
        f, v, side = next(o for o in options if o[0] >= top - 1e-12)
        now[v] = side
        moved.add(v)
        k = sum(1 for u in now if now[u])
        if f / np.sqrt(k * (k - 1) / 2) > best[0] + 1e-12:
            best = (f / np.sqrt(k * (k - 1) / 2), f, dict(now))
    return best[1], best[2]


def unlike_rows(rows, limit, parallel):
    """Greedy choice of rows (vectors), none with too large a cosine to a chosen one."""
    chosen = []
    for k, row in enumerate(rows):
        cosines = [row @ rows[q] / np.sqrt((row @ row) * (rows[q] @ rows[q])) for q in chosen]
        if len(chosen) < limit and all(c <= parallel + 1e-12 for c in cosines):
            chosen.append(k)
    return chosen
