"""Local search for partitions over a dense symmetric matrix of scores.

``table[c, v]`` is the sum of the scores of element ``v`` with the elements of set ``c``
(without ``v`` itself), so a move of ``v`` from its set ``a`` to ``c`` gains
``table[c, v] - table[a, v]``. A move updates two rows, contiguously; looking at every move of
a block of elements reads the table contiguously, too. Rows are recycled: the first
``counters[0]`` entries of ``slots`` are the rows in use.

Scores are single or double, and so is the table, which therefore travels beside the view of
the other arrays. For annealing, both may be small integers.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from relatum.kernels.partition.rules cimport (
    RulesView, can_enter, can_exchange, can_join, enter_groups, leave_groups
)
from relatum.kernels.watch cimport Watch, is_over

cdef enum:
    BLOCK = 256


cdef class DenseView:
    """The arrays of a `DenseState` but for the table, as kernels read them."""

    def __init__(self, state):
        (
            self.labels, _, self.own, self.size, self.slots, self.place, self.counters,
            self.occupied,
        ) = state[:]


cdef void _move_row(DenseView state, int64_t c, int64_t k) noexcept nogil:
    """Exchange row ``c`` and the one at place ``k`` of the slots."""
    cdef int32_t i = state.place[c], other = state.slots[k]
    state.slots[k], state.slots[i] = <int32_t>c, other
    state.place[c], state.place[other] = <int32_t>k, i


cdef void _open_row(DenseView state, int64_t c) noexcept nogil:
    """Put row ``c`` among the rows in use."""
    _move_row(state, c, state.counters[0])
    state.counters[0] += 1


cdef void _close_row(DenseView state, total_t[:, ::1] table, int64_t c) noexcept nogil:
    """Put row ``c`` among the free rows, and clear the rounding errors it gathered."""
    cdef int64_t u
    state.counters[0] -= 1
    _move_row(state, c, state.counters[0])
    state.size[c] = 0
    for u in range(table.shape[1]):
        table[c, u] = 0


cdef void _relocate(
    const term_t[:, ::1] weights, RulesView rules, DenseView state, total_t[:, ::1] table,
    int64_t v, int64_t c
) noexcept nogil:
    """Move element ``v`` (or insert it, where its label is -1) into the set of row ``c``."""
    cdef int32_t[::1] labels = state.labels
    cdef double[::1] own = state.own
    cdef int32_t a = labels[v], to = <int32_t>c, sign
    cdef int64_t u
    for u in range(labels.shape[0]):
        sign = <int32_t>(labels[u] == to) - <int32_t>(labels[u] == a)
        own[u] += <double>weights[v, u] * <double>sign
    relocate_into(weights, rules, state, table, v, c)
    own[v] = table[c, v]


cdef void relocate_into(
    const term_t[:, ::1] weights, RulesView rules, DenseView state, total_t[:, ::1] table,
    int64_t v, int64_t c
) noexcept nogil:
    """Move or insert like `relocate`, but leave ``state.own`` as it is."""
    cdef int64_t a = state.labels[v], u
    cdef total_t kept = table[c, v], left, x
    if a < 0:
        for u in range(table.shape[1]):
            table[c, u] += <total_t>weights[v, u]
    else:
        left = table[a, v]
        for u in range(table.shape[1]):
            x = <total_t>weights[v, u]
            table[c, u] += x
            table[a, u] -= x
        table[a, v] = left
        leave_groups(rules, state, v, a)
        state.size[a] -= rules.sizes[v]
        if state.size[a] == 0:
            _close_row(state, table, a)
    table[c, v] = kept
    state.labels[v] = <int32_t>c
    if state.size[c] == 0:
        _open_row(state, c)
    state.size[c] += rules.sizes[v]
    enter_groups(rules, state, v, c)


def relocate(const weight_t[:, ::1] weights, rules, state, int64_t v, int64_t c):
    """Move element ``v`` (or insert it, where its label is -1) into the set of row ``c``."""
    cdef double[:, ::1] table = state.table
    _relocate(weights, RulesView(rules), DenseView(state), table, v, c)


def relocate_loosely(const weight_t[:, ::1] weights, rules, state, int64_t v, int64_t c):
    """Move or insert like `relocate`, but leave ``state.own`` as it is."""
    cdef double[:, ::1] table = state.table
    relocate_into(weights, RulesView(rules), DenseView(state), table, v, c)


cdef int64_t _best_set(
    RulesView rules, DenseView state, const double[:, ::1] table, int64_t v, double threshold
) noexcept nogil:
    """Row of the best set other than its own that ``v`` may enter above ``threshold``, or -1.

    A new set of ``v`` alone is worth 0. Sets a counter where that was best but no row is free.
    """
    cdef double best = threshold
    cdef int64_t at = -1, a = state.labels[v], k = state.counters[0], i, c
    cdef bint alone = a >= 0 and state.size[a] == rules.sizes[v]
    if best < 0.0 and not alone:
        if k < state.size.shape[0]:
            best, at = 0.0, state.slots[k]
        else:
            state.counters[1] += 1
    for i in range(k):
        c = state.slots[i]
        if table[c, v] <= best or c == a:
            continue
        if can_enter(rules, state, v, c):
            best, at = table[c, v], c
    return at


def insert(
    const weight_t[:, ::1] weights, rules, state, const int64_t[::1] order, int64_t begin
):
    """Insert elements, in order, each into the set that gains most or into a new one.

    Returns the position in ``order`` that was reached: less than its length if rows ran out.
    """
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef double[:, ::1] table = state.table
    cdef int64_t i, v, c
    with nogil:
        for i in range(begin, order.shape[0]):
            v = order[i]
            if s.labels[v] >= 0:
                continue
            c = _best_set(r, s, table, v, -INFINITY)
            if c < 0 or s.counters[1] > 0:
                break
            _relocate(weights, r, s, table, v, c)
        else:
            i = order.shape[0]
    return i


def _load(
    const term_t[:, ::1] weights, rules, state, total_t[:, ::1] table, const int64_t[::1] labels
):
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef int64_t v
    with nogil:
        for v in range(labels.shape[0]):
            if labels[v] >= 0:
                _relocate(weights, r, s, table, v, labels[v])


def load_labels(weights, rules, state, labels):
    """Insert every element whose label is not negative into the row of that number."""
    _load(weights, rules, state, state.table, labels)


cdef int64_t _move_sweeps(
    const weight_t[:, ::1] weights, RulesView rules, DenseView state, double[:, ::1] table,
    double tolerance, int64_t first_block, int64_t max_sweeps, Watch watch
) noexcept nogil:
    cdef int64_t n = state.labels.shape[0]
    cdef int64_t n_blocks = (n + BLOCK - 1) // BLOCK, quiet = 0
    cdef int64_t sweep, b, begin, width, i, j, c, v
    cdef double[BLOCK] best
    cdef bint moved
    for sweep in range(max_sweeps):
        for b in range(n_blocks):
            begin = ((first_block + b) % n_blocks) * BLOCK
            width = min(begin + BLOCK, n) - begin
            for j in range(width):
                best[j] = 0.0
            for i in range(state.counters[0]):
                c = state.slots[i]
                for j in range(width):
                    best[j] = max(best[j], table[c, begin + j])
            moved = False
            for j in range(width):
                v = begin + j
                # once an element moved, the block's maxima are hints only: look again
                if moved or best[j] - state.own[v] > tolerance:
                    c = _best_set(rules, state, table, v, state.own[v] + tolerance)
                    if c >= 0:
                        _relocate(weights, rules, state, table, v, c)
                        moved = True
            quiet = 0 if moved else quiet + 1
            if quiet >= n_blocks:
                return sweep
            if is_over(watch, state.counters[0] * (width if not moved else 4 * n)):
                return max_sweeps
    return max_sweeps


def move_sweeps(
    const weight_t[:, ::1] weights, rules, state, double tolerance, int64_t first_block,
    int64_t max_sweeps, expired=None
):
    """Move single elements to better sets, sweep after sweep, until none gains.

    Returns the number of sweeps used; fewer than ``max_sweeps`` means a local optimum
    (unless rows ran out: ``counters[1]``). Ends before if ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef double[:, ::1] table = state.table
    cdef int64_t used
    with nogil:
        used = _move_sweeps(weights, r, s, table, tolerance, first_block, max_sweeps, watch)
    watch.close()
    return used


