"""Families of rows that hold for every partition, beyond transitivity.

========================  ======================  ========================================
family                    index                   row
========================  ======================  ========================================
``odd_wheel``             c, v_1 ... v_k (k odd)  sum_i x_cv_i - sum_i x_v_iv_i+1 <= (k-1)/2
``two_partition``         S, -1, T                x(S:T) - x(S) - x(T) <= min(|S|, |T|)
``path``                  v_0 ... v_k (k >= 2)    sum_i x_v_iv_i+1 - x_v_0v_k <= k - 1
========================  ======================  ========================================

``path`` holds for every transitive relation. x(S) is the sum over unordered pairs within S,
x(S:T) over pairs with one element in each.
Rows of different length are padded with -1. Importing this module makes the families known
to certificates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relatum.certificate import Family, SparseRows, register_family
from relatum.feasible import FeasibleSet

__all__ = ["odd_wheel_rows", "path_rows", "two_partition_rows"]

Index = NDArray[np.int64]


def _from_lists(
    parts: list[tuple[Index, Index, Index]], rhs: list[int] | NDArray[np.int64]
) -> SparseRows:
    """Rows given one by one as (a, b, coefficient)."""
    start = np.concatenate([[0], np.cumsum([len(p[0]) for p in parts])]).astype(np.int64)
    empty = np.empty(0, dtype=np.int64)
    a, b, k = (np.concatenate([empty, *(p[i] for p in parts)]) for i in range(3))
    return SparseRows(start, a, b, k, np.asarray(rhs, dtype=np.int64))


def odd_wheel_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write odd wheels down: the centre, then the cycle."""
    parts, rhs = [], []
    for row in index:
        cycle = row[1:][row[1:] >= 0]
        k = len(cycle)
        a = np.concatenate([np.full(k, row[0]), cycle])
        b = np.concatenate([cycle, np.roll(cycle, -1)])
        parts.append((a, b, np.repeat(np.array([1, -1], dtype=np.int64), k)))
        rhs.append(k // 2)
    return _from_lists(parts, rhs)


def _signs(row: Index) -> tuple[Index, Index]:
    """Elements of S and T, and -1 for those in S, 1 for those in T."""
    split = int(np.argmax(row < 0)) if (row < 0).any() else len(row)
    s, t = row[:split], row[split:]
    t = t[t >= 0]
    sign = np.concatenate([np.full(len(s), -1), np.full(len(t), 1)]).astype(np.int64)
    return np.concatenate([s, t]), sign


def two_partition_rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    """Write 2-partition rows down: S, a -1, T."""
    parts, rhs = [], []
    for row in index:
        elements, sign = _signs(row)
        i, j = np.triu_indices(len(elements), 1)
        parts.append((elements[i], elements[j], -sign[i] * sign[j]))
        rhs.append(min(int((sign < 0).sum()), int((sign > 0).sum())))
    return _from_lists(parts, rhs)


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


def _paths_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    length = (index >= 0).sum(axis=1)
    solid = ((index >= 0) == (np.arange(index.shape[1]) < length[:, None])).all()
    if not (feasible.has("transitive") and solid and (length >= 3).all()):
        return False
    ordered = np.sort(index, axis=1)
    return not bool(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any())


def _distinct(row: Index) -> bool:
    named = row[row >= 0]
    return len(np.unique(named)) == len(named)


def _partitions(feasible: FeasibleSet) -> bool:
    return feasible.has("symmetric", "transitive")


def _wheels_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    if index.shape[1] < 4 or not _partitions(feasible) or not (index[:, 0] >= 0).all():
        return False
    lengths = (index[:, 1:] >= 0).sum(axis=1)
    odd = ((lengths % 2 == 1) & (lengths >= 3)).all()
    return bool(odd) and all(_distinct(row) for row in index)


def _two_partitions_valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    if not _partitions(feasible):
        return False
    sides = [_signs(row)[1] for row in index]
    return all((s < 0).any() and (s > 0).any() for s in sides) and all(map(_distinct, index))


register_family(
    Family(
        "odd_wheel",
        None,
        odd_wheel_rows,
        _wheels_valid,
        "sum_i x_cv_i - sum_i x_v_iv_(i+1) <= (k - 1) / 2",
    )
)
register_family(
    Family(
        "two_partition",
        None,
        two_partition_rows,
        _two_partitions_valid,
        "x(S:T) - x(S) - x(T) <= min(|S|, |T|)",
    )
)
register_family(
    Family("path", None, path_rows, _paths_valid, "sum_i x_v_iv_(i+1) - x_v_0v_k <= k - 1")
)
