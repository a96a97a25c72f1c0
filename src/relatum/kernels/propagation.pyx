"""Logical closure of fixed pairs under properties, with a reason for every step.

States are int8: -1 open, 0 unrelated, 1 related. A log line is
(a, b, value, family, i, j, k): pair ab takes the value because of the row of that family
with index (i, j, k), -1 where an index has fewer entries. Families are numbered as in
`relatum.proof.propagation.FAMILY_CODES`.
"""

import numpy as np

from libc.stdint cimport int8_t, int64_t, uint8_t

from relatum.kernels.watch cimport Watch, is_over

cdef enum:
    TRANSITIVE = 0
    SYMMETRIC = 1
    ANTISYMMETRIC = 2
    CONNEX = 3
    HAS_IMAGE = 4
    AT_MOST = 5
    HAS_PREIMAGE = 6
    UNIQUE_PREIMAGE = 7


cdef struct Reason:
    int64_t family, i, j, k


cdef class ClosureView:
    """A state, the log of what was fixed, and the rules, as kernels read them."""

    cdef int8_t[:, ::1] state
    cdef int64_t[:, ::1] log
    cdef const uint8_t[::1] rules
    cdef int64_t cap

    def __init__(self, state, log, rules, cap):
        self.state, self.log, self.rules, self.cap = state, log, rules.view(np.uint8), cap


cdef int64_t _put(
    ClosureView now, int64_t count, int64_t a, int64_t b, int64_t value, Reason reason
) noexcept nogil:
    """Fix a pair. Returns the new count, or -count - 1 if it has the other value already."""
    if now.state[a, b] == value:
        return count
    now.log[count, 0], now.log[count, 1], now.log[count, 2] = a, b, value
    now.log[count, 3], now.log[count, 4] = reason.family, reason.i
    now.log[count, 5], now.log[count, 6] = reason.j, reason.k
    if now.state[a, b] >= 0:
        return -count - 1
    now.state[a, b] = <int8_t>value
    return count + 1


cdef int64_t _mirror(
    ClosureView now, int64_t count, int64_t a, int64_t b, int64_t value
) noexcept nogil:
    """Take the steps from a pair to its mirror pair."""
    if a == b:
        return count
    if now.rules[SYMMETRIC]:
        if value == 1:
            count = _put(now, count, b, a, value, Reason(SYMMETRIC, a, b, -1))
        else:
            count = _put(now, count, b, a, value, Reason(SYMMETRIC, b, a, -1))
        if count < 0:
            return count
    if now.rules[ANTISYMMETRIC] and value == 1:
        count = _put(now, count, b, a, 0, Reason(ANTISYMMETRIC, a, b, -1))
        if count < 0:
            return count
    if now.rules[CONNEX] and value == 0:
        count = _put(now, count, b, a, 1, Reason(CONNEX, a, b, -1))
    return count


cdef int64_t _triangles_of_one(
    ClosureView now, int64_t count, int64_t a, int64_t b
) noexcept nogil:
    """Take steps by transitivity: rows that contain the related pair ab, first or second."""
    cdef int8_t[:, ::1] state = now.state
    cdef int64_t c
    for c in range(state.shape[0]):
        if c != b:  # row (a, b, c)
            if state[b, c] == 1 and state[a, c] != 1:
                count = _put(now, count, a, c, 1, Reason(TRANSITIVE, a, b, c))
            elif state[a, c] == 0 and state[b, c] != 0:
                count = _put(now, count, b, c, 0, Reason(TRANSITIVE, a, b, c))
            if count < 0:
                return count
        if c != a:  # row (c, a, b)
            if state[c, a] == 1 and state[c, b] != 1:
                count = _put(now, count, c, b, 1, Reason(TRANSITIVE, c, a, b))
            elif state[c, b] == 0 and state[c, a] != 0:
                count = _put(now, count, c, a, 0, Reason(TRANSITIVE, c, a, b))
            if count < 0:
                return count
    return count


cdef int64_t _triangles_of_zero(
    ClosureView now, int64_t count, int64_t a, int64_t b
) noexcept nogil:
    """Take steps by transitivity: rows that contain the unrelated pair ab, third."""
    cdef int8_t[:, ::1] state = now.state
    cdef int64_t c
    for c in range(state.shape[0]):
        if c != a and c != b:  # row (a, c, b)
            if state[a, c] == 1 and state[c, b] != 0:
                count = _put(now, count, c, b, 0, Reason(TRANSITIVE, a, c, b))
            elif state[c, b] == 1 and state[a, c] != 0:
                count = _put(now, count, a, c, 0, Reason(TRANSITIVE, a, c, b))
            if count < 0:
                return count
    return count


cdef int64_t _triangles(
    ClosureView now, int64_t count, int64_t a, int64_t b, int64_t value
) noexcept nogil:
    """Take steps by transitivity: rows x_pq + x_qr - x_pr <= 1 that contain the pair ab."""
    if value == 0:
        return _triangles_of_zero(now, count, a, b)
    return count if a == b else _triangles_of_one(now, count, a, b)


cdef int64_t _count_images(ClosureView now, int64_t count, int64_t a) noexcept nogil:
    """Take steps by the number of images of element a."""
    cdef int64_t n = now.state.shape[1], ones = 0, zeros = 0, b
    for b in range(n):
        ones += now.state[a, b] == 1
        zeros += now.state[a, b] == 0
    if now.rules[AT_MOST] and ones >= now.cap and (ones > now.cap or ones + zeros < n):
        for b in range(n):
            if now.state[a, b] < 0 or (ones > now.cap and now.state[a, b] == 1):
                count = _put(now, count, a, b, 0, Reason(AT_MOST, a, now.cap, -1))
                if count < 0:
                    return count
    if now.rules[HAS_IMAGE] and ones == 0 and zeros >= n - 1:
        for b in range(n):
            if now.state[a, b] < 0 or zeros == n:
                return _put(now, count, a, b, 1, Reason(HAS_IMAGE, a, -1, -1))
    return count


