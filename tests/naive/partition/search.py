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
        for a in set(labels):
            for b in set(labels):
                if a < b:
                    gain = sum(
                        float(weights[u, v])
                        for u in range(len(labels))
                        for v in range(len(labels))
                        if labels[u] == a and labels[v] == b
                    )
                    joined = [a if c == b else c for c in labels]
                    if gain > best + 1e-9 and obeys(joined, sizes, cap, cannot, groups):
                        best, at = gain, joined
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
    rows, of which the free ones are kept in the order in which they became free.
    """
    labels, n = list(labels), len(labels)
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
            at = int(u * len(gumbels))
            offers = [[] for _ in some]
            for c in rows[: used + 1]:
                for offer, v in zip(offers, some, strict=True):
                    noise = gumbels[(at + v - begin) % len(gumbels)]
                    offer.append((set_sums(weights, labels, c, v) + temperature * noise, c))
                at = at + len(some)
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
