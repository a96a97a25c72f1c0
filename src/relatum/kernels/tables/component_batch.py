"""Many small clusterings at once: the components of a table of scored pairs.

Components lie one behind the other: elements of component ``k`` are those from
``element_ptr[k]`` on, its listed pairs those from ``pair_ptr[k]`` on, with ends counted from
the component's first element. A component whose pairs all agree is one set; the others are
written to a matrix, searched, bounded by packed triangles and, where that leaves a gap and
they are small, solved by dynamic programming over subsets.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from relatum.kernels.partition.polish import perturb_and_polish, polish, value_of
from relatum.kernels.tables.union_find import root_of

OPTIMAL, OPEN, LARGE, CONTRADICTORY, KEPT = 0, 1, 2, 3, 4


class Components(NamedTuple):
    """Components of scored pairs, and what is known of them."""

    element_ptr: np.ndarray  # int64 (components + 1,)
    pair_ptr: np.ndarray  # int64 (components + 1,)
    i: np.ndarray  # int32, counted from the first element of the component
    j: np.ndarray  # int32
    log_odds: np.ndarray  # float64
    fixed_ptr: np.ndarray  # int64 (components + 1,)
    fixed: np.ndarray  # int32 (fixed, 3): two elements, and 1 (related) or 0 (unrelated)
    groups: np.ndarray  # int64 (elements,) or (0,): no two of one group; -1 for no group
    start: np.ndarray  # int64 (elements,) or (0,): labels to start from


class Effort(NamedTuple):
    """What a component may cost."""

    background: float
    cap: int  # the largest number of elements of a set
    largest: int  # elements of the largest component that is solved here
    exact: int  # elements up to which subsets are enumerated
    iterations: int  # of perturbed local search, per element


@njit(cache=True, nogil=True)
def triangle_bound(weights, passes):
    """Bound the value of every partition by packing triangles into the weights.

    Each triangle with two positive residuals and a negative one between their ends lowers
    the sum of the positive weights by the least of the three. ``weights`` is changed.
    """
    n = weights.shape[0]
    packed, size, count = 0.0, 0.0, 0
    for a in range(n):
        for b in range(a):
            if weights[a, b] > 0:
                size += weights[a, b]
                count += 1
    size /= max(1, count)
    near = np.empty(n, np.int64)
    for p in range(passes):
        least = size * (0.5 if p < passes - 1 else 0.0)
        for a in range(n):
            k = 0
            for b in range(n):
                if b != a and weights[a, b] > least:
                    near[k] = b
                    k += 1
            for x in range(k):
                b = near[x]
                for y in range(x + 1, k):
                    c = near[y]
                    if weights[a, b] <= least:
                        break
                    if weights[b, c] < 0 and weights[a, c] > least:
                        m = min(weights[a, b], weights[a, c], -weights[b, c])
                        packed += m
                        weights[a, b] -= m
                        weights[b, a] = weights[a, b]
                        weights[a, c] -= m
                        weights[c, a] = weights[a, c]
                        weights[b, c] += m
                        weights[c, b] = weights[b, c]
    total = packed
    for a in range(n):
        for b in range(a):
            total += max(0.0, weights[a, b])
    return total


@njit(cache=True, nogil=True)
def best_of_subsets(weights, sizes, cap, labels):
    """Write a most valuable partition to ``labels`` by enumerating subsets; return its value."""
    n = weights.shape[0]
    full = 1 << n
    inner = np.zeros(full)
    held = np.zeros(full, np.int64)
    for s in range(1, full):
        v = 0
        while not (s >> v) & 1:
            v += 1
        rest = s & (s - 1)
        total = inner[rest]
        for u in range(v + 1, n):
            if (rest >> u) & 1:
                total += weights[v, u]
        inner[s] = total
        held[s] = held[rest] + sizes[v]
    best = np.zeros(full)
    first = np.zeros(full, np.int64)
    for s in range(1, full):
        low = s & -s
        rest = s ^ low
        best[s], first[s] = best[rest], low  # the lowest element alone
        part = rest
        while part > 0:
            own = part | low
            if held[own] <= cap and inner[own] + best[s ^ own] > best[s]:
                best[s], first[s] = inner[own] + best[s ^ own], own
            part = (part - 1) & rest
    s, label = full - 1, 0
    while s > 0:
        for v in range(n):
            if (first[s] >> v) & 1:
                labels[v] = label
        label += 1
        s ^= first[s]
    return best[full - 1]


@njit(cache=True, nogil=True)
def _all_agree(c, k, e):
    """Whether one set holding all elements is best and allowed, plainly."""
    n = c.element_ptr[k + 1] - c.element_ptr[k]
    pairs = c.pair_ptr[k + 1] - c.pair_ptr[k]
    if n > e.cap or c.groups.shape[0] > 0 or c.fixed_ptr[k + 1] > c.fixed_ptr[k]:
        return False
    if e.background < 0.0 and 2 * pairs != n * (n - 1):
        return False
    least = np.inf
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        least = min(least, c.log_odds[p])
    return least > 0.0


@njit(cache=True, nogil=True)
def _contracted(c, k):
    """Return a number per element, equal for those known to be related, and how many there are."""
    n = c.element_ptr[k + 1] - c.element_ptr[k]
    parent = np.arange(n)
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        if c.fixed[f, 2] == 1:
            a, b = root_of(parent, c.fixed[f, 0]), root_of(parent, c.fixed[f, 1])
            parent[max(a, b)] = min(a, b)
    number, m = np.empty(n, np.int64), 0
    for v in range(n):
        r = root_of(parent, v)
        if r == v:
            number[v] = m
            m += 1
        else:
            number[v] = number[r]
    return number, m


@njit(cache=True, nogil=True)
def _matrix(c, k, background, element, m):
    """Weights between contracted elements; on the diagonal, those inside them."""
    weights = np.zeros((m, m))
    sizes = np.zeros(m, np.int64)
    for v in range(element.shape[0]):
        sizes[element[v]] += 1
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        a, b = element[c.i[p]], element[c.j[p]]
        weights[a, b] += c.log_odds[p] - background
        if a != b:
            weights[b, a] = weights[a, b]
    for a in range(m):
        for b in range(m):
            pairs = sizes[a] * sizes[b] if a != b else sizes[a] * (sizes[a] - 1) // 2
            weights[a, b] += background * pairs
    return weights, sizes


@njit(cache=True, nogil=True)
def _forbid(c, k, element, weights):
    """Make the weights of forbidden pairs hopeless; False if a contracted element holds one."""
    m = weights.shape[0]
    far = 1.0
    for a in range(m):
        for b in range(m):
            far += abs(weights[a, b])
    far = -2.0 * far
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        if c.fixed[f, 2] == 0:
            a, b = element[c.fixed[f, 0]], element[c.fixed[f, 1]]
            if a == b:
                return False
            weights[a, b] = far
            weights[b, a] = far
    if c.groups.shape[0] > 0:
        begin = c.element_ptr[k]
        for v in range(element.shape[0]):
            for u in range(v):
                if c.groups[begin + v] >= 0 and c.groups[begin + v] == c.groups[begin + u]:
                    a, b = element[u], element[v]
                    if a == b:
                        return False
                    weights[a, b] = far
                    weights[b, a] = far
    return True


@njit(cache=True, nogil=True)
def _given(c, k, element, sizes, cap, m):
    """Labels of contracted elements to start from, numbered below m; fewer than m if none."""
    begin, n = c.element_ptr[k], element.shape[0]
    if c.start.shape[0] == 0:
        return np.empty(0, np.int64)
    labels = np.full(m, -1, np.int64)
    held = np.zeros(m + 1, np.int64)
    names = np.empty(m, np.int64)
    count = 0
    for v in range(n):
        if labels[element[v]] >= 0:
            continue
        name, at = c.start[begin + v], count
        if name >= 0:
            for q in range(count):
                if names[q] == name:
                    at = q
                    break
        if at == count:
            names[count] = name
            count += 1
        labels[element[v]] = at
        held[at] += sizes[element[v]]
    for q in range(count):
        if held[q] > cap:
            return np.empty(0, np.int64)
    return labels


@njit(cache=True, nogil=True)
def _compact(labels):
    """Renumber labels by first appearance, in place."""
    new = np.full(labels.max() + 1, -1, np.int64)
    count = 0
    for v in range(labels.shape[0]):
        if new[labels[v]] < 0:
            new[labels[v]] = count
            count += 1
        labels[v] = new[labels[v]]


@njit(cache=True, nogil=True)
def _search(weights, sizes, given, e):
    """Return (labels, value, bound) of the best partition found; ties keep the given one."""
    m = weights.shape[0]
    scale = 0.0
    for a in range(m):
        for b in range(a):
            scale = max(scale, weights[a, b])
    least = 1e-9 * (1.0 + scale)
    labels = np.arange(m)
    polish(weights, sizes, e.cap, labels, least)
    value = value_of(weights, labels)
    if given.shape[0] == m:
        other = given.copy()
        polish(weights, sizes, e.cap, other, least)
        own = value_of(weights, other)
        if own >= value - least:
            labels, value = other, own
    bound = triangle_bound(weights.copy(), 3)
    if bound <= value + least:
        return labels, value, value
    if m <= e.exact:
        other = np.empty(m, np.int64)
        own = best_of_subsets(weights, sizes, e.cap, other)
        return (labels, value, value) if own <= value + least else (other, own, own)
    other = labels.copy()
    perturb_and_polish(weights, sizes, e.cap, other, least, e.iterations * m, 20141)
    own = value_of(weights, other)
    if own > value + least:
        labels, value = other, own
    return labels, value, max(value, bound)


@njit(cache=True, nogil=True)
def solve_components(c, e, labels, value, bound, state):
    """Solve the components of up to ``e.largest`` elements, must-links contracted.

    Writes labels (from 0 in each component), values, bounds, and what became of each
    component: OPTIMAL, OPEN (the bound is larger than the value), LARGE (not looked at),
    CONTRADICTORY (nothing is allowed). Components that are KEPT beforehand stay as they are.
    """
    for k in range(value.shape[0]):
        if state[k] == KEPT:
            continue
        begin, end = c.element_ptr[k], c.element_ptr[k + 1]
        if _all_agree(c, k, e):
            labels[begin:end] = 0
            value[k] = 0.0
            for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
                value[k] += c.log_odds[p]
            bound[k] = value[k]
            state[k] = OPTIMAL
            continue
        state[k] = LARGE
        if end - begin > e.largest and c.fixed_ptr[k + 1] == c.fixed_ptr[k]:
            continue
        element, m = _contracted(c, k)
        if m > e.largest:
            continue
        weights, sizes = _matrix(c, k, e.background, element, m)
        inside = 0.0
        for a in range(m):
            inside += weights[a, a]
            weights[a, a] = 0.0
        if sizes.max() > e.cap or not _forbid(c, k, element, weights):
            state[k] = CONTRADICTORY
            continue
        given = _given(c, k, element, sizes, e.cap, m)
        own, v, u = _search(weights, sizes, given, e)
        _compact(own)
        for x in range(begin, end):
            labels[x] = own[element[x - begin]]
        value[k], bound[k] = inside + v, inside + u
        state[k] = OPTIMAL if u <= v else OPEN
