"""Exact linear orders by dynamic programming over the subsets that may begin a best order.

Against each pair's better direction an order loses. Orders are built from the front; of a
beginning only its set of elements and the least loss matter. A beginning is dropped if its
loss, plus a lower bound on what the rest must lose among itself, exceeds a known loss.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.order_search import insertion_search

__all__ = ["greedy_order", "pack_cycles", "pruned_order"]


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
def _prices(loss, cycles, weight, state, added, freed):
    """Fill in what each open element loses if it comes next, and what the bound then drops.

    Returns the lower bound on what the open elements lose among themselves.
    """
    n = loss.shape[0]
    one = np.uint64(1)
    added[:] = 0.0
    freed[:] = 0.0
    for k in range(n):
        if not (state >> np.uint64(k)) & one:
            for j in range(n):
                added[j] += loss[k, j]
    total = 0.0
    for t in range(weight.size):
        a, b, c = cycles[t, 0], cycles[t, 1], cycles[t, 2]
        taken = (state >> np.uint64(a)) | (state >> np.uint64(b)) | (state >> np.uint64(c))
        if not taken & one:
            total += weight[t]
            freed[a] += weight[t]
            freed[b] += weight[t]
            freed[c] += weight[t]
    return total


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
    cycles, weight = pack_cycles(loss)
    capacity = most if n > 30 else min(most, 1 << n)
    size = 2
    while size < 2 * capacity + 2:
        size *= 2
    table = np.full(size, -1, np.int64)
    keys = np.empty(capacity + 1, np.uint64)
    cost = np.empty(capacity + 1)
    parent = np.empty((capacity + 1, 2), np.int64)
    keys[0], cost[0] = 0, 0.0
    first, last, count = 0, 1, 1
    added, freed = np.empty(n), np.empty(n)
    one = np.uint64(1)
    for _ in range(n):
        for s in range(first, last):
            bound = _prices(loss, cycles, weight, keys[s], added, freed)
            for j in range(n):
                if (keys[s] >> np.uint64(j)) & one:
                    continue
                total = cost[s] + added[j]
                if total + bound - freed[j] > limit:
                    continue
                key = keys[s] | (one << np.uint64(j))
                slot = _find(table, keys, key)
                at = table[slot]
                if at < 0:
                    if count > capacity:
                        return False, order
                    at = count
                    table[slot] = at
                    keys[at] = key
                    cost[at] = np.inf
                    count += 1
                if total < cost[at]:
                    cost[at] = total
                    parent[at, 0], parent[at, 1] = s, j
        first, last = last, count
    s = first  # the last layer has one state: all elements
    for place in range(n - 1, -1, -1):
        order[place] = parent[s, 1]
        s = parent[s, 0]
    return True, order
