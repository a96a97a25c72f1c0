"""Families of rows that hold for every partition, beyond transitivity.

========================  ======================  ========================================
family                    index                   row
========================  ======================  ========================================
``odd_wheel``             c, v_1 ... v_k (k odd)  sum_i x_cv_i - sum_i x_v_iv_i+1 <= (k-1)/2
``two_partition``         S, -1, T                x(S:T) - x(S) - x(T) <= min(|S|, |T|)
``path``                  v_0 ... v_k (k >= 2)    sum_i x_v_iv_i+1 - x_v_0v_k <= k - 1
``capped_set``            k, T                    x(T) <= q k (k-1)/2 + r (r-1)/2
``square``                l_0 ... l_(n-1)         -sum_ab l_a l_b x_ab <= 0
========================  ======================  ========================================

``path`` holds for every transitive relation, ``capped_set`` where sets have at most k
elements: then T has most pairs in sets if q of them are full, |T| = q k + r with r < k. x(S) is
the sum over unordered pairs within S, x(S:T) over pairs with one element in each.
``square`` is about all ordered pairs, those of an element with itself among them, and whole
numbers l: the sum of l_a l_b x_ab is that of (l(S))^2 over the sets S. A matrix is positive
semidefinite if it is a sum of l l' with multipliers that are not negative: nothing has to be
factored to see it. Rows with the same multiplier are added up as one product of matrices.
Rows of different length are padded with -1. Importing this module makes the families known
to certificates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.problem import FeasibleSet
from relatum.proof.certificate import Family, SparseRows, register_family, regular_rows

LARGEST_OF_SQUARES = 1 << 21  # numbers of a row are smaller in size:
_AT_ONCE = 1 << 11  # then so many products add up to less than 2**53, which floats hold exactly
MOST_ELEMENTS = 3000  # all pairs of which are written down; rows that are added up at once


def _compressed(a: Index, b: Index, coefficient: Index, rhs: Index) -> SparseRows:
    """Rows given as (r, t) arrays of which only terms with a coefficient count."""
    there = coefficient != 0
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    return SparseRows(start, a[there], b[there], coefficient[there], rhs.astype(np.int64))


def odd_wheel_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write odd wheels down: the centre, then the cycle."""
    cycle = index[:, 1:]
    there = (cycle >= 0).astype(np.int64)
    k = there.sum(axis=1)
    after = np.arange(1, cycle.shape[1] + 1) % np.maximum(k, 1)[:, None]
    following = np.take_along_axis(cycle, after, axis=1)
    a = np.concatenate([np.broadcast_to(index[:, :1], cycle.shape), cycle], axis=1)
    b = np.concatenate([cycle, following], axis=1)
    return _compressed(a, b, np.concatenate([there, -there], axis=1), k // 2)


def _signs(index: Index) -> Index:
    """Return -1 for elements of S, 1 for those of T and 0 for padding."""
    before = np.cumsum(index < 0, axis=1) == 0
    return np.where(index < 0, 0, np.where(before, -1, 1)).astype(np.int64)


def two_partition_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write 2-partition rows down: S, a -1, T."""
    sign = _signs(index)
    i, j = np.triu_indices(index.shape[1], 1)
    rhs = np.minimum((sign < 0).sum(axis=1), (sign > 0).sum(axis=1))
    return _compressed(index[:, i], index[:, j], -sign[:, i] * sign[:, j], rhs)


def path_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write paths down: pairs of consecutive elements, and the pair of the ends."""
    length = (index >= 0).sum(axis=1) - 1
    start = np.concatenate([[0], np.cumsum(length + 1)]).astype(np.int64)
    row = np.repeat(np.arange(len(index)), length + 1)
    step = np.arange(start[-1]) - start[row]
    last = step == length[row]  # the last term is the closing pair
    a = np.where(last, index[row, 0], index[row, step])
    b = np.where(last, index[row, length[row]], index[row, np.minimum(step + 1, length[row])])
    return SparseRows(start, a, b, np.where(last, -1, 1).astype(np.int64), length - 1)


def most_capped_pairs(size: Any, cap: Any) -> Any:
    """Return how many pairs of so many elements are related at most, in sets up to a cap."""
    full, rest = size // cap, size % cap
    return full * (cap * (cap - 1) // 2) + rest * (rest - 1) // 2


def capped_set_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write rows about sets of capped partitions down: the cap, then the elements."""
    members = index[:, 1:]
    there = members >= 0
    i, j = np.triu_indices(members.shape[1], 1)
    both = (there[:, i] & there[:, j]).astype(np.int64)
    rhs = most_capped_pairs(there.sum(axis=1), index[:, 0])
    return _compressed(members[:, i], members[:, j], both, rhs)


def square_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write squares down, with a term for every ordered pair: for few elements."""
    n = index.shape[1]
    a, b = np.divmod(np.arange(n * n), n)
    return regular_rows(a[None, :], b[None, :], -index[:, a] * index[:, b], 0)


def gram(index: Index) -> Index:
    """Return the sums of l_a l_b over rows, exactly; the rows have to be valid."""
    n = index.shape[1]
    total = np.zeros((n, n), dtype=np.int64)
    for begin in range(0, len(index), _AT_ONCE):
        some = index[begin : begin + _AT_ONCE].astype(np.float64)
        total += (some.T @ some).astype(np.int64)
    return total


def summed_squares(index: Index) -> SparseRows:
    """Return the sum of some rows as one, with a term for every unordered pair."""
    a, b = np.triu_indices(index.shape[1])
    total = gram(index)[a, b] * np.where(a == b, -1, -2)
    return SparseRows(np.array([0, len(a)]), a, b, total, np.zeros(1, dtype=np.int64))


def _distinct(index: Index) -> bool:
    """Say whether no row names an element twice."""
    ordered = np.sort(index, axis=1)
    return not bool(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any())


def _solid(index: Index) -> bool:
    """Say whether padding comes at the ends of rows only."""
    length = (index >= 0).sum(axis=1)
    return bool(((index >= 0) == (np.arange(index.shape[1]) < length[:, None])).all())


def _paths_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    long_enough = bool(((index >= 0).sum(axis=1) >= 3).all())
    return feasible.has("transitive") and long_enough and _solid(index) and _distinct(index)


def _wheels_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    k = (index >= 0).sum(axis=1) - 1
    odd = bool(((k % 2 == 1) & (k >= 3)).all())
    partitions = feasible.has("symmetric", "transitive")
    return partitions and odd and _solid(index) and _distinct(index)


def _halves_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    sign = _signs(index)
    both = bool(((sign < 0).any(axis=1) & (sign > 0).any(axis=1)).all())
    return feasible.has("symmetric", "transitive") and both and _distinct(index)


def _capped_sets_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    cap = feasible.cap
    capped = cap is not None and bool((index[:, 0] >= cap).all())
    partitions = feasible.has("symmetric", "transitive")
    return capped and partitions and _solid(index) and _distinct(index[:, 1:])


def _squares_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    """Say whether rows have a number, of the right size, for each of not too many elements."""
    n = shape[0]
    fits = index.shape[1] == n == shape[1] <= MOST_ELEMENTS and len(index) <= MOST_ELEMENTS
    small = bool(((index > -LARGEST_OF_SQUARES) & (index < LARGEST_OF_SQUARES)).all())
    return fits and small and feasible.has("symmetric", "transitive")


for _name, _rows, _valid, _formula in (
    ("odd_wheel", odd_wheel_rows, _wheels_valid, "sum_i x_cv_i - sum_i x_v_iv_i+1 <= (k-1)/2"),
    (
        "two_partition",
        two_partition_rows,
        _halves_valid,
        "x(S:T) - x(S) - x(T) <= min(|S|, |T|)",
    ),
    ("path", path_rows, _paths_valid, "sum_i x_v_iv_(i+1) - x_v_0v_k <= k - 1"),
    ("capped_set", capped_set_rows, _capped_sets_valid, "x(T) <= q k (k-1)/2 + r (r-1)/2"),
    ("square", square_rows, _squares_valid, "-sum_ab l_a l_b x_ab <= 0"),
):
    register_family(Family(_name, None, _rows, _valid, _formula))
