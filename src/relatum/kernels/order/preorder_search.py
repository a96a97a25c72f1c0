"""Local search for preorders, partial orders and weak orders.

``yes[a, b]`` is what a related to b is worth, ``no[a, b]`` what it is worth that a is not;
-inf if excluded. The diagonal does not count. A move takes one element out and puts it
back in a place beside another element, or changes single pairs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

APART, TIED, TWIN, AFTER, BEFORE = 0, 1, 2, 3, 4  # places of an element: see _place


@njit(cache=True)
def _place(y, e, f, kind, into, out):
    """Fill in who is related to e (into) and whom e is related to (out), placed by f.

    Kinds: related to nobody; tied with f; related as f is, but not to f; right after f;
    right before f. All keep a preorder a preorder.
    """
    n = y.shape[0]
    for a in range(n):
        if a == e:
            into[a] = True
            out[a] = True
        elif kind == APART:
            into[a] = False
            out[a] = False
        elif a == f:
            into[a] = kind in (TIED, AFTER)
            out[a] = kind in (TIED, BEFORE)
        else:
            into[a] = y[a, f]
            out[a] = y[f, a]
    if kind in (TWIN, AFTER, BEFORE):
        # those tied with f are on the same side of e as f
        for a in range(n):
            if a not in (e, f) and y[a, f] and y[f, a]:
                into[a] = kind == AFTER
                out[a] = kind == BEFORE


@njit(cache=True)
def _worth(yes, no, e, into, out):
    """Sum what the pairs of e are worth."""
    total = 0.0
    for a in range(yes.shape[0]):
        if a != e:
            total += yes[a, e] if into[a] else no[a, e]
            total += yes[e, a] if out[a] else no[e, a]
    return total


@njit(cache=True)
def _move_element(y, yes, no, e, ties, least):
    """Put e into its best place beside another element; return the gain (0 if none)."""
    n = y.shape[0]
    into, out = y[:, e].copy(), y[e].copy()
    now = _worth(yes, no, e, into, out)
    best, best_f, best_kind = now + least, -1, -1
    for f in range(n):
        if f == e:
            continue
        for kind in range(5):
            if (kind == APART and f != (e + 1) % n) or (kind == TIED and not ties):
                continue
            _place(y, e, f, kind, into, out)
            value = _worth(yes, no, e, into, out)
            if value > best:
                best, best_f, best_kind = value, f, kind
    if best_f < 0:
        return 0.0
    _place(y, e, best_f, best_kind, into, out)
    y[:, e] = into
    y[e] = out
    return best - now


@njit(cache=True)
def _add_pair(y, yes, no, a, b, ties, least):
    """Relate a to b, and everything up to a to everything from b on, if that gains."""
    n = y.shape[0]
    if y[a, b] or (not ties and y[b, a]):
        return 0.0
    gain = 0.0
    for p in range(n):
        if y[p, a]:
            for q in range(n):
                if y[b, q] and not y[p, q]:
                    gain += yes[p, q] - no[p, q]
    if not gain > least:
        return 0.0
    before, after = y[:, a].copy(), y[b].copy()
    for p in range(n):
        if before[p]:
            for q in range(n):
                if after[q]:
                    y[p, q] = True
    return gain


@njit(cache=True)
def _drop_pair(y, yes, no, a, b, least):
    """Unrelate a from b if nothing lies between and that gains."""
    gain = no[a, b] - yes[a, b]
    if not y[a, b] or not gain > least:
        return 0.0
    for c in range(y.shape[0]):
        if c not in (a, b) and y[a, c] and y[c, b]:
            return 0.0
    y[a, b] = False
    return gain


@njit(cache=True)
def preorder_search(y, yes, no, ties, least):
    """Improve a preorder (with ties) or partial order (without) until no move gains.

    Changes `y`, a reflexive and transitive relation whose worth is finite; returns the gain.
    """
    n = y.shape[0]
    total = 0.0
    gained = True
    while gained:
        gained = False
        for e in range(n):
            gain = _move_element(y, yes, no, e, ties, least)
            for b in range(n):
                if b != e:
                    gain += _add_pair(y, yes, no, e, b, ties, least)
                    gain += _add_pair(y, yes, no, b, e, ties, least)
                    gain += _drop_pair(y, yes, no, e, b, least)
                    gain += _drop_pair(y, yes, no, b, e, least)
            if gain > 0.0:
                total += gain
                gained = True
    return total


@njit(cache=True)
def weak_order_search(rank, yes, no, least):
    """Improve a ranking with ties until moving no single element gains.

    `rank` holds dense ranks 0, 1, ..., and is changed; returns the gain. An element moves
    into any class, or between two classes, before all or after all.
    """
    n = rank.size
    total = 0.0
    idle = 0
    e = 0
    before, tied, after = np.empty(n), np.empty(n), np.empty(n)
    while idle < n:
        top = 0
        for a in range(n):
            top = max(top, rank[a])
        before[: top + 1] = 0.0
        tied[: top + 1] = 0.0
        after[: top + 1] = 0.0
        alone = True
        for a in range(n):
            if a != e:
                r = rank[a]
                alone = alone and r != rank[e]
                before[r] += yes[e, a] + no[a, e]  # e before class r
                tied[r] += yes[e, a] + yes[a, e]
                after[r] += no[e, a] + yes[a, e]
        value = 0.0  # e before everybody
        for r in range(top + 1):
            value += before[r]
        now = 0.0
        for r in range(top + 1):
            now += after[r] if r < rank[e] else (before[r] if r > rank[e] else tied[r])
        best, place, joins = now + least, -1, False
        if value > best:
            best, place = value, 0
        # left to right; sums are made anew from their start where inf would spoil them
        for r in range(top + 1):
            left, right = 0.0, 0.0
            for s in range(top + 1):
                if s < r:
                    left += after[s]
                elif s > r:
                    right += before[s]
            if left + tied[r] + right > best:
                best, place, joins = left + tied[r] + right, r, True
            if left + after[r] + right > best:
                best, place, joins = left + after[r] + right, r + 1, False
        idle += 1
        if place >= 0:
            total += best - now
            idle = 0
            _re_rank(rank, e, place, joins, alone)
        e = (e + 1) % n
    return total


@njit(cache=True)
def _re_rank(rank, e, place, joins, alone):
    """Move e into class `place`, or into a new one before it, and close the hole it leaves."""
    old = rank[e]
    for a in range(rank.size):
        if a != e:
            shift = 0
            if not joins and rank[a] >= place:
                shift += 1
            if alone and rank[a] > old:
                shift -= 1
            rank[a] += shift
    rank[e] = place
    if alone and place > old:
        rank[e] = place - 1
