"""Exact linear orders of many small problems: twins, components, subsets that matter.

Everywhere ``w[a, b]`` is what it is worth that a comes before b, -inf if that is excluded
(never +inf, never nan); the value of an order is the sum of w over its pairs a before b.
Matrices are flat here, one after another: w[a, b] is ``w[at + a * n + b]``.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint64_t

from relatum.kernels.order.states cimport Scratch, borrow, give_back, order_pruned

cdef enum:
    WORD = 64  # elements at most where sets are integers


cdef inline void _mark(
    const double[::1] w, int64_t at, int64_t n, int64_t[::1] labels, int64_t begin
) noexcept nogil:
    """Label elements from `begin` on -2 if a precedence of theirs is excluded, otherwise -1."""
    cdef int64_t a, k, excluded
    for a in range(n):
        labels[begin + a] = -1
    for a in range(n):
        excluded = 0
        for k in range(n):
            excluded += w[at + a * n + k] == -INFINITY
        if excluded:
            for k in range(n):
                if k != a and w[at + a * n + k] == -INFINITY:
                    labels[begin + a] = labels[begin + k] = -2


cdef inline bint _are_twins(
    const double[::1] w, int64_t at, int64_t n, int64_t a, int64_t b
) noexcept nogil:
    """Whether two elements are worth the same beside every third, and in either order."""
    cdef int64_t k, row = at + a * n, other = at + b * n
    for k in range(n):  # rows first: most differ soon, and their elements lie side by side
        if w[row + k] != w[other + k] and k != a and k != b:
            return False
    for k in range(n):
        if w[at + k * n + a] != w[at + k * n + b] and k != a and k != b:
            return False
    return w[row + b] == w[other + a]


cdef int64_t _twin_classes(
    const double[::1] w, int64_t at, int64_t n, int64_t[::1] labels, int64_t begin
) noexcept nogil:
    """Fill in labels from `begin` on as `twin_classes` does; return the number of classes."""
    cdef int64_t count = 0, a, b
    cdef bint free
    _mark(w, at, n, labels, begin)
    for a in range(n):
        if labels[begin + a] >= 0:
            continue
        free = labels[begin + a] == -1
        labels[begin + a] = count
        if free:
            for b in range(a + 1, n):
                if labels[begin + b] == -1 and _are_twins(w, at, n, a, b):
                    labels[begin + b] = count
        count += 1
    return count


def twin_classes(w):
    """Return the class of each element, and the number of classes.

    Twins are elements that are worth the same beside every third element, and the same in
    either order of the two. The occurrences of a class are adjacent, in any order, in some
    best order (move all of them to the best placed one). Elements with an excluded
    precedence stay alone.
    """
    cdef const double[::1] flat = w.ravel()
    cdef int64_t n = len(w), count
    labels = np.empty(n, np.int64)
    cdef int64_t[::1] out = labels
    with nogil:
        count = _twin_classes(flat, 0, n, out, 0)
    return labels, count


cdef int64_t _components(const double[::1] w, int64_t n, int64_t[::1] labels) noexcept nogil:
    """Fill in labels as `order_components` does; return the number of components."""
    cdef uint64_t[WORD] reach, reached  # the elements that one reaches, and that reach it
    cdef uint64_t on, both, open = 0
    cdef int64_t a, b, k, count
    for a in range(n):
        reach[a], reached[a], labels[a] = <uint64_t>1 << a, 0, -1
        open |= reach[a]
    for a in range(n):
        on = reach[a]
        for b in range(a + 1, n):
            on |= <uint64_t>(w[a * n + b] > w[b * n + a]) << b
            reach[b] |= <uint64_t>(w[b * n + a] > w[a * n + b]) << a
        reach[a] = on
    for k in range(n):
        on = reach[k]
        for a in range(n):
            reach[a] |= on & (0 - (reach[a] >> k & 1))  # all bits or none: no branch
    for a in range(n):
        on = reach[a]
        for b in range(n):
            reached[b] |= (on >> b & 1) << a
    for count in range(n):
        # The next component: the first element that nothing outside what is done reaches.
        for a in range(n):
            if labels[a] < 0 and not open & reached[a] & ~reach[a]:
                break
        else:
            return count
        both = reach[a] & reached[a]
        open &= ~both
        for b in range(n):
            if both >> b & 1:
                labels[b] = count
    return n


def order_components(w):
    """Return the strongly connected component of each element, first to last, and their number.

    The graph has the arc ab where w[a, b] > w[b, a]. Components follow one another in a
    best order; those without an arc between them come in the order of their first
    elements wherever that is possible. For at most 64 elements (one bit each).
    """
    cdef const double[::1] flat = w.ravel()
    cdef int64_t n = len(w), count
    if n > WORD:
        raise ValueError(f"components are found of at most {WORD} elements, and there are {n}")
    labels = np.empty(n, np.int64)
    cdef int64_t[::1] out = labels
    with nogil:
        count = _components(flat, n, out)
    return labels, count


cdef class _Batch:
    """Answers, one after another, and scratch space for one problem."""

    cdef int64_t[::1] order, twins, component
    cdef uint8_t[::1] solved
    cdef Scratch scratch
    cdef double[::1] u  # what one class before another is worth
    cdef int64_t[::1] first, next  # the elements of a class: the first, and the next of each
    cdef int64_t[::1] size, labels, members  # of classes; their components; classes of one

    def __init__(self, order, twins, component, solved, int64_t n, int64_t most):
        self.order, self.twins, self.component = order, twins, component
        self.solved = solved.view(np.uint8)
        self.scratch = borrow(n, most)
        self.u = np.empty(n * n)
        cdef int64_t[:, ::1] rows = np.empty((5, n), np.int64)
        self.first, self.next, self.size = rows[0], rows[1], rows[2]
        self.labels, self.members = rows[3], rows[4]


cdef int64_t _join_twins(
    _Batch s, const double[::1] w, int64_t at, int64_t n, int64_t row
) noexcept nogil:
    """Fill in the classes of twins and what they are worth; return their number."""
    cdef int64_t count = _twin_classes(w, at, n, s.twins, row), a, p, q
    for p in range(count):
        s.first[p], s.size[p] = -1, 0
    for a in range(n - 1, -1, -1):
        p = s.twins[row + a]
        s.next[a], s.first[p] = s.first[p], a
        s.size[p] += 1
    for p in range(count):
        for q in range(count):
            s.u[p * count + q] = (
                0.0 if p == q
                else <double>s.size[p] * <double>s.size[q] * w[at + s.first[p] * n + s.first[q]]
            )
    return count


cdef void _order_small(
    _Batch s, const double[::1] w, int64_t at, int64_t n, int64_t row, int64_t most
) noexcept nogil:
    """Order the problem that begins `at` in w; its answers begin at `row`."""
    cdef int64_t classes = _join_twins(s, w, at, n, row)
    cdef int64_t components = _components(s.u, classes, s.labels)
    cdef int64_t done = row, t, m, p, q, a
    for t in range(components):
        m = 0
        for p in range(classes):
            if s.labels[p] == t:
                s.members[m] = p
                m += 1
        s.solved[row + t] = True
        s.scratch.order[0] = 0
        if m > 1:
            for p in range(m):
                for q in range(m):
                    s.scratch.d[p, q] = (
                        s.u[s.members[p] * classes + s.members[q]]
                        - s.u[s.members[q] * classes + s.members[p]]
                    )
            s.solved[row + t] = order_pruned(s.scratch, m, most)
        for p in range(m):
            a = s.first[s.members[s.scratch.order[p]]]
            while a >= 0:
                s.order[done] = a
                done += 1
                a = s.next[a]
    for t in range(components, n):
        s.solved[row + t] = False
    for a in range(n):
        s.component[row + a] = s.labels[s.twins[row + a]]


def order_small(w, int64_t most):
    """Order up to 64 elements exactly, component by component, if `most` subsets suffice.

    Returns
    -------
    order : int64 array (n,)
        Elements from first to last; components not ordered best are ordered well.
    twins : int64 array (n,)
        The class of each element.
    component : int64 array (n,)
        The component of each element, numbered from first to last.
    solved : bool array (n,)
        For each component number: whether it is ordered best.
    """
    cdef const double[::1] flat = w.ravel()
    cdef int64_t n = len(w)
    if n > WORD:
        raise ValueError(f"a small problem has at most {WORD} elements, and this one has {n}")
    order, twins = np.empty(n, np.int64), np.empty(n, np.int64)
    component, solved = np.empty(n, np.int64), np.empty(n, np.bool_)
    cdef _Batch batch = _Batch(order, twins, component, solved, n, most)
    with nogil:
        _order_small(batch, flat, 0, n, 0, most)
    give_back(batch.scratch)
    return order, twins, component, solved


cdef double _values(
    _Batch s, const double[::1] w, int64_t at, int64_t n, int64_t row, double[::1] worth
) noexcept nogil:
    """Return the value of a problem's order, and add up the worths of its components."""
    cdef int64_t p, q, a, b
    cdef double value = 0.0, v
    for p in range(n):
        a = s.order[row + p]
        for q in range(p, n):
            b = s.order[row + q]
            v = w[at + a * n + b]
            value += v
            if s.component[row + a] == s.component[row + b]:
                worth[row + s.component[row + a]] += v
    return value


def order_small_many(const double[::1] w, const int64_t[::1] n, int64_t most):
    """Run `order_small` on many problems, whose n x n matrices lie one after another in w.

    Returns the flat orders, twins, components, solved flags and worths of components (one
    an element each; those of component t at place t) and the value of every problem's
    order. Values and worths include the diagonal.
    """
    cdef int64_t total = 0, largest = 0, at = 0, row = 0, k
    for k in range(n.shape[0]):
        total += n[k]
        largest = max(largest, n[k])
    if largest > WORD:
        raise ValueError(f"a small problem has at most {WORD} elements, and one has {largest}")
    order, twins = np.empty(total, np.int64), np.empty(total, np.int64)
    component, solved = np.empty(total, np.int64), np.empty(total, np.bool_)
    worth, value = np.zeros(total), np.empty(n.shape[0])
    cdef _Batch batch = _Batch(order, twins, component, solved, largest, most)
    cdef double[::1] worths = worth, values = value
    with nogil:
        for k in range(n.shape[0]):
            _order_small(batch, w, at, n[k], row, most)
            values[k] = _values(batch, w, at, n[k], row, worths)
            at += n[k] * n[k]
            row += n[k]
    give_back(batch.scratch)
    return order, twins, component, solved, worth, value
