"""Local search for partitions over listed pairs and a background for all others.

The graph holds ``excess = score - background`` of the listed pairs, in compressed rows, so
the sum of the scores between an element of size s and a set of size t is the excess of the
listed pairs between them plus ``background * s * t``: every step costs as much as the listed
pairs it looks at. Sets are numbered by ``labels``; the free numbers are a stack.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from relatum.kernels.partition.rules import (
    Rules,
    can_enter,
    enter_groups,
    leave_groups,
    new_occupancy,
)
from relatum.kernels.randomness import next_below


class SparseGraph(NamedTuple):
    """Listed pairs, both directions, in compressed rows."""

    indptr: np.ndarray  # int64 (n + 1,)
    indices: np.ndarray  # int32
    excess: np.ndarray  # float64: score - background
    background: float


class SparseState(NamedTuple):
    """A partition, and what moves need."""

    labels: np.ndarray  # int32 (n,)
    size: np.ndarray  # int64 (n,): sum of the sizes of the elements of a set
    free: np.ndarray  # int32 (n,): a stack of unused numbers
    counters: np.ndarray  # int64 (3,): unused numbers; begin and length of the queue
    occupied: np.ndarray  # int64: see `rules`
    queue: np.ndarray  # int32 (n,): a ring of elements to look at
    queued: np.ndarray  # bool (n,)
    sums: np.ndarray  # float64 (n,): scratch, zero between visits
    near: np.ndarray  # int32 (n,): scratch, the sets next to an element
    seen: np.ndarray  # bool (n,): scratch, False between visits


def new_sparse_state(rules: Rules, labels: np.ndarray) -> SparseState:
    """State of a feasible partition whose labels lie in [0, n)."""
    n = labels.shape[0]
    size = np.zeros(n, np.int64)
    free = np.empty(n, np.int32)
    counters = np.zeros(3, np.int64)
    occupied = new_occupancy(rules)
    labels = labels.astype(np.int32)
    _load(rules, labels, size, free, counters, occupied)
    return SparseState(
        labels,
        size,
        free,
        counters,
        occupied,
        np.empty(n, np.int32),
        np.zeros(n, np.bool_),
        np.zeros(n),
        np.empty(n, np.int32),
        np.zeros(n, np.bool_),
    )


@njit(cache=True, nogil=True)
def _load(rules, labels, size, free, counters, occupied):
    for v in range(labels.shape[0]):
        size[labels[v]] += rules.sizes[v]
        enter_groups(rules, occupied, v, labels[v])
    for c in range(labels.shape[0] - 1, -1, -1):
        if size[c] == 0:
            free[counters[0]] = c
            counters[0] += 1


@njit(cache=True, nogil=True)
def queue_all(state, order):
    """Put every element of ``order`` that is not queued at the end of the queue."""
    for v in order:
        _enqueue(state, v)


@njit(cache=True)
def _enqueue(state, v):
    if not state.queued[v]:
        state.queued[v] = True
        n = state.queue.shape[0]
        state.queue[(state.counters[1] + state.counters[2]) % n] = v
        state.counters[2] += 1


@njit(cache=True, nogil=True)
def relocate_sparse(rules, state, v, c):
    """Move element ``v`` to set ``c``, which is in use or on top of the stack of free numbers."""
    a = state.labels[v]
    leave_groups(rules, state.occupied, v, a)
    if state.size[c] == 0:
        state.counters[0] -= 1
    state.size[a] -= rules.sizes[v]
    if state.size[a] == 0:
        state.free[state.counters[0]] = a
        state.counters[0] += 1
    state.size[c] += rules.sizes[v]
    state.labels[v] = c
    enter_groups(rules, state.occupied, v, c)


@njit(cache=True)
def _gather(graph, state, v):
    """Sum the excess of ``v`` with each set next to it; returns how many there are."""
    k = 0
    for e in range(graph.indptr[v], graph.indptr[v + 1]):
        c = state.labels[graph.indices[e]]
        if not state.seen[c]:
            state.seen[c] = True
            state.near[k] = c
            k += 1
        state.sums[c] += graph.excess[e]
    return k


@njit(cache=True)
def _forget(state, k):
    for i in range(k):
        c = state.near[i]
        state.seen[c] = False
        state.sums[c] = 0.0


@njit(cache=True, nogil=True)
def move_queued(graph, rules, state, tolerance, max_visits):
    """Look at queued elements, move each to its best set, and queue the neighbours it left.

    Returns the gain; the queue is empty (``counters[2] == 0``) at a local optimum.
    """
    n = state.labels.shape[0]
    gain, labels, sizes, background = 0.0, state.labels, rules.sizes, graph.background
    for _ in range(max_visits):
        if state.counters[2] == 0:
            return gain
        v = state.queue[state.counters[1]]
        state.counters[1] = (state.counters[1] + 1) % n
        state.counters[2] -= 1
        state.queued[v] = False
        a, s = labels[v], sizes[v]
        k = _gather(graph, state, v)
        own = state.sums[a] + background * s * (state.size[a] - s)
        best, at = own + tolerance, -1
        if best < 0.0 and state.size[a] > s:
            best, at = 0.0, state.free[state.counters[0] - 1]
        for i in range(k):
            c = state.near[i]
            x = state.sums[c] + background * s * state.size[c]
            if x <= best or c == a:
                continue
            if can_enter(rules, state.occupied, labels, state.size, v, c):
                best, at = x, c
        _forget(state, k)
        if at >= 0:
            gain += best - own
            relocate_sparse(rules, state, v, at)
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                u = graph.indices[e]
                if labels[u] != at:
                    _enqueue(state, u)
    return gain


@njit(cache=True, nogil=True)
def anneal_sparse(graph, rules, state, temperatures, gumbels, random_state):
    """Run one sweep of heat-bath moves at each temperature; returns the change of the value.

    An element goes to set ``c`` with probability proportional to ``exp(gain / temperature)``:
    to the largest of ``gain + temperature * g``, with ``g`` Gumbel distributed, read from a
    table at random offsets.
    """
    n = state.labels.shape[0]
    change, labels, sizes, background = 0.0, state.labels, rules.sizes, graph.background
    mask = gumbels.shape[0] - 1  # a power of two minus one
    for temperature in temperatures:
        first = next_below(random_state, n)
        for step in range(n):
            v = (first + step) % n
            a, s = labels[v], sizes[v]
            k = _gather(graph, state, v)
            own = state.sums[a] + background * s * (state.size[a] - s)
            g = next_below(random_state, mask)
            best, at, to = own + temperature * gumbels[g], -1, own
            if state.size[a] > s:
                g = (g + 1) & mask
                if temperature * gumbels[g] > best:
                    best, at, to = temperature * gumbels[g], state.free[state.counters[0] - 1], 0.0
            for i in range(k):
                c = state.near[i]
                g = (g + 1) & mask
                x = state.sums[c] + background * s * state.size[c]
                noisy = x + temperature * gumbels[g]
                if noisy <= best or c == a:
                    continue
                if can_enter(rules, state.occupied, labels, state.size, v, c):
                    best, at, to = noisy, c, x
            _forget(state, k)
            if at >= 0:
                change += to - own
                relocate_sparse(rules, state, v, at)
    return change


@njit(cache=True, nogil=True)
def sparse_value(graph, rules, labels, n_sets):
    """Sum of the scores of the pairs inside sets, without those inside elements."""
    size = np.zeros(n_sets, np.int64)
    within, total = 0.0, 0.0
    for v in range(labels.shape[0]):
        part = 0.0
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            if labels[graph.indices[e]] == labels[v]:
                part += graph.excess[e]
        total += 0.5 * part
        size[labels[v]] += rules.sizes[v]
        within += 0.5 * rules.sizes[v] * rules.sizes[v]
    pairs = 0.0
    for c in range(n_sets):
        pairs += 0.5 * size[c] * size[c]
    return total + graph.background * (pairs - within)


@njit(cache=True, nogil=True)
def contract_sparse(graph, labels, m):
    """Graph on the ``m`` sets of a partition, without loops."""
    n = labels.shape[0]
    start = np.zeros(m + 1, np.int64)
    for v in range(n):
        start[labels[v] + 1] += 1
    for c in range(m):
        start[c + 1] += start[c]
    members = np.empty(n, np.int32)
    fill = start.copy()
    for v in range(n):
        members[fill[labels[v]]] = v
        fill[labels[v]] += 1
    slot = np.full(m, -1, np.int64)
    indptr = np.zeros(m + 1, np.int64)
    indices = np.empty(graph.indices.shape[0], np.int32)
    excess = np.empty(graph.indices.shape[0])
    count = 0
    for c in range(m):
        begin = count
        for i in range(start[c], start[c + 1]):
            v = members[i]
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                d = labels[graph.indices[e]]
                if d == c:
                    continue
                if slot[d] < begin:
                    slot[d] = count
                    indices[count] = d
                    excess[count] = 0.0
                    count += 1
                excess[slot[d]] += graph.excess[e]
        indptr[c + 1] = count
    return SparseGraph(indptr, indices[:count].copy(), excess[:count].copy(), graph.background)
