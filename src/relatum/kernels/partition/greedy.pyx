"""Greedy additive contraction: join the two sets that gain most, until no join gains.

Sparse: the pairs of sets with listed pairs between them are a hash map from pairs to sums,
their gains a heap. A join walks the entries of one set and leaves the old gains in the heap;
they are corrected when they come to the top, which is sound because with a background that
is not positive a gain only falls while a set grows.
"""

import numpy as np

from relatum.kernels.hashing import table_length
from relatum.kernels.partition.records import GreedyState, new_occupancy

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.hashing cimport find, remove
from relatum.kernels.heap cimport drop_top, push
from relatum.kernels.partition.rules cimport (
    RulesView, SetsView, can_join, enter_groups, leave_groups
)
from relatum.kernels.partition.sparse cimport GraphView
from relatum.kernels.watch cimport Watch, is_over


cdef class GreedyView(SetsView):
    """The arrays of a `GreedyState`, as kernels read them."""

    cdef int64_t[::1] count, chain, keys, heap_pair, counters
    cdef int32_t[::1] first, last, next
    cdef int64_t[:, ::1] entries
    cdef double[::1] sums, heap_loss

    def __init__(self, state):
        (
            self.labels, self.size, self.count, self.first, self.last, self.next, self.entries,
            self.chain, self.keys, self.sums, self.heap_loss, self.heap_pair, self.counters,
            self.occupied,
        ) = state[:]


