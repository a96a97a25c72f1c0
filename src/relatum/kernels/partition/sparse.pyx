"""Local search for partitions over listed pairs and a background for all others.

The graph holds ``excess = score - background`` of the listed pairs, in compressed rows, so
the sum of the scores between an element of size s and a set of size t is the excess of the
listed pairs between them plus ``background * s * t``: every step costs as much as the listed
pairs it looks at. Sets are numbered by ``labels``; the free numbers are a stack.
"""

import numpy as np

from relatum.kernels.partition.records import SparseGraph, SparseState, new_occupancy

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from relatum.kernels.partition.rules cimport (
    RulesView, SetsView, can_enter, enter_groups, leave_groups
)
from relatum.kernels.randomness cimport next_below


cdef class GraphView:
    """The arrays of a `SparseGraph`, as kernels read them."""

    def __init__(self, graph):
        self.indptr, self.indices, self.excess, self.background = graph[:]


cdef class SparseView(SetsView):
    """The arrays of a `SparseState`, as kernels read them."""

    def __init__(self, state):
        (
            self.labels, self.size, self.free, self.counters, self.occupied, self.queue,
            self.queued, self.sums, self.near, self.seen,
        ) = state[:]


def new_sparse_state(rules, labels):
    """State of a feasible partition whose labels lie in [0, n)."""
    n = labels.shape[0]
    state = SparseState(
        labels.astype(np.int32),
        np.zeros(n, np.int64),
        np.empty(n, np.int32),
        np.zeros(3, np.int64),
        new_occupancy(rules),
        np.empty(n, np.int32),
        np.zeros(n, np.bool_),
        np.zeros(n),
        np.empty(n, np.int32),
        np.zeros(n, np.bool_),
    )
    cdef RulesView r = RulesView(rules)
    cdef SetsView sets = SetsView(state.labels, state.size, state.occupied)
    cdef int32_t[::1] free = state.free
    cdef int64_t[::1] counters = state.counters
    with nogil:
        _load(r, sets, free, counters)
    return state


cdef void _load(
    RulesView rules, SetsView sets, int32_t[::1] free, int64_t[::1] counters
) noexcept nogil:
    cdef int64_t v, c
    for v in range(sets.labels.shape[0]):
        sets.size[sets.labels[v]] += rules.sizes[v]
        if rules.n_groups > 0:
            enter_groups(rules, sets, v, sets.labels[v])
    for c in range(sets.labels.shape[0] - 1, -1, -1):
        if sets.size[c] == 0:
            free[counters[0]] = <int32_t>c
            counters[0] += 1


def queue_all(state, const int32_t[::1] order):
    """Put every element of ``order`` that is not queued at the end of the queue."""
    cdef int32_t[::1] queue = state.queue
    cdef uint8_t[::1] queued = state.queued
    cdef int64_t[::1] counters = state.counters
    cdef int64_t i
    with nogil:
        for i in range(order.shape[0]):
            _enqueue(queue, queued, counters, order[i])


cdef inline void _enqueue(
    int32_t[::1] queue, uint8_t[::1] queued, int64_t[::1] counters, int64_t v
) noexcept nogil:
    cdef int64_t place = counters[1] + counters[2]
    if not queued[v]:
        queue[place if place < queue.shape[0] else place - queue.shape[0]] = <int32_t>v
        counters[2] += 1
        queued[v] = True


cdef void relocate_listed(RulesView rules, SparseView state, int64_t v, int64_t c) noexcept nogil:
    """Move element ``v`` to set ``c``, which is in use or on top of the stack of free numbers."""
    cdef int64_t a = state.labels[v]
    leave_groups(rules, state, v, a)
    if state.size[c] == 0:
        state.counters[0] -= 1
    state.size[a] -= rules.sizes[v]
    if state.size[a] == 0:
        state.free[state.counters[0]] = <int32_t>a
        state.counters[0] += 1
    state.size[c] += rules.sizes[v]
    state.labels[v] = <int32_t>c
    enter_groups(rules, state, v, c)


