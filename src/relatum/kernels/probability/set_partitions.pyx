"""Sums over all partitions of a small set, by dynamic programming over subsets of subsets.

The weight of a partition is the product of the weights of its sets, and the weight of a set the
product over its pairs. The partitions of a set S are those of S without T, for every T within S
that holds the first element of S. The probability that T is one of the sets is then the weight of
T, times the sum over the rest, by the sum over all: nothing has to be run backwards.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from relatum.kernels.probability.scaled cimport NEVER, plus, ratio, settle, times
from relatum.kernels.watch cimport Watch, is_over


cdef void weigh(
    int64_t n, const double[:, ::1] pair, const int32_t[:, ::1] places, const int64_t[::1] sizes,
    int64_t cap, double[::1] w, int32_t[::1] we, int32_t[::1] size, double[::1] link,
    int32_t[::1] link_e,
) noexcept nogil:
    """Set the weight of every subset of n elements, from those without their first element."""
    cdef int64_t a, b, r, half, whole, rest, top
    cdef double x
    w[0], we[0], size[0] = 0.5, 1, 0
    for a in range(n - 1, -1, -1):
        link[0], link_e[0] = 0.5, 1  # the weight of the pairs of a with the elements r after it
        for b in range(a + 1, n):
            half = <int64_t>1 << (b - a - 1)
            for r in range(half):
                top = link_e[r] + <int64_t>places[a, b]
                x = times(link[r], pair[a, b], &top)
                link[half + r], link_e[half + r] = x, <int32_t>top if x > 0.0 else NEVER
        for r in range(<int64_t>1 << (n - 1 - a)):
            rest = r << (a + 1)
            whole = rest | (<int64_t>1 << a)
            size[whole] = <int32_t>(size[rest] + sizes[a])
            top = we[rest] + <int64_t>link_e[r]
            x = times(w[rest], link[r], &top)
            if size[whole] > cap or x <= 0.0:
                w[whole], we[whole] = 0.0, NEVER
            else:
                w[whole], we[whole] = x, <int32_t>top


cdef void add_up(
    int64_t n, const double[::1] w, const int32_t[::1] we, double[::1] f, int32_t[::1] fe,
    Watch watch,
) noexcept nogil:
    """Set the sum over the partitions of every subset of n elements."""
    cdef int64_t s, t, first, rest, part, top
    cdef double total
    f[0], fe[0] = 0.5, 1
    for s in range(1, <int64_t>1 << n):
        first = s & -s
        rest = s ^ first
        part, total, top = rest, 0.0, 4 * <int64_t>NEVER
        while True:
            t = part | first
            total = plus(total, &top, w[t] * f[s ^ t], <int64_t>we[t] + fe[s ^ t])
            if part == 0:
                break
            part = (part - 1) & rest
        total = settle(total, &top)
        f[s], fe[s] = total, <int32_t>top
        # the work: about the number of subsets of an average one
        if (s & 63) == 0 and is_over(watch, (s >> 4) + 256):
            return


def partition_sums(
    const double[:, ::1] pair, const int32_t[:, ::1] places, const int64_t[::1] sizes,
    int64_t cap, expired=None,
):
    """Weigh all subsets of n elements, and add up the partitions of each.

    Parameters
    ----------
    pair, places : (n, n) arrays
        Mantissas and exponents of the weights of pairs a < b; mantissa 0 where a and b exclude
        each other.
    sizes : (n,)
        What each element counts for the cap.
    cap : int
        No set is larger.
    expired : callable or None

    Returns
    -------
    weight, weight_places, total, total_places : arrays of length 2^n
        By subset, one bit for every element: its weight as a set, and the sum over its
        partitions. Sums not reached before time was up are zero.
    """
    cdef int64_t n = pair.shape[0]
    count = 1 << n
    weight, weight_e = np.empty(count), np.empty(count, np.int32)
    total, total_e = np.zeros(count), np.full(count, NEVER, np.int32)
    cdef Watch watch = Watch(expired)
    cdef double[::1] w = weight, f = total, link = np.empty(max(1, count // 2))
    cdef int32_t[::1] we = weight_e, fe = total_e, size = np.empty(count, np.int32)
    cdef int32_t[::1] link_e = np.empty(max(1, count // 2), np.int32)
    with nogil:
        weigh(n, pair, places, sizes, cap, w, we, size, link, link_e)
        add_up(n, w, we, f, fe, watch)
    watch.close()
    return weight, weight_e, total, total_e


def set_weights(const double[:, ::1] pair, const int32_t[:, ::1] places):
    """Return the weight of every subset as one set: mantissas and exponents."""
    cdef int64_t n = pair.shape[0]
    count = 1 << n
    weight, weight_e, size = np.empty(count), np.empty(count, np.int32), np.empty(count, np.int32)
    link, link_e = np.empty(max(1, count // 2)), np.empty(max(1, count // 2), np.int32)
    weigh(n, pair, places, np.ones(n, np.int64), n, weight, weight_e, size, link, link_e)
    return weight, weight_e


def set_probabilities(
    const double[::1] w, const int32_t[::1] we, const double[::1] f, const int32_t[::1] fe
):
    """Return, for every subset, the probability that it is one of the sets."""
    cdef int64_t whole = w.shape[0] - 1, t
    result = np.zeros(w.shape[0])
    cdef double[::1] p = result
    for t in range(1, whole + 1):
        p[t] = ratio(
            w[t] * f[whole ^ t], <int64_t>we[t] + fe[whole ^ t], f[whole], fe[whole]
        )
    return result


def draw_partitions(
    const double[::1] w, const int32_t[::1] we, const double[::1] f, const int32_t[::1] fe,
    const double[:, ::1] uniform,
):
    """Draw independent partitions; one row of n uniform numbers makes one. Return their labels."""
    cdef int64_t k, s, t, first, rest, part, n = uniform.shape[1], label, a
    cdef double left
    result = np.zeros((uniform.shape[0], n), np.int64)
    cdef int64_t[:, ::1] labels = result
    with nogil:
        for k in range(uniform.shape[0]):
            s, label = w.shape[0] - 1, 0
            while s:
                first = s & -s
                rest = s ^ first
                left, part, t = uniform[k, label], rest, first
                while True:
                    if w[part | first] > 0.0 and f[s ^ part ^ first] > 0.0:
                        t = part | first
                        left -= ratio(
                            w[t] * f[s ^ t], <int64_t>we[t] + fe[s ^ t], f[s], fe[s]
                        )
                    if left < 0.0 or part == 0:  # rounding may leave some: then the last one
                        break
                    part = (part - 1) & rest
                for a in range(n):
                    if t >> a & 1:
                        labels[k, a] = label
                label += 1
                s ^= t
    return result
