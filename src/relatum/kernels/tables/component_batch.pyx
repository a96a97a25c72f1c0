"""Many small clusterings at once: the components of a table of scored pairs.

Components lie one behind the other: elements of component ``k`` are those from
``element_ptr[k]`` on, its listed pairs those from ``pair_ptr[k]`` on, with ends counted from
the component's first element. A component whose pairs all agree is one set; the others are
written to a matrix, searched, bounded by packed triangles and, where that leaves a gap and
they are small, solved by dynamic programming over subsets.
"""

import numpy as np

from libc.stdint cimport int8_t, int64_t

from relatum.kernels.partition.polish cimport (
    SmallSearch, labels_value, new_search, perturb_labels, polish_labels
)
from relatum.kernels.tables.places cimport ComponentsView
from relatum.kernels.tables.union_find cimport root_of

cpdef enum:
    OPTIMAL = 0
    OPEN = 1
    LARGE = 2
    CONTRADICTORY = 3
    KEPT = 4


cdef class Desk:
    """Room to solve components, one after the other, what each may cost, and what was found.

    Arrays have room for the largest component, of ``n`` elements, and for ``m`` of them after
    those known to be related are contracted. ``weights`` is the matrix of the search, row behind
    row, ``packed`` a copy of it; ``labels``, ``value`` and ``bound`` are of the best partition.
    """

    cdef double background
    cdef int64_t cap, largest, exact, iterations
    cdef int64_t[::1] parent, element  # of the elements
    cdef double[::1] weights, packed
    cdef int64_t[::1] sizes, near, given, tried, labels, held, names  # of the contracted elements
    cdef double[::1] inner, best  # of the subsets of these
    cdef int64_t[::1] total, first
    cdef double value, bound

    def __init__(self, int64_t n, effort):
        self.background, self.cap, self.largest, self.exact, self.iterations = effort
        cdef int64_t m = min(n, self.largest), subsets = <int64_t>1 << min(m, self.exact)
        cdef double[::1] sums = np.empty(2 * (m * m + subsets))
        self.weights, self.packed = sums[: m * m], sums[m * m : 2 * m * m]
        sums = sums[2 * m * m :]
        self.inner, self.best = sums[:subsets], sums[subsets:]
        cdef int64_t[::1] counts = np.empty(2 * (n + subsets + 3 * m + 1) + m, np.int64)
        self.parent, self.element = counts[:n], counts[n : 2 * n]
        counts = counts[2 * n :]
        self.total, self.first = counts[:subsets], counts[subsets : 2 * subsets]
        counts = counts[2 * subsets :]
        self.sizes, self.near, self.given = counts[:m], counts[m : 2 * m], counts[2 * m : 3 * m]
        counts = counts[3 * m :]
        self.tried, self.labels, self.held = counts[:m], counts[m : 2 * m], counts[2 * m : 3 * m]
        self.names = counts[3 * m :]


cdef double _triangle_bound(
    double[::1] weights, int64_t[::1] near, int64_t n, int64_t passes
) noexcept nogil:
    """Bound as `triangle_bound` does; ``near`` is scratch space."""
    cdef double packed = 0.0, size = 0.0, total, least, x
    cdef int64_t count = 0, a, b, c, p, k, y, z
    for a in range(n):
        for b in range(a):
            if weights[a * n + b] > 0:
                size += weights[a * n + b]
                count += 1
    size /= max(1, count)
    for p in range(passes):
        least = size * (0.5 if p < passes - 1 else 0.0)
        for a in range(n):
            k = 0
            for b in range(n):
                if b != a and weights[a * n + b] > least:
                    near[k] = b
                    k += 1
            for y in range(k):
                b = near[y]
                for z in range(y + 1, k):
                    c = near[z]
                    if weights[a * n + b] <= least:
                        break
                    if weights[b * n + c] < 0 and weights[a * n + c] > least:
                        x = min(weights[a * n + b], weights[a * n + c], -weights[b * n + c])
                        packed += x
                        weights[a * n + b] -= x
                        weights[b * n + a] = weights[a * n + b]
                        weights[a * n + c] -= x
                        weights[c * n + a] = weights[a * n + c]
                        weights[b * n + c] += x
                        weights[c * n + b] = weights[b * n + c]
    total = packed
    for a in range(n):
        for b in range(a):
            total += max(0.0, weights[a * n + b])
    return total