def relocate_sparse(rules, state, int64_t v, int64_t c):
    """Move element ``v`` to set ``c``, which is in use or on top of the stack of free numbers."""
    relocate_listed(RulesView(rules), SparseView(state), v, c)


cdef int64_t _gather(GraphView graph, SparseView state, int64_t v) noexcept nogil:
    """Sum the excess of ``v`` with each set next to it; returns how many there are."""
    cdef int64_t k = 0, e, c
    for e in range(graph.indptr[v], graph.indptr[v + 1]):
        c = state.labels[graph.indices[e]]
        if not state.seen[c]:
            state.seen[c] = True
            state.near[k] = <int32_t>c
            k += 1
        state.sums[c] += graph.excess[e]
    return k


cdef void _forget(SparseView state, int64_t k) noexcept nogil:
    cdef int64_t i, c
    for i in range(k):
        c = state.near[i]
        state.seen[c] = False
        state.sums[c] = 0.0


cdef int64_t _next_queued(SparseView state) noexcept nogil:
    """Take the first element from the queue."""
    cdef int64_t v = state.queue[state.counters[1]]
    state.counters[1] += 1
    if state.counters[1] == state.queue.shape[0]:
        state.counters[1] = 0
    state.counters[2] -= 1
    state.queued[v] = False
    return v


cdef double _move_best(
    GraphView graph, RulesView rules, SparseView state, int64_t v, double tolerance
) noexcept nogil:
    """Move an element to its best set, and queue the neighbours it left; returns the gain."""
    cdef int64_t a = state.labels[v], s = rules.sizes[v], k = _gather(graph, state, v)
    cdef int64_t at = -1, i, c, e
    cdef double own = state.sums[a] + graph.background * s * (state.size[a] - s)
    cdef double best = own + tolerance, x
    if best < 0.0 and state.size[a] > s:
        best, at = 0.0, state.free[state.counters[0] - 1]
    for i in range(k):
        c = state.near[i]
        x = state.sums[c] + graph.background * s * state.size[c]
        if x <= best or c == a:
            continue
        if can_enter(rules, state, v, c):
            best, at = x, c
    _forget(state, k)
    if at < 0:
        return 0.0
    relocate_listed(rules, state, v, at)
    for e in range(graph.indptr[v], graph.indptr[v + 1]):
        if state.labels[graph.indices[e]] != at:
            _enqueue(state.queue, state.queued, state.counters, graph.indices[e])
    return best - own


def move_queued(graph, rules, state, double tolerance, int64_t max_visits):
    """Look at queued elements, move each to its best set, and queue the neighbours it left.

    Returns the gain; the queue is empty (``counters[2] == 0``) at a local optimum.
    """
    cdef GraphView g = GraphView(graph)
    cdef RulesView r = RulesView(rules)
    cdef SparseView s = SparseView(state)
    cdef double gain = 0.0
    cdef int64_t _visit
    with nogil:
        for _visit in range(max_visits):
            if s.counters[2] == 0:
                break
            gain += _move_best(g, r, s, _next_queued(s), tolerance)
    return gain


cdef double _anneal_sweep(
    GraphView graph, RulesView rules, SparseView state, double temperature,
    const double[::1] gumbels, uint64_t[::1] random_state, double change
) noexcept nogil:
    """Let every element choose its set anew; returns the change of the value so far."""
    cdef int64_t n = state.labels.shape[0], mask = gumbels.shape[0] - 1  # a power of two minus one
    cdef int64_t first = next_below(random_state, n), step, v, a, s, k, g, i, c, at
    cdef double own, best, to, x, noisy
    for step in range(n):
        v = (first + step) % n
        a, s = state.labels[v], rules.sizes[v]
        k = _gather(graph, state, v)
        own = state.sums[a] + graph.background * s * (state.size[a] - s)
        g = next_below(random_state, mask)
        best, at, to = own + temperature * gumbels[g], -1, own
        if state.size[a] > s:
            g = (g + 1) & mask
            if temperature * gumbels[g] > best:
                best, to = temperature * gumbels[g], 0.0
                at = state.free[state.counters[0] - 1]
        for i in range(k):
            c = state.near[i]
            g = (g + 1) & mask
            x = state.sums[c] + graph.background * s * state.size[c]
            noisy = x + temperature * gumbels[g]
            if noisy <= best or c == a:
                continue
            if can_enter(rules, state, v, c):
                best, at, to = noisy, c, x
        _forget(state, k)
        if at >= 0:
            change += to - own
            relocate_listed(rules, state, v, at)
    return change