def new_greedy(graph, rules, double tolerance, expired=None):
    """State in which every element is a set.

    If ``expired`` says to stop, it is one in which no join gains.
    """
    n, nnz = rules.sizes.shape[0], graph.indices.shape[0]
    length = table_length(nnz + 16)  # nnz / 2 pairs: at most half full
    everyone = np.arange(n, dtype=np.int32)
    state = GreedyState(
        everyone,
        rules.sizes.copy(),
        np.ones(n, np.int64),
        everyone.copy(),
        everyone.copy(),
        np.full(n, -1, np.int32),
        np.empty((n, 3), np.int64),
        np.empty(nnz, np.int64),
        np.empty(length, np.int64),
        np.zeros(length),
        np.empty(nnz // 2 + 16),
        np.empty(nnz // 2 + 16, np.int64),
        np.array([0, n], np.int64),
        new_occupancy(rules),
    )
    cdef GraphView g = GraphView(graph)
    cdef RulesView r = RulesView(rules)
    cdef GreedyView s = GreedyView(state)
    cdef Watch watch = Watch(expired)
    with nogil:
        _clear(s, watch)
        _fill(g, r, s, tolerance, watch)
        if watch.over:
            s.counters[0] = 0
    watch.close()
    return state


def grow_greedy(state):
    """Return the same state with twice the room in the heap."""
    return state._replace(
        heap_loss=np.concatenate([state.heap_loss, np.empty_like(state.heap_loss)]),
        heap_pair=np.concatenate([state.heap_pair, np.empty_like(state.heap_pair)]),
    )


cdef void _push(GreedyView state, double gain, int64_t pair) noexcept nogil:
    push(state.heap_loss, state.heap_pair, state.counters[0], -gain, pair)
    state.counters[0] += 1


cdef void _drop(GreedyView state) noexcept nogil:
    state.counters[0] -= 1
    drop_top(state.heap_loss, state.heap_pair, state.counters[0])


cdef void _clear(GreedyView state, Watch watch) noexcept nogil:
    """Empty the hash map: with millions of pairs, that takes its time, too."""
    cdef int64_t slot
    for slot in range(state.keys.shape[0]):
        if slot % 65536 == 0 and is_over(watch, 65536):
            return
        state.keys[slot] = -1


cdef void _fill(
    GraphView graph, RulesView rules, GreedyView state, double tolerance, Watch watch
) noexcept nogil:
    cdef int64_t n = state.labels.shape[0], v, u, e, begin, end, key, slot
    cdef double gain
    for v in range(n):
        begin, end = graph.indptr[v], graph.indptr[v + 1]
        if is_over(watch, 30 * (end - begin)):  # as it is at once, if the map was not emptied
            return
        state.entries[v, 0] = begin if end > begin else -1
        state.entries[v, 1] = end - 1
        state.entries[v, 2] = end - begin
        enter_groups(rules, state, v, v)
        for e in range(begin, end):
            state.chain[e] = e + 1 if e + 1 < end else -1
            u = graph.indices[e]
            if v < u:
                key = v * n + u
                slot = find(state.keys, key)
                state.keys[slot], state.sums[slot] = key, graph.excess[e]
                gain = graph.excess[e] + graph.background * state.size[v] * state.size[u]
                if gain > tolerance:
                    _push(state, gain, key)


cdef void _list_elements(GreedyView state, int64_t c, int64_t[::1] members) noexcept nogil:
    """Write the elements of set ``c`` down, ``count[c]`` of them."""
    cdef int64_t v = state.first[c], i
    for i in range(state.count[c]):
        members[i] = v
        v = state.next[v]


cdef void _absorb(
    RulesView rules, GreedyView state, const int64_t[::1] members, int64_t a, int64_t b
) noexcept nogil:
    """Make set ``b``, of the first ``count[b]`` elements ``members``, part of set ``a``."""
    cdef int64_t i, v
    for i in range(state.count[b]):
        v = members[i]
        leave_groups(rules, state, v, b)
        enter_groups(rules, state, v, a)
        state.labels[v] = <int32_t>a
    state.next[state.last[a]] = state.first[b]
    state.last[a] = state.last[b]
    state.size[a] += state.size[b]
    state.count[a] += state.count[b]
    state.size[b] = 0
    state.count[b] = 0
    state.counters[1] -= 1


cdef inline int64_t _key(int64_t a, int64_t b, int64_t n) noexcept nogil:
    """Return the number of an unordered pair of sets."""
    return a * n + b if a < b else b * n + a


cdef void _append_entry(GreedyView state, int64_t a, int64_t e) noexcept nogil:
    """Put an entry at the end of those of set ``a``."""
    state.chain[e] = -1
    if state.entries[a, 0] < 0:
        state.entries[a, 0] = e
    else:
        state.chain[state.entries[a, 1]] = e
    state.entries[a, 1] = e
    state.entries[a, 2] += 1


cdef void _merge_entries(
    GraphView graph, GreedyView state, int64_t a, int64_t b, double tolerance
) noexcept nogil:
    """Add the sums of ``b`` to those of ``a``; entries to sets that ``a`` knows are dropped."""
    cdef int64_t n = state.labels.shape[0], e = state.entries[b, 0], following, c, key, slot
    cdef double x, gain
    while e >= 0:
        following = state.chain[e]
        c = state.labels[graph.indices[e]]
        key = _key(b, c, n)
        slot = find(state.keys, key)
        if c != a and state.keys[slot] == key:
            x = state.sums[slot]
            remove(state.keys, state.sums, slot)
            key = _key(a, c, n)
            slot = find(state.keys, key)
            if state.keys[slot] == key:
                x = state.sums[slot] + x
            else:
                state.keys[slot] = key
                _append_entry(state, a, e)
            state.sums[slot] = x
            gain = x + graph.background * state.size[a] * state.size[c]
            if gain > tolerance:
                _push(state, gain, key)
        e = following
    state.entries[b, 0] = -1
    state.entries[b, 2] = 0


cdef int64_t _contract(
    GraphView graph, RulesView rules, GreedyView state, double tolerance, int64_t max_steps,
    int64_t[::1] members, Watch watch
) noexcept nogil:
    cdef int64_t n = state.labels.shape[0], _step, key, slot, a, b
    cdef double gain, now
    for _step in range(max_steps):
        if state.counters[0] == 0:
            return 0
        if is_over(watch, 200):
            return 1
        gain, key = -state.heap_loss[0], state.heap_pair[0]
        _drop(state)
        a, b = key // n, key % n
        if state.count[a] == 0 or state.count[b] == 0:
            continue
        slot = find(state.keys, key)
        if state.keys[slot] != key:
            continue
        now = state.sums[slot] + graph.background * state.size[a] * state.size[b]
        if now != gain:
            if tolerance < now < gain:
                _push(state, now, key)
            continue
        if state.count[b] + state.entries[b, 2] > state.count[a] + state.entries[a, 2]:
            a, b = b, a
        if state.counters[0] + state.entries[b, 2] + 1 > state.heap_loss.shape[0]:
            _push(state, gain, key)
            return 2
        _list_elements(state, b, members)
        if can_join(rules, state, members, state.count[b], a):
            is_over(watch, 200 * state.entries[b, 2])  # answered above
            remove(state.keys, state.sums, slot)
            _absorb(rules, state, members, a, b)
            _merge_entries(graph, state, a, b, tolerance)
    return 1


def contract_greedily(graph, rules, state, double tolerance, int64_t max_steps, expired=None):
    """Join pairs of sets in order of gain, at most ``max_steps`` looks at the heap.

    Returns 0 when no join gains, 1 when the steps are used up or ``expired`` says to stop, 2 when
    the heap is full.
    """
    cdef Watch watch = Watch(expired)
    cdef GraphView g = GraphView(graph)
    cdef RulesView r = RulesView(rules)
    cdef GreedyView s = GreedyView(state)
    cdef int64_t[::1] members = np.empty(s.labels.shape[0], np.int64)
    cdef int64_t code
    with nogil:
        code = _contract(g, r, s, tolerance, max_steps, members, watch)
    watch.close()
    return code
