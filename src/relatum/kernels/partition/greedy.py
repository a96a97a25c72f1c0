"""Greedy additive contraction: join the two sets that gain most, until no join gains.

Sparse: the pairs of sets with listed pairs between them are a hash map from pairs to sums,
their gains a heap. A join walks the entries of one set and leaves the old gains in the heap;
they are corrected when they come to the top, which is sound because with a background that
is not positive a gain only falls while a set grows.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from relatum.kernels.hashing import find, remove, table_length
from relatum.kernels.heap import drop_top, push
from relatum.kernels.partition.rules import (
    Rules,
    can_join,
    enter_groups,
    leave_groups,
    new_occupancy,
)
from relatum.kernels.partition.sparse import SparseGraph


class GreedyState(NamedTuple):
    """Sets, the entries of each, sums between sets, and a heap of gains."""

    labels: np.ndarray  # int32 (n,)
    size: np.ndarray  # int64 (n,)
    count: np.ndarray  # int64 (n,): elements of a set
    first: np.ndarray  # int32 (n,): first element of a set; following: next
    last: np.ndarray  # int32 (n,)
    next: np.ndarray  # int32 (n,)
    entries: np.ndarray  # int64 (n, 3): first and last entry of a set, number of entries
    chain: np.ndarray  # int64 (nnz,): the next entry of the same set
    keys: np.ndarray  # int64: hash map, -1 where empty
    sums: np.ndarray  # float64: its values
    heap_loss: np.ndarray  # float64: gains, negative
    heap_pair: np.ndarray  # int64
    counters: np.ndarray  # int64 (2,): length of the heap; number of sets
    occupied: np.ndarray  # int64: see `rules`


def new_greedy(graph: SparseGraph, rules: Rules, tolerance: float) -> GreedyState:
    """State in which every element is a set."""
    n, nnz = rules.sizes.shape[0], graph.indices.shape[0]
    length = table_length(nnz + 16)  # nnz / 2 pairs: at most half full
    everyone = np.arange(n, dtype=np.int32)
    state = GreedyState(
        everyone.copy(),
        rules.sizes.copy(),
        np.ones(n, np.int64),
        everyone.copy(),
        everyone.copy(),
        np.full(n, -1, np.int32),
        np.empty((n, 3), np.int64),
        np.empty(nnz, np.int64),
        np.full(length, -1, np.int64),
        np.zeros(length),
        np.empty(nnz // 2 + 16),
        np.empty(nnz // 2 + 16, np.int64),
        np.array([0, n], np.int64),
        new_occupancy(rules),
    )
    _fill(graph, rules, state, tolerance)
    return state


def grow_greedy(state: GreedyState) -> GreedyState:
    """Return the same state with twice the room in the heap."""
    return state._replace(
        heap_loss=np.concatenate([state.heap_loss, np.empty_like(state.heap_loss)]),
        heap_pair=np.concatenate([state.heap_pair, np.empty_like(state.heap_pair)]),
    )


@njit(cache=True, nogil=True)
def _push(state, gain, pair):
    push(state.heap_loss, state.heap_pair, state.counters[0], -gain, pair)
    state.counters[0] += 1


@njit(cache=True, nogil=True)
def _pop(state):
    loss, pair = state.heap_loss[0], state.heap_pair[0]
    state.counters[0] -= 1
    drop_top(state.heap_loss, state.heap_pair, state.counters[0])
    return -loss, pair


@njit(cache=True, nogil=True)
def _fill(graph, rules, state, tolerance):
    n = state.labels.shape[0]
    for v in range(n):
        begin, end = graph.indptr[v], graph.indptr[v + 1]
        state.entries[v, 0] = begin if end > begin else -1
        state.entries[v, 1] = end - 1
        state.entries[v, 2] = end - begin
        enter_groups(rules, state.occupied, v, v)
        for e in range(begin, end):
            state.chain[e] = e + 1 if e + 1 < end else -1
            u = graph.indices[e]
            if v < u:
                key = np.int64(v) * n + u
                slot = find(state.keys, key)
                state.keys[slot], state.sums[slot] = key, graph.excess[e]
                gain = graph.excess[e] + graph.background * state.size[v] * state.size[u]
                if gain > tolerance:
                    _push(state, gain, key)


@njit(cache=True, nogil=True)
def _elements(state, c):
    out = np.empty(state.count[c], np.int64)
    v = state.first[c]
    for i in range(out.shape[0]):
        out[i] = v
        v = state.next[v]
    return out


@njit(cache=True, nogil=True)
def _absorb(rules, state, members, a, b):
    """Make set ``b``, of the elements ``members``, part of set ``a``."""
    for v in members:
        leave_groups(rules, state.occupied, v, b)
        enter_groups(rules, state.occupied, v, a)
        state.labels[v] = a
    state.next[state.last[a]] = state.first[b]
    state.last[a] = state.last[b]
    state.size[a] += state.size[b]
    state.count[a] += state.count[b]
    state.size[b] = 0
    state.count[b] = 0
    state.counters[1] -= 1


@njit(cache=True, nogil=True)
def _merge_entries(graph, state, a, b, tolerance):
    """Add the sums of ``b`` to those of ``a``; entries to sets that ``a`` knows are dropped."""
    n = state.labels.shape[0]
    keys, sums, entries = state.keys, state.sums, state.entries
    e = entries[b, 0]
    while e >= 0:
        following = state.chain[e]
        c = np.int64(state.labels[graph.indices[e]])
        key = min(b, c) * n + max(b, c)
        slot = find(keys, key)
        if c != a and keys[slot] == key:
            x = sums[slot]
            remove(keys, sums, slot)
            key = min(a, c) * n + max(a, c)
            slot = find(keys, key)
            if keys[slot] == key:
                sums[slot] += x
            else:
                keys[slot], sums[slot] = key, x
                state.chain[e] = -1
                if entries[a, 0] < 0:
                    entries[a, 0] = e
                else:
                    state.chain[entries[a, 1]] = e
                entries[a, 1] = e
                entries[a, 2] += 1
            gain = sums[slot] + graph.background * state.size[a] * state.size[c]
            if gain > tolerance:
                _push(state, gain, key)
        e = following
    entries[b, 0] = -1
    entries[b, 2] = 0


@njit(cache=True, nogil=True)
def contract_greedily(graph, rules, state, tolerance, max_steps):
    """Join pairs of sets in order of gain, at most ``max_steps`` looks at the heap.

    Returns 0 when no join gains, 1 when the steps are used up, 2 when the heap is full.
    """
    n = np.int64(state.labels.shape[0])
    for _ in range(max_steps):
        if state.counters[0] == 0:
            return 0
        gain, key = _pop(state)
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
        members = _elements(state, b)
        if can_join(rules, state.occupied, state.labels, state.size, members, a):
            remove(state.keys, state.sums, slot)
            _absorb(rules, state, members, a, b)
            _merge_entries(graph, state, a, b, tolerance)
    return 1