cdef int64_t _count_preimages(ClosureView now, int64_t count, int64_t b) noexcept nogil:
    """Take steps by the number of preimages of element b."""
    cdef int64_t n = now.state.shape[0], ones = 0, zeros = 0, a
    for a in range(n):
        ones += now.state[a, b] == 1
        zeros += now.state[a, b] == 0
    if now.rules[UNIQUE_PREIMAGE] and ones >= 1 and (ones > 1 or ones + zeros < n):
        for a in range(n):
            if now.state[a, b] < 0 or (ones > 1 and now.state[a, b] == 1):
                count = _put(now, count, a, b, 0, Reason(UNIQUE_PREIMAGE, b, -1, -1))
                if count < 0:
                    return count
    if now.rules[HAS_PREIMAGE] and ones == 0 and zeros >= n - 1:
        for a in range(n):
            if now.state[a, b] < 0 or zeros == n:
                return _put(now, count, a, b, 1, Reason(HAS_PREIMAGE, b, -1, -1))
    return count


cdef int64_t _propagate(ClosureView now, int64_t done, int64_t count) noexcept nogil:
    cdef bint images = now.rules[HAS_IMAGE] or now.rules[AT_MOST]
    cdef bint preimages = now.rules[HAS_PREIMAGE] or now.rules[UNIQUE_PREIMAGE]
    cdef int64_t a, b, value
    while done < count:
        a, b, value = now.log[done, 0], now.log[done, 1], now.log[done, 2]
        done += 1
        count = _mirror(now, count, a, b, value)
        if count >= 0 and now.rules[TRANSITIVE]:
            count = _triangles(now, count, a, b, value)
        if count >= 0 and images:
            count = _count_images(now, count, a)
        if count >= 0 and preimages:
            count = _count_preimages(now, count, b)
    return count


def propagate(state, log, int64_t done, int64_t count, rules, int64_t cap):
    """Close the state under the rules, starting from log lines done ... count - 1.

    Parameters
    ----------
    state : int8 array (n_a, n_b), changed in place
    log : int64 array (n_a * n_b + 1, 7), appended to in place
    done, count : int
        Lines before `done` are closed already; `count` lines are there.
    rules : bool array (8,)
        Which families hold.
    cap : int
        The most images an element may have (used if rules[AT_MOST]).

    Returns
    -------
    int
        The new number of lines; -k - 1 if line k contradicts the state.
    """
    cdef ClosureView now = ClosureView(state, log, rules, cap)
    with nogil:
        count = _propagate(now, done, count)
    return count


def close_lines(state, log, int64_t count, rules, int64_t cap):
    """Apply the counting rules once to every element; returns as `propagate`."""
    cdef ClosureView now = ClosureView(state, log, rules, cap)
    cdef int64_t a, b
    with nogil:
        for a in range(now.state.shape[0]):
            if count >= 0:
                count = _count_images(now, count, a)
        for b in range(now.state.shape[1]):
            if count >= 0:
                count = _count_preimages(now, count, b)
    return count


cdef bint _complete(
    ClosureView now, const int64_t[::1] order, const uint8_t[:, ::1] preferred, Watch watch
) noexcept nogil:
    cdef int64_t n_b = now.state.shape[1], p, a, b, attempt, value, count, line
    for p in range(order.shape[0]):
        a, b = order[p] // n_b, order[p] % n_b
        if now.state[a, b] >= 0:
            continue
        for attempt in range(2):
            value = preferred[a, b] if attempt == 0 else 1 - preferred[a, b]
            count = _put(now, 0, a, b, value, Reason(-1, -1, -1, -1))
            count = _propagate(now, 0, count)
            if is_over(watch, 2 * n_b * (count if count >= 0 else -count)) or count >= 0:
                break
            for line in range(-count - 1):
                now.state[now.log[line, 0], now.log[line, 1]] = -1
        if count < 0:
            for line in range(-count - 1):
                now.state[now.log[line, 0], now.log[line, 1]] = -1
            return watch.over
        if watch.over:
            return True
    return True


def complete(state, order, preferred, rules, int64_t cap, expired=None):
    """Fix all open pairs, in the given order, to preferred values where that is possible.

    Parameters
    ----------
    state : int8 array, closed; changed in place
    order : int64 array (m,)
        Flat positions of pairs.
    preferred : bool array (n_a, n_b)
    rules, cap
        As for `propagate`.
    expired : callable, optional
        Says whether to stop: then some pairs stay open, and the state is closed.

    Returns
    -------
    bool
        Whether every pair was fixed without contradiction, as far as it was tried. There is
        no backtracking beyond the opposite value of the pair at hand.
    """
    log = np.empty((state.size + 1, 7), np.int64)
    cdef ClosureView now = ClosureView(state, log, rules, cap)
    cdef const int64_t[::1] positions = np.ascontiguousarray(order, np.int64)
    cdef const uint8_t[:, ::1] wanted = np.ascontiguousarray(preferred).view(np.uint8)
    cdef Watch watch = Watch(expired)
    cdef bint settled
    with nogil:
        settled = _complete(now, positions, wanted, watch)
    watch.close()
    return settled
