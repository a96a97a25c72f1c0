"""Local search for linear orders: insertion, and annealing over the places of elements.

``d[a, b]`` is what is gained when a comes before b instead of after: w[a, b] - w[b, a],
antisymmetric; +inf if a must come before b (then d[b, a] = -inf). Given a start that
respects these, no move ever breaks one: passing over such an element costs inf.
"""

from libc.math cimport INFINITY, pow
from libc.stdint cimport int64_t, uint64_t

from relatum.kernels.randomness cimport next_below
from relatum.kernels.watch cimport Watch, is_over


def order_gain(const double[:, ::1] d, const int64_t[::1] order):
    """Sum of d over the pairs a before b: twice the value, less a constant."""
    cdef int64_t n = order.shape[0], p, q, e
    cdef double total = 0.0
    with nogil:
        for p in range(n):
            e = order[p]
            for q in range(p + 1, n):
                total += d[e, order[q]]
    return total


cdef inline void _shift(int64_t[::1] order, int64_t source, int64_t target) noexcept nogil:
    """Take the element at place `source` out and put it in at place `target`."""
    cdef int64_t e = order[source], p
    if source < target:
        for p in range(source, target):
            order[p] = order[p + 1]
    else:
        for p in range(source, target, -1):
            order[p] = order[p - 1]
    order[target] = e


cdef inline (double, int64_t) _best_place(
    const double[:, ::1] d, const int64_t[::1] order, int64_t n, int64_t place, double least
) noexcept nogil:
    """Return the best gain above `least` of moving order[place], and where to (or -1)."""
    cdef int64_t e = order[place], target = -1, other = -1, p
    cdef int64_t both = min(place, n - 1 - place)
    cdef double best = least, second = least, gain = 0.0, more = 0.0
    # both ways at once as far as both go: a processor adds two sums in the time of one
    for p in range(1, both + 1):
        gain += d[e, order[place - p]]
        more -= d[e, order[place + p]]
        if gain > best:
            best, target = gain, place - p
        if more > second:
            second, other = more, place + p
    for p in range(place - both - 1, -1, -1):
        gain += d[e, order[p]]
        if gain > best:
            best, target = gain, p
        elif gain == -INFINITY:
            break
    for p in range(place + both + 1, n):
        more -= d[e, order[p]]
        if more > second:
            second, other = more, p
        elif more == -INFINITY:
            break
    if second > best:
        return second, other
    return best, target


cdef double improve_by_insertion(
    const double[:, ::1] d, int64_t[::1] order, int64_t n, double least, Watch watch
) noexcept nogil:
    """Do what `insertion_search` does to the first n elements."""
    cdef int64_t idle = 0, at = 0, target
    cdef double total = 0.0, gain
    while idle < n and not is_over(watch, n):
        gain, target = _best_place(d, order, n, at, least)
        if target >= 0:
            _shift(order, at, target)
            total += gain
            idle = 0
        else:
            idle += 1
        at += 1
        if at == n:
            at = 0
    return total


def insertion_search(const double[:, ::1] d, int64_t[::1] order, double least, expired=None):
    """Move single elements to their best places until no move gains more than `least`.

    Changes `order`; returns the total gain. Ends before if `expired` says so.
    """
    cdef Watch watch = Watch(expired)
    cdef double total
    with nogil:
        total = improve_by_insertion(d, order, order.shape[0], least, watch)
    watch.close()
    return total


cdef inline (double, int64_t) _noisy_place(
    const double[:, ::1] d, const int64_t[::1] order, int64_t place, double temperature,
    const double[::1] noise, int64_t at
) noexcept nogil:
    """Return (gain, place) of the best place after adding noise to the gain of each.

    With Gumbel noise this draws a place with probability proportional to
    exp(gain / temperature): a heat bath over all places of one element.
    """
    cdef int64_t n = order.shape[0], size = noise.shape[0], e = order[place], p
    cdef int64_t both = min(place, n - 1 - place), target = place, other = place
    cdef int64_t i = at, j = (at + place) % size  # noise of the places before, and behind
    cdef double best = temperature * noise[at], second = best, kept = 0.0, spare = 0.0
    cdef double gain = 0.0, more = 0.0, v, u
    # both ways at once as far as both go: a processor adds two sums in the time of one
    for p in range(1, both + 1):
        gain += d[e, order[place - p]]
        more -= d[e, order[place + p]]
        i = i + 1 if i + 1 < size else 0
        j = j + 1 if j + 1 < size else 0
        v = gain + temperature * noise[i]
        u = more + temperature * noise[j]
        if v > best:
            best, target, kept = v, place - p, gain
        if u > second:
            second, other, spare = u, place + p, more
    for p in range(place - both - 1, -1, -1):
        gain += d[e, order[p]]
        i = i + 1 if i + 1 < size else 0
        v = gain + temperature * noise[i]
        if v > best:
            best, target, kept = v, p, gain
    for p in range(place + both + 1, n):
        more -= d[e, order[p]]
        j = j + 1 if j + 1 < size else 0
        u = more + temperature * noise[j]
        if u > second:
            second, other, spare = u, p, more
    if second > best:
        return spare, other
    return kept, target


def anneal_order(
    const double[:, ::1] d, int64_t[::1] order, const double[::1] heat, int64_t steps,
    const double[::1] noise, uint64_t[::1] state, expired=None
):
    """Anneal by a heat bath over the places of single elements; change `order`.

    The temperature falls geometrically from heat[0] to heat[1]. Each step draws a new
    place for one random element. Call `insertion_search` afterwards.

    Parameters
    ----------
    d : float64 array (n, n)
    order : int64 array (n,), changed
    heat : float64 array (2,)
    steps : int
    noise : float64 array
        Gumbel noise, used round and round from random offsets.
    state : uint64 array (1,), changed
        The state of the random numbers: equal states give equal results.
    expired : callable, optional
        Says whether to end before all steps are made.

    Returns
    -------
    float
        The gain over the order given.
    """
    cdef int64_t n = order.shape[0], place, at, target, _
    cdef double total = 0.0, temperature = heat[0], gain
    cdef double cooling = pow(heat[1] / heat[0], 1.0 / max(1, steps))
    cdef Watch watch = Watch(expired)
    with nogil:
        for _ in range(steps):
            place = next_below(state, n)
            at = next_below(state, noise.shape[0])
            gain, target = _noisy_place(d, order, place, temperature, noise, at)
            if target != place:
                _shift(order, place, target)
                total += gain
            temperature *= cooling
            if is_over(watch, 2 * n):
                break
    watch.close()
    return total
