"""Kernighan and Lin's chains of moves between two sets, with joins.

For two sets (one may be new and empty) elements change sides one after another, each time the
one that gains most or loses least, each once; the best prefix of the chain is kept, or the
two sets are joined, if that gains more. The scores are a dense matrix, or, where that has no
rows, a graph of listed pairs and a background.
"""

import numpy as np

from relatum.kernels.partition.records import Chains
from relatum.kernels.partition.sparse import new_sparse_state

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t

from relatum.kernels.partition.dense cimport weight_t
from relatum.kernels.partition.rules cimport (
    RulesView, SetsView, can_enter, can_join, enter_groups
)
from relatum.kernels.partition.sparse cimport GraphView, SparseView, relocate_listed


cdef class ChainsView(SparseView):
    """The arrays of `Chains`, as kernels read them, and more scratch space.

    ``members`` are the elements that may change sides now, ``m`` of them. Of each: the score with
    the other set minus that with its own, the set it was in, and whether it may still move.
    """

    cdef int32_t[::1] first, next, previous, local, was
    cdef int64_t[::1] changed, members, order, moving
    cdef double[::1] diff
    cdef uint8_t[::1] open
    cdef int64_t m

    def __init__(self, chains):
        state, self.first, self.next, self.previous, self.changed, self.local = chains[:]
        SparseView.__init__(self, state)
        n = self.labels.shape[0]
        cdef int64_t[:, ::1] scratch = np.empty((3, n), np.int64)
        self.members, self.order, self.moving = scratch[0], scratch[1], scratch[2]
        self.diff, self.was, self.open = np.empty(n), np.empty(n, np.int32), np.empty(n, np.uint8)


def new_chains(rules, labels):
    """State of a feasible partition whose labels lie in [0, n)."""
    first, following, previous, local = np.full((4, labels.shape[0]), -1, np.int32)
    changed = np.zeros(labels.shape[0], np.int64)
    state = new_sparse_state(rules, labels)
    chains = Chains(state, first, following, previous, changed, local)
    cdef ChainsView view = ChainsView(chains)
    cdef int64_t v
    with nogil:
        for v in range(view.first.shape[0] - 1, -1, -1):
            _link(view, v, view.labels[v])
    return chains


cdef void _link(ChainsView chains, int64_t v, int64_t c) noexcept nogil:
    cdef int32_t head = chains.first[c]
    chains.next[v], chains.previous[v] = head, -1
    if head >= 0:
        chains.previous[head] = <int32_t>v
    chains.first[c] = <int32_t>v


cdef void _move(RulesView rules, ChainsView chains, int64_t v, int64_t c) noexcept nogil:
    cdef int32_t before = chains.previous[v], after = chains.next[v]
    if before >= 0:
        chains.next[before] = after
    else:
        chains.first[chains.labels[v]] = after
    if after >= 0:
        chains.previous[after] = before
    relocate_listed(rules, chains, v, c)
    _link(chains, v, c)


cdef void _set_side(RulesView rules, ChainsView chains, int64_t v, int64_t c) noexcept nogil:
    """Move ``v`` to ``c``, one of two sets whose numbers stay reserved while one is empty."""
    cdef int64_t top = chains.counters[0] - 1, i = top
    if chains.size[c] == 0:
        # it was put on the stack of free numbers when it emptied, or was on top as a new set
        while chains.free[i] != c:
            i -= 1
        chains.free[i], chains.free[top] = chains.free[top], chains.free[i]
    _move(rules, chains, v, c)


cdef void _first_fit(
    RulesView rules, SetsView sets, const int64_t[::1] components, int64_t tries,
    int64_t[::1] latest, int64_t[::1] before
) noexcept nogil:
    cdef int64_t n = components.shape[0], count = 0, v, c, tried
    for v in range(n):
        sets.labels[v], sets.size[v], latest[v] = -1, 0, -1
    for v in range(n):
        c, tried = latest[components[v]], 0
        while c >= 0 and not can_enter(rules, sets, v, c):
            tried += 1
            c = before[c] if tried < tries else -1
        if c < 0:
            c = count
            count += 1
            before[c], latest[components[v]] = latest[components[v]], c
        sets.labels[v] = <int32_t>c
        sets.size[c] += rules.sizes[v]
        enter_groups(rules, sets, v, c)


