"""What a set of a partition may hold: a cap on its size, forbidden pairs, one element per group.

The elements are those left after must-links are contracted: element ``v`` stands for
``sizes[v]`` elements of the problem and may belong to several groups. Forbidden pairs and
groups are compressed rows. Which groups a set holds is a hash set of the keys
``set * n_groups + group``, because neither sets x groups nor pairs of a group need be few.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "Rules",
    "can_enter",
    "can_exchange",
    "can_join",
    "enter_groups",
    "free_rules",
    "leave_groups",
    "new_occupancy",
    "occupied_add",
    "occupied_has",
    "occupied_remove",
]


class Rules(NamedTuple):
    """Sizes of the elements and the rules that every set of a partition obeys."""

    sizes: np.ndarray  # int64 (n,)
    cap: int  # no set has a larger sum of sizes
    cannot_ptr: np.ndarray  # int64 (n + 1,)
    cannot_idx: np.ndarray  # int64, symmetric: the elements that may not join element v
    group_ptr: np.ndarray  # int64 (n + 1,)
    group_idx: np.ndarray  # int64: the groups of element v
    n_groups: int


def free_rules(n: int) -> Rules:
    """Rules that allow everything, for ``n`` elements of size 1."""
    nothing = np.zeros(0, np.int64)
    pointers = np.zeros(n + 1, np.int64)
    return Rules(np.ones(n, np.int64), n, pointers, nothing, pointers, nothing, 0)


def new_occupancy(rules: Rules) -> np.ndarray:
    """Empty hash set, large enough for every (set, group) pair of any partition."""
    length = 2
    while rules.n_groups > 0 and length < 2 * rules.group_idx.shape[0] + 2:
        length *= 2
    return np.full(length, -1, np.int64)


@njit(cache=True)
def _home(key, mask):
    x = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(x >> np.uint64(20)) & mask


@njit(cache=True)
def occupied_has(occupied, key):
    """Whether the hash set holds the key."""
    mask = occupied.shape[0] - 1
    i = _home(key, mask)
    while occupied[i] != -1:
        if occupied[i] == key:
            return True
        i = (i + 1) & mask
    return False


@njit(cache=True)
def occupied_add(occupied, key):
    """Put a key into the hash set."""
    mask = occupied.shape[0] - 1
    i = _home(key, mask)
    while occupied[i] != -1:
        if occupied[i] == key:
            return
        i = (i + 1) & mask
    occupied[i] = key


@njit(cache=True)
def occupied_remove(occupied, key):
    """Take a key out of the hash set, closing the gap so that no tombstones are needed."""
    mask = occupied.shape[0] - 1
    i = _home(key, mask)
    while occupied[i] != key:
        if occupied[i] == -1:
            return
        i = (i + 1) & mask
    j = i
    while True:
        occupied[i] = -1
        while True:
            j = (j + 1) & mask
            if occupied[j] == -1:
                return
            home = _home(occupied[j], mask)
            # the entry at j may fill the gap at i unless its home lies cyclically in (i, j]
            stays = (i < home <= j) if i <= j else (home > i or home <= j)
            if not stays:
                break
        occupied[i] = occupied[j]
        i = j


@njit(cache=True)
def can_enter(rules, occupied, labels, size, v, c):
    """Whether the rules let element ``v`` enter set ``c``, of total size ``size[c]``."""
    if size[c] + rules.sizes[v] > rules.cap:
        return False
    for e in range(rules.cannot_ptr[v], rules.cannot_ptr[v + 1]):
        if labels[rules.cannot_idx[e]] == c:
            return False
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        if occupied_has(occupied, c * rules.n_groups + rules.group_idx[e]):
            return False
    return True


@njit(cache=True)
def can_join(rules, occupied, labels, size, members, a):
    """Whether the rules let the set of the elements ``members`` join set ``a``."""
    if members.shape[0] == 0:
        return True
    b = labels[members[0]]
    if size[a] + size[b] > rules.cap:
        return False
    for v in members:
        for e in range(rules.cannot_ptr[v], rules.cannot_ptr[v + 1]):
            if labels[rules.cannot_idx[e]] == a:
                return False
        for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
            if occupied_has(occupied, a * rules.n_groups + rules.group_idx[e]):
                return False
    return True


@njit(cache=True)
def _can_replace(rules, occupied, labels, v, u):
    """Whether forbidden pairs and groups let ``v`` take the place of ``u`` in its set."""
    c = labels[u]
    for e in range(rules.cannot_ptr[v], rules.cannot_ptr[v + 1]):
        other = rules.cannot_idx[e]
        if labels[other] == c and other != u:
            return False
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        group = rules.group_idx[e]
        if occupied_has(occupied, c * rules.n_groups + group):
            own = False
            for f in range(rules.group_ptr[u], rules.group_ptr[u + 1]):
                own = own or rules.group_idx[f] == group
            if not own:
                return False
    return True


@njit(cache=True)
def can_exchange(rules, occupied, labels, size, v, u):
    """Whether the rules let elements ``v`` and ``u`` of different sets change places."""
    more = rules.sizes[v] - rules.sizes[u]
    if size[labels[u]] + more > rules.cap or size[labels[v]] - more > rules.cap:
        return False
    ok = _can_replace(rules, occupied, labels, v, u)
    return ok and _can_replace(rules, occupied, labels, u, v)


@njit(cache=True)
def enter_groups(rules, occupied, v, c):
    """Record that set ``c`` now holds the groups of element ``v``."""
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        occupied_add(occupied, c * rules.n_groups + rules.group_idx[e])


@njit(cache=True)
def leave_groups(rules, occupied, v, c):
    """Record that set ``c`` no longer holds the groups of element ``v``."""
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        occupied_remove(occupied, c * rules.n_groups + rules.group_idx[e])
