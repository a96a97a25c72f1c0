"""Plain twins of the kernels that search for partitions."""

from __future__ import annotations

import numpy as np

from naive.partition.enumeration import obeys, value_inside
from naive.randomness import split_mix


def move_or_join_gains(weights, labels, sizes, cap):
    """The largest gain of a move of one element, and of a join of two sets."""
    n = len(labels)

    def value(of):
        return sum(weights[a, b] for a in range(n) for b in range(a + 1, n) if of[a] == of[b])

    def fits(of):
        return max(np.bincount(of, weights=sizes)) <= cap

    now = value(labels)
    trials = []
    for v in range(n):
        for c in range(max(labels) + 2):
            trial = labels.copy()
            trial[v] = c
            trials.append(trial)
    names = set(labels.tolist())
    trials += [np.where(labels == c, d, labels) for c in names for d in names]
    return max(value(t) - now for t in trials if fits(t))


def set_sums(weights, labels, c, v):
    """Sum of the weights of v with the other elements of set c."""
    return sum(float(weights[v, u]) for u in range(len(labels)) if labels[u] == c and u != v)


def contracted(weights, labels):
    """Weights between and (on the diagonal) inside the sets of a partition."""
    m = max(labels) + 1
    out = np.zeros((m, m))
    for a in range(len(labels)):
        for b in range(len(labels)):
            if a != b:
                share = 0.5 if labels[a] == labels[b] else 1.0
                out[labels[a], labels[b]] += share * float(weights[a, b])
    return out


def join_greedily(weights, sizes, cap, cannot, groups):
    """Join the two sets that gain most, again and again; labels are those of first elements."""
    labels = list(range(len(weights)))
    while True:
        best, at = 0.0, None
        sets = sorted(set(labels))
        inside = np.equal.outer(sets, labels).astype(float)
        between = inside @ weights @ inside.T
        for i, a in enumerate(sets):
            for j, b in enumerate(sets):
                if a < b and between[i, j] > best + 1e-9:
                    joined = [a if c == b else c for c in labels]
                    if obeys(joined, sizes, cap, cannot, groups):
                        best, at = between[i, j], joined
        if at is None:
            return labels
        labels = at


def first_fit(components, tries, sizes, cap, cannot, groups):
    """Labels: each element enters the latest allowed set of its component, or a new one."""
    labels, sets = [], []
    for v, component in enumerate(components):
        own = [c for c in range(len(sets)) if sets[c] == component][::-1][:tries]
        for c in own:
            trial = [*labels, c]
            alone = [*trial, *range(len(sets), len(sets) + len(components) - v - 1)]
            if obeys(alone, sizes, cap, cannot, groups):
                break
        else:
            c = len(sets)
            sets.append(component)
        labels.append(c)
    return labels


