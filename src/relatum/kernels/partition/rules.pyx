"""What a set of a partition may hold: a cap on its size, forbidden pairs, one element per group.

The elements are those left after must-links are contracted: element ``v`` stands for
``sizes[v]`` elements of the problem and may belong to several groups. Forbidden pairs and
groups are compressed rows. Which groups a set holds is a hash set of the keys
``set * n_groups + group``, because neither sets x groups nor pairs of a group need be few.
"""

from libc.stdint cimport int64_t

from relatum.kernels.hashing cimport find, remove


cdef class RulesView:
    """The arrays of `Rules`, as kernels read them."""

    def __init__(self, rules):
        (
            self.sizes, self.cap, self.cannot_ptr, self.cannot_idx, self.group_ptr,
            self.group_idx, self.n_groups,
        ) = rules[:]


cdef class SetsView:
    """What the rules look at in a partition: labels, sizes of sets, and the groups they hold.

    The states of searches have more; their views are views of this kind.
    """

    def __init__(self, labels, size, occupied):
        self.labels, self.size, self.occupied = labels, size, occupied


cdef bint _belongs(RulesView rules, int64_t v, int64_t group) noexcept nogil:
    """Whether element ``v`` belongs to the group."""
    cdef int64_t e
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        if rules.group_idx[e] == group:
            return True
    return False


cdef bint _kept_out(
    RulesView rules, SetsView sets, int64_t v, int64_t c, int64_t u
) noexcept nogil:
    """Whether a forbidden pair or a group keeps element ``v`` out of set ``c``.

    If ``u`` is not negative, this element of the set makes room.
    """
    cdef int64_t e, other, key
    for e in range(rules.cannot_ptr[v], rules.cannot_ptr[v + 1]):
        other = rules.cannot_idx[e]
        if sets.labels[other] == c and other != u:
            return True
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        key = c * rules.n_groups + rules.group_idx[e]
        if sets.occupied[find(sets.occupied, key)] == key:
            if u < 0 or not _belongs(rules, u, rules.group_idx[e]):
                return True
    return False


cpdef bint can_enter(RulesView rules, SetsView sets, int64_t v, int64_t c) noexcept nogil:
    """Whether the rules let element ``v`` enter set ``c``."""
    if sets.size[c] + rules.sizes[v] > rules.cap:
        return False
    return not _kept_out(rules, sets, v, c, -1)


cpdef bint can_join(
    RulesView rules, SetsView sets, const int64_t[::1] members, int64_t count, int64_t a
) noexcept nogil:
    """Whether the rules let a set, of the first ``count`` elements ``members``, join set ``a``."""
    cdef int64_t i
    if count == 0:
        return True
    if sets.size[a] + sets.size[sets.labels[members[0]]] > rules.cap:
        return False
    for i in range(count):
        if _kept_out(rules, sets, members[i], a, -1):
            return False
    return True


cpdef bint can_exchange(RulesView rules, SetsView sets, int64_t v, int64_t u) noexcept nogil:
    """Whether the rules let elements ``v`` and ``u`` of different sets change places."""
    cdef int64_t more = rules.sizes[v] - rules.sizes[u], a = sets.labels[v], b = sets.labels[u]
    if sets.size[b] + more > rules.cap or sets.size[a] - more > rules.cap:
        return False
    return not _kept_out(rules, sets, v, b, u) and not _kept_out(rules, sets, u, a, v)


cpdef void enter_groups(RulesView rules, SetsView sets, int64_t v, int64_t c) noexcept nogil:
    """Record that set ``c`` now holds the groups of element ``v``."""
    cdef int64_t e, key
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        key = c * rules.n_groups + rules.group_idx[e]
        sets.occupied[find(sets.occupied, key)] = key


cpdef void leave_groups(RulesView rules, SetsView sets, int64_t v, int64_t c) noexcept nogil:
    """Record that set ``c`` no longer holds the groups of element ``v``."""
    cdef int64_t e, key, slot
    for e in range(rules.group_ptr[v], rules.group_ptr[v + 1]):
        key = c * rules.n_groups + rules.group_idx[e]
        slot = find(sets.occupied, key)
        if sets.occupied[slot] == key:
            remove(sets.occupied, sets.occupied, slot)