def triangle_bound(weights, int64_t passes):
    """Bound the value of every partition by packing triangles into the weights.

    Each triangle with two positive residuals and a negative one between their ends lowers
    the sum of the positive weights by the least of the three. ``weights`` is changed.
    """
    cdef double[::1] flat = weights.ravel()
    cdef int64_t n = len(weights)
    cdef int64_t[::1] near = np.empty(n, np.int64)
    cdef double bound
    with nogil:
        bound = _triangle_bound(flat, near, n, passes)
    return bound


cdef void _weigh_subsets(
    Desk desk, const double[::1] weights, const int64_t[::1] sizes, int64_t n
) noexcept nogil:
    """Write the value and the size of every subset, as one set."""
    cdef int64_t s, v, u, rest
    cdef double value
    desk.inner[0], desk.total[0] = 0.0, 0
    for s in range(1, <int64_t>1 << n):
        v = 0
        while not (s >> v) & 1:
            v += 1
        rest = s & (s - 1)
        value = desk.inner[rest]
        for u in range(v + 1, n):
            if (rest >> u) & 1:
                value += weights[v * n + u]
        desk.inner[s] = value
        desk.total[s] = desk.total[rest] + sizes[v]


cdef void _split_subsets(Desk desk, int64_t cap, int64_t n) noexcept nogil:
    """Write the best value of every subset, and the set of its lowest element in that."""
    cdef int64_t s, low, rest, part, own, first
    cdef double best, value
    desk.best[0] = 0.0
    for s in range(1, <int64_t>1 << n):
        low = s & -s
        rest = s ^ low
        best, first = desk.best[rest], low  # the lowest element alone
        part = rest
        while part > 0:
            own = part | low
            if desk.total[own] <= cap:
                value = desk.inner[own] + desk.best[s ^ own]
                if value > best:
                    best, first = value, own
            part = (part - 1) & rest
        desk.best[s], desk.first[s] = best, first


cdef double _best_of_subsets(
    Desk desk, const double[::1] weights, const int64_t[::1] sizes, int64_t cap,
    int64_t[::1] labels, int64_t n
) noexcept nogil:
    """Enumerate as `best_of_subsets` does, with the room of the desk."""
    cdef int64_t s = (<int64_t>1 << n) - 1, label = 0, v
    _weigh_subsets(desk, weights, sizes, n)
    _split_subsets(desk, cap, n)
    cdef double value = desk.best[s]
    while s > 0:
        for v in range(n):
            if (desk.first[s] >> v) & 1:
                labels[v] = label
        label += 1
        s ^= desk.first[s]
    return value


def best_of_subsets(weights, const int64_t[::1] sizes, int64_t cap, int64_t[::1] labels):
    """Write a most valuable partition to ``labels`` by enumerating subsets; return its value."""
    cdef const double[::1] flat = weights.ravel()
    cdef int64_t n = len(weights)
    cdef Desk desk = Desk(n, (0.0, cap, n, n, 0))
    cdef double value
    with nogil:
        value = _best_of_subsets(desk, flat, sizes, cap, labels, n)
    return value


cdef bint _all_agree(
    ComponentsView c, int64_t k, double background, int64_t cap
) noexcept nogil:
    """Whether one set holding all elements is best and allowed, plainly."""
    cdef int64_t n = c.element_ptr[k + 1] - c.element_ptr[k], p
    cdef int64_t pairs = c.pair_ptr[k + 1] - c.pair_ptr[k]
    if n > cap or c.groups.shape[0] > 0 or c.fixed_ptr[k + 1] > c.fixed_ptr[k]:
        return False
    if background < 0.0 and 2 * pairs != n * (n - 1):
        return False
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        if c.log_odds[p] <= 0.0:
            return False
    return True


cdef int64_t _contract(ComponentsView c, int64_t k, Desk desk) noexcept nogil:
    """Number the elements, equally those known to be related; return how many there are."""
    cdef int64_t n = c.element_ptr[k + 1] - c.element_ptr[k], m = 0, f, a, b, v
    for v in range(n):
        desk.parent[v] = v
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        if c.fixed[f, 2] == 1:
            a, b = root_of(desk.parent, c.fixed[f, 0]), root_of(desk.parent, c.fixed[f, 1])
            desk.parent[max(a, b)] = min(a, b)
    for v in range(n):
        a = root_of(desk.parent, v)
        if a == v:
            desk.element[v] = m
            m += 1
        else:
            desk.element[v] = desk.element[a]
    return m


