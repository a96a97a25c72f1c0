"""Probabilities by adding up all feasible relations, one by one.

A relation's value is split into a whole number of bits, which is exact, and a rest, so that large
scores cost no digits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np


def distribution(scores, ys):
    """(probabilities of relations, log2 of the sum of their weights)."""
    c = np.where(np.isfinite(scores), scores, 0.0)
    whole = np.floor(c).astype(np.int64)
    flat = np.asarray(ys).reshape(len(ys), -1)
    places = flat.astype(np.int64) @ whole.ravel()
    rest = flat.astype(np.float64) @ (c - whole).ravel()
    top = int(places.max())
    weights = np.array(
        [2.0 ** max(p - top + r, -1000.0) for p, r in zip(places, rest, strict=True)]
    )
    total = math.fsum(weights)
    return weights / total, top + math.log2(total)


def pair_probabilities(scores, ys):
    """The probability of every pair."""
    p, _ = distribution(scores, ys)
    return np.tensordot(p, np.asarray(ys, dtype=float), axes=1)


def partitions(n):
    """All partitions of n elements, as labels."""
    found = [[]]
    for _ in range(n):
        found = [[*p, k] for p in found for k in range(max(p, default=-1) + 2)]
    return found


def equivalences(n):
    """All equivalence relations on n elements, as matrices."""
    labels = np.array(partitions(n))
    return labels[:, :, None] == labels[:, None, :]


def linear_orders(n):
    """All linear orders on n elements, as matrices."""
    ranks = np.array(list(permutations(range(n))))
    return ranks[:, :, None] <= ranks[:, None, :]


def weak_orders(n):
    """All rankings with ties of n elements, as matrices."""
    ranks = np.array([r for r in product(range(n), repeat=n) if set(r) == set(range(max(r) + 1))])
    return ranks[:, :, None] <= ranks[:, None, :]


def partial_maps(n_a, n_b):
    """All relations with at most one image per element, as matrices."""
    images = np.array(list(product(range(-1, n_b), repeat=n_a)))
    return images[:, :, None] == np.arange(n_b)[None, None, :]


def filtered(ys, related=(), unrelated=(), cap=None, groups=None):
    """Those that agree with evidence, a cap on images and one-per-group."""
    for a, b in related:
        ys = ys[ys[:, a, b]]
    for a, b in unrelated:
        ys = ys[~ys[:, a, b]]
    if cap is not None:
        ys = ys[(ys.sum(axis=2) <= cap).all(axis=1)]
    if groups is not None:
        for a, b in combinations(range(len(groups)), 2):
            if groups[a] == groups[b]:
                ys = ys[~ys[:, a, b] & ~ys[:, b, a]]
    return ys


def power(mantissas, places):
    """Scaled numbers as fractions."""
    return [
        Fraction(float(m)) * Fraction(2) ** int(e) if m else Fraction(0)
        for m, e in zip(np.ravel(mantissas), np.ravel(places), strict=True)
    ]


def partition_totals(pair, sizes, cap):
    """(weight, sum over partitions) of every subset, from weights of pairs as fractions."""
    n = len(sizes)
    weight, total = [], []
    for mask in range(1 << n):
        own = [a for a in range(n) if mask >> a & 1]
        product_ = math.prod((pair[a][b] for a, b in combinations(own, 2)), start=Fraction(1))
        weight.append(product_ if sum(sizes[a] for a in own) <= cap else Fraction(0))
    for mask in range(1 << n):
        own = [a for a in range(n) if mask >> a & 1]
        total.append(
            sum(
                (
                    math.prod((weight[sum(1 << a for a in s)] for s in sets), start=Fraction(1))
                    for sets in set_partitions(own)
                ),
                start=Fraction(0),
            )
        )
    return weight, total


def set_partitions(elements):
    """All partitions of a list, as lists of lists."""
    if not elements:
        return [[]]
    first, rest = elements[0], elements[1:]
    found = []
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [a for a in rest if a not in others]
            found += [[[first, *others], *sets] for sets in set_partitions(left)]
    return found


def order_totals(before):
    """The sum over the orders of every subset, and over those of the rest after it."""
    n = len(before)

    def total(elements, placed):
        result = Fraction(0)
        for order in permutations(elements):
            result += math.prod(
                (before[b][a] for k, a in enumerate(order) for b in (*placed, *order[:k])),
                start=Fraction(1),
            )
        return result

    subsets = [[a for a in range(n) if mask >> a & 1] for mask in range(1 << n)]
    forward = [total(own, []) for own in subsets]
    backward = [total([a for a in range(n) if a not in own], own) for own in subsets]
    return forward, backward


def assignments(weights, skips, again):
    """Every choice of a column per row (-1 for none) with its weight and columns taken."""
    rows, columns = len(weights), len(weights[0]) if weights else 0
    for choice in product(range(-1, columns), repeat=rows):
        taken = [b for b in choice if b >= 0]
        if not again and len(set(taken)) < len(taken):
            continue
        if any(b < 0 and not skip for b, skip in zip(choice, skips, strict=True)):
            continue
        mass = math.prod((weights[a][b] for a, b in enumerate(choice) if b >= 0), start=Fraction(1))
        yield choice, mass, sum(1 << b for b in set(taken))


def row_subsets(weights, forced, least, most):
    """Every subset of a row's columns that is allowed, with its weight."""
    for taken in product((False, True), repeat=len(weights)):
        count = sum(taken)
        if count < least or (most >= 0 and count > most):
            continue
        if any(f and not t for f, t in zip(forced, taken, strict=True)):
            continue
        yield (
            taken,
            math.prod((w for w, t in zip(weights, taken, strict=True) if t), start=Fraction(1)),
        )
