"""Steps on triangle rows alone, in single precision, and the rows to add: for blocks of a design.

The method is that of `relatum.kernels.first_order`, for max c x over x_i + x_j - x_k <= 1 and
0 <= x <= 1, and what is written here differs from it in nothing but memory: it is memory that the
steps on hundreds of thousands of rows wait for. The sides of all rows are the same and are not
stored, numbers have four bytes, the three numbers of a row lie side by side, and so do the two
numbers of a column that rows read and write.

``duals`` has a line for each row: y, its anchor and the result of the plain step. The lines of
``columns`` are c, the unscaled step, x, its anchor, the result of the plain step, A'y and its
anchor.
"""

import numpy as np

from libc.math cimport NAN, exp, log, sqrt
from libc.stdint cimport int32_t, int64_t

from relatum.kernels.watch cimport Watch, is_over


cdef enum:
    C = 0
    STEP = 1
    X = 2
    X_ANCHOR = 3
    X_PLAIN = 4
    PRICE = 5
    PRICE_ANCHOR = 6
    LANES = 16


cdef double _dual_step(
    const int32_t[:, ::1] triples, float[:, ::1] duals, float[:, ::1] both, float sigma, float w
) noexcept nogil:
    """Step on each row by the points ahead, ``both[:, 0]``, and price into ``both[:, 1]``."""
    cdef int64_t r, i, j, k
    cdef double moved = 0.0
    cdef float y, v, d, rest = <float>1.0 - w, zero = 0.0
    for r in range(triples.shape[0]):
        i, j, k = triples[r, 0], triples[r, 1], triples[r, 2]
        y = duals[r, 0]
        v = y + sigma * (both[i, 0] + both[j, 0] - both[k, 0] - <float>1.0)
        v = v if v > zero else zero
        d = v - y
        duals[r, 2] = v
        duals[r, 0] = w * (v + d) + rest * duals[r, 1]
        moved += d * d
        both[i, 1] += v
        both[j, 1] += v
        both[k, 1] -= v
    return moved / sigma


cdef void _primal_step(float[:, ::1] columns, float step, float[:, ::1] both) noexcept nogil:
    """Step from x along c - A'y, into the box; points ahead are twice as far."""
    cdef int64_t e
    cdef float v, one = 1.0, zero = 0.0
    for e in range(both.shape[0]):
        v = columns[X, e] + step * columns[STEP, e] * (columns[C, e] - columns[PRICE, e])
        v = v if v > zero else zero
        columns[X_PLAIN, e] = v if v < one else one
    for e in range(both.shape[0]):
        both[e, 0] = <float>2.0 * columns[X_PLAIN, e] - columns[X, e]
        both[e, 1] = 0.0


cdef double _reflect(
    float[:, ::1] columns, float step, const float[:, ::1] both, float w
) noexcept nogil:
    """Finish the primal iterate; return the primal and cross parts of the step's length."""
    cdef int64_t e
    cdef double moved = 0.0, crossed = 0.0
    cdef float d, g, rest = <float>1.0 - w
    for e in range(both.shape[0]):
        d = columns[X_PLAIN, e] - columns[X, e]
        g = both[e, 1]
        moved += d * d / columns[STEP, e]
        crossed += d * (g - columns[PRICE, e])
        columns[X, e] = w * (columns[X_PLAIN, e] + d) + rest * columns[X_ANCHOR, e]
        columns[PRICE, e] = w * (g + g - columns[PRICE, e]) + rest * columns[PRICE_ANCHOR, e]
    return moved / step - 2.0 * crossed


cdef double _rebalanced(
    double weight, double first, const float[:, ::1] columns, const float[:, ::1] duals
) noexcept nogil:
    """Return the primal weight after a restart: the log-average of old and seen."""
    cdef double far_x = 0.0, far_y = 0.0, d, new
    cdef int64_t e, r
    for e in range(columns.shape[1]):
        d = columns[X_PLAIN, e] - columns[X_ANCHOR, e]
        far_x += d * d / columns[STEP, e]
    for r in range(duals.shape[0]):
        d = duals[r, 2] - duals[r, 1]
        far_y += 3.0 * d * d
    if far_x < 1e-20 or far_y < 1e-20:
        return weight
    new = exp(0.5 * log(weight) + 0.25 * log(far_y / far_x))
    return min(max(new, 0.01 * first), 100.0 * first)


cdef void _restart(
    float[:, ::1] columns, float[:, ::1] duals, const float[:, ::1] both
) noexcept nogil:
    """Make the result of the plain step the iterate and the anchor."""
    cdef int64_t e, r
    for e in range(both.shape[0]):
        columns[X, e] = columns[X_PLAIN, e]
        columns[X_ANCHOR, e] = columns[X_PLAIN, e]
        columns[PRICE, e] = both[e, 1]
        columns[PRICE_ANCHOR, e] = both[e, 1]
    for r in range(duals.shape[0]):
        duals[r, 0] = duals[r, 2]
        duals[r, 1] = duals[r, 2]


