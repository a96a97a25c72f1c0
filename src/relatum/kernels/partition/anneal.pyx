"""Simulated annealing of partitions over a dense symmetric matrix of scores.

A sweep lets every element choose its set anew: set ``c`` (or a new one) with probability
proportional to ``exp(table[c, v] / temperature)``. That is the largest of
``table[c, v] + temperature * g`` with ``g`` Gumbel distributed, read from a table of variates;
so the choices of a block of elements are a few contiguous, vectorised passes, and elements
that stay, nearly all of them when it is cold, cost almost nothing. Within a block the choices
do not see one another's moves: blocks are short, and of one element where there are few.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from relatum.kernels.partition.dense cimport DenseView, relocate_into, sum_t, weight_t
from relatum.kernels.partition.rules cimport RulesView, can_enter
from relatum.kernels.randomness cimport next_below

cdef enum:
    BLOCK = 16


cdef inline void _offer(sum_t x, int32_t row, sum_t* best, int32_t* at) noexcept nogil:
    """Note a row and its value if that is larger than the best.

    With a mask rather than a choice: C compilers make a branch of the latter, and no vectors.
    """
    cdef sum_t top = best[0]
    cdef int32_t mask
    best[0] = x if x > top else top
    mask = -<int32_t>(best[0] != top)
    at[0] = (at[0] & ~mask) | (row & mask)


cdef void _choose(
    DenseView state, const sum_t[:, ::1] table, int64_t begin, int64_t width, sum_t temperature,
    const sum_t[::1] gumbels, int64_t g, int32_t* chosen
) noexcept nogil:
    """Put the row that each element of a block likes best, with noise, into ``chosen``.

    The variates are a ring; ``g`` is the place to begin at. Where there are more elements,
    whole vectors of 8 of them are looked at.
    """
    cdef int64_t rows = min(state.counters[0] + 1, state.size.shape[0])  # one more: a new set
    cdef int64_t size = gumbels.shape[0], lanes = (width + 7) // 8 * 8, p, j, c
    cdef sum_t[BLOCK] best
    cdef sum_t x
    if begin + lanes > table.shape[1]:
        lanes = width
    for j in range(lanes):  # where no row is better than nothing, an element stays
        best[j], chosen[j] = -INFINITY, state.labels[begin + j]
    for p in range(rows):
        c = state.slots[p]
        if g + lanes <= size:
            for j in range(lanes):
                x = table[c, begin + j] + temperature * gumbels[g + j]
                _offer(x, <int32_t>c, &best[j], &chosen[j])
        else:
            for j in range(width):
                x = table[c, begin + j] + temperature * gumbels[(g + j) % size]
                _offer(x, <int32_t>c, &best[j], &chosen[j])
        g += width
        if g >= size:
            g -= size


cdef double _sweep(
    const weight_t[:, ::1] weights, RulesView rules, DenseView state, sum_t[:, ::1] table,
    sum_t temperature, const sum_t[::1] gumbels, uint64_t[::1] random_state, double change
) noexcept nogil:
    """Let every element choose its set anew; return the change of the value so far."""
    cdef int64_t n = state.labels.shape[0]
    cdef int64_t block = max(1, min(<int64_t>BLOCK, n // 32))
    cdef int64_t n_blocks = (n + block - 1) // block
    cdef int64_t first = next_below(random_state, n_blocks), b, begin, width, j, v, c, a, at
    cdef int32_t[BLOCK] chosen
    for b in range(n_blocks):
        begin = ((first + b) % n_blocks) * block
        width = min(begin + block, n) - begin
        at = next_below(random_state, gumbels.shape[0])
        _choose(state, table, begin, width, temperature, gumbels, at, chosen)
        for j in range(width):
            v, c = begin + j, chosen[j]
            a = state.labels[v]
            if c == a or (state.size[c] == 0 and state.size[a] == rules.sizes[v]):
                continue
            if can_enter(rules, state, v, c):
                change += table[c, v] - table[a, v]
                relocate_into(weights, rules, state, table, v, c)
    return change


cdef double _anneal(
    const weight_t[:, ::1] weights, RulesView rules, DenseView state, sum_t[:, ::1] table,
    const sum_t[::1] temperatures, const sum_t[::1] gumbels, uint64_t[::1] random_state
) noexcept nogil:
    cdef double change = 0.0
    cdef int64_t t, v
    for t in range(temperatures.shape[0]):
        change = _sweep(
            weights, rules, state, table, temperatures[t], gumbels, random_state, change
        )
    for v in range(state.labels.shape[0]):
        state.own[v] = table[state.labels[v], v]
    return change


def anneal_sweeps(
    const weight_t[:, ::1] weights, rules, state, temperatures, gumbels, uint64_t[::1] random_state
):
    """Run one sweep at each temperature; returns the change of the value.

    Temperatures and variates have the type of the table of sums.
    """
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef double[:, ::1] table
    cdef const double[::1] degrees, noise
    cdef float[:, ::1] single_table
    cdef const float[::1] single_degrees, single_noise
    cdef double change
    if state.table.dtype == np.float64:
        table, degrees, noise = state.table, temperatures, gumbels
        with nogil:
            change = _anneal(weights, r, s, table, degrees, noise, random_state)
    else:
        single_table, single_degrees, single_noise = state.table, temperatures, gumbels
        with nogil:
            change = _anneal(
                weights, r, s, single_table, single_degrees, single_noise, random_state
            )
    return change
