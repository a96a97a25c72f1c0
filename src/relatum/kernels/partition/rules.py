"""What a set of a partition may hold: a cap on its size, forbidden pairs, one element per group.

The elements are those left after must-links are contracted: element ``v`` stands for
``sizes[v]`` elements of the problem and may belong to several groups. Forbidden pairs and
groups are compressed rows. Which groups a set holds is a hash set of the keys
``set * n_groups + group``, because neither sets x groups nor pairs of a group need be few.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from relatum.kernels.hashing import find, remove, table_length


class Rules(NamedTuple):
    """Sizes of the elements and the rules that every set of a partition obeys."""

    sizes: np.ndarray  # int64 (n,)
    cap: int  # no set has a larger sum of sizes
    cannot_ptr: np.ndarray  # int64 (n + 1,)
    cannot_idx: np.ndarray  # int64, symmetric: the elements that may not join element v
    group_ptr: np.ndarray  # int64 (n + 1,)
    group_idx: np.ndarray  # int64: the groups of element v
    n_groups: int


def new_occupancy(rules: Rules) -> np.ndarray:
    """Empty hash set, large enough for every (set, group) pair of any partition."""
    entries = rules.group_idx.shape[0] if rules.n_groups > 0 else 0
    return np.full(table_length(2 * entries + 2), -1, np.int64)


@njit(cache=True)
def _belongs(rules, v, group):
    """Whether element ``v`` belongs to the group."""
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        if rules.group_idx[e] == group:
            return True
    return False


@njit(cache=True)
def _kept_out(rules, occupied, labels, v, c, u):
    """Whether a forbidden pair or a group keeps element ``v`` out of set ``c``.

    If ``u`` is not negative, this element of the set makes room.
    """
    for e in range(rules.cannot_ptr[v], rules.cannot_ptr[v + 1]):
        other = rules.cannot_idx[e]
        if labels[other] == c and other != u:
            return True
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        key = c * rules.n_groups + rules.group_idx[e]
        held = occupied[find(occupied, key)] == key
        if held and (u < 0 or not _belongs(rules, u, rules.group_idx[e])):
            return True
    return False


@njit(cache=True)
def can_enter(rules, occupied, labels, size, v, c):
    """Whether the rules let element ``v`` enter set ``c``, of total size ``size[c]``."""
    if size[c] + rules.sizes[v] > rules.cap:
        return False
    return not _kept_out(rules, occupied, labels, v, c, -1)


@njit(cache=True)
def can_join(rules, occupied, labels, size, members, a):
    """Whether the rules let the set of the elements ``members`` join set ``a``."""
    if members.shape[0] == 0:
        return True
    b = labels[members[0]]
    if size[a] + size[b] > rules.cap:
        return False
    for v in members:  # noqa: SIM110  generators do not compile
        if _kept_out(rules, occupied, labels, v, a, -1):
            return False
    return True


@njit(cache=True)
def can_exchange(rules, occupied, labels, size, v, u):
    """Whether the rules let elements ``v`` and ``u`` of different sets change places."""
    more = rules.sizes[v] - rules.sizes[u]
    if size[labels[u]] + more > rules.cap or size[labels[v]] - more > rules.cap:
        return False
    if _kept_out(rules, occupied, labels, v, labels[u], u):
        return False
    return not _kept_out(rules, occupied, labels, u, labels[v], v)


@njit(cache=True)
def enter_groups(rules, occupied, v, c):
    """Record that set ``c`` now holds the groups of element ``v``."""
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        key = c * rules.n_groups + rules.group_idx[e]
        occupied[find(occupied, key)] = key


@njit(cache=True)
def leave_groups(rules, occupied, v, c):
    """Record that set ``c`` no longer holds the groups of element ``v``."""
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        key = c * rules.n_groups + rules.group_idx[e]
        slot = find(occupied, key)
        if occupied[slot] == key:
            remove(occupied, occupied, slot)
