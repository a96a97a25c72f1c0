"""The plain twins of random walks over orders and clusterings."""

from __future__ import annotations

import math

import numpy as np

from naive.randomness import split_mix


class Uniforms:
    """The numbers that a kernel sees."""

    def __init__(self, state):
        self.state = int(state)

    def __call__(self):
        self.state, u = split_mix(self.state)
        return u


def order_walk(ahead, order, steps, rows, state):
    """Places of the elements after every ``steps = (moves, blocks, longest)``."""
    order, uniform, out = list(order), Uniforms(state), []
    n = len(order)
    moves, blocks, longest = steps
    longest = min(longest, n - 1)
    for _ in range(rows):
        for m in range(moves + blocks):
            size = 1 if m < moves else 2 + int(uniform() * (longest - 1))
            first = int(uniform() * (n - size + 1))
            block = order[first : first + size]
            rest = order[:first] + order[first + size :]
            weights = [_bits(ahead, rest[:p] + block + rest[p:]) for p in range(len(rest) + 1)]
            p = np.exp2(np.array(weights) - max(weights))
            place = int(np.searchsorted(np.cumsum(p), uniform() * p.sum(), side="right"))
            order = rest[:place] + block + rest[place:]
        out.append(np.argsort(order))
    return np.array(out)


def _bits(ahead, order):
    """The value of an order, up to a constant; -inf if it is not feasible."""
    turned = ahead[np.ix_(order, order)][np.triu_indices(len(order), 1)]
    return -np.inf if (turned == -np.inf).any() else turned[np.isfinite(turned)].sum() / 2


class Sets:
    """Sets by number; those in use are the first `used` of a list whose others are free."""

    def __init__(self, labels):
        self.number = [-1] * len(labels)
        self.members = [[] for _ in labels]  # who came last stands first
        self.list, self.used = list(range(len(labels))), 0
        for v, c in enumerate(labels):
            self.enter(v, int(c))

    def leave(self, v):
        c = self.number[v]
        self.members[c].remove(v)
        self.number[v] = -1
        if not self.members[c]:
            self.used -= 1
            self._exchange(c, self.used)

    def enter(self, v, c):
        if not self.members[c]:
            self._exchange(c, self.used)
            self.used += 1
        self.members[c].insert(0, v)
        self.number[v] = c

    def _exchange(self, c, place):
        at = self.list.index(c)
        self.list[at], self.list[place] = self.list[place], c


def cluster_walk(above, sizes, background, cap, labels, steps, rows, state):
    """Labels after every ``steps = (moves, pairs)``; `above` is a matrix, 0 for the background."""
    n, uniform, sets, out = len(labels), Uniforms(state), Sets(labels), []
    scores = above + background * np.outer(sizes, sizes)
    for _ in range(rows):
        for _ in range(steps[0]):
            _choose(int(uniform() * n), sets, scores, sizes, cap, uniform)
        for _ in range(steps[1] if n > 1 else 0):
            _split_or_join(sets, above, scores, sizes, cap, uniform)
        out.append(list(sets.number))
    return np.array(out)


def _between(scores, one, other):
    """The sum of the scores between elements."""
    return sum((scores[a, b] for a in one for b in other), start=0.0)


def _choose(v, sets, scores, sizes, cap, uniform):
    sets.leave(v)
    bits = []
    for c in sets.list[: sets.used]:
        full = sum(sizes[u] for u in sets.members[c]) + sizes[v] > cap
        bits.append(-math.inf if full else _between(scores, [v], sets.members[c]))
    top = max([0.0, *bits])
    weights = [2.0 ** (x - top) if x - top > -60 else 0.0 for x in bits]
    alone = 2.0**-top if top < 60 else 0.0
    u, chosen = uniform() * (sum(weights) + alone), sets.used
    for p, w in enumerate(weights):
        u -= w
        if u < 0:
            chosen = p
            break
    sets.enter(v, sets.list[chosen])


def _split_or_join(sets, above, scores, sizes, cap, uniform):
    n = len(sizes)
    i = int(uniform() * n)
    listed = np.flatnonzero(above[i])
    if uniform() < 0.5 and len(listed):
        j = int(listed[int(uniform() * len(listed))])
    else:
        j = int(uniform() * (n - 1))
        j += j >= i
    a, b = sets.number[i], sets.number[j]
    both = sets.members[a] if a == b else sets.members[a] + sets.members[b]
    if a != b and sum(sizes[v] for v in both) > cap:
        return
    others = [v for v in both if v not in (i, j)]
    for p in range(len(others) - 1, 0, -1):
        q = int(uniform() * (p + 1))
        others[p], others[q] = others[q], others[p]
    left, right, proposal = [i], [j], 0.0  # log2 of the probability of these sides
    for v in others:
        x, y = _between(scores, [v], left), _between(scores, [v], right)
        share = 1 / (1 + 2.0 ** min(1000.0, y - x))
        mine = uniform() < share if a == b else sets.number[v] == a
        proposal += math.log2(max(share if mine else 1 - share, 1e-300))
        (left if mine else right).append(v)
        if _between(scores, left, right) == -math.inf:
            break
    u, cut = uniform(), _between(scores, left, right)
    if a == b:
        if math.log2(u + 1e-300) < -cut - proposal:
            new = sets.list[sets.used]
            for v in [j, *(v for v in others if v in right)]:
                sets.leave(v)
                sets.enter(v, new)
    elif cut > -math.inf and math.log2(u + 1e-300) < cut + proposal:
        for v in list(sets.members[b]):
            sets.leave(v)
            sets.enter(v, a)
