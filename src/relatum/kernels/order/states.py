"""Exact linear orders by dynamic programming over the subsets that may begin a best order.

Against each pair's better direction an order loses. Orders are built from the front; of a
beginning only its set of elements and the least loss matter. A beginning is dropped if its
loss, plus a lower bound on what the rest must lose among itself, exceeds a known loss.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.order.search import insertion_search

WORD = 62  # elements of a problem at most: a subset is an integer with one bit for each


@njit(cache=True)
def pack_cycles(loss):
    """Return 3-cycles with weights that together use no loss[a, b] more than once.

    loss[a, b] is lost when a, better placed before b, comes after it. Every order loses at
    least the weight of each cycle. Returns (cycles of shape (t, 3), weights).
    """
    n = loss.shape[0]
    rest = loss.copy()
    cycles = np.empty((n * n, 3), np.int64)
    weight = np.empty(n * n)
    count = 0
    for a in range(n):
        for b in range(n):
            if b == a or rest[a, b] <= 0.0:
                continue
            for c in range(n):
                w = min(rest[a, b], min(rest[b, c], rest[c, a]))
                if w > 0.0 and w < np.inf and count < n * n:
                    cycles[count, 0], cycles[count, 1], cycles[count, 2] = a, b, c
                    weight[count] = w
                    count += 1
                    rest[a, b] -= w
                    rest[b, c] -= w
                    rest[c, a] -= w
    return cycles[:count], weight[:count]


@njit(cache=True)
def greedy_order(loss):
    """Return an order built from the front, each time by the element that loses least."""
    n = loss.shape[0]
    order = np.empty(n, np.int64)
    open_loss = loss.sum(axis=0)
    placed = np.zeros(n, np.bool_)
    for place in range(n):
        best = -1
        for j in range(n):
            if not placed[j] and (best < 0 or open_loss[j] < open_loss[best]):
                best = j
        order[place] = best
        placed[best] = True
        for j in range(n):  # summed anew, as inf - inf is not a number
            if not placed[j] and loss[best, j] > 0.0:
                open_loss[j] = 0.0
                for k in range(n):
                    if not placed[k]:
                        open_loss[j] += loss[k, j]
    return order


@njit(cache=True)
def _find(table, keys, key):
    """Return the slot of a key in an open-addressing table, or of the hole where it belongs."""
    mask = np.uint64(table.size - 1)
    z = key * np.uint64(0x9E3779B97F4A7C15)
    slot = (z ^ (z >> np.uint64(29))) & mask
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True)
def _by_element(cycles, weight, n):
    """Return the cycles of each element: starts, masks and weights; and their total weight."""
    start = np.zeros(n + 1, np.int64)
    for e in cycles.flat:
        start[e + 1] += 1
    for e in range(n):
        start[e + 1] += start[e]
    masks = np.empty(cycles.size, np.uint64)
    own = np.empty(cycles.size)
    most = np.zeros(n)
    fill = start[:-1].copy()
    for t in range(weight.size):
        mask = np.uint64(0)
        for p in range(3):
            mask |= np.uint64(1) << np.uint64(cycles[t, p])
        for p in range(3):
            e = cycles[t, p]
            masks[fill[e]], own[fill[e]] = mask, weight[t]
            fill[e] += 1
            most[e] += weight[t]
    return start, masks, own, most


@njit(cache=True)
def _open_losses(loss, state, added):
    """Fill in what each element loses if it comes next, before the other open ones."""
    n = loss.shape[0]
    added[:] = 0.0
    for k in range(n):
        if not (state >> np.uint64(k)) & np.uint64(1):
            for j in range(n):
                added[j] += loss[k, j]


@njit(cache=True)
def least_loss(loss, limit, most, wide):
    """Return (done, loss, order) of an order that loses least, if that is at most `limit`.

    Parameters
    ----------
    loss : float64 array (n, n)
        loss[a, b] is lost when b comes before a; inf if it must not. At most 64 elements.
    limit : float
    most : int
        How many subsets may be looked at.
    wide : int
        How many of them may have the same number of elements. Layers are widest early: many
        of the few first elements tell soon that there are too many in all.

    Returns
    -------
    done : bool
        False if there are more subsets; then nothing is known.
    loss : float
        inf if every order loses more than `limit`.
    order : int64 array (n,)
    """
    n = loss.shape[0]
    cycles, weight = pack_cycles(loss)
    start, masks, own, freed_most = _by_element(cycles, weight, n)
    capacity = most if n > 30 else min(most, 1 << n)
    size = 2
    while size < 2 * capacity + 2:
        size *= 2
    table = np.full(size, -1, np.int64)
    keys = np.empty(capacity + 1, np.uint64)
    cost = np.empty((capacity + 1, 2))  # lost so far, and at least to be lost by the rest
    parent = np.empty((capacity + 1, 2), np.int64)
    keys[0], cost[0, 0], cost[0, 1] = 0, 0.0, weight.sum()
    first, last, count = 0, 1, 1
    added = np.empty(n)
    order = np.arange(n)
    for _ in range(n):
        for s in range(first, last):
            state = keys[s]
            _open_losses(loss, state, added)
            for j in range(n):
                total = cost[s, 0] + added[j]
                bit = np.uint64(1) << np.uint64(j)
                if state & bit or total + cost[s, 1] - freed_most[j] > limit:
                    continue
                rest = cost[s, 1]
                for t in range(start[j], start[j + 1]):
                    if not state & masks[t]:
                        rest -= own[t]
                if total + rest > limit:
                    continue
                slot = _find(table, keys, state | bit)
                at = table[slot]
                if at < 0:
                    if count > capacity or count - last > wide:
                        return False, np.inf, order
                    at = count
                    table[slot] = at
                    keys[at] = state | bit
                    cost[at, 0], cost[at, 1] = np.inf, rest
                    count += 1
                if total < cost[at, 0]:
                    cost[at, 0] = total
                    parent[at, 0], parent[at, 1] = s, j
        if last == count:
            return True, np.inf, order
        first, last = last, count
    s = first  # the last layer has one state: all elements
    for place in range(n - 1, -1, -1):
        order[place] = parent[s, 1]
        s = parent[s, 0]
    return True, cost[first, 0], order


@njit(cache=True)
def pruned_order(w, most):
    """Return (found, order): a best linear order, unless more than `most` subsets matter.

    w[a, b] is what a before b is worth, -inf if excluded; at most 64 elements. If not
    found, the order is one that local search does not improve.
    """
    n = w.shape[0]
    d = w - w.T
    np.fill_diagonal(d, 0.0)
    loss = np.maximum(d, 0.0)
    order = greedy_order(loss)
    scale = 0.0
    for v in loss.flat:
        if v < np.inf:
            scale = max(scale, v)
    insertion_search(d, order, 1e-9 * scale)
    limit = 1e-9 * scale
    for p in range(n):
        for q in range(p + 1, n):
            limit += loss[order[q], order[p]]
    done, least, best = least_loss(loss, limit, most, most)
    if done and least < np.inf:
        return True, best
    return False, order
