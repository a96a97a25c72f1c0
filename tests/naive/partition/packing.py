"""Plain twins of the kernels that pack conflicts for bounds of large clusterings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def pack_triangles(c, n, order, least):
    """Greedy packing of triangles, apex by apex, in the order that the kernel looks at them."""
    place = {}
    for a in range(n):
        for b in range(a + 1, n):
            place[a, b] = place[b, a] = len(place) // 2
    r = list(c)
    found = []
    for a in order.tolist():
        near = [b for b in range(n) if b != a and r[place[a, b]] > least]
        for i, b in enumerate(near[:-1]):
            later = near[i + 1 :]
            shift = (i * 7919 + a) % len(later)
            for third in later[shift:] + later[:shift]:
                ab, ac, bc = place[a, b], place[a, third], place[b, third]
                if r[ab] > least and r[ac] > least and r[bc] < -least:
                    m = min(r[ab], r[ac], -r[bc])
                    r[ab], r[ac], r[bc] = r[ab] - m, r[ac] - m, r[bc] + m
                    found.append(((b, a, third), m))
    return r, found


def hops(pairs, n, a, b):
    """Fewest pairs of a path from a to b; n if there is none."""
    near = {a}
    for k in range(1, n):
        near |= {q for p in pairs for q in p if p[0] in near or p[1] in near}
        if b in near:
            return k
    return n


def violated_paths(lengths, least, hop):
    """Violation of the shortest path of at least two pairs between the ends of each pair.

    ``lengths`` has a length for each listed pair (a, b), a < b. Of two paths the one with the
    least length + hop times pairs counts.
    """
    elements = sorted({v for pair in lengths for v in pair})
    steps = {}
    for (a, b), d in lengths.items():
        steps.setdefault(a, []).append((b, max(0.0, d)))
        steps.setdefault(b, []).append((a, max(0.0, d)))
    found = {}
    for u in elements:
        best = {u: (0.0, 0)}
        for _ in elements:
            for p in list(best):
                for w, d in steps[p]:
                    way = best[p][0] + d + hop, best[p][1] + 1
                    if w not in best or way < best[w]:
                        best[w] = way
        for v, (far, pairs) in best.items():
            gain = lengths.get((u, v), -np.inf) - (far - hop * pairs)
            if pairs >= 2 and gain > least:
                found[u, v] = gain
    return found


def _in_turn(members, first):
    """Members from some place on, around to the one before it."""
    return members[first:] + members[:first]


def pack_along(c, labels, order, limits, between):
    """Packing of triangles along a partition, in the order that the kernels look at them.

    ``c`` is a symmetric matrix. With ``between``, positive entries between sets are packed,
    each first where its end has more left inside its set; else negative ones inside sets.
    """
    r, n = c.copy(), len(c)
    sets = [[v for v in range(n) if labels[v] == g] for g in range(max(labels) + 1)]
    probes, least = limits
    found = []

    def room(v):
        return sum(max(0.0, r[v, w]) for w in sets[labels[v]] if w != v)

    def change(a, b, by):
        r[a, b] = r[b, a] = r[a, b] + by

    def pack(left, middle, right, p):
        """Look for thirds: ``right`` is one of them for pairs between, the other end else."""
        for w in _in_turn(*right)[:probes]:
            a, b, d = (left, middle, w) if between else (left, w, middle)
            if w in (left, middle) or p <= 0:
                continue
            m = min(p, r[b, d], -r[a, d]) if between else min(p, r[a, b], r[b, d])
            if m > 0 and (m == p or m >= least):
                change(b, d, -m)
                change(a, d if between else b, m if between else -m)
                found.append(((a, b, d), m))
                p -= m
        return p

    for u in order:
        for v in range(u + 1, n):
            inside = labels[u] == labels[v]
            p = r[u, v] if between else -r[u, v]
            if p <= 0 or inside == between:
                continue
            ends = [(v, u), (u, v)] if between and room(u) > room(v) else [(u, v), (v, u)]
            for a, b in ends if between else ends[:1]:
                members = sets[labels[b]]
                p = pack(a, b, (members, (a * 7919 + b * 104729) % len(members)), p)
            r[u, v] = r[v, u] = p if between else -p
    return r, found


def hops_along(pairs, labels, a, b):
    """Fewest pairs of a path from a to b that changes sets at most as often as its ends.

    That is, once if a and b are in different sets, and never if they are in one.
    """
    most = int(labels[a] != labels[b])
    near, k = {(a, 0)}, 0
    while True:
        k += 1
        more = set(near)
        for p, q in [*pairs, *((q, p) for p, q in pairs)]:
            for changed in range(most + 1):
                now = changed + int(labels[p] != labels[q])
                if (p, changed) in near and now <= most:
                    more.add((q, now))
        if any(v == b for v, _ in more):
            return k
        if more == near:
            return np.inf
        near = more


def pack_two_pairs(c, pairs, labels, least):
    """Packing of paths of two pairs between the ends of negative ones, the first found first.

    Next to the first end come the elements after it in pairs, then those before it.
    """
    left, found = dict(zip(pairs, c, strict=True)), []
    for u, v in [pair for pair in pairs if left[pair] < -least]:
        while left[u, v] < -least:
            around = [b for a, b in pairs if a == u] + [a for a, b in pairs if b == u]
            for w in around:
                one, two = (min(u, w), max(u, w)), (min(v, w), max(v, w))
                along = labels[w] in (labels[u], labels[v])
                if along and left[one] > least and left.get(two, 0.0) > least:
                    break
            else:
                break
            m = min(left[one], left[two], -left[u, v])
            left[one], left[two], left[u, v] = left[one] - m, left[two] - m, left[u, v] + m
            found.append(((u, w, v), m))
    return [left[pair] for pair in pairs], found


class _Residuals:
    """What is left of listed pairs, and of the background of the others."""

    def __init__(self, c, pairs, labels, background):
        self.pairs, self.labels, self.n = pairs, labels, len(labels)
        self.left, self.background = dict(zip(pairs, c, strict=True)), background

    def around(self, v):
        """Elements listed with one: those after it, then those before it."""
        return [b for a, b in self.pairs if a == v] + [a for a, b in self.pairs if b == v]

    def of(self, a, b):
        return self.left.get((min(a, b), max(a, b)), self.background)

    def pack(self, path, m):
        """Pack so much into a path and into the pair that closes it."""
        for a, b, sign in [*((a, b, -1) for a, b in pairwise(path)), (path[0], path[-1], 1)]:
            self.left[min(a, b), max(a, b)] = self.of(a, b) + sign * m

    def most(self, path):
        """Return what can be packed into a path."""
        return min(-self.of(path[0], path[-1]), *(self.of(a, b) for a, b in pairwise(path)))

    def tree(self, source, least, longest, reached):
        """Paths from an element within its set, nearest first: the first found to each."""
        found = [(source,)]
        for path in found:
            if len(path) > longest:
                break
            for w in self.around(path[-1]):
                known = any(w == other[-1] for other in found) or len(found) == reached
                if self.labels[w] != self.labels[source] or known:
                    continue
                if self.of(path[-1], w) > least:
                    found.append((*path, w))
        return found

    def listed(self):
        return [self.left[pair] for pair in self.pairs]


def pack_wedges(c, pairs, labels, background, crossings):
    """Packing of triangles over two listed pairs of one element, in the order of the kernel."""
    r, found = _Residuals(c, pairs, labels, background), []
    for a in range(len(labels)):
        near = r.around(a)
        for k, b in enumerate(near):
            for other in near[k + 1 :]:
                crossed = int(labels[a] != labels[b]) + int(labels[a] != labels[other])
                m = r.most((b, a, other))
                if crossed == crossings and m > 0:
                    r.pack((b, a, other), m)
                    found.append(((b, a, other), m))
    return r.listed(), found


def close_inside(c, pairs, labels, background, least, longest, reached):
    """Packing of paths within sets over pairs of at least two steps, nearest first."""
    r, found = _Residuals(c, pairs, labels, background), []
    for u in range(len(labels)):
        for path in r.tree(u, least, longest, reached):
            if len(path) > 2 and path[-1] > u and r.most(path) > least:
                found.append((path[::-1], r.most(path)))
                r.pack(*found[-1])
    return r.listed(), found


def close_between(c, pairs, labels, background, least, longest, reached, probes):
    """Packing of paths over one positive pair between sets, those with few others first."""
    r, found = _Residuals(c, pairs, labels, background), []
    for u, v in [p for k, p in enumerate(pairs) if c[k] > 0 and labels[p[0]] != labels[p[1]]]:
        trees = [r.tree(w, least, longest, reached) for w in (u, v)]
        paths = [one[::-1] + two for one in trees[0] for two in trees[1]]
        steps = {path: (len(path), path.index(u)) for path in paths}
        inner = [p for p in sorted(paths, key=steps.get) if 3 <= len(p) <= longest + 2]
        for path in inner[:probes]:
            if r.of(u, v) > least and r.most(path) > least:
                found.append((path, r.most(path)))
                r.pack(*found[-1])
    return r.listed(), found