def first_fit(rules, occupied, const int64_t[::1] components, int64_t tries):
    """Cut components into sets that the rules allow; returns labels.

    Elements enter, in turn, the first of the latest ``tries`` sets of their component that
    they may enter, or a new one.
    """
    labels = np.empty(components.shape[0], np.int32)
    size, last, earlier = np.empty((3, components.shape[0]), np.int64)
    cdef RulesView r = RulesView(rules)
    cdef SetsView sets = SetsView(labels, size, occupied)
    cdef int64_t[::1] latest = last, before = earlier
    with nogil:
        _first_fit(r, sets, components, tries, latest, before)
    return labels.astype(np.int64)


cdef int64_t _append_members(ChainsView chains, int64_t c, int64_t count) noexcept nogil:
    cdef int64_t v = chains.first[c]
    while v >= 0:
        chains.members[count] = v
        count += 1
        v = chains.next[v]
    return count


cdef void _choose_members(
    GraphView graph, ChainsView chains, int64_t a, int64_t b
) noexcept nogil:
    """Elements that may change sides: all; or, of listed pairs, the smaller set and its border.

    The border are the elements of the larger set with a listed pair to the smaller one. A
    single set is looked at as a whole.
    """
    cdef int64_t large, inner, count, i, v, e, u
    if graph.indptr.shape[0] == 1 or chains.size[a] == 0 or chains.size[b] == 0:
        chains.m = _append_members(chains, b, _append_members(chains, a, 0))
        return
    large = a if chains.size[a] >= chains.size[b] else b
    inner = _append_members(chains, a + b - large, 0)
    count = inner
    for i in range(inner):
        v = chains.members[i]
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            u = graph.indices[e]
            if chains.labels[u] == large and chains.local[u] < 0:
                chains.local[u] = 0
                chains.members[count] = u
                count += 1
    chains.m = count


cdef double _differences(
    const weight_t[:, ::1] weights, GraphView graph, ChainsView chains, int64_t a, int64_t b
) noexcept nogil:
    """Scores of each member with the other set minus those with its own; returns the join's."""
    cdef double join = 0.0, own, other
    cdef int64_t i, j, v, u, e, c, label
    for i in range(chains.m):
        v = chains.members[i]
        own, other, label = 0.0, 0.0, chains.labels[v]
        if weights.shape[0] > 0:
            for j in range(chains.m):
                u = chains.members[j]
                if u != v:
                    if chains.labels[u] == label:
                        own += <double>weights[v, u]
                    else:
                        other += <double>weights[v, u]
        else:
            for e in range(graph.indptr[v], graph.indptr[v + 1]):
                c = chains.labels[graph.indices[e]]
                if c == label:
                    own += graph.excess[e]
                elif c == a or c == b:
                    other += graph.excess[e]
        chains.diff[i] = other - own
        join += 0.5 * other
    return join


cdef void _update(
    const weight_t[:, ::1] weights, GraphView graph, ChainsView chains, int64_t i
) noexcept nogil:
    """Correct the differences after member ``i`` changed sides."""
    cdef int64_t v = chains.members[i], j, u, e
    cdef int32_t side = chains.labels[v]
    cdef double x
    if weights.shape[0] > 0:
        for j in range(chains.m):
            u = chains.members[j]
            x = 2.0 * <double>weights[v, u]
            chains.diff[j] += -x if chains.labels[u] == side else x
    else:
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            u = graph.indices[e]
            j = chains.local[u]
            if j >= 0:
                x = 2.0 * graph.excess[e]
                chains.diff[j] += -x if chains.labels[u] == side else x


cdef int64_t _best_member(
    GraphView graph, RulesView rules, ChainsView chains, int64_t both, double* gain
) noexcept nogil:
    """Return the open member whose move gains most, or -1; ``both`` is the sum of the sets."""
    cdef double top = -INFINITY, d
    cdef int64_t at = -1, i, v, s, other
    for i in range(chains.m):
        if chains.open[i]:
            v = chains.members[i]
            other = both - chains.was[i]
            s = rules.sizes[v]
            d = chains.diff[i]
            if graph.background != 0.0:
                d += graph.background * s * (chains.size[other] - chains.size[chains.was[i]] + s)
            if d > top and can_enter(rules, chains, v, other):
                at, top = i, d
    gain[0] = top
    return at