cdef int64_t _gaining_partner(
    const weight_t[:, ::1] weights, RulesView rules, DenseView state, const double[:, ::1] table,
    const double[::1] column, int64_t v, int64_t begin, double tolerance
) noexcept nogil:
    """First element from ``begin`` on, before ``v``, that ``v`` may and should exchange with."""
    cdef int64_t a = state.labels[v], u
    cdef double gain
    for u in range(begin, v):
        gain = column[state.labels[u]] + table[a, u] - state.own[u] - 2.0 * <double>weights[v, u]
        if gain <= tolerance or state.labels[u] == a:
            continue
        if can_exchange(rules, state, v, u):
            return u
    return -1


def exchange_sweep(const weight_t[:, ::1] weights, rules, state, double tolerance, expired=None):
    """Let pairs of elements of different sets change places where that gains; one sweep.

    Where sets are full, or hold one element per group, no single element can move. Returns
    the number of exchanges. Ends before if ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef double[:, ::1] table = state.table
    cdef double[::1] column = np.empty(s.size.shape[0])
    cdef int64_t count = 0, v, u, begin, a, i, c
    with nogil:
        for v in range(s.labels.shape[0]):
            begin = 0
            if is_over(watch, 8 * v + s.counters[0]):
                break
            while begin < v:
                a = s.labels[v]
                for i in range(s.counters[0]):
                    c = s.slots[i]
                    column[c] = table[c, v] - s.own[v]
                u = _gaining_partner(weights, r, s, table, column, v, begin, tolerance)
                if u < 0:
                    break
                c = s.labels[u]
                _relocate(weights, r, s, table, v, c)
                _relocate(weights, r, s, table, u, a)
                enter_groups(r, s, v, c)  # the other took a common group along
                count += 1
                begin = u + 1
                is_over(watch, 8 * s.labels.shape[0])  # answered for the next element
    watch.close()
    return count


cdef class _Joins:
    """Sets that may be joined, the gains of joining two of them, and the best gain of each.

    Gains are below the diagonal of a square; ``best[i]`` is the largest of row ``i``, in column
    ``at[i]``.
    """

    cdef int64_t count
    cdef int64_t[::1] rows, at, members
    cdef double[:, ::1] gain
    cdef double[::1] best

    def __init__(self, DenseView state, int64_t least):
        cdef int64_t capacity = state.size.shape[0], n = state.labels.shape[0], u, c
        cdef int64_t[:, ::1] scratch = np.zeros((3, max(n, capacity)), np.int64)
        self.rows, self.at, self.members = scratch[0], scratch[1], scratch[2]
        for u in range(n):
            self.at[state.labels[u]] += 1
        for c in range(capacity):
            if self.at[c] >= least:
                self.rows[self.count] = c
                self.count += 1
        if self.count > 1:
            self.gain = np.zeros((self.count + 1, self.count))
            self.best = self.gain[self.count]


cdef void _sum_gains(
    DenseView state, const double[:, ::1] table, _Joins joins, Watch watch
) noexcept nogil:
    """Add up the gains, and find the best of each set."""
    cdef int64_t[::1] index = joins.at
    cdef int64_t i, j, u, row
    for i in range(index.shape[0]):
        index[i] = joins.count
    for i in range(joins.count):
        index[joins.rows[i]] = i
    for u in range(table.shape[1]):
        joins.members[u] = index[state.labels[u]]
    for i in range(joins.count):
        if is_over(watch, 2 * table.shape[1]):
            return
        row = joins.rows[i]
        for u in range(table.shape[1]):
            j = joins.members[u]
            if j < i:
                joins.gain[i, j] += table[row, u]
    for i in range(joins.count):
        _best_gain(joins, i)


cdef void _best_gain(_Joins joins, int64_t i) noexcept nogil:
    """Find the best gain of a row; a stretch without a better one is skipped as a whole."""
    cdef const double* row = &joins.gain[i, 0]  # half the time of joins is spent here
    cdef double best = -INFINITY
    cdef int64_t at = 0, begin, end, j
    cdef bint better
    for begin in range(0, i, 32):
        end, better = min(begin + 32, i), False
        for j in range(begin, end):
            better |= row[j] > best
        if better:
            for j in range(begin, end):
                if row[j] > best:
                    best, at = row[j], j
    joins.best[i], joins.at[i] = best, at


cdef void _merge_gains(_Joins joins, int64_t i, int64_t j) noexcept nogil:
    """Set ``i`` became part of set ``j`` < ``i``: add its gains, and retire its row."""
    cdef double best
    cdef int64_t r
    for r in range(j):
        joins.gain[j, r] += joins.gain[i, r]
    for r in range(j + 1, i):
        joins.gain[r, j] += joins.gain[i, r]
    for r in range(i):
        joins.gain[i, r] = -INFINITY
    for r in range(i + 1, joins.count):
        joins.gain[r, j] += joins.gain[r, i]
        joins.gain[r, i] = -INFINITY
    joins.best[i] = -INFINITY
    _best_gain(joins, j)
    for r in range(j + 1, joins.count):
        best = joins.best[r]
        if best == -INFINITY:
            continue
        if joins.at[r] == i or joins.at[r] == j:
            _best_gain(joins, r)
        elif joins.gain[r, j] > best:
            joins.best[r], joins.at[r] = joins.gain[r, j], j


cdef void _join(
    RulesView rules, DenseView state, double[:, ::1] table, const int64_t[::1] members,
    int64_t count, int64_t a
) noexcept nogil:
    """Join the set of the first ``count`` elements ``members`` into set ``a``."""
    cdef int64_t b = state.labels[members[0]], u, i
    for u in range(table.shape[1]):
        table[a, u] += table[b, u]
    for i in range(count):
        leave_groups(rules, state, members[i], b)
        enter_groups(rules, state, members[i], a)
        state.labels[members[i]] = <int32_t>a
    state.size[a] += state.size[b]
    _close_row(state, table, b)
    for u in range(table.shape[1]):
        state.own[u] = table[a, u] if state.labels[u] == a else state.own[u]


cdef int64_t _join_best(
    RulesView rules, DenseView state, double[:, ::1] table, _Joins joins, double tolerance,
    Watch watch
) noexcept nogil:
    cdef int64_t done = 0, i, j, r, u, a, b, count
    cdef double top
    _sum_gains(state, table, joins, watch)
    while not is_over(watch, 8 * joins.count + 4 * table.shape[1]):
        i, top = -1, tolerance
        for r in range(joins.count):
            if joins.best[r] > top:
                top, i = joins.best[r], r
        if i < 0:
            break
        j = joins.at[i]
        a, b, count = joins.rows[j], joins.rows[i], 0
        for u in range(table.shape[1]):
            if state.labels[u] == b:
                joins.members[count] = u
                count += 1
        if can_join(rules, state, joins.members, count, a):
            _join(rules, state, table, joins.members, count, a)
            _merge_gains(joins, i, j)
            done += 1
        else:
            joins.gain[i, j] = -INFINITY
            _best_gain(joins, i)
    return done


def join_sets(rules, state, double tolerance, int64_t least, expired=None):
    """Join pairs of sets, the best first, until none gains; returns the number of joins.

    Sets of fewer than ``least`` elements are left alone: an element by itself joins a set by a
    move, too, and without them the square of gains is small. Ends before if ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef RulesView r = RulesView(rules)
    cdef DenseView s = DenseView(state)
    cdef double[:, ::1] table = state.table
    cdef _Joins joins = _Joins(s, least)
    cdef int64_t done = 0
    if joins.count > 1:
        with nogil:
            done = _join_best(r, s, table, joins, tolerance, watch)
    watch.close()
    return done


