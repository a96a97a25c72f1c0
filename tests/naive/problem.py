"""Properties by their definitions, and brute force over whole feasible sets.

A relation is a tuple of rows of booleans; ``ALL_PROPERTIES`` follow their definitions.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np


def _n(y):
    return range(len(y))


def is_reflexive(y):
    return all(y[a][a] for a in _n(y))


def is_symmetric(y):
    return all(y[b][a] for a in _n(y) for b in _n(y) if y[a][b])


def is_antisymmetric(y):
    return not any(y[a][b] and y[b][a] for a in _n(y) for b in _n(y) if a != b)


def is_transitive(y):
    return all(y[a][c] for a in _n(y) for b in _n(y) if y[a][b] for c in _n(y) if y[b][c])


def is_connex(y):
    return all(y[a][b] or y[b][a] for a in _n(y) for b in _n(y) if a != b)


def has_image(y):
    return all(sum(row) >= 1 for row in y)


def unique_image(y):
    return all(sum(row) <= 1 for row in y)


def has_preimage(y):
    return all(sum(column) >= 1 for column in zip(*y, strict=True))


def unique_preimage(y):
    return all(sum(column) <= 1 for column in zip(*y, strict=True))


ALL_PROPERTIES = {
    "reflexive": is_reflexive,
    "symmetric": is_symmetric,
    "antisymmetric": is_antisymmetric,
    "transitive": is_transitive,
    "connex": is_connex,
    "has_image": has_image,
    "unique_image": unique_image,
    "has_preimage": has_preimage,
    "unique_preimage": unique_preimage,
}

ON_ONE_SET = ("reflexive", "symmetric", "antisymmetric", "transitive", "connex")

NAMED = {
    "RELATIONS": (),
    "PARTIAL_MAPS": ("unique_image",),
    "MAPS": ("has_image", "unique_image"),
    "INJECTIONS": ("has_image", "unique_image", "unique_preimage"),
    "BIJECTIONS": ("has_image", "unique_image", "has_preimage", "unique_preimage"),
    "EQUIVALENCES": ("reflexive", "symmetric", "transitive"),
    "PREORDERS": ("reflexive", "transitive"),
    "PARTIAL_ORDERS": ("reflexive", "transitive", "antisymmetric"),
    "WEAK_ORDERS": ("reflexive", "transitive", "connex"),
    "LINEAR_ORDERS": ("reflexive", "transitive", "antisymmetric", "connex"),
    "REFLEXIVE": ("reflexive",),
    "SYMMETRIC": ("symmetric",),
    "ANTISYMMETRIC": ("antisymmetric",),
    "TRANSITIVE": ("transitive",),
    "CONNEX": ("connex",),
    "HAS_IMAGE": ("has_image",),
    "UNIQUE_IMAGE": ("unique_image",),
    "HAS_PREIMAGE": ("has_preimage",),
    "UNIQUE_PREIMAGE": ("unique_preimage",),
}


@cache
def relations(n_a, n_b):
    """All relations, as one boolean array (2^(n_a n_b), n_a, n_b)."""
    codes = np.arange(2 ** (n_a * n_b))
    bits = codes[:, None] >> np.arange(n_a * n_b)[None, :] & 1
    return bits.astype(bool).reshape(-1, n_a, n_b)


@cache
def having(name, n_a, n_b):
    """Which of `relations(n_a, n_b)` have a property."""
    test = ALL_PROPERTIES[name]
    return np.array([test(y) for y in relations(n_a, n_b).tolist()])


def members(names, n_a, n_b):
    """All relations that have every property named."""
    keep = np.ones(2 ** (n_a * n_b), dtype=bool)
    for name in names:
        keep &= having(name, n_a, n_b)
    return relations(n_a, n_b)[keep]


def feasible(names, shape, related=(), unrelated=(), cap=None, groups=None):
    """Members that agree with evidence, a cap on images and one-per-group."""
    ys = members(names, *shape)
    for a, b in related:
        ys = ys[ys[:, a, b]]
    for a, b in unrelated:
        ys = ys[~ys[:, a, b]]
    if cap is not None:
        ys = ys[(ys.sum(axis=2) <= cap).all(axis=1)]
    for a in range(shape[0] if groups is not None else 0):
        for b in range(shape[1]):
            if a != b and groups[a] == groups[b]:
                ys = ys[~ys[:, a, b]]
    return ys


def best_value(scores, ys):
    """The largest sum of finite scores over a list of relations; -inf if there are none."""
    c = np.where(np.isfinite(scores), scores, 0.0)
    return max((math.fsum(c[y]) for y in ys), default=-math.inf)