cdef bint _join(
    RulesView rules, ChainsView chains, int64_t a, int64_t b, int64_t kept
) noexcept nogil:
    """Join two sets, as they were before the ``kept`` steps of a chain, if the rules allow it."""
    cdef int64_t k, i, count = 0, into, out
    for k in range(kept):
        i = chains.order[k]
        _set_side(rules, chains, chains.members[i], chains.was[i])
    into, out = (a, b) if chains.size[a] >= chains.size[b] else (b, a)
    for i in range(chains.m):
        if chains.was[i] == out:
            chains.moving[count] = chains.members[i]
            count += 1
    if can_join(rules, chains, chains.moving, count, into):
        for k in range(count):
            _move(rules, chains, chains.moving[k], into)
        return True
    for k in range(kept):
        i = chains.order[k]
        _set_side(rules, chains, chains.members[i], a + b - chains.was[i])
    return False


cdef double _chain(
    const weight_t[:, ::1] weights, GraphView graph, RulesView rules, ChainsView chains,
    int64_t a, int64_t b, double tolerance, int64_t patience
) noexcept nogil:
    """Improve one pair of sets; returns the gain (0 if nothing changed)."""
    cdef double total = 0.0, best = 0.0, join, top
    cdef int64_t kept = 0, steps = 0, i, k
    _choose_members(graph, chains, a, b)
    join = _differences(weights, graph, chains, a, b)
    join += graph.background * chains.size[a] * chains.size[b]
    for i in range(chains.m):
        chains.open[i] = True
        chains.was[i] = chains.labels[chains.members[i]]
        chains.local[chains.members[i]] = <int32_t>i
    while steps < chains.m:
        i = _best_member(graph, rules, chains, a + b, &top)
        if i < 0:
            break
        chains.open[i] = False
        total += top
        chains.order[steps] = i
        steps += 1
        _set_side(rules, chains, chains.members[i], a + b - chains.was[i])
        _update(weights, graph, chains, i)
        if total > best + tolerance:
            best, kept = total, steps
        elif steps - kept > patience:
            break
    for i in range(chains.m):
        chains.local[chains.members[i]] = -1
    for k in range(steps - 1, kept - 1, -1):
        i = chains.order[k]
        _set_side(rules, chains, chains.members[i], chains.was[i])
    if join > best + tolerance and _join(rules, chains, a, b, kept):
        return join
    return best


def improve_pairs(
    const weight_t[:, ::1] weights, graph, rules, chains, const int64_t[:, ::1] pairs,
    int64_t begin, int64_t number, settings
):
    """Improve pairs of sets in turn; a pair (c, -1) asks for a new set split off ``c``.

    Pairs of which neither set changed since the pass before ``number`` are skipped. Stops
    after a piece of work. ``settings`` are tolerance, patience and work. Returns the position
    reached in ``pairs`` and the gain.
    """
    cdef GraphView g = GraphView(graph)
    cdef RulesView r = RulesView(rules)
    cdef ChainsView view = ChainsView(chains)
    cdef double tolerance, work, gain = 0.0, spent = 0.0, both, x
    cdef int64_t patience, p = begin, a, b
    tolerance, patience, work = settings
    with nogil:
        while p < pairs.shape[0] and spent <= work:
            a, b = pairs[p, 0], pairs[p, 1]
            p += 1
            if view.size[a] == 0 or (b >= 0 and view.size[b] == 0):
                continue
            if view.changed[a] < number - 1 and (b < 0 or view.changed[b] < number - 1):
                continue
            if b < 0:
                if view.counters[0] == 0:
                    continue
                b = view.free[view.counters[0] - 1]
            x = _chain(weights, g, r, view, a, b, tolerance, patience)
            if x > 0.0:
                gain += x
                view.changed[a] = number
                view.changed[b] = number
            both = <double>(view.size[a] + view.size[b])
            spent += both * both + 1.0
    return p, gain
