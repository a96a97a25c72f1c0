"""Rows of every family from their formulas, and random ones that hold with equality.

A row is a dictionary of pairs with their coefficients, and a right-hand side.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np

FAMILIES = {
    "transitive": {"transitive"},
    "symmetric": {"symmetric"},
    "antisymmetric": {"antisymmetric"},
    "connex": {"connex"},
    "has_image": {"has_image"},
    "at_most": {"unique_image"},
    "has_preimage": {"has_preimage"},
    "unique_preimage": {"unique_preimage"},
    "path": {"transitive"},
    "odd_wheel": {"symmetric", "transitive"},
    "two_partition": {"symmetric", "transitive"},
    "capped_set": {"symmetric", "transitive"},
    "half_dicycle": {"transitive", "antisymmetric", "connex"},
    "square": {"symmetric", "transitive"},
}
LARGEST = 2**21 - 1  # of the numbers of a square
SQUARES = (
    *((1, -1), (2, -1, -1), (3, -2, 1, -2)),
    *((LARGEST, -LARGEST), (LARGEST, -1, 1 - LARGEST), (-(2**20) - 1, 2**20, 1)),
)


def holds(family, names, cap):
    """Say whether rows of a family hold for sets with these properties, as far as is known."""
    if family == "at_most":
        return cap is not None or "unique_image" in names
    if family == "capped_set" and cap is None:
        return False
    return FAMILIES[family] <= names


def row(family, index, shape):
    """Write a row down."""
    index = [int(v) for v in index]
    kept = [v for v in index if v >= 0]
    terms = Counter()
    if family in ("transitive", "path"):
        for a, b in pairwise(kept):
            terms[a, b] += 1
        terms[kept[0], kept[-1]] -= 1
        return terms, len(kept) - 2
    if family in ("symmetric", "antisymmetric", "connex"):
        a, b = kept
        first, second, rhs = {
            "symmetric": (1, -1, 0), "antisymmetric": (1, 1, 1), "connex": (-1, -1, -1)
        }[family]  # fmt: skip
        terms[a, b] += first
        terms[b, a] += second
        return terms, rhs
    if family in ("has_image", "at_most"):
        sign = -1 if family == "has_image" else 1
        return Counter({(kept[0], b): sign for b in range(shape[1])}), kept[-1] if sign > 0 else -1
    if family in ("has_preimage", "unique_preimage"):
        sign = -1 if family == "has_preimage" else 1
        return Counter({(a, kept[0]): sign for a in range(shape[0])}), sign
    return _OF_SETS[family](index, kept)


def _odd_wheel(index, kept):
    centre, *rim = kept
    terms = Counter({(centre, v): 1 for v in rim})
    for a, b in zip(rim, rim[1:] + rim[:1], strict=True):
        terms[a, b] -= 1
    return terms, (len(rim) - 1) // 2


def _two_partition(index, kept):
    split = next(k for k, v in enumerate(index) if v < 0)
    s, t = index[:split], [v for v in index[split:] if v >= 0]
    terms = Counter({(a, b): 1 for a in s for b in t})
    for part in (s, t):
        terms.update(dict.fromkeys(combinations(part, 2), -1))
    return terms, min(len(s), len(t))


def _capped_set(index, kept):
    cap, *elements = kept
    full, rest = divmod(len(elements), cap)
    rhs = full * (cap * (cap - 1) // 2) + rest * (rest - 1) // 2
    return Counter(dict.fromkeys(combinations(elements, 2), 1)), rhs


def _square(index, kept):
    terms = Counter()
    for a, k in enumerate(index):
        for b, m in enumerate(index):
            terms[a, b] -= k * m
    return terms, 0


def _half_dicycle(index, kept):
    folded, rhs = Counter(), 0
    for a, b, c in zip(kept[::3], kept[1::3], kept[2::3], strict=True):
        rhs += 1
        named = [(a, b, 1)] if b == c else [(a, b, 1), (b, c, 1), (a, c, -1)]
        for u, v, k in named:
            if u < v:
                folded[u, v] += k
            else:  # k x_uv = k - k x_vu
                folded[v, u] -= k
                rhs -= k
    assert all(k % 2 == 0 for k in folded.values())
    return Counter({pair: k // 2 for pair, k in folded.items()}), rhs // 2


_OF_SETS = {
    "odd_wheel": _odd_wheel,
    "two_partition": _two_partition,
    "capped_set": _capped_set,
    "half_dicycle": _half_dicycle,
    "square": _square,
}


def random_index(rng, family, shape, cap):
    """An index of a valid row of a family, or None if there are too few elements."""
    n = shape[0]
    some = rng.permutation(n).tolist()
    if family == "transitive":
        if n < 2:
            return None
        return some[:3] if n > 2 and rng.random() < 0.9 else [some[0], some[1], some[0]]
    if family in ("symmetric", "antisymmetric", "connex"):
        return some[:2] if n > 1 else None
    if family in ("has_image", "at_most"):
        return [some[0]] if family == "has_image" else [some[0], cap]
    if family in ("has_preimage", "unique_preimage"):
        return [int(rng.integers(shape[1]))]
    if family == "path":
        return some[: int(rng.integers(3, n + 1))] if n > 2 else None
    if family == "odd_wheel":
        return some[: 4 if n < 6 or rng.random() < 0.5 else 6] if n > 3 else None
    if family == "two_partition":
        if n < 2:
            return None
        size = int(rng.integers(2, n + 1))
        split = int(rng.integers(1, size))
        return [*some[:split], -1, *some[split:size]]
    if family == "capped_set":
        return [cap, *some[: int(rng.integers(2, n + 1))]] if n > 1 else None
    if family == "square":  # it holds with equality where the numbers of every set add up to 0
        index = [0] * n
        for a, k in zip(some, SQUARES[int(rng.integers(len(SQUARES)))], strict=False):
            index[a] = k
        return index
    return _random_half(rng, n) if n > 2 else None


def _random_half(rng, n):
    """Some triples, and boxes that make the sum of their rows even."""
    triples = [rng.permutation(n)[:3].tolist() for _ in range(int(rng.integers(1, 4)))]
    odd = Counter()
    for a, b, c in triples:
        odd.update([(min(u, v), max(u, v)) for u, v in ((a, b), (b, c), (a, c))])
    for (a, b), times in sorted(odd.items()):
        if times % 2:
            u, v = (a, b) if rng.random() < 0.5 else (b, a)
            triples.append([u, v, v])
    return [v for triple in triples for v in triple]


def random_row(rng, family, meaning, cap):
    """A random row of a family: index, terms and right-hand side; None if there is none."""
    index = random_index(rng, family, meaning.shape, cap)
    if index is None:
        return None
    return index, *row(family, index, meaning.shape)


def padded(indices):
    """Indices of different lengths as one array."""
    width = max(len(index) for index in indices)
    return np.array([[*index, *[-1] * (width - len(index))] for index in indices], dtype=np.int64)
