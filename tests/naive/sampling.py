"""The plain twin of random walks over orders."""

from __future__ import annotations

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