def partition_value(const weight_t[:, ::1] weights, labels):
    """Sum of the scores of the pairs inside sets."""
    cdef const int64_t[::1] label = np.ascontiguousarray(labels, np.int64)
    cdef int64_t n = label.shape[0], m = 0, v, c, i
    cdef double total = 0.0, part
    for v in range(n):
        m = max(m, label[v] + 1)
    cdef int64_t[:, ::1] scratch = np.zeros((3, max(n, m + 1)), np.int64)
    cdef int64_t[::1] begin = scratch[0], end = scratch[1], members = scratch[2]
    with nogil:
        for v in range(n):
            begin[label[v] + 1] += 1
        for c in range(m):
            begin[c + 1] += begin[c]
            end[c] = begin[c]
        for v in range(n):
            part, c = 0.0, label[v]
            for i in range(begin[c], end[c]):  # the elements of its set before it
                part += <double>weights[v, members[i]]
            members[end[c]] = v
            end[c] += 1
            total += part
    return total


def contract_dense(const weight_t[:, ::1] weights, const int64_t[::1] labels, int64_t m):
    """Scores between the ``m`` sets of a partition; the diagonal is the value inside sets."""
    out = np.zeros((m, m))
    cdef double[:, ::1] into = out
    cdef int64_t n = labels.shape[0], v, u, c
    with nogil:
        for v in range(n):
            c = labels[v]
            for u in range(v):
                into[c, labels[u]] += <double>weights[v, u]
            for u in range(v + 1, n):
                into[c, labels[u]] += <double>weights[v, u]
        for c in range(m):
            into[c, c] *= 0.5
    return out