cdef void _begin(
    const int32_t[:, ::1] triples, float[:, ::1] columns, float[:, ::1] duals
) noexcept nogil:
    """Set steps, prices and anchors from x and y."""
    cdef int64_t e, r, i, j, k, n = columns.shape[1]
    for e in range(n):
        columns[STEP, e] = 0.0
        columns[PRICE, e] = 0.0
    for r in range(triples.shape[0]):
        i, j, k = triples[r, 0], triples[r, 1], triples[r, 2]
        duals[r, 1] = duals[r, 0]
        duals[r, 2] = duals[r, 0]
        columns[STEP, i] += <float>1.0
        columns[STEP, j] += <float>1.0
        columns[STEP, k] += <float>1.0
        columns[PRICE, i] += duals[r, 0]
        columns[PRICE, j] += duals[r, 0]
        columns[PRICE, k] -= duals[r, 0]
    for e in range(n):
        columns[STEP, e] = <float>1.0 / max(columns[STEP, e], <float>1.0)
        columns[X_ANCHOR, e] = columns[X, e]
        columns[X_PLAIN, e] = columns[X, e]
        columns[PRICE_ANCHOR, e] = columns[PRICE, e]


cdef double _norm(
    const int32_t[:, ::1] triples, const float[:, ::1] columns, float[:, ::1] both, int64_t rounds
) noexcept nogil:
    """Estimate the norm of the rows scaled by the roots of the steps, by power iteration."""
    cdef int64_t _, e, r, i, j, k, n = both.shape[0]
    cdef double total, square = 0.0
    cdef float u, size, third = <float>(1.0 / 3.0)
    total = sqrt(<double>n)
    for e in range(n):  # no two neighbours alike: of one length, they would cancel each other
        both[e, 0] = <float>((1.0 + 0.001 * ((e * 7919) % 1000)) / total)
    for _ in range(rounds):
        for e in range(n):
            both[e, 0] *= <float>sqrt(columns[STEP, e])
            both[e, 1] = 0.0
        for r in range(triples.shape[0]):
            i, j, k = triples[r, 0], triples[r, 1], triples[r, 2]
            u = third * (both[i, 0] + both[j, 0] - both[k, 0])
            both[i, 1] += u
            both[j, 1] += u
            both[k, 1] -= u
        total = 0.0
        for e in range(n):
            both[e, 0] = both[e, 1] * <float>sqrt(columns[STEP, e])
            total += <double>both[e, 0] * both[e, 0]
        square = sqrt(total)
        if square == 0.0:
            return 0.0
        size = <float>square
        for e in range(n):
            both[e, 0] /= size
    return sqrt(square)


cdef void _iterate(
    const int32_t[:, ::1] triples, float[:, ::1] columns, float[:, ::1] duals,
    float[:, ::1] both, double[::1] control, int64_t iterations, Watch watch
) noexcept nogil:
    cdef double weight = control[0], scale, total = control[1], first = -1.0, last = 0.0
    cdef double norm, moved, residual
    cdef int64_t k = 0, _, work = 5 * triples.shape[0] + 5 * both.shape[0]
    cdef float w
    cdef bint falls
    _begin(triples, columns, duals)
    norm = _norm(triples, columns, both, 12)
    # the diagonal steps guarantee a norm of at most one
    scale = max(0.99, 0.99 / (1.05 * norm)) if norm > 0.0 else 0.99
    for _ in range(iterations):
        w = <float>((k + 1.0) / (k + 2.0))
        _primal_step(columns, <float>(scale / weight), both)
        moved = _dual_step(triples, duals, both, <float>(scale * weight / 3.0), w)
        moved += _reflect(columns, <float>(scale / weight), both, w)
        residual = sqrt(max(moved, 0.0))
        if first < 0.0:
            first = residual
        k += 1
        total += 1.0
        falls = residual <= 0.2 * first or (residual <= 0.8 * first and residual > last)
        last = residual
        if k > 1 and (falls or k >= 0.36 * total):
            weight = _rebalanced(weight, control[2], columns, duals)
            _restart(columns, duals, both)
            k = 0
            first = -1.0
        if is_over(watch, work):
            break
    control[0], control[1] = weight, total


