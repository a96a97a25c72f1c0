"""Sets of at most so many elements: the best one under prices, and those that hold too much.

Elements may stand for several: ``sizes`` counts these, and no set may hold more than ``cap``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _enter_sorted(largest, k, x):
    """Enter x into falling numbers of which place k is free."""
    while k > 0 and largest[k - 1] < x:
        largest[k] = largest[k - 1]
        k -= 1
    largest[k] = x


@njit(cache=True)
def _half_sums(weights, forbidden, most):
    """Half of the sum of the r largest positive weights of each element, r = 0 ... most."""
    n = weights.shape[0]
    out = np.zeros((n, most + 1))
    for v in range(n):
        # at first these themselves, in order; not by sort(), which, cached, crashes the argsort
        # of other cached kernels
        largest = out[v, 1:]
        for u in range(n):
            x = 0.5 * weights[v, u]
            if u != v and not forbidden[v, u] and x > largest[most - 1]:
                _enter_sorted(largest, most - 1, x)
        for r in range(1, most):
            largest[r] += largest[r - 1]
    return out


@njit(cache=True)
def _most_to_gain(gain, half, begin, room, largest):
    """Bound what up to ``room`` of the elements from ``begin`` on add to a set.

    Each adds its own gain and at most half of what it has with the others; the largest of
    these sums are taken. ``largest`` is scratch.
    """
    count = 0
    others = min(room - 1, half.shape[1] - 1)
    for u in range(begin, gain.shape[0]):
        g = gain[u] + half[u, others]
        if g <= 0.0:
            continue
        if count < room:
            k = count
            count += 1
        elif g > largest[room - 1]:
            k = room - 1
        else:
            continue
        _enter_sorted(largest, k, g)
    total = 0.0
    for k in range(count):
        total += largest[k]
    return total


@njit(cache=True)
def _enter(weights, sizes, forbidden, v, room, before, gain):
    """Gains of adding one more element once ``v`` is in the set; -inf if it may not be."""
    for u in range(v + 1, sizes.size):
        if forbidden[v, u] or sizes[u] > room:
            gain[u] = -np.inf
        else:
            gain[u] = before[u] + weights[v, u]


@njit(cache=True)
def best_sets(weights, prices, sizes, forbidden, cap, least, budget):
    """For each element v, a set of v and later ones whose weight exceeds its prices most.

    Parameters
    ----------
    weights : float64 array (n, n)
        Symmetric.
    prices : float64 array (n,)
    sizes : int64 array (n,)
    forbidden : bool array (n, n)
        Pairs that no set may hold, symmetric.
    cap : int
    least : float
        Sets that do not exceed their prices by more are not looked for.
    budget : int
        Steps after which the search is given up.

    Returns
    -------
    excess : float64 array (n,)
        The largest weight less prices, or ``least`` where there is no larger one.
    members : int64 array (n, cap)
        The set, padded with -1.
    left : int
        What is left of the budget; negative if the search was given up.
    """
    n = sizes.size
    depths = min(cap, n)
    half = _half_sums(weights, forbidden, depths)
    excess, members = np.full(n, least), np.full((n, depths), -1, np.int64)
    gain, worth = np.empty((depths, n)), np.empty(depths)
    room, at = np.empty(depths, np.int64), np.empty(depths, np.int64)
    chosen, scratch = np.empty(depths, np.int64), np.empty(depths + 1)
    start = -prices
    for root in range(n):
        if sizes[root] > cap:
            continue
        d = 0
        chosen[0], worth[0], room[0], at[0] = root, start[root], cap - sizes[root], root + 1
        _enter(weights, sizes, forbidden, root, room[0], start, gain[0])
        if worth[0] > excess[root]:
            excess[root], members[root, 0] = worth[0], root
        while d >= 0:
            v = at[d]
            while v < n and gain[d, v] == -np.inf:
                v += 1
            budget -= 1
            places = min(room[d], depths - 1 - d)
            full = v == n or places == 0 or budget < 0
            if not full:
                more = _most_to_gain(gain[d], half, v, places, scratch)
                full = worth[d] + more <= excess[root]
            if full:
                d -= 1
                continue
            at[d] = v + 1
            total = worth[d] + gain[d, v]
            chosen[d + 1] = v
            if total > excess[root]:
                excess[root] = total
                members[root] = -1
                members[root, : d + 2] = chosen[: d + 2]
            if places > 1 and room[d] > sizes[v]:
                worth[d + 1], room[d + 1], at[d + 1] = total, room[d] - sizes[v], v + 1
                _enter(weights, sizes, forbidden, v, room[d + 1], gain[d], gain[d + 1])
                d += 1
        if budget < 0:
            break
    return excess, members, budget


@njit(cache=True)
def _flip(weights, sizes, forbidden, v, inside, blocked, gain):
    """Put ``v`` into the set, or take it out; return what the set gains and what room it takes."""
    sign = -1 if inside[v] else 1
    inside[v] = not inside[v]
    for u in range(sizes.size):
        if u != v:
            gain[u] += sign * weights[v, u]
            blocked[u] += sign * np.int64(forbidden[v, u])
    return sign * gain[v], sign * sizes[v]


@njit(cache=True)
def _best_change(weights, sizes, forbidden, root, inside, blocked, gain, room):
    """Return the change that gains most: gain, element to enter and to leave (-1: none).

    ``gain[v]`` is what v adds, or what it has added if it is inside; ``blocked[v]`` counts
    the elements inside that v may not join. The root stays.
    """
    best, enters, leaves = 0.0, -1, -1
    for v in range(sizes.size):
        if inside[v]:
            if -gain[v] > best and v != root:
                best, enters, leaves = -gain[v], -1, v
            continue
        if blocked[v] == 0 and sizes[v] <= room and gain[v] > best:
            best, enters, leaves = gain[v], v, -1
        if blocked[v] > 1:
            continue
        for u in range(sizes.size):
            if not inside[u] or u == root or sizes[v] > room + sizes[u]:
                continue
            change = gain[v] - gain[u] - weights[u, v]
            if change > best and (blocked[v] == 0 or forbidden[u, v]):
                best, enters, leaves = change, v, u
    return best, enters, leaves


@njit(cache=True)
def good_sets(weights, prices, sizes, forbidden, cap, least):
    """Grow a set around each element until it is full, then change it while that gains.

    Parameters as in `best_sets`. Returns the weight less prices of the sets (``least`` where
    it is not larger) and their elements; unlike there, better sets may exist.
    """
    n = sizes.size
    excess, members = np.full(n, least), np.full((n, min(cap, n)), -1, np.int64)
    tiny = 1e-12 * (1.0 + np.abs(prices).max())
    for root in range(n):
        if sizes[root] > cap:
            continue
        inside, blocked, gain = np.zeros(n, np.bool_), np.zeros(n, np.int64), -prices
        total, taken = _flip(weights, sizes, forbidden, root, inside, blocked, gain)
        room, v = cap - taken, root
        while v >= 0:
            v = -1
            for u in range(n):
                fits = not inside[u] and blocked[u] == 0 and sizes[u] <= room
                if fits and (v < 0 or gain[u] > gain[v]):
                    v = u
            if v >= 0:
                more, taken = _flip(weights, sizes, forbidden, v, inside, blocked, gain)
                total, room = total + more, room - taken
        while True:
            best, enters, leaves = _best_change(
                weights, sizes, forbidden, root, inside, blocked, gain, room
            )
            if best <= tiny:
                break
            for v in (leaves, enters):
                if v >= 0:
                    more, taken = _flip(weights, sizes, forbidden, v, inside, blocked, gain)
                    total, room = total + more, room - taken
        if total > least:
            held = np.nonzero(inside)[0]
            excess[root] = total
            members[root, : held.size] = held
    return excess, members


@njit(cache=True)
def violated_capped_sets(x, noise, cap, largest, threshold):
    """Find sets T with more than their share: x(T) above the most pairs that a cap allows.

    From each element in turn a set grows by the element that has most with it (up to the
    row of ``noise``), to ``largest`` elements; the violation largest for the norm of the row
    is kept if it is above the threshold. Returns the sets as rows of 0 and 1, and violations.
    """
    n = x.shape[0]
    sets, violation = np.zeros((noise.shape[0], n), np.int8), np.empty(noise.shape[0])
    order = np.empty(n, np.int64)
    count = 0
    for q in range(noise.shape[0]):
        order[0] = q % n
        inside = np.zeros(n, np.bool_)
        inside[order[0]] = True
        to = x[order[0]].copy()
        total, best, best_size = 0.0, 0.0, 0
        for size in range(2, min(largest, n) + 1):
            top, u = -np.inf, -1
            for v in range(n):
                if not inside[v] and to[v] + noise[q, v] > top:
                    top, u = to[v] + noise[q, v], v
            total += to[u]
            inside[u] = True
            order[size - 1] = u
            to += x[u]
            rest = size % cap
            share = (size // cap) * (cap * (cap - 1) // 2) + rest * (rest - 1) // 2
            over = total - share
            ratio = over / np.sqrt(0.5 * size * (size - 1))
            if over > threshold and ratio > best:
                best, best_size, violation[count] = ratio, size, over
        if best_size > 0:
            sets[count, order[:best_size]] = 1
            count += 1
    return sets[:count], violation[:count]
