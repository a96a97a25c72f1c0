"""Violated rows of linear orders at a fractional point: 3-dicycles and {0,1/2}-cuts.

``x[a, b]`` is full and complementary: x[b, a] = 1 - x[a, b]. The two rows of a triple
i < j < k are 0 <= s <= 1 with s = x[i, j] + x[j, k] - x[i, k].
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over

cdef enum:
    BLOCK = 64  # thirds of a pair that are looked at together
    LONGEST = 64  # steps of a walk that is kept are fewer


cdef inline double _violation(double own, double others) noexcept nogil:
    """How much the cycle abc, or the opposite one, is violated: x_ab + x_bc + x_ca > 2."""
    cdef double v = own + others - 2.0
    cdef double opposite = -1.0 - v  # that cycle has 3 - (x_ab + x_bc + x_ca)
    return opposite if opposite > 0.0 else v


cdef int64_t _dicycles(
    const double[:, ::1] x, double tolerance, int64_t per_pair, int64_t[:, ::1] found,
    double[::1] amount, double[::1] column, Watch watch
) noexcept nogil:
    """Find the worst thirds of every pair; return how many. `column` is scratch space."""
    cdef int64_t n = x.shape[0], count = 0, a, b, c, which
    cdef int64_t block, begin, end, first_c, second_c
    cdef double first, second, own, least, v
    cdef double[BLOCK] thirds
    for a in range(n):
        for c in range(n):
            column[c] = x[c, a]
        if is_over(watch, 2 * n * (n - a)):
            return count
        for b in range(a + 1, n):
            own, least = x[a, b], tolerance
            first, second, first_c, second_c = tolerance, tolerance, -1, -1
            for block in range((n + BLOCK - 1) // BLOCK):
                begin, end = block * BLOCK, min((block + 1) * BLOCK, n)
                for c in range(begin, end):
                    thirds[c - begin] = _violation(own, x[b, c] + column[c])
                for c in range(begin, end):
                    v = thirds[c - begin]
                    if v <= least or c == a or c == b:
                        continue
                    if v > first:
                        second, second_c = first, first_c
                        first, first_c = v, c
                    else:
                        second, second_c = v, c
                    least = first if per_pair == 1 else second
            for which in range(per_pair):
                c = first_c if which == 0 else second_c
                if c < 0:
                    break
                found[count, 0], found[count, 2] = min(a, c), max(b, c)
                found[count, 1] = a + b + c - found[count, 0] - found[count, 2]
                amount[count] = first if which == 0 else second
                count += 1
                if count == found.shape[0]:
                    return count
    return count


cdef int64_t _unique_triples(
    const int64_t[:, ::1] found, int64_t count, int64_t n, int64_t[:, ::1] order,
    int64_t[::1] start
) noexcept nogil:
    """Fill the first row of `order` with the first of equal triples each, sorted; return how many.

    Sorts by the last element, then the second, then the first: places of equal ones are counted.
    """
    cdef int64_t kept = 0, digit, now, p, i
    for p in range(count):
        order[1, p] = p
    for digit in range(2, -1, -1):
        now = 1 if digit % 2 == 0 else 0  # the row to sort; the other one is written
        for i in range(n + 1):
            start[i] = 0
        for p in range(count):
            start[found[p, digit] + 1] += 1
        for i in range(n):
            start[i + 1] += start[i]
        for p in range(count):
            i = found[order[now, p], digit]
            order[1 - now, start[i]] = order[now, p]
            start[i] += 1
    for p in range(count):
        i = order[0, p]
        if kept == 0 or not _equal(found, i, order[0, kept - 1]):
            order[0, kept] = i
            kept += 1
    return kept


cdef inline bint _equal(const int64_t[:, ::1] found, int64_t p, int64_t q) noexcept nogil:
    return (
        found[p, 0] == found[q, 0] and found[p, 1] == found[q, 1] and found[p, 2] == found[q, 2]
    )


def violated_dicycles(const double[:, ::1] x, double tolerance, int64_t per_pair, expired=None):
    """Triples i < j < k with s < -tolerance or s > 1 + tolerance.

    For every pair the `per_pair` most violated thirds are kept (at most 2), each triple
    once. Returns the triples, sorted, and how much each is violated: those found until `expired`
    says to stop.
    """
    cdef Watch watch = Watch(expired)
    cdef int64_t n = x.shape[0], count, p, k
    cdef int64_t[:, ::1] found = np.empty((n * n, 3), np.int64)
    cdef int64_t[:, ::1] order = np.empty((2, n * n + n + 1), np.int64)
    cdef double[::1] amount = np.empty(n * n + n)
    with nogil:
        count = _dicycles(x, tolerance, per_pair, found, amount, amount[n * n :], watch)
        count = _unique_triples(found, count, n, order, order[1, n * n :])
    watch.close()
    triples, amounts = np.empty((count, 3), np.int64), np.empty(count)
    cdef int64_t[:, ::1] triples_out = triples
    cdef double[::1] amounts_out = amounts
    for p in range(count):
        amounts_out[p] = amount[order[0, p]]
        for k in range(3):
            triples_out[p, k] = found[order[0, p], k]
    return triples, amounts


cdef inline (double, int64_t, double, int64_t) _arc(
    double high, double low, double g
) noexcept nogil:
    """Cheapest side of a triple and row of the box, by parity of the right-hand side.

    `high` and `low` are the slacks of the triple's sides, g is the pair that is weakened.
    Returns the weight for parity 0 and 1, and a code for each: bit 0 = high side of the
    triple, bit 1 = the box row x <= 1 (otherwise x >= 0).
    """
    cdef double w0 = high + 1.0 - g, w1 = high + g
    cdef int64_t c0 = 3, c1 = 1
    if low + g < w0:
        w0, c0 = low + g, 0
    if low + 1.0 - g < w1:
        w1, c1 = low + 1.0 - g, 2
    return w0, c0, w1, c1


cdef class _Tree:
    """Paths from a pair, and a heap of their ends: the nearest first, of equal ones the first."""

    cdef int64_t n
    cdef double[:, ::1] x  # symmetric: of i < j what x[i, j] is
    cdef double[::1] distance  # of every node; inf where not reached
    cdef int64_t[:, ::1] step  # by which it was reached: from where, third, what is weak, code
    cdef int64_t[::1] touched, nodes  # reached so far; in the heap
    cdef double[::1] keys  # of the heap
    cdef int64_t count, size  # of nodes touched; of entries in the heap
    cdef double best  # the least weight of a closed odd walk
    cdef int64_t middle, last  # the row of the step between its two paths; where that leads to

    def __init__(self, const double[:, ::1] x, int64_t effort):
        cdef int64_t n = x.shape[0], size = 2 * n * n, a, b
        # every node that is looked at reaches two copies of two pairs for each third
        cdef int64_t most = 4 * n * min(effort + 1, size) + 1
        cdef double[::1] reals = np.empty(size + most)
        cdef int64_t[::1] integers = np.empty(size + most, np.int64)
        self.n, self.middle = n, size
        self.x, self.step = np.empty((n, n)), np.empty((size + 1, 4), np.int64)
        self.distance, self.keys = reals[:size], reals[size:]
        self.touched, self.nodes = integers[:size], integers[size:]
        with nogil:
            for a in range(size):
                self.distance[a] = INFINITY
            for a in range(n):
                for b in range(a + 1, n):
                    self.x[a, b] = self.x[b, a] = x[a, b]


cdef inline bint _sooner(double w, int64_t a, double v, int64_t b) noexcept nogil:
    return w < v or (w == v and a < b)


cdef inline void _push(_Tree tree, double w, int64_t node) noexcept nogil:
    """Enter a node into the heap."""
    cdef int64_t i = tree.size, p
    tree.size = i + 1
    while i > 0:
        p = (i - 1) // 2
        if not _sooner(w, node, tree.keys[p], tree.nodes[p]):
            break
        tree.keys[i], tree.nodes[i] = tree.keys[p], tree.nodes[p]
        i = p
    tree.keys[i], tree.nodes[i] = w, node


cdef inline (double, int64_t) _pop(_Tree tree) noexcept nogil:
    """Take the nearest node out of the heap."""
    cdef double top = tree.keys[0], w
    cdef int64_t first = tree.nodes[0], size = tree.size - 1, i = 0, c, node
    tree.size = size
    w, node = tree.keys[size], tree.nodes[size]
    while True:
        c = 2 * i + 1
        if c >= size:
            break
        if c + 1 < size and _sooner(
            tree.keys[c + 1], tree.nodes[c + 1], tree.keys[c], tree.nodes[c]
        ):
            c += 1
        if not _sooner(tree.keys[c], tree.nodes[c], w, node):
            break
        tree.keys[i], tree.nodes[i] = tree.keys[c], tree.nodes[c]
        i = c
    tree.keys[i], tree.nodes[i] = w, node
    return top, first


def half_cycles(const double[:, ::1] x, sources, double most, int64_t effort, expired=None):
    """Odd cycles of weight below 1 in the graph of pairs, one from each source at most.

    Nodes are the pairs, twice (even and odd). A triple, weakened in one of its pairs by a
    row of the box, joins its other two. A closed odd walk of total slack w below 1 makes a
    {0,1/2}-cut violated by (1 - w) / 2.

    Parameters
    ----------
    x : float64 array (n, n)
    sources : int64 array (r, 2), pairs a < b
    most : float
        Only walks of weight below this.
    effort : int
        How many nodes to look at from each source.
    expired : callable, optional
        Says whether to leave out the sources that are left.

    Returns
    -------
    steps : int64 array (t, 5)
        Steps of all walks: i < j < k, the weakened pair (0 ij, 1 jk, 2 ik) and the code.
    ends : int64 array
        Where in `steps` each walk ends.
    weight : float64 array
    """
    cdef const int64_t[:, :] source = sources
    cdef int64_t n = x.shape[0], count = source.shape[0], walks = 0, used = 0, start, length, r, p
    cdef double w
    cdef _Tree tree = _Tree(x, effort)
    cdef Watch watch = Watch(expired)
    steps = np.empty((LONGEST * count + LONGEST, 5), np.int64)
    ends, weight = np.empty(count, np.int64), np.empty(count)
    cdef int64_t[:, ::1] out = steps
    cdef int64_t[::1] end = ends
    cdef double[::1] weights = weight
    with nogil:
        for r in range(count):
            if is_over(watch, 8 * n * effort):
                break
            start = (source[r, 0] * n + source[r, 1]) * 2
            w = _odd_walk(tree, start, most, effort)
            if w < most:
                length = _write_walk(tree, start, out, used)
                if length < LONGEST:
                    used += length
                    end[walks], weights[walks] = used, w
                    walks += 1
            for p in range(tree.count):
                tree.distance[tree.touched[p]] = INFINITY
    watch.close()
    return steps[:used], ends[:walks], weight[:walks]


cdef void _write_step(_Tree tree, int64_t node, int64_t[:, ::1] steps, int64_t at) noexcept nogil:
    """Write the step by which a node was reached."""
    cdef int64_t pair = tree.step[node, 0] // 2, c = tree.step[node, 1]
    cdef int64_t a = pair // tree.n, b = pair % tree.n
    steps[at, 0], steps[at, 2] = min(a, c), max(b, c)
    steps[at, 1] = a + b + c - steps[at, 0] - steps[at, 2]
    steps[at, 3], steps[at, 4] = tree.step[node, 2], tree.step[node, 3]


cdef int64_t _write_walk(
    _Tree tree, int64_t start, int64_t[:, ::1] steps, int64_t begin
) noexcept nogil:
    """Write the steps of a walk, from `begin` on; return how many, the most if too many."""
    cdef int64_t length = 1, side, node
    _write_step(tree, tree.middle, steps, begin)
    for side in range(2):
        node = tree.last if side else tree.step[tree.middle, 0]
        while node != start and length < LONGEST:
            _write_step(tree, node, steps, begin + length)
            length += 1
            node = tree.step[node, 0]
    return length


cdef inline void _note(
    _Tree tree, int64_t node, int64_t source, int64_t c, int64_t weak, int64_t code
) noexcept nogil:
    """Record by which step a node was reached."""
    tree.step[node, 0], tree.step[node, 1] = source, c
    tree.step[node, 2], tree.step[node, 3] = weak, code


cdef inline void _reach(
    _Tree tree, double w, int64_t node, int64_t to, int64_t c, int64_t weak,
    double high, double low, double g
) noexcept nogil:
    """Go on from a node at distance w to the even and the odd copy of a pair."""
    cdef double w0, w1, reach
    cdef int64_t c0, c1, code, flip
    w0, c0, w1, c1 = _arc(high, low, g)
    to += node % 2
    for flip in range(2):
        reach, code = w + (w1 if flip else w0), c1 if flip else c0
        if reach + tree.distance[to ^ flip ^ 1] < tree.best - 1e-12:
            tree.best = reach + tree.distance[to ^ flip ^ 1]
            tree.last = to ^ flip ^ 1
            _note(tree, tree.middle, node, c, weak, code)
        if 2.0 * reach < tree.best and reach < tree.distance[to ^ flip] - 1e-12:
            if tree.distance[to ^ flip] == INFINITY:
                tree.touched[tree.count] = to ^ flip
                tree.count = tree.count + 1
            tree.distance[to ^ flip] = reach
            _note(tree, to ^ flip, node, c, weak, code)
            _push(tree, reach, to ^ flip)


cdef double _odd_walk(_Tree tree, int64_t start, double most, int64_t effort) noexcept nogil:
    """Dijkstra from the even copy of a pair until two paths meet in a closed odd walk.

    What leads from a node to the odd copy of the start mirrors what leads from the start to
    the node's other copy. So half the way is enough: a walk is a path, an arc and a path.
    The tree gets the arc and the ends of both paths. Returns the weight of the walk.
    """
    cdef int64_t n = tree.n, node, a, b, c
    cdef double w
    tree.best = most
    tree.size, tree.count = 0, 1
    tree.touched[0] = start
    tree.distance[start] = 0.0
    _push(tree, 0.0, start)
    while tree.size > 0:
        w, node = _pop(tree)
        if w > tree.distance[node]:
            continue
        effort -= 1
        if 2.0 * w >= tree.best or effort < 0:
            break
        a, b = node // 2 // n, node // 2 % n
        for c in range(n):
            if c != a and c != b:
                _pass_triple(tree, w, node, a, b, c)
    return tree.best


cdef inline void _pass_triple(
    _Tree tree, double w, int64_t node, int64_t a, int64_t b, int64_t c
) noexcept nogil:
    """From the pair ab reach ac and bc: of these one is weakened and one is reached."""
    cdef int64_t n = tree.n
    cdef double ac = tree.x[a, c], bc = tree.x[b, c], ab = tree.x[a, b], t, high, low
    cdef int64_t to_ac = 2 * (min(a, c) * n + max(a, c)), to_bc = 2 * (min(b, c) * n + max(b, c))
    if c < a:
        t = ac + ab - bc
    elif c < b:
        t = ac + bc - ab
    else:
        t = ab + bc - ac
    high, low = max(0.0, 1.0 - t), max(0.0, t)
    if w + min(high, low) >= tree.best:
        return
    if c < a:
        _reach(tree, w, node, to_ac, c, 2, high, low, bc)
        _reach(tree, w, node, to_bc, c, 0, high, low, ac)
    elif c < b:
        _reach(tree, w, node, to_bc, c, 0, high, low, ac)
        _reach(tree, w, node, to_ac, c, 1, high, low, bc)
    else:
        _reach(tree, w, node, to_ac, c, 1, high, low, bc)
        _reach(tree, w, node, to_bc, c, 2, high, low, ac)


cdef inline bint _adds(
    const uint8_t[:, ::1] before, int64_t a, int64_t b, int64_t c
) noexcept nogil:
    """Whether a before b, together with what is known of c, adds a precedence of c."""
    return (before[b, c] > before[a, c]) | (before[c, a] > before[c, b])


cdef int64_t _close(
    uint8_t[:, ::1] before, int64_t[:, ::1] steps, int64_t fresh, int64_t[::1] clash
) noexcept nogil:
    """Close under transitivity; return the number of steps.

    The pairs to begin with are in `fresh` rows of the steps from n * n on, columns 0 and 2.
    """
    cdef int64_t n = before.shape[0], count = 0, head, row, a, b, c, p, m, q, side
    cdef bint known
    head = -fresh
    while head < count:
        row = head if head >= 0 else n * n + fresh + head
        a, b = steps[row, 0], steps[row, 2]
        head += 1
        for c in range(n):
            if not _adds(before, a, b, c):
                continue
            for side in range(2):
                # a before b before c, then c before a before b
                if side == 0:
                    p, m, q, known = a, b, c, before[b, c]
                else:
                    p, m, q, known = c, a, b, before[c, a]
                if not known or before[p, q]:
                    continue
                steps[count, 0], steps[count, 1], steps[count, 2] = p, m, q
                count += 1
                if p == q or before[q, p]:
                    clash[0], clash[1] = p, q
                    return count
                before[p, q] = True
    return count


def close_precedence(before, new):
    """Close a set of precedences under transitivity after adding new ones.

    Parameters
    ----------
    before : bool array (n, n), changed
        Closed: before[a, b] says that a comes before b.
    new : int64 array (r, 2)
        Pairs to add.

    Returns
    -------
    steps : int64 array (t, 3)
        In order: a before c was added because of a before b and b before c.
    clash : int64 array (2,)
        A pair that would have to come in both orders, or -1, -1; then the closure stops,
        with the step that clashes as the last one.
    """
    cdef uint8_t[:, ::1] flags = before.view(np.uint8)
    cdef const int64_t[:, :] pairs = new
    cdef int64_t n = flags.shape[0], count = 0, fresh = 0, a, b, r
    steps, clash = np.empty((n * n + pairs.shape[0], 3), np.int64), np.empty(2, np.int64)
    cdef int64_t[:, ::1] step = steps
    cdef int64_t[::1] clashing = clash
    clashing[0] = clashing[1] = -1
    with nogil:
        for r in range(pairs.shape[0]):
            a, b = pairs[r, 0], pairs[r, 1]
            if a == b or flags[b, a]:
                clashing[0], clashing[1] = a, b
                break
            if not flags[a, b]:
                flags[a, b] = True
                step[n * n + fresh, 0], step[n * n + fresh, 2] = a, b
                fresh += 1
        else:
            count = _close(flags, step, fresh, clashing)
    return steps[:count], clash