def anneal_partition(weights, labels, capacity, temperatures, gumbels, state, allowed):
    """Heat bath over the sets of elements, block after block; sums are made anew every time.

    ``allowed(labels, v, c)`` says whether the rules let v enter set c. Sets are numbered by
    rows, of which the free ones are kept in the order in which they became free. Of integers,
    16 variates are read for every row, those of the last 16 elements for the last block, and
    noise is rounded down to the unit of the scores, which is 2**16 times its own.
    """
    labels, n = list(labels), len(labels)
    coarse = np.asarray(gumbels).dtype == np.int16
    gumbels = [int(g) for g in gumbels] if coarse else gumbels
    temperatures = [int(t) for t in temperatures] if coarse else temperatures
    sets = sorted(set(labels), key=labels.index)
    # the order of rows after loading labels 0, 1, ... in turn: each was swapped to the front
    rows, used = list(range(capacity)), 0
    for c in sets:
        at = rows.index(c)
        rows[at], rows[used] = rows[used], c
        used += 1
    block = max(1, min(16, n // 32))
    blocks = (n + block - 1) // block
    for temperature in temperatures:
        state, u = split_mix(state)
        first = int(u * blocks)
        for b in range(blocks):
            begin = (first + b) % blocks * block
            some = range(begin, min(begin + block, n))
            state, u = split_mix(state)
            at = int(u * (len(gumbels) - 15 if coarse else len(gumbels)))
            lane = begin - min(begin, n - 16) if coarse else 0
            offers = [[] for _ in some]
            for c in rows[: used + 1]:
                for offer, v in zip(offers, some, strict=True):
                    noise = temperature * gumbels[(at + lane + v - begin) % len(gumbels)]
                    noise = noise >> 16 if coarse else noise
                    offer.append((set_sums(weights, labels, c, v) + noise, c))
                at = at + (16 if coarse else len(some))
                if coarse:
                    at = 0 if at + 16 > len(gumbels) else at
                else:
                    at -= len(gumbels) if at >= len(gumbels) else 0
            liked = [max(offer, key=lambda pair: pair[0])[1] for offer in offers]
            for v, c in zip(some, liked, strict=True):
                a = labels[v]
                alone = labels.count(a) == 1
                if c == a or (c not in labels and alone) or not allowed(labels, v, c):
                    continue
                if alone:
                    place = rows.index(a)
                    used -= 1
                    rows[place], rows[used] = rows[used], a
                if c not in labels:
                    place = rows.index(c)
                    rows[place], rows[used] = rows[used], c
                    used += 1
                labels[v] = c
    return labels


def gaining_exchange(weights, labels, sizes, cap, cannot, groups, least):
    """Two elements whose change of places is allowed and gains, or None."""
    before = value_inside(weights, labels)
    for v in range(len(labels)):
        for u in range(v):
            after = labels.copy()
            after[u], after[v] = labels[v], labels[u]
            if not obeys(after, sizes, cap, cannot, groups):
                continue
            if labels[u] != labels[v] and value_inside(weights, after) > before + least:
                return u, v
    return None


def sets_nearby(listed, background, sizes, labels, v):
    """Scores of v with the sets of its neighbours, in the order in which these are listed.

    ``listed[v]`` are pairs (neighbour, score - background).
    """
    excess = {}
    for u, x in listed[v]:
        excess[labels[u]] = excess.get(labels[u], 0.0) + x
    return {
        c: x + background * sizes[v] * sum(sizes[u] for u in of_set(labels, c) if u != v)
        for c, x in excess.items()
    }


def of_set(labels, c):
    """The elements of a set."""
    return [v for v, label in enumerate(labels) if label == c]


def own_score(listed, background, sizes, labels, v):
    """Score of v with the others of its set."""
    inside = sum(x for u, x in listed[v] if labels[u] == labels[v])
    others = sum(sizes[u] for u in of_set(labels, labels[v]) if u != v)
    return inside + background * sizes[v] * others


def put(labels, free, v, c):
    """Put v into set c; numbers of sets that become empty lie on a stack."""
    a, labels[v] = labels[v], c
    if free and free[-1] == c:
        free.pop()
    if a not in labels:
        free.append(a)


def move_queued(listed, background, sizes, labels, queue, allowed, tolerance):
    """Move elements to their best sets, in turn; neighbours left behind queue up again."""
    labels, queue = list(labels), list(queue)
    free = [c for c in reversed(range(len(labels))) if c not in labels]
    while queue:
        v = queue.pop(0)
        a, at = labels[v], None
        best = own_score(listed, background, sizes, labels, v) + tolerance
        if best < 0 and labels.count(a) > 1:
            best, at = 0.0, free[-1]
        for c, x in sets_nearby(listed, background, sizes, labels, v).items():
            if c != a and x > best and allowed(labels, v, c):
                best, at = x, c
        if at is not None:
            put(labels, free, v, at)
            queue += [u for u, _ in listed[v] if labels[u] != at and u not in queue]
    return labels


def anneal_listed(listed, background, sizes, labels, temperatures, gumbels, state, allowed):
    """Heat bath over the sets of elements and of their neighbours."""
    labels, n = list(labels), len(labels)
    free = [c for c in reversed(range(n)) if c not in labels]
    for temperature in temperatures:
        state, u = split_mix(state)
        first = int(u * n)
        for v in [(first + step) % n for step in range(n)]:
            a = labels[v]
            offers = [(own_score(listed, background, sizes, labels, v), a)]
            if labels.count(a) > 1:
                offers.append((0.0, free[-1]))
            offers += [(x, c) for c, x in sets_nearby(listed, background, sizes, labels, v).items()]
            state, u = split_mix(state)
            g = int(u * (len(gumbels) - 1))
            best, at = -np.inf, a
            for k, (x, c) in enumerate(offers):
                noisy = x + temperature * gumbels[(g + k) % len(gumbels)]
                if k > 0 and c == a:
                    continue
                if noisy > best and (k < 1 or c not in labels or allowed(labels, v, c)):
                    best, at = noisy, c
            if at != a:
                put(labels, free, v, at)
    return labels


def improve_pair(weights, labels, pair, movable, allowed, tolerance, patience):
    """Kernighan and Lin's chain between two sets, or their join; returns labels and gain."""
    a, b = pair
    now, left, total, steps = list(labels), list(movable), 0.0, 0
    best, kept, at = 0.0, list(labels), 0
    while left:
        gains = [
            (set_sums(weights, now, a + b - now[v], v) - set_sums(weights, now, now[v], v), v)
            for v in left
            if allowed(now, v, a + b - now[v])
        ]
        if not gains:
            break
        gain, v = max(gains, key=lambda pair: pair[0])
        left.remove(v)
        now[v] = a + b - now[v]
        total, steps = total + gain, steps + 1
        if total > best + tolerance:
            best, kept, at = total, list(now), steps
        elif steps - at > patience:
            break
    join = sum(set_sums(weights, labels, b, v) for v in of_set(labels, a))
    if join > best + tolerance:
        joined = list(labels)
        for v in of_set(labels, b):
            if not allowed(joined, v, a):
                return kept, best
            joined[v] = a
        return joined, join
    return kept, best
