"""Plain twins of random walks."""

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


def gibbs(scores, labels, sweeps, rng):
    """Labels after every sweep of a plain sampler of clusterings that moves single elements."""
    labels, out, n = labels.copy(), [], len(labels)
    for _ in range(sweeps):
        for v in rng.integers(0, n, n):
            labels[v] = -1
            sets = np.unique(labels[labels >= 0])
            free = np.setdiff1d(np.arange(n), sets)[0]
            gain = np.append([scores[v, labels == c].sum() for c in sets], 0.0)
            p = np.exp2(gain - gain.max())
            labels[v] = np.append(sets, free)[rng.choice(len(p), p=p / p.sum())]
        out.append(labels.copy())
    return np.array(out)
