"""Probabilities of given clusters, in many small components at once.

As `set_partitions`, but for a batch of components, and only for the sets that were found.
"""

import numpy as np

from libc.math cimport exp2, floor
from libc.stdint cimport int32_t, int64_t

from relatum.kernels.probability.scaled cimport NEVER, ratio
from relatum.kernels.probability.set_partitions cimport add_up, weigh
from relatum.kernels.watch cimport Watch, is_over


cdef inline void _power(
    double bits, double[:, ::1] pair, int32_t[:, ::1] places, int64_t a, int64_t b
) noexcept nogil:
    """Set the weight of a pair to 2^bits."""
    cdef double whole = floor(bits)
    pair[a, b] = min(exp2(bits - whole) / 2, 1.0 - 2.0**-53)
    places[a, b] = <int32_t>whole + 1


def component_set_probabilities(batch, const int64_t[::1] labels, double background, int64_t cap,
                                int64_t most, expired=None):
    """Return, for every element, the probability that its cluster is exactly one of the sets.

    Parameters
    ----------
    batch : Components
        See ``kernels/tables/records.py``.
    labels : int64 (elements,)
        The clusters of each component, any numbers.
    background : float
        Bits of pairs that are not listed.
    cap : int
        Elements of the largest set allowed.
    most : int
        Elements of the largest component that is looked at.
    expired : callable or None

    Returns
    -------
    probability : float64 (elements,)
        NaN in larger components, and in those not reached before time was up.
    """
    cdef const int64_t[::1] element_ptr = batch.element_ptr, pair_ptr = batch.pair_ptr
    cdef const int64_t[::1] fixed_ptr = batch.fixed_ptr, groups = batch.groups
    cdef const int32_t[::1] i = batch.i, j = batch.j
    cdef const double[::1] log_odds = batch.log_odds
    cdef const int32_t[:, ::1] fixed = batch.fixed
    cdef int64_t k, n, a, b, r, start, whole, mask, t, size = <int64_t>1 << most
    result = np.full(labels.shape[0], np.nan)
    cdef double[::1] out = result, w = np.empty(size), f = np.empty(size), link = np.empty(size)
    cdef int32_t[::1] we = np.empty(size, np.int32), fe = np.empty(size, np.int32)
    cdef int32_t[::1] link_e = np.empty(size, np.int32), count = np.empty(size, np.int32)
    cdef double[:, ::1] pair = np.empty((most, most))
    cdef int32_t[:, ::1] places = np.empty((most, most), np.int32)
    cdef int64_t[::1] must = np.zeros(most, np.int64), ones = np.ones(most, np.int64)
    cdef bint told
    cdef Watch watch = Watch(expired), never = Watch()
    with nogil:
        for k in range(element_ptr.shape[0] - 1):
            start, n = element_ptr[k], element_ptr[k + 1] - element_ptr[k]
            if n > most:
                continue
            whole, told = (<int64_t>1 << n) - 1, False
            if is_over(watch, 100 + 3 * whole * (n + 1) + whole * whole // (1 + n)):
                break
            for a in range(n):
                must[a] = 0
                for b in range(a + 1, n):
                    _power(background, pair, places, a, b)
                    if groups.shape[0] and groups[start + a] >= 0 and (
                        groups[start + a] == groups[start + b]
                    ):
                        pair[a, b], places[a, b] = 0.0, NEVER
            for r in range(pair_ptr[k], pair_ptr[k + 1]):
                a, b = min(i[r], j[r]), max(i[r], j[r])
                if pair[a, b] > 0.0:
                    _power(log_odds[r], pair, places, a, b)
            for r in range(fixed_ptr[k], fixed_ptr[k + 1]):
                a, b = min(fixed[r, 0], fixed[r, 1]), max(fixed[r, 0], fixed[r, 1])
                if fixed[r, 2]:
                    must[a] |= <int64_t>1 << b
                    must[b] |= <int64_t>1 << a
                    told = True
                else:
                    pair[a, b], places[a, b] = 0.0, NEVER
            weigh(n, pair, places, ones, cap, w, we, count, link, link_e)
            if told:  # a set that holds one of two elements known to be related holds both
                for t in range(1, whole + 1):
                    for a in range(n):
                        if t >> a & 1 and must[a] & ~t:
                            w[t], we[t] = 0.0, NEVER
                            break
            add_up(n, w, we, f, fe, never)
            for a in range(n):
                mask = 0
                for b in range(n):
                    if labels[start + b] == labels[start + a]:
                        mask |= <int64_t>1 << b
                out[start + a] = 0.0
                if f[whole] > 0.0:
                    out[start + a] = ratio(
                        w[mask] * f[whole ^ mask], <int64_t>we[mask] + fe[whole ^ mask],
                        f[whole], fe[whole],
                    )
    watch.close()
    return result