def iterate_triangles(
    const int32_t[:, ::1] triples, float[:, ::1] columns, float[::1] multipliers,
    double[::1] control, int64_t iterations, expired=None
):
    """Run iterations from x (``columns[2]``) and multipliers, in place.

    ``control`` holds the primal weight, the number of iterations made so far and the first weight.
    There are fewer iterations if ``expired`` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef float[:, ::1] duals = np.empty((len(triples), 3), np.float32)
    cdef float[:, ::1] both = np.empty((columns.shape[1], 2), np.float32)
    cdef int64_t r
    with nogil:
        for r in range(duals.shape[0]):
            duals[r, 0] = multipliers[r]
        _iterate(triples, columns, duals, both, control, iterations, watch)
        columns[X] = columns[X_PLAIN]
        for r in range(duals.shape[0]):
            multipliers[r] = duals[r, 2]
    watch.close()


def bound_of_triangles(
    const double[::1] scores, const int32_t[:, ::1] triples, const float[::1] multipliers
):
    """Return what multipliers prove, y + sum of max(0, c - A'y), up to rounding."""
    reduced = np.array(scores)
    cdef double[::1] left = reduced
    cdef int64_t r, e
    cdef double total = 0.0, y
    with nogil:
        for r in range(triples.shape[0]):
            y = multipliers[r]
            total += y
            left[triples[r, 0]] -= y
            left[triples[r, 1]] -= y
            left[triples[r, 2]] += y
        for e in range(left.shape[0]):
            if left[e] > 0.0:
                total += left[e]
    return total


cdef void _fill(const float[::1] x, float[:, ::1] point, int64_t n) noexcept nogil:
    """Write a condensed point as a matrix; what is not a number is never the largest."""
    cdef int64_t k = 0, a, b
    for a in range(n):
        point[a, a] = NAN
        for b in range(a + 1, n):
            point[a, b] = x[k]
            point[b, a] = x[k]
            k += 1


cdef int64_t _most_violated(
    const float[:, ::1] x, int64_t a, int64_t b, int64_t start, int64_t end, float least,
    float* violation
) noexcept nogil:
    """Return the c from ``start`` to ``end`` with the largest x_bc - x_ac above ``least``, or -1.

    Neither a nor b is c. Ties go to different elements.
    """
    cdef float[LANES] top
    cdef float d, best = least
    cdef int64_t c = start, j, _
    for j in range(LANES):
        top[j] = least
    while c + LANES <= end:
        for j in range(LANES):
            d = x[b, c + j] - x[a, c + j]
            top[j] = d if d > top[j] else top[j]
        c += LANES
    for j in range(LANES):
        best = top[j] if top[j] > best else best
    while c < end:
        d = x[b, c] - x[a, c]
        best = d if d > best else best
        c += 1
    if best <= least:
        return -1
    c = start + (a * 7919 + b * 104729) % (end - start)
    for _ in range(end - start):
        if x[b, c] - x[a, c] == best:
            violation[0] = best
            return c
        c += 1
        if c == end:
            c = start
    return -1


cdef int64_t _violated_along(
    const float[:, ::1] x, const int64_t[::1] starts, float threshold, int32_t[:, ::1] index,
    float[::1] violation, Watch watch
) noexcept nogil:
    cdef int64_t n = x.shape[0], count = 0, t, a, b, c, start, end
    cdef float room, found = 0.0
    for t in range(starts.shape[0] - 1):
        start, end = starts[t], starts[t + 1]
        for a in range(n):
            for b in range(start, end):
                if not x[a, b] > threshold:
                    continue
                room = <float>1.0 - x[a, b]
                c = _most_violated(x, a, b, start, end, room + threshold, &found)
                if c < 0:
                    continue
                index[count, 0] = <int32_t>(c if start <= a < end and c < a else a)
                index[count, 1] = <int32_t>b
                index[count, 2] = <int32_t>(a if start <= a < end and c < a else c)
                violation[count] = found - room
                count += 1
            if is_over(watch, (end - start) * (end - start) // 8 + end - start):
                return count
    return count


def violated_along(const float[::1] x, const int64_t[::1] starts, double threshold, expired=None):
    """For each pair ab the most violated row x_ab + x_bc - x_ac <= 1 whose b and c share a set.

    ``x`` is condensed, elements are sorted by set; set s begins at ``starts[s]``, and after the
    last set comes the number of elements. Returns rows (a, b, c), with a < c where all are of one
    set, and their violations, those above the threshold; a row may be there twice.
    """
    cdef int64_t n = starts[starts.shape[0] - 1], most = 0, e, count
    cdef float least = <float>threshold
    cdef Watch watch = Watch(expired)
    cdef float[:, ::1] point = np.empty((n, n), np.float32)
    with nogil:
        _fill(x, point, n)
        for e in range(x.shape[0]):
            most += x[e] > least
    index, violations = np.empty((2 * most, 3), np.int32), np.empty(2 * most, np.float32)
    cdef int32_t[:, ::1] rows = index
    cdef float[::1] violation = violations
    with nogil:
        count = _violated_along(point, starts, least, rows, violation, watch)
    watch.close()
    return index[:count], violations[:count]
