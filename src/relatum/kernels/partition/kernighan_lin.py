"""Kernighan and Lin's chains of moves between two sets, with joins.

For two sets (one may be new and empty) elements change sides one after another, each time the
one that gains most or loses least, each once; the best prefix of the chain is kept, or the
two sets are joined, if that gains more. The scores are a dense matrix, or, where that has no
rows, a graph of listed pairs and a background.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from relatum.kernels.partition.rules import Rules, can_enter, can_join, enter_groups
from relatum.kernels.partition.sparse import SparseState, new_sparse_state, relocate_sparse


class Chains(NamedTuple):
    """A partition whose sets are linked lists of their elements, and scratch space."""

    state: SparseState
    first: np.ndarray  # int32 (n,): first element of a set, -1 if empty
    next: np.ndarray  # int32 (n,)
    previous: np.ndarray  # int32 (n,)
    changed: np.ndarray  # int64 (n,): the pass in which a set last changed
    local: np.ndarray  # int32 (n,): scratch, place of an element in the chain, -1 otherwise


def new_chains(rules: Rules, labels: np.ndarray) -> Chains:
    """State of a feasible partition whose labels lie in [0, n)."""
    n = labels.shape[0]
    chains = Chains(
        new_sparse_state(rules, labels),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.int64),
        np.full(n, -1, np.int32),
    )
    _link_all(chains)
    return chains


@njit(cache=True, nogil=True)
def _link(chains, v, c):
    head = chains.first[c]
    chains.next[v], chains.previous[v] = head, -1
    if head >= 0:
        chains.previous[head] = v
    chains.first[c] = v


@njit(cache=True, nogil=True)
def _link_all(chains):
    for v in range(chains.first.shape[0] - 1, -1, -1):
        _link(chains, v, chains.state.labels[v])


@njit(cache=True, nogil=True)
def _move(rules, chains, v, c):
    a = chains.state.labels[v]
    before, after = chains.previous[v], chains.next[v]
    if before >= 0:
        chains.next[before] = after
    else:
        chains.first[a] = after
    if after >= 0:
        chains.previous[after] = before
    relocate_sparse(rules, chains.state, v, c)
    _link(chains, v, c)


@njit(cache=True, nogil=True)
def first_fit(rules, occupied, components, tries):
    """Cut components into sets that the rules allow; returns labels.

    Elements enter, in turn, the first of the latest ``tries`` sets of their component that
    they may enter, or a new one.
    """
    n = components.shape[0]
    labels, size = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    latest, before = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    count = 0
    for v in range(n):
        c, tried = latest[components[v]], 0
        while c >= 0 and not can_enter(rules, occupied, labels, size, v, c):
            tried += 1
            c = before[c] if tried < tries else -1
        if c < 0:
            c = count
            count += 1
            before[c], latest[components[v]] = latest[components[v]], c
        labels[v] = c
        size[c] += rules.sizes[v]
        enter_groups(rules, occupied, v, c)
    return labels


@njit(cache=True, nogil=True)
def _append_members(chains, c, out, count):
    v = chains.first[c]
    while v >= 0:
        out[count] = v
        count += 1
        v = chains.next[v]
    return count


@njit(cache=True, nogil=True)
def _members(graph, chains, a, b):
    """Elements that may change sides: all; or, of listed pairs, the smaller set and its border.

    The border are the elements of the larger set with a listed pair to the smaller one. A
    single set is looked at as a whole.
    """
    state = chains.state
    out = np.empty(state.size[a] + state.size[b], np.int64)
    if graph.indptr.shape[0] == 1 or state.size[a] == 0 or state.size[b] == 0:
        count = _append_members(chains, a, out, 0)
        return out[: _append_members(chains, b, out, count)]
    large, small = (a, b) if state.size[a] >= state.size[b] else (b, a)
    inner = _append_members(chains, small, out, 0)
    count = inner
    for i in range(inner):
        for e in range(graph.indptr[out[i]], graph.indptr[out[i] + 1]):
            u = graph.indices[e]
            if state.labels[u] == large and chains.local[u] < 0:
                chains.local[u] = 0
                out[count] = u
                count += 1
    return out[:count]


@njit(cache=True, nogil=True)
def _differences(weights, graph, labels, members, pair, diff):
    """Scores of each member with the other set minus those with its own; returns the join's."""
    a, b = pair
    m, join = members.shape[0], 0.0
    for i in range(m):
        v = members[i]
        own, other, label = 0.0, 0.0, labels[v]
        if weights.shape[0] > 0:
            row = weights[v]
            for u in members:
                if u != v:
                    if labels[u] == label:
                        own += np.float64(row[u])
                    else:
                        other += np.float64(row[u])
        else:
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                c = labels[graph.indices[e]]
                if c == label:
                    own += graph.excess[e]
                elif c in (a, b):
                    other += graph.excess[e]
        diff[i] = other - own
        join += 0.5 * other
    return join


