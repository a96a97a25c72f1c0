"""Logical closure of fixed pairs under properties, with a reason for every step.

States are int8: -1 open, 0 unrelated, 1 related. A log line is
(a, b, value, family, i, j, k): pair ab takes the value because of the row of that family
with index (i, j, k), -1 where an index has fewer entries. Families are numbered as in
`relatum.proof.propagation.FAMILY_CODES`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TRANSITIVE = 0
SYMMETRIC = 1
ANTISYMMETRIC = 2
CONNEX = 3
HAS_IMAGE = 4
AT_MOST = 5
HAS_PREIMAGE = 6
UNIQUE_PREIMAGE = 7


@njit(cache=True)
def _put(state, log, count, a, b, value, reason):
    """Fix a pair. Returns the new count, or -count - 1 if it has the other value already."""
    if state[a, b] == value:
        return count
    log[count, 0] = a
    log[count, 1] = b
    log[count, 2] = value
    log[count, 3] = reason[0]
    log[count, 4] = reason[1]
    log[count, 5] = reason[2]
    log[count, 6] = reason[3]
    if state[a, b] >= 0:
        return -count - 1
    state[a, b] = value
    return count + 1


@njit(cache=True)
def _mirror(state, log, count, a, b, value, rules):
    """Take the steps from a pair to its mirror pair."""
    if a == b:
        return count
    if rules[SYMMETRIC]:
        i, j = (a, b) if value == 1 else (b, a)
        count = _put(state, log, count, b, a, value, (SYMMETRIC, i, j, -1))
        if count < 0:
            return count
    if rules[ANTISYMMETRIC] and value == 1:
        count = _put(state, log, count, b, a, 0, (ANTISYMMETRIC, a, b, -1))
        if count < 0:
            return count
    if rules[CONNEX] and value == 0:
        count = _put(state, log, count, b, a, 1, (CONNEX, a, b, -1))
    return count


@njit(cache=True)
def _triangles(state, log, count, a, b, value):
    """Take steps by transitivity: rows x_pq + x_qr - x_pr <= 1 that contain the pair ab."""
    n = state.shape[0]
    for c in range(n):
        if value == 1 and a != b:
            if c != b:  # row (a, b, c)
                if state[b, c] == 1 and state[a, c] != 1:
                    count = _put(state, log, count, a, c, 1, (TRANSITIVE, a, b, c))
                elif state[a, c] == 0 and state[b, c] != 0:
                    count = _put(state, log, count, b, c, 0, (TRANSITIVE, a, b, c))
                if count < 0:
                    return count
            if c != a:  # row (c, a, b)
                if state[c, a] == 1 and state[c, b] != 1:
                    count = _put(state, log, count, c, b, 1, (TRANSITIVE, c, a, b))
                elif state[c, b] == 0 and state[c, a] != 0:
                    count = _put(state, log, count, c, a, 0, (TRANSITIVE, c, a, b))
                if count < 0:
                    return count
        elif value == 0 and c != a and c != b:  # row (a, c, b)
            if state[a, c] == 1 and state[c, b] != 0:
                count = _put(state, log, count, c, b, 0, (TRANSITIVE, a, c, b))
            elif state[c, b] == 1 and state[a, c] != 0:
                count = _put(state, log, count, a, c, 0, (TRANSITIVE, a, c, b))
            if count < 0:
                return count
    return count


@njit(cache=True)
def _count(state, log, count, element, columns, has_one, cap):
    """Take steps by the number of images of an element; of preimages, if it is of the columns.

    Preimages are at most one, or any number of them.
    """
    pairs = state[:, element] if columns else state[element]
    n, ones, zeros = pairs.size, 0, 0
    for value in pairs:
        ones += value == 1
        zeros += value == 0
    if ones >= cap:
        reason = (UNIQUE_PREIMAGE, element, -1, -1) if columns else (AT_MOST, element, cap, -1)
        for k in range(n):
            if pairs[k] < 0 or (ones > cap and pairs[k] == 1):
                a, b = (k, element) if columns else (element, k)
                count = _put(state, log, count, a, b, 0, reason)
                if count < 0:
                    return count
    if has_one and ones == 0 and zeros >= n - 1:
        reason = (HAS_PREIMAGE if columns else HAS_IMAGE, element, -1, -1)
        for k in range(n):
            if pairs[k] < 0 or zeros == n:
                a, b = (k, element) if columns else (element, k)
                return _put(state, log, count, a, b, 1, reason)
    return count


@njit(cache=True)
def _count_images(state, log, count, a, rules, cap):
    """Take steps by the number of images of element a."""
    most = cap if rules[AT_MOST] else state.shape[1] + 1
    return _count(state, log, count, a, False, rules[HAS_IMAGE], most)


@njit(cache=True)
def _count_preimages(state, log, count, b, rules):
    """Take steps by the number of preimages of element b."""
    most = 1 if rules[UNIQUE_PREIMAGE] else state.shape[0] + 1
    return _count(state, log, count, b, True, rules[HAS_PREIMAGE], most)


@njit(cache=True)
def propagate(state, log, done, count, rules, cap):
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
    while done < count:
        a, b, value = log[done, 0], log[done, 1], log[done, 2]
        done += 1
        count = _mirror(state, log, count, a, b, value, rules)
        if count >= 0 and rules[TRANSITIVE]:
            count = _triangles(state, log, count, a, b, value)
        if count >= 0 and (rules[HAS_IMAGE] or rules[AT_MOST]):
            count = _count_images(state, log, count, a, rules, cap)
        if count >= 0 and (rules[HAS_PREIMAGE] or rules[UNIQUE_PREIMAGE]):
            count = _count_preimages(state, log, count, b, rules)
        if count < 0:
            return count
    return count


@njit(cache=True)
def close_lines(state, log, count, rules, cap):
    """Apply the counting rules once to every element; returns as `propagate`."""
    for a in range(state.shape[0]):
        count = _count_images(state, log, count, a, rules, cap)
        if count < 0:
            return count
    for b in range(state.shape[1]):
        count = _count_preimages(state, log, count, b, rules)
        if count < 0:
            return count
    return count


@njit(cache=True)
def complete(state, order, preferred, rules, cap):
    """Fix all open pairs, in the given order, to preferred values where that is possible.

    Parameters
    ----------
    state : int8 array, closed; changed in place
    order : int64 array (m,)
        Flat positions of pairs.
    preferred : bool array (n_a, n_b)

    Returns
    -------
    bool
        Whether every pair was fixed without contradiction. There is no backtracking
        beyond the opposite value of the pair at hand.
    """
    n_b = state.shape[1]
    log = np.empty((state.size + 1, 7), np.int64)
    for position in order:
        a, b = position // n_b, position % n_b
        if state[a, b] >= 0:
            continue
        settled = False
        for attempt in range(2):
            value = int(preferred[a, b]) if attempt == 0 else 1 - int(preferred[a, b])
            count = _put(state, log, 0, a, b, value, (-1, -1, -1, -1))
            count = propagate(state, log, 0, count, rules, cap)
            if count >= 0:
                settled = True
                break
            for line in range(-count - 1):
                state[log[line, 0], log[line, 1]] = -1
        if not settled:
            return False
    return True
