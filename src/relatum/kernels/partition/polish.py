"""A small search by moves, joins and exchanges for the incumbents of branch and cut.

Weights are a dense symmetric matrix with zero diagonal; forbidden pairs have weights far
below anything that could make up for them. ``sizes`` counts the elements behind each
element, and no set may hold more than ``cap`` of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.randomness import next_word


@njit(cache=True)
def value_of(weights, labels):
    """Return the sum of the weights of the pairs with equal labels."""
    n = labels.size
    total = 0.0
    for a in range(n):
        for b in range(a + 1, n):
            if labels[a] == labels[b]:
                total += weights[a, b]
    return total


@njit(cache=True)
def _below(random, n):
    """Return a random integer below n, which is small: the remainder is even enough."""
    return np.int64(next_word(random) % np.uint64(n))


@njit(cache=True)
def _shift(weights, sizes, labels, table, held, v, to):
    """Move element v to set ``to``, keeping the sums."""
    old = labels[v]
    for u in range(labels.size):
        table[old, u] -= weights[v, u]
        table[to, u] += weights[v, u]
    held[old] -= sizes[v]
    held[to] += sizes[v]
    labels[v] = to


@njit(cache=True)
def _empty_set(held):
    for c in range(held.size):
        if held[c] == 0:
            return c
    return -1


@njit(cache=True)
def _moves(weights, sizes, cap, labels, table, held, least):
    """Best moves of single elements, in sweeps, until none gains more than ``least``."""
    n = labels.size
    gained = 0.0
    changed = True
    while changed:
        changed = False
        for v in range(n):
            own = table[labels[v], v]
            best, to = own + least, -1
            for c in range(held.size):
                fits = held[c] > 0 and held[c] + sizes[v] <= cap
                if fits and c != labels[v] and table[c, v] > best:
                    best, to = table[c, v], c
            if best < 0.0 or (to < 0 and own < -least):
                to = _empty_set(held)
                best = 0.0
            if to >= 0:
                gained += best - own
                _shift(weights, sizes, labels, table, held, v, to)
                changed = True
    return gained


@njit(cache=True)
def _joins(weights, sizes, cap, labels, table, held, least):
    """Join the first pair of sets that gains; return the gain, or zero."""
    n = labels.size
    for c in range(held.size):
        if held[c] == 0:
            continue
        gain = np.zeros(held.size)
        for v in range(n):
            gain[labels[v]] += table[c, v]
        for d in range(held.size):
            if d != c and held[d] > 0 and gain[d] > least and held[c] + held[d] <= cap:
                for v in range(n):
                    if labels[v] == d:
                        _shift(weights, sizes, labels, table, held, v, c)
                return gain[d]
    return 0.0


@njit(cache=True)
def _exchanges(weights, sizes, cap, labels, table, held, least):
    """Let pairs of elements change places where that gains, in one sweep; return the gain."""
    n = labels.size
    gained = 0.0
    for v in range(n):
        for u in range(v):
            a, c = labels[v], labels[u]
            more = sizes[v] - sizes[u]
            if a == c or held[c] + more > cap or held[a] - more > cap:
                continue
            gain = table[c, v] + table[a, u] - table[a, v] - table[c, u] - 2.0 * weights[v, u]
            if gain > least:
                _shift(weights, sizes, labels, table, held, v, c)
                _shift(weights, sizes, labels, table, held, u, a)
                gained += gain
    return gained


@njit(cache=True)
def _improve(weights, sizes, cap, labels, table, held, least):
    """Move and join, and exchange where a cap keeps elements out, until nothing gains."""
    gained = 0.0
    capped = cap < held.sum()
    while True:
        gained += _moves(weights, sizes, cap, labels, table, held, least)
        more = _joins(weights, sizes, cap, labels, table, held, least)
        if more == 0.0 and capped:
            more = _exchanges(weights, sizes, cap, labels, table, held, least)
        if more == 0.0:
            return gained
        gained += more


@njit(cache=True)
def polish(weights, sizes, cap, labels, least):
    """Move, join and (under a cap) exchange from the given labels, in place, until nothing gains.

    Returns the table of sums, the sizes of the sets and the gain.
    """
    n = labels.size
    table = np.zeros((n + 1, n))
    held = np.zeros(n + 1, np.int64)
    for v in range(n):
        table[labels[v]] += weights[v]
        held[labels[v]] += sizes[v]
    gained = _improve(weights, sizes, cap, labels, table, held, least)
    return table, held, gained


@njit(cache=True)
def perturb_and_polish(weights, sizes, cap, labels, least, iterations, seed):
    """Search locally, perturb and repeat, in place; return the gain over the labels given.

    A perturbation moves a few elements to random sets (or to new ones); the result is kept
    unless it is worse.
    """
    random = np.array([seed], np.uint64)
    n = labels.size
    table, held, gained = polish(weights, sizes, cap, labels, least)
    for _ in range(iterations):
        before_labels, before_table, before_held = labels.copy(), table.copy(), held.copy()
        change = 0.0
        for _ in range(2 + _below(random, max(2, n // 10))):
            v = _below(random, n)
            to = labels[_below(random, n)]
            if _below(random, 5) == 0:
                to = _empty_set(held)
            if to != labels[v] and held[to] + sizes[v] <= cap:
                change += table[to, v] - table[labels[v], v]
                _shift(weights, sizes, labels, table, held, v, to)
        change += _improve(weights, sizes, cap, labels, table, held, least)
        if change < 0.0:
            labels[:] = before_labels
            table, held = before_table, before_held
        else:
            gained += change
    return gained
