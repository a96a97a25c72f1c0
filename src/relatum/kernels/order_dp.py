"""Exact linear orders of few elements: twins, components and dynamic programming over subsets.

Everywhere ``w[a, b]`` is what it is worth that a comes before b, -inf if that is excluded
(never +inf, never nan); the value of an order is the sum of w over its pairs a before b.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["order_components", "order_small", "order_small_many", "subset_order", "twin_classes"]


@njit(cache=True)
def _half_sums(w, first, count):
    """Return table[S, j] = the sum of w[first + i, j] over i in S, S of `count` elements."""
    n = w.shape[0]
    table = np.zeros((1 << count, n))
    for s in range(1, 1 << count):
        low = 0
        while not (s >> low) & 1:
            low += 1
        rest = s & (s - 1)
        for j in range(n):
            table[s, j] = table[rest, j] + w[first + low, j]
    return table


@njit(cache=True)
def subset_order(w):
    """Return (value, order) of the best linear order, by dynamic programming over subsets.

    ``best[S]`` is the value of the best order of S; its last element j earns the sum of
    w[i, j] over the others, looked up in two tables over half of the elements each.
    Among equal orders the one whose last element has the largest number is kept, at each
    step from the end, so that ties fall the same way everywhere.
    """
    n = w.shape[0]
    half = n // 2
    low_sums = _half_sums(w, 0, half)
    high_sums = _half_sums(w, half, n - half)
    mask = (1 << half) - 1
    best = np.full(1 << n, -np.inf)
    best[0] = 0.0
    for s in range(1, 1 << n):
        top = -np.inf
        for j in range(n):
            if (s >> j) & 1:
                rest = s ^ (1 << j)
                v = best[rest] + low_sums[rest & mask, j] + high_sums[rest >> half, j]
                if v > top:
                    top = v
        best[s] = top
    order = np.empty(n, np.int64)
    s = (1 << n) - 1
    for place in range(n - 1, -1, -1):
        chosen = -1
        for j in range(n - 1, -1, -1):
            if (s >> j) & 1 and chosen < 0:
                rest = s ^ (1 << j)
                v = best[rest] + low_sums[rest & mask, j] + high_sums[rest >> half, j]
                if v == best[s]:
                    chosen = j
        order[place] = chosen
        s ^= 1 << chosen
    return best[(1 << n) - 1], order


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
def order_small(w, limit):
    """Order up to 64 elements exactly, as far as components of at most `limit` classes go.

    Returns
    -------
    order : int64 array (n,)
        Elements from first to last. Classes of components that are too large come in the
        order of their numbers.
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
        solved[t] = m <= limit
        if 1 < m <= limit:
            v = np.empty((m, m))
            for p in range(m):
                for q in range(m):
                    v[p, q] = u[members[p], members[q]]
            _, local = subset_order(v)
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
def order_small_many(w, n, limit):
    """Run `order_small` on many problems, whose n x n matrices lie one after another in w.

    Returns the flat orders, twins, components and solved flags (one an element each) and
    the value of every problem's order.
    """
    total = 0
    for k in range(n.size):
        total += n[k]
    order = np.empty(total, np.int64)
    twins = np.empty(total, np.int64)
    component = np.empty(total, np.int64)
    solved = np.empty(total, np.bool_)
    value = np.zeros(n.size)
    at = 0
    row = 0
    for k in range(n.size):
        m = n[k]
        matrix = w[at : at + m * m].reshape(m, m)
        o, c, t, s = order_small(matrix, limit)
        order[row : row + m] = o
        twins[row : row + m] = c
        component[row : row + m] = t
        solved[row : row + m] = s
        v = 0.0
        for p in range(m):
            for q in range(p + 1, m):
                v += matrix[o[p], o[q]]
        value[k] = v
        at += m * m
        row += m
    return order, twins, component, solved, value
