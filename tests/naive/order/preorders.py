"""All preorders, and plain twins of the kernels that search among them."""

from __future__ import annotations

from itertools import product

import numpy as np


def all_preorders(n):
    """All reflexive and transitive relations on n elements, by adding the last one to smaller ones.

    The new element's predecessors D and successors U must be closed, and D must precede U.
    """
    if n == 1:
        return [np.ones((1, 1), dtype=bool)]
    subsets = np.array(list(product((False, True), repeat=n - 1)), dtype=bool)
    found = []
    for y in all_preorders(n - 1):
        downs = [d for d in subsets if not (y[:, d].any(axis=1) & ~d).any()]
        ups = [u for u in subsets if not (y[u].any(axis=0) & ~u).any()]
        for d in downs:
            for u in ups:
                if y[np.ix_(d, u)].all():
                    larger = np.ones((n, n), dtype=bool)
                    larger[:-1, :-1], larger[:-1, -1], larger[-1, :-1] = y, d, u
                    found.append(larger)
    return found


def relation_worth(y, yes, no):
    """What a relation is worth off the diagonal."""
    n = len(y)
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    return sum(yes[a][b] if y[a][b] else no[a][b] for a, b in pairs)


def weak_climb(rank, yes, no, least):
    """Move one element after another to its best class or gap until nothing gains."""

    def worth(ranks):
        return relation_worth([[p <= q for q in ranks] for p in ranks], yes, no)

    rank, e, idle = list(rank), 0, 0
    while idle < len(rank):
        others = sorted({r for a, r in enumerate(rank) if a != e} | {rank[e]})
        choices = [[*rank[:e], -0.5, *rank[e + 1 :]]]
        for r in others:
            choices += [[*rank[:e], value, *rank[e + 1 :]] for value in (r, r + 0.5)]
        best, moved = worth(rank) + least, None
        for ranks in choices:
            if worth(ranks) > best:
                best, moved = worth(ranks), ranks
        idle += 1
        if moved is not None:
            dense = sorted(set(moved))
            rank, idle = [dense.index(r) for r in moved], 0
        e = (e + 1) % len(rank)
    return rank


def beside(y, e, f, kind):
    """Take e out and put it back apart, tied with f, as a twin of f, right after or before it."""
    n = range(len(y))
    classmates = {a for a in n if y[a][f] and y[f][a]} - {e}  # f and those tied with it
    new = [row[:] for row in y]
    for a in n:
        if a == e:
            continue
        into, out = {
            "apart": (False, False),
            "tied": (y[a][f], y[f][a]),
            "twin": (y[a][f] and a not in classmates, y[f][a] and a not in classmates),
            "after": (y[a][f], y[f][a] and a not in classmates),
            "before": (y[a][f] and a not in classmates, y[f][a]),
        }[kind]
        new[a][e], new[e][a] = into, out
    return new


def joined(y, a, b):
    """Relate a to b and close under transitivity, by going round until nothing follows."""
    new = [row[:] for row in y]
    new[a][b] = True
    n, grows = range(len(y)), True
    while grows:
        missing = [
            (p, r) for p in n for q in n for r in n if new[p][q] and new[q][r] and not new[p][r]
        ]
        for p, r in missing:
            new[p][r] = True
        grows = bool(missing)
    return new


def preorder_climb(y, yes, no, ties, least):
    """Move elements, add pairs with what follows and drop pairs, each in turn, while that gains."""

    def worth(relation):
        return relation_worth(relation, yes, no)

    def better(new):
        return worth(new) - worth(y) > least

    n = range(len(y))
    y, gained = [list(map(bool, row)) for row in y], True
    while gained:
        gained = False
        for e in n:
            start = y
            places = [
                beside(y, e, f, kind)
                for f in n
                if f != e
                for kind in ("apart", "tied", "twin", "after", "before")
                if (kind != "apart" or f == (e + 1) % len(y)) and (kind != "tied" or ties)
            ]
            best = max(places, key=worth)  # the first of the best
            if better(best):
                y = best
            for b in n:
                for p, q in ((e, b), (b, e)):
                    if b != e and not y[p][q] and (ties or not y[q][p]) and better(joined(y, p, q)):
                        y = joined(y, p, q)
                for p, q in ((e, b), (b, e)):
                    less = [row[:] for row in y]
                    less[p][q] = False
                    if b != e and y[p][q] and is_preorder(less) and better(less):
                        y = less
            gained = gained or y != start
    return y


def is_preorder(y):
    """Whether a relation is reflexive and transitive."""
    n = range(len(y))
    return all(y[a][a] for a in n) and all(
        y[a][c] or not (y[a][b] and y[b][c]) for a in n for b in n for c in n
    )
