"""Simulated annealing of partitions over a dense symmetric matrix of scores.

A sweep lets every element choose its set anew: set ``c`` (or a new one) with probability
proportional to ``exp(table[c, v] / temperature)``. That is the largest of
``table[c, v] + temperature * g`` with ``g`` Gumbel distributed, read from a table of variates;
so the choices of a block of elements are a few contiguous, vectorised passes, and elements
that stay, nearly all of them when it is cold, cost almost nothing. Within a block the choices
do not see one another's moves: blocks are short, and of one element where there are few.
"""

import numpy as np
from numba import njit

from relatum.kernels.partition.dense import relocate_loosely
from relatum.kernels.partition.rules import can_enter
from relatum.kernels.randomness import next_below

_BLOCK = 16


@njit(cache=True, nogil=True)
def _choose(state, begin, width, noise, best, chosen):
    """Put the row that each element of a block likes best, with noise, into ``chosen``.

    ``noise`` is the temperature, the variates (the first few again at the end) and the place
    in them to begin at.
    """
    temperature, gumbels, at = noise
    k, size = state.counters[0], gumbels.shape[0] - _BLOCK
    best[:] = -np.inf
    for p in range(min(k + 1, state.size.shape[0])):  # the row after the last in use is a new set
        c = np.int64(state.slots[p])
        row, variates = state.table[c, begin : begin + width], gumbels[at : at + width]
        for j in range(width):
            x = row[j] + temperature * variates[j]
            better = x > best[j]
            best[j] = x if better else best[j]
            chosen[j] = c if better else chosen[j]
        at += width
        if at >= size:
            at -= size


@njit(cache=True, nogil=True)
def anneal_sweeps(weights, rules, state, temperatures, gumbels, random_state):
    """Run one sweep at each temperature; returns the change of the value.

    Temperatures and variates have the type of the table of sums.
    """
    labels, size = state.labels, state.size
    n = labels.shape[0]
    block = max(1, min(_BLOCK, n // 32))
    n_blocks = (n + block - 1) // block
    best, chosen = np.empty(_BLOCK, state.table.dtype), np.empty(_BLOCK, np.int64)
    cyclic = np.concatenate((gumbels, gumbels[:_BLOCK]))
    change = 0.0
    for temperature in temperatures:
        first = next_below(random_state, n_blocks)
        for b in range(n_blocks):
            begin = ((first + b) % n_blocks) * block
            width = min(begin + block, n) - begin
            offset = next_below(random_state, gumbels.shape[0])
            _choose(state, begin, width, (temperature, cyclic, offset), best, chosen)
            for j in range(width):
                v, c = begin + j, chosen[j]
                a = labels[v]
                if c == a or (size[c] == 0 and size[a] == rules.sizes[v]):
                    continue
                if can_enter(rules, state.occupied, labels, size, v, c):
                    change += state.table[c, v] - state.table[a, v]
                    relocate_loosely(weights, rules, state, v, c)
    for v in range(n):
        state.own[v] = state.table[labels[v], v]
    return change
