"""Violated 2-partition rows of the clique partitioning polytope at a fractional point.

Two sides S and T grow, element by element, while the violation of x(S:T) - x(S) - x(T) <=
min(|S|, |T|) does. The best move is looked for in lanes, see ``lanes.pxd``.

The second half of the file has the steps of a method of multipliers for the semidefinite
relaxation, which such rows strengthen. It holds a positive semidefinite matrix X against a point Y
of a polytope: ones on the diagonal, numbers between 0 and 1, and rows. All matrices are symmetric,
and only their upper triangles are read and written. Rows are compressed, ``rows`` is (start,
places, signs, sides): row r is the sum of signs[t], 1 or -1, times the entry places[t] = a n + b, a
< b, for t from start[r] on, and is at most sides[r]. ``prices`` are multipliers of the rows.
"""

import numpy as np

from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t

from relatum.kernels.lanes cimport LANES, full_lanes, largest_lane
from relatum.kernels.watch cimport Watch, is_over


cdef class _Ascent:
    """Sides S and T that grow, and the sums of x over them for each element.

    These sums are not numbers for elements that have been put on a side. Those of the two
    elements that the sides begin with are in ``end_to_s`` and ``end_to_t``: these two may still
    move, and are -1 in ``ends`` when they have.
    """

    cdef double[::1] to_s, to_t
    cdef int8_t[::1] now  # the side of each element: 0 neither, 1 S, 2 T
    cdef int64_t[::1] sizes  # of the sides
    cdef int64_t[::1] ends
    cdef double[::1] end_to_s, end_to_t

    def __init__(self, n):
        self.to_s, self.to_t = np.full((2, full_lanes(n)), np.nan)
        self.now = np.empty(n, np.int8)
        self.sizes, self.ends = np.zeros(3, np.int64), np.empty(2, np.int64)
        self.end_to_s, self.end_to_t = np.empty((2, 2))


cdef struct _Move:
    double gain
    int64_t element, side


cdef inline double _two_partition_gain(
    double x_to_s, double x_to_t, int64_t side, int64_t in_s, int64_t in_t
) noexcept nogil:
    """Violation gained by moving an element to a side (0: out, 1: S, 2: T).

    ``in_s`` and ``in_t`` are |S| and |T| without the element.
    """
    if side == 1:
        return x_to_t - x_to_s - <double>(min(in_s + 1, in_t) - min(in_s, in_t))
    if side == 2:
        return x_to_s - x_to_t - <double>(min(in_s, in_t + 1) - min(in_s, in_t))
    return 0.0


cdef inline double _entry_gain(
    double x_to_s, double x_to_t, double pay_s, double pay_t
) noexcept nogil:
    """Violation gained by the better side for an element that is on none."""
    cdef double one = x_to_t - x_to_s - pay_s, two = x_to_s - x_to_t - pay_t
    return one if one > two else two


cdef inline _Move _best_entry(
    const double[::1] to_s, const double[::1] to_t, int64_t in_s, int64_t in_t
) noexcept nogil:
    """Return the move of an element that is on no side; its element is -1 if there is none."""
    # an element that enters pays if it makes the smaller side larger
    cdef double pay_s = 1.0 if in_s < in_t else 0.0, pay_t = 1.0 if in_t < in_s else 0.0, gain
    cdef int64_t padded = to_s.shape[0], begin = 0, j, v
    cdef double[LANES] top
    cdef _Move best
    for j in range(LANES):
        top[j] = -INFINITY
    while begin < padded:
        for j in range(LANES):
            gain = _entry_gain(to_s[begin + j], to_t[begin + j], pay_s, pay_t)
            top[j] = gain if gain > top[j] else top[j]
        begin += LANES
    best.gain, best.element, best.side = largest_lane(top), padded, 1
    for j in range(LANES):
        v = j if top[j] == best.gain else padded
        while v < best.element:
            if _entry_gain(to_s[v], to_t[v], pay_s, pay_t) == best.gain:
                best.element = v
            v += LANES
    v = best.element
    if v == padded:
        best.element = -1
    elif to_t[v] - to_s[v] - pay_s != best.gain:
        best.side = 2
    return best


