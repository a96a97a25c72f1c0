"""Exact linear orders of many small problems: twins, components, subsets that matter.

Everywhere ``w[a, b]`` is what it is worth that a comes before b, -inf if that is excluded
(never +inf, never nan); the value of an order is the sum of w over its pairs a before b.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.order.states import pruned_order


@njit(cache=True)
def twin_classes(w):
    """Return the class of each element, and the number of classes.

    Twins are elements that are worth the same beside every third element, and the same in
    either order of the two. The occurrences of a class are adjacent, in any order, in some
    best order (move all of them to the best placed one). Elements with an excluded
    precedence stay alone.
    """
    n = w.shape[0]
    labels = np.full(n, -1, np.int64)
    count = 0
    for a in range(n):
        if labels[a] >= 0:
            continue
        labels[a] = count
        free = True
        for k in range(n):
            if k != a and (w[a, k] == -np.inf or w[k, a] == -np.inf):
                free = False
                break
        if free:
            for b in range(a + 1, n):
                if labels[b] >= 0:
                    continue
                same = w[a, b] == w[b, a]
                for k in range(n):
                    if not same:
                        break
                    if k != a and k != b:
                        same = w[a, k] == w[b, k] and w[k, a] == w[k, b]
                if same:
                    labels[b] = count
        count += 1
    return labels, count


@njit(cache=True)
def order_components(w):
    """Return the strongly connected component of each element, first to last, and their number.

    The graph has the arc ab where w[a, b] > w[b, a]. Components follow one another in a
    best order; those without an arc between them come in the order of their first
    elements wherever that is possible. For at most 64 elements (one bit each).
    """
    n = w.shape[0]
    one = np.uint64(1)
    reach = np.zeros(n, np.uint64)
    for a in range(n):
        reach[a] = one << np.uint64(a)
        for b in range(n):
            if a != b and w[a, b] > w[b, a]:
                reach[a] |= one << np.uint64(b)
    for k in range(n):
        for a in range(n):
            if (reach[a] >> np.uint64(k)) & one:
                reach[a] |= reach[k]
    labels = np.full(n, -1, np.int64)
    for count in range(n):
        # The next component: the first element that nothing outside what is done reaches.
        start = -1
        for a in range(n):
            if labels[a] >= 0:
                continue
            first = True
            for b in range(n):
                into = (reach[b] >> np.uint64(a)) & one
                if labels[b] < 0 and into and not (reach[a] >> np.uint64(b)) & one:
                    first = False
                    break
            if first:
                start = a
                break
        if start < 0:
            return labels, count
        for b in range(n):
            if (reach[start] >> np.uint64(b)) & one and (reach[b] >> np.uint64(start)) & one:
                labels[b] = count
    return labels, n


@njit(cache=True)
def order_small(w, most):
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
    n = w.shape[0]
    twins, n_classes = twin_classes(w)
    size = np.zeros(n_classes)
    first = np.full(n_classes, -1, np.int64)
    for a in range(n):
        size[twins[a]] += 1.0
        if first[twins[a]] < 0:
            first[twins[a]] = a
    u = np.zeros((n_classes, n_classes))
    for p in range(n_classes):
        for q in range(n_classes):
            if p != q:
                u[p, q] = size[p] * size[q] * w[first[p], first[q]]
    comp_of_class, n_comp = order_components(u)
    solved = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    done = 0
    for t in range(n_comp):
        members = np.flatnonzero(comp_of_class == t)
        m = members.size
        local = np.arange(m)
        solved[t] = True
        if m > 1:
            v = np.empty((m, m))
            for p in range(m):
                for q in range(m):
                    v[p, q] = u[members[p], members[q]]
            solved[t], local = pruned_order(v, most)
        for p in range(m):
            for a in range(n):
                if twins[a] == members[local[p]]:
                    order[done] = a
                    done += 1
    component = np.empty(n, np.int64)
    for a in range(n):
        component[a] = comp_of_class[twins[a]]
    return order, twins, component, solved


@njit(cache=True, nogil=True)
def order_small_many(w, n, most):
    """Run `order_small` on many problems, whose n x n matrices lie one after another in w.

    Returns the flat orders, twins, components, solved flags and worths of components (one
    an element each; those of component t at place t) and the value of every problem's
    order. Values and worths include the diagonal.
    """
    total = 0
    for k in range(n.size):
        total += n[k]
    order = np.empty(total, np.int64)
    twins = np.empty(total, np.int64)
    component = np.empty(total, np.int64)
    solved = np.empty(total, np.bool_)
    worth = np.zeros(total)
    value = np.zeros(n.size)
    at = 0
    row = 0
    for k in range(n.size):
        m = n[k]
        matrix = w[at : at + m * m].reshape(m, m)
        o, c, t, s = order_small(matrix, most)
        order[row : row + m] = o
        twins[row : row + m] = c
        component[row : row + m] = t
        solved[row : row + m] = s
        for p in range(m):
            for q in range(p, m):
                v = matrix[o[p], o[q]]
                value[k] += v
                if t[o[p]] == t[o[q]]:
                    worth[row + t[o[p]]] += v
        at += m * m
        row += m
    return order, twins, component, solved, worth, value
