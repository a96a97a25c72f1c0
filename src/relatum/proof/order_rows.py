"""Rows of linear orders beyond transitivity: {0,1/2}-cuts of 3-dicycle rows.

========================  ======================  ========================================
family                    index                   row
========================  ======================  ========================================
``half_dicycle``          a, b, c, a', b', c' ... half the sum of the named rows, rounded
                                                  down: (a, b, c) is the transitive row
                                                  x_ab + x_bc - x_ac <= 1, and (a, b, b)
                                                  is x_ab <= 1
========================  ======================  ========================================

With x_ba = 1 - x_ab the sum must have even coefficients only; then half of it is integral
for every linear order, so its right-hand side may be rounded down (Chvatal and Gomory).
Importing this module makes the family known to certificates.
"""

from __future__ import annotations

import numpy as np

from relatum.array_types import Index
from relatum.problem import FeasibleSet
from relatum.proof.certificate import Family, SparseRows, register_family


def _folded_sums(index: Index) -> tuple[Index, Index, Index, Index, Index]:
    """Sum the named rows, written in x_ab with a < b: (row, a, b, coefficient, rhs)."""
    r, width = index.shape
    triples = index.reshape(r, width // 3, 3)
    row, place = np.nonzero(triples[:, :, 0] >= 0)
    a, b, c = triples[row, place].T
    box = b == c
    t = ~box
    rows = np.concatenate([row, row[t], row[t]])
    left = np.concatenate([a, b[t], a[t]])
    right = np.concatenate([b, c[t], c[t]])
    sign = np.repeat(np.array([1, 1, -1], dtype=np.int64), [len(a), t.sum(), t.sum()])
    rhs = np.bincount(row, minlength=r).astype(np.int64)
    back = left > right  # k x_ba = k - k x_ab
    np.subtract.at(rhs, rows[back], sign[back])
    sign = np.where(back, -sign, sign)
    n = int(index.max(initial=0)) + 1
    key = (rows * n + np.minimum(left, right)) * n + np.maximum(left, right)
    unique, inverse = np.unique(key, return_inverse=True)
    total = np.zeros(len(unique), dtype=np.int64)
    np.add.at(total, inverse, sign)
    keep = total != 0
    unique, total = unique[keep], total[keep]
    return unique // (n * n), unique // n % n, unique % n, total, rhs


def folded_half_rows(index: Index) -> tuple[Index, Index, Index, Index, Index]:
    """Return (a, b, coefficient, start, rhs) of the halved and rounded rows, a < b."""
    row, a, b, total, rhs = _folded_sums(index)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(index)))])
    return a, b, total // 2, start.astype(np.int64), rhs // 2


def _rows(index: Index, shape: tuple[int, int]) -> SparseRows:
    a, b, coefficient, start, rhs = folded_half_rows(index)
    return SparseRows(start, a, b, coefficient, rhs)


def _valid(feasible: FeasibleSet, index: Index, shape: tuple[int, int]) -> bool:
    """Whether the sums are even, and the relations are linear orders."""
    if not feasible.has("transitive", "antisymmetric", "connex") or index.shape[1] % 3:
        return False
    if index.max(initial=-1) >= min(shape) or index.min(initial=0) < -1:
        return False
    triples = index.reshape(-1, 3)
    named = (triples >= 0).sum(axis=1)
    if not np.isin(named, (0, 3)).all():
        return False
    a, b, c = triples[named == 3].T
    if (a == b).any() or (a == c).any():
        return False
    return bool((_folded_sums(index)[3] % 2 == 0).all())


register_family(
    Family(
        "half_dicycle",
        None,
        _rows,
        _valid,
        "floor of half a sum of rows x_ab + x_bc - x_ac <= 1 and x_ab <= 1",
    )
)