cdef _Move _better_of_ends(_Ascent ascent, _Move best) noexcept nogil:
    """Return a move of one of the two first elements, if it is better, or else the given one."""
    cdef int64_t e, v, side, in_s, in_t
    cdef double loss, gain
    for e in range(2):
        v = ascent.ends[e]
        if v < 0 or ascent.sizes[e + 1] == 1:
            continue
        in_s, in_t = ascent.sizes[1] - (e == 0), ascent.sizes[2] - (e == 1)
        loss = _two_partition_gain(ascent.end_to_s[e], ascent.end_to_t[e], e + 1, in_s, in_t)
        for side in range(3):
            if side == e + 1:
                continue
            gain = _two_partition_gain(
                ascent.end_to_s[e], ascent.end_to_t[e], side, in_s, in_t
            ) - loss
            if gain > best.gain or (gain == best.gain and v < best.element):
                best.gain, best.element, best.side = gain, v, side
    return best


cdef void _shift(
    _Ascent ascent, const double[:, ::1] x, int64_t u, int64_t side, double sign
) noexcept nogil:
    """Add the row of ``u`` to the sums over a side, or subtract it."""
    cdef int64_t e, v
    ascent.sizes[side] += 1 if sign > 0.0 else -1
    if side == 1:
        for v in range(x.shape[0]):
            ascent.to_s[v] += sign * x[u, v]
        for e in range(2):
            if ascent.ends[e] >= 0:
                ascent.end_to_s[e] += sign * x[u, ascent.ends[e]]
    elif side == 2:
        for v in range(x.shape[0]):
            ascent.to_t[v] += sign * x[u, v]
        for e in range(2):
            if ascent.ends[e] >= 0:
                ascent.end_to_t[e] += sign * x[u, ascent.ends[e]]


cdef void _begin(_Ascent ascent, const double[:, ::1] x, int64_t s, int64_t t) noexcept nogil:
    """Begin with the sides {s} and {t}."""
    cdef int64_t v
    for v in range(x.shape[0]):
        ascent.to_s[v], ascent.to_t[v], ascent.now[v] = x[s, v], x[t, v], 0
    ascent.now[s], ascent.now[t] = 1, 2
    ascent.sizes[1], ascent.sizes[2] = 1, 1
    ascent.ends[0], ascent.ends[1] = s, t
    ascent.end_to_s[0], ascent.end_to_s[1] = x[s, s], x[s, t]
    ascent.end_to_t[0], ascent.end_to_t[1] = x[t, s], x[t, t]
    ascent.to_s[s], ascent.to_s[t] = NAN, NAN


cdef double _ascend(
    _Ascent ascent, const double[:, ::1] x, int64_t s, int64_t t, int64_t n_steps,
    int8_t[:, ::1] sides, int64_t row
) noexcept nogil:
    cdef double f = x[s, t] - 1.0, best = -INFINITY, best_f = f, ratio
    cdef int64_t v, k, _
    cdef _Move move
    _begin(ascent, x, s, t)
    for v in range(x.shape[0]):
        sides[row, v] = 0
    for _ in range(n_steps):
        move = _best_entry(ascent.to_s, ascent.to_t, ascent.sizes[1], ascent.sizes[2])
        move = _better_of_ends(ascent, move)
        if move.element < 0:
            break
        _shift(ascent, x, move.element, ascent.now[move.element], -1.0)
        _shift(ascent, x, move.element, move.side, 1.0)
        ascent.now[move.element] = <int8_t>move.side
        ascent.to_s[move.element] = NAN
        for k in range(2):
            if ascent.ends[k] == move.element:
                ascent.ends[k] = -1
        f += move.gain
        k = ascent.sizes[1] + ascent.sizes[2]
        ratio = f / sqrt(0.5 * k * (k - 1))
        if ratio > best:
            best, best_f = ratio, f
            for v in range(x.shape[0]):
                sides[row, v] = ascent.now[v]
    return best_f


def ascend_two_partition(
    const double[:, ::1] x, int64_t s, int64_t t, int64_t n_steps, sides
):
    """Greedy ascent over (S, T) from ({s}, {t}); each step moves one element once.

    The element and side of the largest change of violation x(S:T) - x(S) - x(T) -
    min(|S|, |T|) are taken, even downhill; the best (S, T) by violation over the norm of
    the row is written to ``sides`` (0: in neither, 1: S, 2: T). Returns its violation.
    """
    cdef int8_t[:, ::1] rows = sides[None]
    cdef _Ascent ascent = _Ascent(len(x))
    cdef double violation
    with nogil:
        violation = _ascend(ascent, x, s, t, n_steps, rows, 0)
    return violation


