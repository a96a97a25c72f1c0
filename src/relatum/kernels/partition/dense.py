"""Local search for partitions over a dense symmetric matrix of scores.

``table[c, v]`` is the sum of the scores of element ``v`` with the elements of set ``c``
(without ``v`` itself), so a move of ``v`` from its set ``a`` to ``c`` gains
``table[c, v] - table[a, v]``. A move updates two rows, contiguously; looking at every move of
a block of elements reads the table contiguously, too. Rows are recycled: the first
``counters[0]`` entries of ``slots`` are the rows in use.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from relatum.kernels.partition.rules import (
    Rules,
    can_enter,
    can_exchange,
    can_join,
    enter_groups,
    leave_groups,
    new_occupancy,
)

_BLOCK = 256


class DenseState(NamedTuple):
    """A partition, and the sums that moves need."""

    labels: np.ndarray  # int32 (n,): row of the table, -1 where not yet inserted
    table: np.ndarray  # float64 (capacity, n); float32 where single precision will do
    own: np.ndarray  # float64 (n,): table[labels[v], v]
    size: np.ndarray  # int64 (capacity,): sum of the sizes of the elements of a set
    slots: np.ndarray  # int32 (capacity,): a permutation of the rows, those in use first
    place: np.ndarray  # int32 (capacity,): its inverse
    counters: np.ndarray  # int64 (2,): rows in use; moves that found no free row
    occupied: np.ndarray  # int64: see `rules`


def new_state(rules: Rules, capacity: int, dtype: type = np.float64) -> DenseState:
    """State in which no element has been inserted yet, with sums of some type."""
    n = rules.sizes.shape[0]
    return DenseState(
        np.full(n, -1, np.int32),
        np.zeros((capacity, n), dtype),
        np.zeros(n),
        np.zeros(capacity, np.int64),
        np.arange(capacity, dtype=np.int32),
        np.arange(capacity, dtype=np.int32),
        np.zeros(2, np.int64),
        new_occupancy(rules),
    )


def grow_state(state: DenseState, capacity: int) -> DenseState:
    """Return the same state with room for ``capacity`` sets."""
    n, old = state.labels.shape[0], state.size.shape[0]
    more = np.arange(old, capacity, dtype=np.int32)
    state.counters[1] = 0
    return state._replace(
        table=np.concatenate([state.table, np.zeros((len(more), n), state.table.dtype)]),
        size=np.concatenate([state.size, np.zeros(len(more), np.int64)]),
        slots=np.concatenate([state.slots, more]),
        place=np.concatenate([state.place, more]),
    )


@njit(cache=True, nogil=True)
def _move_row(state, c, k):
    """Exchange row ``c`` and the one at place ``k`` of the slots."""
    i, other = state.place[c], state.slots[k]
    state.slots[k], state.slots[i] = c, other
    state.place[c], state.place[other] = k, i


@njit(cache=True, nogil=True)
def _open_row(state, c):
    """Put row ``c`` among the rows in use."""
    _move_row(state, c, state.counters[0])
    state.counters[0] += 1


@njit(cache=True, nogil=True)
def _close_row(state, c):
    """Put row ``c`` among the free rows, and clear the rounding errors it gathered."""
    state.counters[0] -= 1
    _move_row(state, c, state.counters[0])
    state.size[c] = 0
    state.table[c, :] = 0.0


@njit(cache=True, nogil=True)
def relocate(weights, rules, state, v, c):
    """Move element ``v`` (or insert it, where its label is -1) into the set of row ``c``."""
    a = state.labels[v]
    row, own, labels = weights[v], state.own, state.labels
    for u in range(labels.shape[0]):
        label = labels[u]
        own[u] += np.float64(row[u]) * (np.float64(label == c) - np.float64(label == a))
    relocate_loosely(weights, rules, state, v, c)
    own[v] = state.table[c, v]


@njit(cache=True, nogil=True)
def relocate_loosely(weights, rules, state, v, c):
    """Move or insert like `relocate`, but leave ``state.own`` as it is."""
    a = state.labels[v]
    row, into = weights[v], state.table[c]
    kept = into[v]
    if a < 0:
        for u in range(into.shape[0]):
            into[u] += row[u]
    else:
        out = state.table[a]
        left = out[v]
        for u in range(into.shape[0]):
            x = row[u]
            into[u] += x
            out[u] -= x
        out[v] = left
        leave_groups(rules, state.occupied, v, a)
        state.size[a] -= rules.sizes[v]
        if state.size[a] == 0:
            _close_row(state, a)
    into[v] = kept
    state.labels[v] = c
    if state.size[c] == 0:
        _open_row(state, c)
    state.size[c] += rules.sizes[v]
    enter_groups(rules, state.occupied, v, c)


@njit(cache=True, nogil=True)
def _best_set(rules, state, v, threshold):
    """Row of the best set other than its own that ``v`` may enter above ``threshold``, or -1.

    A new set of ``v`` alone is worth 0. Sets a counter where that was best but no row is free.
    """
    best, at, a, k = threshold, -1, state.labels[v], state.counters[0]
    alone = a >= 0 and state.size[a] == rules.sizes[v]
    if best < 0.0 and not alone:
        if k < state.size.shape[0]:
            best, at = 0.0, state.slots[k]
        else:
            state.counters[1] += 1
    for i in range(k):
        c = state.slots[i]
        x = state.table[c, v]
        if x <= best or c == a:
            continue
        if can_enter(rules, state.occupied, state.labels, state.size, v, c):
            best, at = x, c
    return at


@njit(cache=True, nogil=True)
def insert(weights, rules, state, order, begin):
    """Insert elements, in order, each into the set that gains most or into a new one.

    Returns the position in ``order`` that was reached: less than its length if rows ran out.
    """
    for i in range(begin, order.shape[0]):
        v = order[i]
        if state.labels[v] >= 0:
            continue
        c = _best_set(rules, state, v, -np.inf)
        if c < 0 or state.counters[1] > 0:
            return i
        relocate(weights, rules, state, v, c)
    return order.shape[0]


@njit(cache=True, nogil=True)
def load_labels(weights, rules, state, labels):
    """Insert every element whose label is not negative into the row of that number."""
    for v in range(labels.shape[0]):
        if labels[v] >= 0:
            relocate(weights, rules, state, v, labels[v])


@njit(cache=True, nogil=True)
def move_sweeps(weights, rules, state, tolerance, first_block, max_sweeps):
    """Move single elements to better sets, sweep after sweep, until none gains.

    Returns the number of sweeps used; fewer than ``max_sweeps`` means a local optimum
    (unless rows ran out: ``counters[1]``).
    """
    n = state.labels.shape[0]
    n_blocks = (n + _BLOCK - 1) // _BLOCK
    best = np.empty(_BLOCK)
    quiet = 0
    for sweep in range(max_sweeps):
        for b in range(n_blocks):
            begin = ((first_block + b) % n_blocks) * _BLOCK
            end = min(begin + _BLOCK, n)
            width = end - begin
            best[:] = 0.0
            for i in range(state.counters[0]):
                row = state.table[state.slots[i], begin:end]
                for j in range(width):
                    best[j] = max(best[j], row[j])
            moved = False
            for j in range(width):
                v = begin + j
                # once an element moved, the block's maxima are hints only: look again
                if moved or best[j] - state.own[v] > tolerance:
                    c = _best_set(rules, state, v, state.own[v] + tolerance)
                    if c >= 0:
                        relocate(weights, rules, state, v, c)
                        moved = True
            quiet = 0 if moved else quiet + 1
            if quiet >= n_blocks:
                return sweep
    return max_sweeps


@njit(cache=True, nogil=True)
def exchange_sweep(weights, rules, state, tolerance):
    """Let pairs of elements of different sets change places where that gains; one sweep.

    Where sets are full, or hold one element per group, no single element can move. Returns
    the number of exchanges.
    """
    labels, own, table = state.labels, state.own, state.table
    n = labels.shape[0]
    column = np.empty(state.size.shape[0])
    count = 0
    for v in range(n):
        begin = 0
        while begin < v:
            a, row = labels[v], weights[v]
            for i in range(state.counters[0]):
                c = state.slots[i]
                column[c] = table[c, v] - own[v]
            found = -1
            for u in range(begin, v):
                gain = column[labels[u]] + table[a, u] - own[u] - 2.0 * np.float64(row[u])
                if gain <= tolerance or labels[u] == a:
                    continue
                if can_exchange(rules, state.occupied, labels, state.size, v, u):
                    found = u
                    break
            if found < 0:
                break
            c = labels[found]
            relocate(weights, rules, state, v, c)
            relocate(weights, rules, state, found, a)
            enter_groups(rules, state.occupied, v, c)  # the other took a common group along
            count += 1
            begin = found + 1
    return count


@njit(cache=True, nogil=True)
def _join(rules, state, members, a):
    """Join the set of the elements ``members`` into set ``a``."""
    b = state.labels[members[0]]
    into, out = state.table[a], state.table[b]
    for u in range(into.shape[0]):
        into[u] += out[u]
    for v in members:
        leave_groups(rules, state.occupied, v, b)
        enter_groups(rules, state.occupied, v, a)
        state.labels[v] = a
    state.size[a] += state.size[b]
    _close_row(state, b)
    for u in range(into.shape[0]):
        if state.labels[u] == a:
            state.own[u] = into[u]


@njit(cache=True, nogil=True)
def _join_gains(state, least):
    """Rows of the sets of ``least`` elements or more, and the gains of joining them.

    Gains are below the diagonal.
    """
    count = np.zeros(state.size.shape[0], np.int64)
    for u in range(state.labels.shape[0]):
        count[state.labels[u]] += 1
    rows = np.nonzero(count >= least)[0]
    index = np.full(count.shape[0], rows.shape[0], np.int64)
    gain = np.zeros((rows.shape[0], rows.shape[0]))
    for i in range(rows.shape[0]):
        index[rows[i]] = i
    for i in range(rows.shape[0]):
        row = state.table[rows[i]]
        for u in range(row.shape[0]):
            j = index[state.labels[u]]
            if j < i:
                gain[i, j] += row[u]
    return rows, gain


@njit(cache=True, nogil=True)
def join_sets(rules, state, tolerance, least):
    """Join pairs of sets, the best first, until none gains; returns the number of joins.

    Sets of fewer than ``least`` elements are left alone: an element by itself joins a set by a
    move, too, and without them the square of gains is small.
    """
    rows, gain = _join_gains(state, least)
    k = rows.shape[0]
    best = np.empty(k)
    at = np.zeros(k, np.int64)
    for i in range(k):
        _best_gain(gain, best, at, i)
    joins = 0
    while True:
        i = -1
        top = tolerance
        for r in range(k):
            if best[r] > top:
                top, i = best[r], r
        if i < 0:
            return joins
        j = at[i]
        members = np.nonzero(state.labels == rows[i])[0]
        if can_join(rules, state.occupied, state.labels, state.size, members, rows[j]):
            _join(rules, state, members, rows[j])
            joins += 1
            _merge_gains(gain, best, at, i, j)
        else:
            gain[i, j] = -np.inf
            _best_gain(gain, best, at, i)


@njit(cache=True, nogil=True)
def _best_gain(gain, best, at, i):
    best[i] = -np.inf
    for j in range(i):
        if gain[i, j] > best[i]:
            best[i], at[i] = gain[i, j], j


@njit(cache=True, nogil=True)
def _merge_gains(gain, best, at, i, j):
    """Set ``i`` became part of set ``j`` < ``i``: add its gains, and retire its row."""
    k = best.shape[0]
    for r in range(k):
        if r != i and r != j:
            x = gain[max(i, r), min(i, r)]
            gain[max(j, r), min(j, r)] += x
    for r in range(k):
        gain[max(i, r), min(i, r)] = -np.inf
    best[i] = -np.inf
    for r in range(j, k):
        if r == j or (best[r] > -np.inf and (at[r] == i or at[r] == j)):
            _best_gain(gain, best, at, r)
        elif best[r] > -np.inf and gain[r, j] > best[r]:
            best[r], at[r] = gain[r, j], j


@njit(cache=True, nogil=True)
def partition_value(weights, labels):
    """Sum of the scores of the pairs inside sets."""
    total = 0.0
    for v in range(labels.shape[0]):
        row, label, part = weights[v], labels[v], 0.0
        for u in range(v):
            if labels[u] == label:
                part += np.float64(row[u])
        total += part
    return total


@njit(cache=True, nogil=True)
def contract_dense(weights, labels, m):
    """Scores between the ``m`` sets of a partition; the diagonal is the value inside sets."""
    n = labels.shape[0]
    out = np.zeros((m, m))
    for v in range(n):
        row, into = weights[v], out[labels[v]]
        for u in range(n):
            if u != v:
                into[labels[u]] += np.float64(row[u])
    for i in range(m):
        out[i, i] *= 0.5
    return out