cdef void _fill_matrix(ComponentsView c, int64_t k, Desk desk, int64_t m) noexcept nogil:
    """Write weights between contracted elements; on the diagonal, those inside them."""
    cdef int64_t n = c.element_ptr[k + 1] - c.element_ptr[k], v, p, a, b, pairs
    for a in range(m):
        desk.sizes[a] = 0
    for a in range(m * m):
        desk.weights[a] = desk.packed[a] = 0.0
    for v in range(n):
        desk.sizes[desk.element[v]] += 1
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        a, b = desk.element[c.i[p]], desk.element[c.j[p]]
        desk.weights[a * m + b] += c.log_odds[p]
        desk.packed[a * m + b] += 1.0  # pairs that are listed: others have the background
        if a != b:
            desk.weights[b * m + a] = desk.weights[a * m + b]
            desk.packed[b * m + a] = desk.packed[a * m + b]
    for a in range(m):
        for b in range(m):
            pairs = desk.sizes[a] * (desk.sizes[b] if a != b else desk.sizes[a] - 1)
            pairs = pairs if a != b else pairs // 2
            desk.weights[a * m + b] += desk.background * (<double>pairs - desk.packed[a * m + b])


cdef bint _fits(Desk desk, int64_t m) noexcept nogil:
    """Whether each contracted element is a set that the cap allows."""
    cdef int64_t a
    for a in range(m):
        if desk.sizes[a] > desk.cap:
            return False
    return True


cdef bint _forbid(ComponentsView c, int64_t k, Desk desk, int64_t m) noexcept nogil:
    """Make the weights of forbidden pairs hopeless; False if a contracted element holds one.

    None is lower than that, as what is lost by rounding huge numbers is no gain.
    """
    cdef int64_t begin = c.element_ptr[k], n = c.element_ptr[k + 1] - begin, a, b, f, v, u
    cdef double far = 1.0
    for a in range(m * m):
        far += max(0.0, desk.weights[a])
    far = -2.0 * far
    for a in range(m * m):
        desk.weights[a] = max(desk.weights[a], far)
    for f in range(c.fixed_ptr[k], c.fixed_ptr[k + 1]):
        if c.fixed[f, 2] == 0:
            a, b = desk.element[c.fixed[f, 0]], desk.element[c.fixed[f, 1]]
            if a == b:
                return False
            desk.weights[a * m + b] = desk.weights[b * m + a] = far
    if c.groups.shape[0] > 0:
        for v in range(n):
            for u in range(v):
                if c.groups[begin + v] >= 0 and c.groups[begin + v] == c.groups[begin + u]:
                    a, b = desk.element[u], desk.element[v]
                    if a == b:
                        return False
                    desk.weights[a * m + b] = desk.weights[b * m + a] = far
    return True


cdef bint _take_start(ComponentsView c, int64_t k, Desk desk, int64_t m) noexcept nogil:
    """Write labels of contracted elements to start from, numbered below m; False if none."""
    cdef int64_t begin = c.element_ptr[k], n = c.element_ptr[k + 1] - begin
    cdef int64_t count = 0, a, v, q, name, at
    if c.start.shape[0] == 0:
        return False
    for a in range(m):
        desk.given[a], desk.held[a] = -1, 0
    for v in range(n):
        a = desk.element[v]
        if desk.given[a] >= 0:
            continue
        name, at = c.start[begin + v], count
        if name >= 0:
            for q in range(count):
                if desk.names[q] == name:
                    at = q
                    break
        if at == count:
            desk.names[count] = name
            count += 1
        desk.given[a] = at
        desk.held[at] += desk.sizes[a]
    for q in range(count):
        if desk.held[q] > desk.cap:
            return False
    return True


cdef void _compact(Desk desk, int64_t m) noexcept nogil:
    """Renumber labels by first appearance, in place."""
    cdef int64_t count = 0, v, c
    for c in range(m + 1):
        desk.names[c] = -1
    for v in range(m):
        c = desk.labels[v]
        if desk.names[c] < 0:
            desk.names[c] = count
            count += 1
        desk.labels[v] = desk.names[c]


cdef void _keep(Desk desk, SmallSearch search, double value) noexcept nogil:
    """Keep the labels of the search as the best ones."""
    cdef int64_t v
    for v in range(search.n):
        desk.labels[v] = search.labels[v]
    desk.value = value


