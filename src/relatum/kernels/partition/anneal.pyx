"""Simulated annealing of partitions over a dense symmetric matrix of scores.

A sweep lets every element choose its set anew: set ``c`` (or a new one) with probability
proportional to ``exp(table[c, v] / temperature)``. That is the largest of
``table[c, v] + temperature * g`` with ``g`` Gumbel distributed, read from a table of variates;
so the choices of a block of elements are a few contiguous, vectorised passes, and elements
that stay, nearly all of them when it is cold, cost almost nothing. Within a block the choices
do not see one another's moves: blocks are short, and of one element where there are few.

Sums may be integers of 16 bits, in a unit that is small beside the temperature: a move then
takes a third of the time, as twice as many fit into a vector as of single precision, and into
the caches.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int16_t, int32_t, int64_t, uint64_t

from relatum.kernels.partition.dense cimport (
    DenseView, relocate_into, sum_t, term_t, total_t
)
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


cdef void _choose_coarsely(
    DenseView state, const int16_t[:, ::1] table, int64_t begin, int64_t width,
    int16_t temperature, const int16_t[::1] gumbels, int64_t g, int16_t* row, int32_t* chosen
) noexcept nogil:
    """Choose like `_choose`, of integers; always `BLOCK` elements are looked at, in one vector.

    A product of temperature and variate counts 65,536th parts of the table's unit. The rows are
    the caller's scratch: of a local array, compilers make two loops at once, and no vectors.
    """
    cdef int64_t rows = min(state.counters[0] + 1, state.size.shape[0])
    cdef int64_t at = min(begin, table.shape[1] - BLOCK), p, j, c
    cdef int16_t[BLOCK] best
    cdef int16_t x, top, mask, number
    for j in range(BLOCK):
        best[j], row[j] = -32768, 0
    for p in range(rows):
        c = state.slots[p]
        number = <int16_t>c
        for j in range(BLOCK):
            x = <int16_t>(
                table[c, at + j] + ((<int32_t>temperature * <int32_t>gumbels[g + j]) >> 16)
            )
            top = best[j]
            best[j] = x if x > top else top
            mask = -<int16_t>(best[j] != top)
            row[j] = (row[j] & ~mask) | (number & mask)
        g += BLOCK
        if g + BLOCK > gumbels.shape[0]:
            g = 0
    for j in range(width):
        chosen[j] = row[begin - at + j]


cdef double _sweep(
    const term_t[:, ::1] weights, RulesView rules, DenseView state, total_t[:, ::1] table,
    total_t temperature, const total_t[::1] gumbels, uint64_t[::1] random_state, double change
) noexcept nogil:
    """Let every element choose its set anew; return the change of the value so far."""
    cdef int64_t n = state.labels.shape[0]
    cdef int64_t block = max(1, min(<int64_t>BLOCK, n // 32))
    cdef int64_t n_blocks = (n + block - 1) // block
    cdef int64_t first = next_below(random_state, n_blocks), b, begin, width, j, v, c, a, at
    cdef int32_t[BLOCK] chosen
    cdef int16_t[BLOCK] row
    for b in range(n_blocks):
        begin = ((first + b) % n_blocks) * block
        width = min(begin + block, n) - begin
        if total_t is int16_t:
            at = next_below(random_state, gumbels.shape[0] - BLOCK + 1)
            _choose_coarsely(state, table, begin, width, temperature, gumbels, at, row, chosen)
        else:
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


def _anneal(
    const term_t[:, ::1] weights, rules, state, total_t[:, ::1] table,
    const total_t[::1] temperatures, const total_t[::1] gumbels, uint64_t[::1] random_state
):
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef double change = 0.0
    cdef int64_t t, v
    with nogil:
        for t in range(temperatures.shape[0]):
            change = _sweep(
                weights, r, s, table, temperatures[t], gumbels, random_state, change
            )
        for v in range(s.labels.shape[0]):
            s.own[v] = table[s.labels[v], v]
    return change


def anneal_sweeps(weights, rules, state, temperatures, gumbels, random_state):
    """Run one sweep at each temperature; returns the change of the value.

    Temperatures and variates have the type of the table of sums. Integers need at least 16
    elements and variates, and their products are shifted by 16 bits.
    """
    return _anneal(weights, rules, state, state.table, temperatures, gumbels, random_state)