def anneal_sparse(
    graph, rules, state, const double[::1] temperatures, const double[::1] gumbels,
    uint64_t[::1] random_state
):
    """Run one sweep of heat-bath moves at each temperature; returns the change of the value.

    An element goes to set ``c`` with probability proportional to ``exp(gain / temperature)``:
    to the largest of ``gain + temperature * g``, with ``g`` Gumbel distributed, read from a
    table at random offsets.
    """
    cdef GraphView listed = GraphView(graph)
    cdef RulesView r = RulesView(rules)
    cdef SparseView s = SparseView(state)
    cdef double change = 0.0
    cdef int64_t t
    with nogil:
        for t in range(temperatures.shape[0]):
            change = _anneal_sweep(listed, r, s, temperatures[t], gumbels, random_state, change)
    return change


def sparse_value(graph, rules, const int64_t[::1] labels, int64_t n_sets):
    """Sum of the scores of the pairs inside sets, without those inside elements."""
    cdef GraphView g = GraphView(graph)
    cdef const int64_t[::1] sizes = rules.sizes
    cdef int64_t[::1] size = np.zeros(n_sets, np.int64)
    cdef double within = 0.0, total = 0.0, pairs = 0.0, part
    cdef int64_t v, e, c
    with nogil:
        for v in range(labels.shape[0]):
            part, c = 0.0, labels[v]
            for e in range(g.indptr[v], g.indptr[v + 1]):
                if labels[g.indices[e]] == c:
                    part += g.excess[e]
            total += 0.5 * part
            size[c] += sizes[v]
            within += 0.5 * sizes[v] * sizes[v]
        for c in range(n_sets):
            pairs += 0.5 * size[c] * size[c]
    return total + g.background * (pairs - within)


cdef void _by_set(
    const int64_t[::1] labels, int64_t[::1] start, int64_t[::1] fill, int64_t[::1] members,
    int64_t m
) noexcept nogil:
    """List the elements set by set: those of set ``c`` begin at ``start[c]``."""
    cdef int64_t v, c
    for v in range(labels.shape[0]):
        start[labels[v] + 1] += 1
    for c in range(m):
        start[c + 1] += start[c]
        fill[c] = start[c]
    for v in range(labels.shape[0]):
        members[fill[labels[v]]] = v
        fill[labels[v]] += 1


def contract_sparse(graph, const int64_t[::1] labels, int64_t m):
    """Graph on the ``m`` sets of a partition, without loops."""
    cdef GraphView g = GraphView(graph)
    cdef int64_t[:, ::1] scratch = np.zeros((3, max(m + 1, labels.shape[0])), np.int64)
    cdef int64_t[::1] start = scratch[0], slot = scratch[1], members = scratch[2]
    indptr = np.zeros(m + 1, np.int64)
    indices = np.empty(g.indices.shape[0], np.int32)
    excess = np.empty(g.indices.shape[0])
    cdef int64_t[::1] pointers = indptr
    cdef int32_t[::1] columns = indices
    cdef double[::1] sums = excess
    cdef int64_t count = 0, begin, c, d, i, v, e
    with nogil:
        _by_set(labels, start, slot, members, m)
        for c in range(m):
            slot[c] = -1
        for c in range(m):
            begin = count
            for i in range(start[c], start[c + 1]):
                v = members[i]
                for e in range(g.indptr[v], g.indptr[v + 1]):
                    d = labels[g.indices[e]]
                    if d == c:
                        continue
                    if slot[d] < begin:
                        slot[d] = count
                        columns[count] = <int32_t>d
                        sums[count] = 0.0
                        count += 1
                    sums[slot[d]] += g.excess[e]
            pointers[c + 1] = count
    return SparseGraph(indptr, indices[:count].copy(), excess[:count].copy(), graph.background)