cdef void _search(Desk desk, SmallSearch search, bint started) noexcept nogil:
    """Find labels, value and bound of the best partition; ties keep the given one, if any."""
    cdef int64_t m = search.n, a, b
    cdef double scale = 0.0, own
    for a in range(m):
        for b in range(a):
            scale = max(scale, desk.weights[a * m + b])
    search.least = 1e-9 * (1.0 + scale)
    for a in range(m):
        search.labels[a] = a
    polish_labels(search)
    _keep(desk, search, labels_value(search))
    if started:
        for a in range(m):
            search.labels[a] = desk.given[a]
        polish_labels(search)
        own = labels_value(search)
        if own >= desk.value - search.least:
            _keep(desk, search, own)
    for a in range(m * m):
        desk.packed[a] = desk.weights[a]
    desk.bound = _triangle_bound(desk.packed, desk.near, m, 3)
    if desk.bound <= desk.value + search.least:
        desk.bound = desk.value
        return
    if m <= desk.exact:
        own = _best_of_subsets(desk, desk.weights, desk.sizes, desk.cap, search.labels, m)
    else:
        for a in range(m):
            search.labels[a] = desk.labels[a]
        perturb_labels(search, desk.iterations * m, 20141)
        own = labels_value(search)
    if own > desk.value + search.least:
        _keep(desk, search, own)
    desk.bound = desk.value if m <= desk.exact else max(desk.value, desk.bound)


cdef int8_t _solve(ComponentsView c, int64_t k, Desk desk, SmallSearch search) noexcept nogil:
    """Solve a component that is not plainly one set; return what became of it."""
    cdef int64_t m, a
    cdef double inside = 0.0
    cdef bint started
    m = _contract(c, k, desk)
    if m > desk.largest:
        return LARGE
    _fill_matrix(c, k, desk, m)
    for a in range(m):
        inside += desk.weights[a * m + a]
        desk.weights[a * m + a] = 0.0
    if not _fits(desk, m) or not _forbid(c, k, desk, m):
        return CONTRADICTORY
    started = _take_start(c, k, desk, m)
    search.n = m
    _search(desk, search, started)
    _compact(desk, m)
    cdef int8_t state = OPTIMAL if desk.bound <= desk.value else OPEN
    desk.value, desk.bound = inside + desk.value, inside + desk.bound
    return state


cdef int64_t _settle_plain(
    ComponentsView c, double background, int64_t cap, int64_t[::1] labels, double[::1] value,
    double[::1] bound, int8_t[::1] state
) noexcept nogil:
    """Settle components whose pairs all agree; the others are LARGE for now.

    Returns the most elements of one of the others.
    """
    cdef int64_t most = 0, k, p, x
    cdef double total
    for k in range(value.shape[0]):
        if state[k] == KEPT:
            continue
        if not _all_agree(c, k, background, cap):
            most = max(most, c.element_ptr[k + 1] - c.element_ptr[k])
            state[k] = LARGE
            continue
        total = 0.0
        for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
            total += c.log_odds[p]
        for x in range(c.element_ptr[k], c.element_ptr[k + 1]):
            labels[x] = 0
        value[k], bound[k], state[k] = total, total, OPTIMAL
    return most


cdef void _solve_others(
    ComponentsView c, Desk desk, SmallSearch search, int64_t[::1] labels, double[::1] value,
    double[::1] bound, int8_t[::1] state
) noexcept nogil:
    """Solve the components that are not settled and not too large."""
    cdef int64_t k, begin, end, x
    for k in range(value.shape[0]):
        begin, end = c.element_ptr[k], c.element_ptr[k + 1]
        if state[k] != LARGE:
            continue
        if end - begin > desk.largest and c.fixed_ptr[k + 1] == c.fixed_ptr[k]:
            continue
        state[k] = _solve(c, k, desk, search)
        if state[k] == OPTIMAL or state[k] == OPEN:
            for x in range(begin, end):
                labels[x] = desk.labels[desk.element[x - begin]]
            value[k], bound[k] = desk.value, desk.bound


def solve_components(
    components, effort, int64_t[::1] labels, double[::1] value, double[::1] bound,
    int8_t[::1] state
):
    """Solve the components of up to ``effort.largest`` elements, must-links contracted.

    Writes labels (from 0 in each component), values, bounds, and what became of each
    component: OPTIMAL, OPEN (the bound is larger than the value), LARGE (not looked at),
    CONTRADICTORY (nothing is allowed). Components that are KEPT beforehand stay as they are.
    """
    cdef ComponentsView c = ComponentsView(components)
    cdef double background = effort.background
    cdef int64_t cap = effort.cap, n
    cdef Desk desk
    cdef SmallSearch search
    with nogil:
        n = _settle_plain(c, background, cap, labels, value, bound, state)
    if n > 0:
        desk = Desk(n, effort)
        search = new_search(desk.weights, desk.sizes, desk.tried, cap, 0.0)
        search.random = np.empty(1, np.uint64)
        with nogil:
            _solve_others(c, desk, search, labels, value, bound, state)