@njit(cache=True, nogil=True)
def _update(weights, graph, chains, members, diff, i):
    """Correct the differences after member ``i`` changed sides."""
    v = members[i]
    side = chains.state.labels[v]
    if weights.shape[0] > 0:
        row = weights[v]
        for j in range(members.shape[0]):
            u = members[j]
            x = 2.0 * np.float64(row[u])
            diff[j] += -x if chains.state.labels[u] == side else x
    else:
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            u = graph.indices[e]
            j = chains.local[u]
            if j >= 0:
                x = 2.0 * graph.excess[e]
                diff[j] += -x if chains.state.labels[u] == side else x


@njit(cache=True, nogil=True)
def _chain(weights, graph, rules, chains, pair, tolerance, patience):
    """Improve one pair of sets; returns the gain (0 if nothing changed)."""
    a, b = pair
    state = chains.state
    members = _members(graph, chains, a, b)
    m = members.shape[0]
    diff = np.empty(m)
    was = np.empty(m, np.int32)
    order = np.empty(m, np.int64)
    join = _differences(weights, graph, state.labels, members, pair, diff)
    join += graph.background * state.size[a] * state.size[b]
    open_ = np.ones(m, np.bool_)
    for i in range(m):
        was[i] = state.labels[members[i]]
        chains.local[members[i]] = i
    total, best, kept, steps = 0.0, 0.0, 0, 0
    for step in range(m):
        at, top = -1, -np.inf
        for i in range(m):
            if open_[i]:
                v = members[i]
                other = a + b - was[i]
                s = rules.sizes[v]
                d = diff[i]
                if graph.background != 0.0:
                    d += graph.background * s * (state.size[other] - state.size[was[i]] + s)
                if d > top and can_enter(rules, state.occupied, state.labels, state.size, v, other):
                    at, top = i, d
        if at < 0:
            break
        open_[at] = False
        other = a + b - was[at]
        total += top
        order[step] = at
        steps = step + 1
        _set_side(rules, chains, members[at], other)
        _update(weights, graph, chains, members, diff, at)
        if total > best + tolerance:
            best, kept = total, steps
        elif steps - kept > patience:
            break
    for i in range(m):
        chains.local[members[i]] = -1
    for i in order[kept:steps][::-1]:
        _set_side(rules, chains, members[i], was[i])
    if join > best + tolerance:
        for i in order[:kept]:  # back to the two sets as they were
            _set_side(rules, chains, members[i], was[i])
        into, out = (a, b) if state.size[a] >= state.size[b] else (b, a)
        moving = members[was == out]
        if can_join(rules, state.occupied, state.labels, state.size, moving, into):
            for v in moving:
                _move(rules, chains, v, into)
            return join
        for i in order[:kept]:
            _set_side(rules, chains, members[i], a + b - was[i])
    return best


@njit(cache=True, nogil=True)
def _set_side(rules, chains, v, c):
    """Move ``v`` to ``c``, one of two sets whose numbers stay reserved while one is empty."""
    state = chains.state
    if state.size[c] == 0:
        # it was put on the stack of free numbers when it emptied, or was on top as a new set
        top = state.counters[0] - 1
        i = top
        while state.free[i] != c:
            i -= 1
        state.free[i], state.free[top] = state.free[top], state.free[i]
    _move(rules, chains, v, c)


@njit(cache=True, nogil=True)
def improve_pairs(weights, graph, rules, chains, pairs, begin, number, settings):
    """Improve pairs of sets in turn; a pair (c, -1) asks for a new set split off ``c``.

    Pairs of which neither set changed since the pass before ``number`` are skipped. Stops
    after a piece of work. ``settings`` are tolerance, patience and work. Returns the position
    reached in ``pairs`` and the gain.
    """
    tolerance, patience, work = settings
    state = chains.state
    gain, spent = 0.0, 0.0
    for p in range(begin, pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        if state.size[a] == 0 or (b >= 0 and state.size[b] == 0):
            continue
        recent = chains.changed[a] >= number - 1 or (b >= 0 and chains.changed[b] >= number - 1)
        if not recent:
            continue
        if b < 0:
            if state.counters[0] == 0:
                continue
            b = state.free[state.counters[0] - 1]
        x = _chain(weights, graph, rules, chains, (a, b), tolerance, patience)
        if x > 0.0:
            gain += x
            chains.changed[a] = number
            chains.changed[b] = number
        spent += np.float64(state.size[a] + state.size[b]) ** 2 + 1.0
        if spent > work:
            return p + 1, gain
    return pairs.shape[0], gain
