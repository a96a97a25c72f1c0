"""Local search for linear orders: insertion, and annealing over the places of elements.

``d[a, b]`` is what is gained when a comes before b instead of after: w[a, b] - w[b, a],
antisymmetric; +inf if a must come before b (then d[b, a] = -inf). Given a start that
respects these, no move ever breaks one: passing over such an element costs inf.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.randomness import next_below


@njit(cache=True)
def order_gain(d, order):
    """Sum of d over the pairs a before b: twice the value, less a constant."""
    total = 0.0
    n = order.size
    for p in range(n):
        row = d[order[p]]
        for q in range(p + 1, n):
            total += row[order[q]]
    return total


@njit(cache=True)
def _shift(order, source, target):
    """Take the element at place `source` out and put it in at place `target`."""
    e = order[source]
    if source < target:
        for p in range(source, target):
            order[p] = order[p + 1]
    else:
        for p in range(source, target, -1):
            order[p] = order[p - 1]
    order[target] = e


@njit(cache=True)
def _best_place(row, order, place, least):
    """Return the best gain above `least` of moving order[place], and where to (or -1)."""
    best = least
    target = -1
    gain = 0.0
    for p in range(place - 1, -1, -1):
        gain += row[order[p]]
        if gain > best:
            best = gain
            target = p
        elif gain == -np.inf:
            break
    gain = 0.0
    for p in range(place + 1, order.size):
        gain -= row[order[p]]
        if gain > best:
            best = gain
            target = p
        elif gain == -np.inf:
            break
    return best, target


@njit(cache=True, nogil=True)
def insertion_search(d, order, least):
    """Move single elements to their best places until no move gains more than `least`.

    Changes `order`; returns the total gain.
    """
    n = order.size
    total = 0.0
    idle = 0
    at = 0
    while idle < n:
        gain, target = _best_place(d[order[at]], order, at, least)
        if target >= 0:
            _shift(order, at, target)
            total += gain
            idle = 0
        else:
            idle += 1
        at += 1
        if at == n:
            at = 0
    return total


@njit(cache=True)
def _noisy_place(row, order, place, temperature, noise, at):
    """Return (gain, place) of the best place after adding noise to the gain of each.

    With Gumbel noise this draws a place with probability proportional to
    exp(gain / temperature): a heat bath over all places of one element.
    """
    size = noise.size
    best = temperature * noise[at]
    target = place
    kept = 0.0
    gain = 0.0
    for p in range(place - 1, -1, -1):
        gain += row[order[p]]
        at += 1
        if at == size:
            at = 0
        v = gain + temperature * noise[at]
        if v > best:
            best = v
            target = p
            kept = gain
    gain = 0.0
    for p in range(place + 1, order.size):
        gain -= row[order[p]]
        at += 1
        if at == size:
            at = 0
        v = gain + temperature * noise[at]
        if v > best:
            best = v
            target = p
            kept = gain
    return kept, target


@njit(cache=True, nogil=True)
def anneal_order(d, order, heat, steps, noise, state):
    """Anneal by a heat bath over the places of single elements; change `order`.

    The temperature falls geometrically from heat[0] to heat[1]. Each step draws a new
    place for one random element. Call `insertion_search` afterwards.

    Parameters
    ----------
    d : float64 array (n, n)
    order : int64 array (n,), changed
    heat : float64 array (2,)
    steps : int
    noise : float64 array
        Gumbel noise, used round and round from random offsets.
    state : uint64 array (1,), changed
        The state of the random numbers: equal states give equal results.

    Returns
    -------
    float
        The gain over the order given.
    """
    n = order.size
    total = 0.0
    temperature = heat[0]
    cooling = (heat[1] / heat[0]) ** (1.0 / max(1, steps))
    for _ in range(steps):
        place = next_below(state, n)
        at = next_below(state, noise.size)
        gain, target = _noisy_place(d[order[place]], order, place, temperature, noise, at)
        if target != place:
            _shift(order, place, target)
            total += gain
        temperature *= cooling
    return total
