"""How far an estimate is from the truth: metrics of partitions and of permutations.

Partitions are given by labels, of any hashable type; orders by their elements from first to
last, or as `LinearOrder`. Permutation metrics follow Deza & Huang (1998); for each,
`largest_distance` is its largest value and `expected_distance` its mean over random orders.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.problem import (
    LinearOrder,
    Partition,
    is_missing,
    labels_array,
    shown,
    switch,
    whole_number,
)

__all__ = [
    "PERMUTATION_METRICS",
    "adjusted_rand_score",
    "cayley",
    "chebyshev",
    "expected_distance",
    "hamming",
    "kendall",
    "largest_distance",
    "pair_precision_recall_f1",
    "permutation_distance",
    "rand_error",
    "spearman_footrule",
    "spearman_rho",
    "ulam",
    "variation_of_information",
]

Labels = ArrayLike | Partition
Order = ArrayLike | LinearOrder


def _labels(true: Labels, estimated: Labels) -> tuple[Index, Index]:
    both = (true, estimated)
    out = [x.labels if isinstance(x, Partition) else _codes(x) for x in both]
    if len(out[0]) != len(out[1]):
        raise DataError(
            f"Both partitions are of the same elements, got {len(out[0])} and {len(out[1])} labels."
        )
    return out[0], out[1]


def _codes(labels: ArrayLike) -> Index:
    """Return labels of any hashable type as numbers, equal ones as equal numbers."""
    array = labels_array(labels, "Labels of a partition", DataError)
    if array.ndim != 1 or array.size == 0:
        raise DataError(f"A partition is given by one label per element, got shape {array.shape}.")
    if array.dtype.kind not in "biuUS":
        missing = [k for k, label in enumerate(array.tolist()) if is_missing(label)]
        if missing:
            raise DataError(
                f"Element {missing[0]} has no label (NaN or None), and so is in no set; give it a "
                "label of its own, or leave it out of both partitions."
            )
    if array.dtype != object:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    number: dict[Any, int] = {}
    try:
        return np.array([number.setdefault(x, len(number)) for x in array.tolist()], dtype=np.int64)
    except TypeError as error:
        raise DataError(
            f"Labels of a partition can be told apart by their hash, but {error}."
        ) from None


def _pairs(true: Labels, estimated: Labels) -> tuple[int, int, int, int]:
    """Unordered pairs: (together in both, only in the truth, only in the estimate, all)."""
    a, b = _labels(true, estimated)

    def together(labels: Index) -> int:
        sizes = np.unique(labels, return_counts=True)[1].astype(object)
        return int((sizes * (sizes - 1) // 2).sum())

    both = together(a * (int(b.max()) + 1) + b)
    n = len(a)
    return both, together(a) - both, together(b) - both, n * (n - 1) // 2


def rand_error(true: Labels, estimated: Labels) -> float:
    """Return the fraction of pairs classified wrongly: one minus Rand's index.

    Examples
    --------
    >>> rand_error([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    _, missed, added, total = _pairs(true, estimated)
    return (missed + added) / total if total else 0.0


def pair_precision_recall_f1(true: Labels, estimated: Labels) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the pairs put together.

    Without any pair to be right or wrong about, the score in question is 1.

    Examples
    --------
    >>> pair_precision_recall_f1([0, 0, 0, 1], [0, 0, 1, 1])
    (0.5, 0.3333333333333333, 0.4)
    """
    both, missed, added, _ = _pairs(true, estimated)
    precision = both / (both + added) if both + added else 1.0
    recall = both / (both + missed) if both + missed else 1.0
    f1 = 2 * both / (2 * both + added + missed) if both + added + missed else 1.0
    return precision, recall, f1


def variation_of_information(
    true: Labels, estimated: Labels, unit: Literal["bits", "nats"] = "bits"
) -> float:
    """Return the variation of information (Meila 2003): H(true|est.) + H(est.|true).

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    """
    if not isinstance(unit, str) or unit not in ("bits", "nats"):
        raise DataError(f'unit is "bits" or "nats", got {shown(unit)}.')
    a, b = _labels(true, estimated)

    def entropy(labels: Index) -> float:
        p = np.unique(labels, return_counts=True)[1] / len(labels)
        return float(-(p * np.log2(p)).sum())

    joint = entropy(a * (int(b.max()) + 1) + b)
    bits = max(0.0, 2 * joint - entropy(a) - entropy(b))
    return bits if unit == "bits" else bits * math.log(2)


def adjusted_rand_score(true: Labels, estimated: Labels) -> float:
    """Return Rand's index adjusted for chance, by scikit-learn.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 1])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score as score

    return float(score(*_labels(true, estimated)))


def _relative(true: Order, estimated: Order) -> Index:
    """Ranks that the estimate gives to the elements taken in the true order."""
    both = (
        o if isinstance(o, LinearOrder) else LinearOrder.from_order(o) for o in (true, estimated)
    )
    ranks = [order.ranks for order in both]
    if len(ranks[0]) != len(ranks[1]):
        raise DataError(
            f"Both orders are of the same elements, got {len(ranks[0])} and {len(ranks[1])}."
        )
    relative = np.empty_like(ranks[0])
    relative[ranks[0]] = ranks[1]
    return relative


def _shifts(true: Order, estimated: Order) -> Index:
    """Differences of ranks, of the elements taken in the true order."""
    r = _relative(true, estimated)
    return r - np.arange(len(r))


def kendall(true: Order, estimated: Order) -> int:
    """Count the pairs in different order.

    Examples
    --------
    >>> kendall([0, 1, 2], [2, 1, 0])
    3
    """
    seen: list[int] = []
    inversions = 0
    for rank in _relative(true, estimated).tolist():
        inversions += len(seen) - bisect_left(seen, rank)
        insort(seen, rank)
    return inversions


def spearman_footrule(true: Order, estimated: Order) -> int:
    """Sum the absolute differences of ranks.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.spearman_footrule([0, 1, 2, 3], [1, 2, 3, 0])
    6
    """
    return int(np.abs(_shifts(true, estimated)).sum())


def spearman_rho(true: Order, estimated: Order) -> int:
    """Sum the squared differences of ranks: the square of the Euclidean metric.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.spearman_rho([0, 1, 2, 3], [1, 2, 3, 0])
    12
    """
    return int((_shifts(true, estimated) ** 2).sum())


def hamming(true: Order, estimated: Order) -> int:
    """Count the elements with different ranks.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.hamming([0, 1, 2, 3], [1, 2, 3, 0])
    4
    """
    return int(np.count_nonzero(_shifts(true, estimated)))


def cayley(true: Order, estimated: Order) -> int:
    """Count the fewest transpositions of two elements that lead from one to the other.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.cayley([0, 1, 2, 3], [1, 2, 3, 0])
    3
    """
    r = _relative(true, estimated)
    seen = np.zeros(len(r), dtype=np.bool_)
    cycles = 0
    for start in range(len(r)):
        if not seen[start]:
            cycles += 1
            k = start
            while not seen[k]:
                seen[k] = True
                k = int(r[k])
    return len(r) - cycles


def ulam(true: Order, estimated: Order) -> int:
    """Count the fewest elements to be moved elsewhere that lead from one to the other.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.ulam([0, 1, 2, 3], [1, 2, 3, 0])
    1
    """
    tails: list[int] = []
    r = _relative(true, estimated).tolist()
    for rank in r:
        place = bisect_left(tails, rank)
        tails[place : place + 1] = [rank]
    return len(r) - len(tails)


def chebyshev(true: Order, estimated: Order) -> int:
    """Return the largest difference of ranks.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.chebyshev([0, 1, 2, 3], [1, 2, 3, 0])
    3
    """
    return int(np.abs(_shifts(true, estimated)).max())


PERMUTATION_METRICS: dict[str, Callable[[Any, Any], int]] = {
    "kendall": kendall,
    "spearman_footrule": spearman_footrule,
    "spearman_rho": spearman_rho,
    "hamming": hamming,
    "cayley": cayley,
    "ulam": ulam,
    "chebyshev": chebyshev,
}


def _known(metric: str) -> str:
    if not isinstance(metric, str) or metric not in PERMUTATION_METRICS:
        raise DataError(
            f"There is no permutation metric {shown(metric)}; there are "
            f"{', '.join(PERMUTATION_METRICS)}."
        )
    return metric


def permutation_distance(
    true: Order, estimated: Order, metric: str = "kendall", normalize: bool = True
) -> float:
    """Return a permutation metric by name, by default divided by its largest value.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.permutation_distance([0, 1, 2], [2, 1, 0])
    1.0
    >>> rt.metrics.permutation_distance([0, 1, 2], [2, 1, 0], "ulam", normalize=False)
    2.0
    """
    switch(normalize, "normalize", DataError)
    distance = PERMUTATION_METRICS[_known(metric)](true, estimated)
    if not normalize:
        return float(distance)
    n = len(_relative(true, estimated))
    largest = largest_distance(metric, n)
    return distance / largest if largest else 0.0


def largest_distance(metric: str, n: int) -> int:
    """Return the largest distance of two orders of n elements.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.largest_distance("kendall", 10)
    45
    """
    n = whole_number(n, "The number of elements, n,", error=DataError)
    return {
        "kendall": n * (n - 1) // 2,
        "spearman_footrule": n * n // 2,
        "spearman_rho": n * (n * n - 1) // 3,
        "hamming": n if n > 1 else 0,
        "cayley": n - 1,
        "ulam": n - 1,
        "chebyshev": n - 1,
    }[_known(metric)]


def expected_distance(metric: str, n: int) -> float:
    """Return the mean distance of a random order of n elements from a fixed one.

    Exact, except for ``ulam`` beyond 30 elements (the asymptotic law of longest increasing
    subsequences is used) and ``chebyshev`` beyond 16 (the error is below 0.001).

    Examples
    --------
    >>> import relatum as rt
    >>> rt.metrics.expected_distance("kendall", 10)
    22.5
    """
    name = _known(metric)
    n = whole_number(n, "The number of elements, n,", error=DataError)
    if name == "ulam":
        return n - _expected_longest_run(n)
    if name == "chebyshev":
        return _expected_chebyshev(n)
    return {
        "kendall": n * (n - 1) / 4,
        "spearman_footrule": (n * n - 1) / 3,
        "spearman_rho": n * (n * n - 1) / 6,
        "hamming": float(n - 1),
        "cayley": n - math.fsum(1 / k for k in range(1, n + 1)),
    }[name]


@cache
def _expected_longest_run(n: int) -> float:
    """Mean length of a longest increasing subsequence.

    By the Robinson-Schensted correspondence the permutations with length l are counted by
    the squares of the numbers of standard tableaux whose first row has l cells.
    """
    if n > 30:  # the asymptotic law, shifted to meet the exact value at 30
        return _expected_longest_run(30) + _asymptotic_run(n) - _asymptotic_run(30)
    total = Fraction(0)
    for shape in _shapes(n, n):
        tableaux = math.factorial(n) // _hooks(shape)
        total += shape[0] * tableaux * tableaux
    return float(total / math.factorial(n))


def _asymptotic_run(n: int) -> float:
    """Evaluate the law of Baik, Deift & Johansson (1999) for the mean."""
    return 2 * math.sqrt(n) - 1.77108 * math.pow(n, 1 / 6)


def _shapes(n: int, largest: int) -> list[tuple[int, ...]]:
    """Partitions of n into parts of at most `largest`, largest first."""
    if n == 0:
        return [()]
    return [
        (part, *rest) for part in range(min(n, largest), 0, -1) for rest in _shapes(n - part, part)
    ]


def _hooks(shape: tuple[int, ...]) -> int:
    """Product of the hook lengths of a Young diagram."""
    below = [sum(1 for row in shape if row > c) for c in range(shape[0])]
    return math.prod(row - c + below[c] - r - 1 for r, row in enumerate(shape) for c in range(row))


@cache
def _expected_chebyshev(n: int) -> float:
    """Sum over d of the probability that some rank differs by more than d."""
    total = math.factorial(n)
    below = 0
    for d in range(n - 1):
        m = n - 1 - d  # ranks off by more than d lie in two corner triangles of this size
        if 2 * m <= n:
            below += _avoiding_corners(n, m)
        elif n <= 16:
            below += _within_band(n, d)
    return float((n - 1) - Fraction(below, total))


def _avoiding_corners(n: int, m: int) -> int:
    """Permutations that avoid two disjoint staircases of size m, by rook numbers."""
    rooks = [_stirling(m + 1, m + 1 - k) for k in range(m + 1)]
    both = np.convolve(np.array(rooks, dtype=object), np.array(rooks, dtype=object))
    return int(
        sum((-1) ** k * int(r) * math.factorial(n - k) for k, r in enumerate(both) if k <= n)
    )


@cache
def _stirling(n: int, k: int) -> int:
    """Count the partitions of n elements into k sets."""
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * _stirling(n - 1, k) + _stirling(n - 1, k - 1)


def _within_band(n: int, d: int) -> int:
    """Permutations with all ranks off by at most d: place the ranks one after the other."""
    ways = {0: 1}
    for place in range(n):
        new: dict[int, int] = {}
        for used, count in ways.items():
            for rank in range(max(0, place - d), min(n, place + d + 1)):
                if not used >> rank & 1:
                    key = used | 1 << rank
                    new[key] = new.get(key, 0) + count
        ways = new
    return sum(ways.values())