def violated_two_partitions(
    const double[:, ::1] x, const int64_t[:, ::1] pairs, double threshold, int64_t n_steps,
    expired=None
):
    """2-partition rows found by ascent from each of some pairs, as rows of sides (0, 1, 2).

    Pairs are left out once ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    found, violations = np.zeros((len(pairs), len(x)), np.int8), np.empty(len(pairs))
    cdef int8_t[:, ::1] sides = found
    cdef double[::1] violation = violations
    cdef _Ascent ascent = _Ascent(len(x))
    cdef int64_t count = 0, p
    with nogil:
        for p in range(pairs.shape[0]):
            violation[count] = _ascend(
                ascent, x, pairs[p, 0], pairs[p, 1], n_steps, sides, count
            )
            if violation[count] > threshold:
                count += 1
            if is_over(watch, 4 * n_steps * x.shape[0]):
                break
    watch.close()
    return found[:count], violations[:count]


cdef class _Members:
    """Rows by their elements, and for each element the chosen rows that it is in.

    ``start``, ``element`` and ``side`` list the elements of all rows and the sides they are on;
    the ``count[v]`` entries of element v among the chosen rows are linked from ``newest[v]`` on
    by ``older``, -1 at the end. ``seen`` has the last row that a chosen row was compared with.
    """

    cdef const int64_t[::1] start, element
    cdef const int8_t[::1] side
    cdef int64_t[::1] count, newest, older, owner, seen
    cdef int8_t[::1] used

    def __init__(self, sides):
        rows, elements = np.nonzero(sides)
        sizes = np.bincount(rows, minlength=len(sides))
        self.start = np.concatenate([[0], np.cumsum(sizes)])
        self.element, self.side = np.ascontiguousarray(elements), sides[rows, elements]
        self.count, self.newest = np.zeros(sides.shape[1], np.int64), np.full(sides.shape[1], -1)
        self.older, self.owner = np.empty((2, len(elements)), np.int64)
        self.seen, self.used = np.full(len(sides), -1), np.empty(len(elements), np.int8)


cdef double _product(_Members members, int64_t r, int64_t q) noexcept nogil:
    """Return the product of two rows."""
    cdef int64_t i = members.start[r], j = members.start[q], k = 0, s = 0
    while i < members.start[r + 1] and j < members.start[q + 1]:
        if members.element[i] < members.element[j]:
            i += 1
        elif members.element[i] > members.element[j]:
            j += 1
        else:
            k += 1
            s += 1 if members.side[i] == members.side[j] else -1
            i += 1
            j += 1
    return 0.5 * <double>(s * s - k)


cdef int64_t _least_shared(int64_t size, double parallel) noexcept nogil:
    """Return how many elements a row of this size has in common with one that is too parallel.

    The product of rows with k common elements is at most (k^2 - k) / 2, and so is the square of
    the norm of either.
    """
    cdef int64_t k = 1
    while k <= size and <double>(k * (k - 1)) <= parallel * parallel * (size * (size - 1)):
        k += 1
    return k


cdef bint _is_unlike(
    _Members members, const double[::1] norms, int64_t r, double parallel
) noexcept nogil:
    """Whether the product of a row with each chosen one is small enough.

    All but so many elements decide: those that the fewest chosen rows have.
    """
    cdef int64_t begin = members.start[r], end = members.start[r + 1], t, best, p, q, _
    for t in range(begin, end):
        members.used[t] = False
    for _ in range(end - begin - _least_shared(end - begin, parallel) + 1):
        best = -1
        for t in range(begin, end):
            if not members.used[t]:
                if best < 0 or (
                    members.count[members.element[t]] < members.count[members.element[best]]
                ):
                    best = t
        members.used[best] = True
        p = members.newest[members.element[best]]
        while p >= 0:
            q = members.owner[p]
            if members.seen[q] != r:
                members.seen[q] = r
                if _product(members, r, q) > parallel * norms[r] * norms[q]:
                    return False
            p = members.older[p]
    return True


cdef void _choose(_Members members, int64_t r) noexcept nogil:
    """Enter a chosen row at its elements."""
    cdef int64_t t, v
    for t in range(members.start[r], members.start[r + 1]):
        v = members.element[t]
        members.owner[t] = r
        members.older[t] = members.newest[v]
        members.newest[v] = t
        members.count[v] += 1


def choose_unlike(sides, const double[::1] norms, int64_t limit, double parallel):
    """Choose 2-partition rows in the order given, none too parallel to a chosen one.

    The coefficient of a pair is 1 across the sides and -1 within one, so the product of
    two rows is (s^2 - k) / 2, where k elements are in both rows and s of them more are on
    equal sides than on opposite ones.
    """
    cdef _Members members = _Members(sides)
    found = np.empty(min(limit, len(sides)), np.int64)
    cdef int64_t[::1] chosen = found
    cdef int64_t count = 0, r
    with nogil:
        for r in range(norms.shape[0]):
            if count == chosen.shape[0]:
                break
            if _is_unlike(members, norms, r, parallel):
                chosen[count] = r
                count += 1
                _choose(members, r)
    return found[:count]


cdef class _RowsView:
    """Rows and their prices, as views."""

    cdef const int64_t[::1] start
    cdef const int32_t[::1] places
    cdef const int8_t[::1] signs
    cdef const double[::1] sides
    cdef double[::1] prices
    cdef int64_t count

    def __init__(self, rows, prices):
        self.start, self.places, self.signs, self.sides = rows
        self.prices = prices
        self.count = len(prices)


cdef void _subtract_prices(_RowsView rows, float* v) noexcept nogil:
    """Subtract what rows with prices take from their pairs."""
    cdef int64_t r, t
    cdef float price
    for r in range(rows.count):
        price = <float>rows.prices[r]
        if price != 0:
            for t in range(rows.start[r], rows.start[r + 1]):
                v[rows.places[t]] -= price * rows.signs[t]


cdef void _clip(const float[:, ::1] v, float[:, ::1] y) noexcept nogil:
    """Bring every pair between 0 and 1."""
    cdef int64_t a, b
    cdef float now
    for a in range(v.shape[0]):
        for b in range(a + 1, v.shape[0]):
            now = v[a, b] if v[a, b] > 0 else 0
            y[a, b] = now if now < 1 else 1


cdef void _sweep(_RowsView rows, float* v, float* y) noexcept nogil:
    """Bring rows, one after the other, to what they allow, as far as their prices let them."""
    cdef int64_t r, t, place
    cdef double over
    cdef float step
    for r in range(rows.count):
        over = -rows.sides[r]
        for t in range(rows.start[r], rows.start[r + 1]):
            over += rows.signs[t] * y[rows.places[t]]
        over /= rows.start[r + 1] - rows.start[r]
        if over < -rows.prices[r]:
            over = -rows.prices[r]
        if over == 0:
            continue
        rows.prices[r] += over
        step = <float>over
        for t in range(rows.start[r], rows.start[r + 1]):
            place = rows.places[t]
            v[place] -= step * rows.signs[t]
            y[place] -= step * rows.signs[t]


def advance(
    const float[:, ::1] x, float[:, ::1] y, float[:, ::1] u, const float[:, ::1] scores,
    rows, prices, double relaxation, int64_t sweeps, expired=None
):
    """Make one step: Y becomes, nearly, the point of the polytope nearest to X + U + scores.

    X is over-relaxed; U becomes what X + U has beyond Y. Prices go on from where they are, for
    some sweeps over the rows (Hildreth's method); when ``expired`` says to stop, these end.
    """
    cdef _RowsView view = _RowsView(rows, prices)
    cdef Watch watch = Watch(expired)
    cdef int64_t n = x.shape[0], a, b, _
    cdef float share = <float>relaxation
    cdef float[:, ::1] v = np.empty((n, n), dtype=np.float32)
    with nogil:
        for a in range(n):
            for b in range(a, n):
                u[a, b] = u[a, b] + share * x[a, b] + (1 - share) * y[a, b]
                v[a, b] = u[a, b] + scores[a, b]
        _subtract_prices(view, &v[0, 0])
        _clip(v, y)
        for _ in range(sweeps if view.count else 0):
            if is_over(watch, 3 * view.places.shape[0] + n * n):
                break
            _sweep(view, &v[0, 0], &y[0, 0])
            _clip(v, y)
        for a in range(n):
            y[a, a] = 1
            for b in range(a, n):
                u[a, b] = u[a, b] - y[a, b]
    watch.close()


def bound_of(const float[:, ::1] z, const float[:, ::1] scores, rows, prices):
    """Return the bound that Z, positive semidefinite, and prices of rows prove, nearly.

    Half of the trace of Z, what rows are at most times their prices, and what is positive of
    scores and Z less prices.
    """
    cdef _RowsView view = _RowsView(rows, prices)
    cdef int64_t n = z.shape[0], a, b, r
    cdef double total = 0.0
    cdef float[:, ::1] v = np.empty((n, n), dtype=np.float32)
    with nogil:
        for a in range(n):
            total += 0.5 * z[a, a]
            for b in range(a + 1, n):
                v[a, b] = scores[a, b] + z[a, b]
        _subtract_prices(view, &v[0, 0])
        for a in range(n):
            for b in range(a + 1, n):
                if v[a, b] > 0:
                    total += v[a, b]
        for r in range(view.count):
            total += view.prices[r] * view.sides[r]
    return total
