"""From labelled elements and listed pairs to a batch of components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.tables.component_batch import Components

__all__ = ["batch_of"]


def batch_of(
    component: Index,
    pairs: tuple[NDArray[np.integer], NDArray[np.integer], Floats],
    fixed: Index | None = None,
    groups: Index | None = None,
    start: Index | None = None,
) -> tuple[Components, Index]:
    """Sort elements and pairs by component.

    Parameters
    ----------
    component : int64 array (n,)
        The component of each element, any numbers. Elements are numbered in the order of
        their ids.
    pairs : (i, j, log_odds)
        Listed pairs, in any order and direction; those between components are dropped.
    fixed : int64 array (k, 3), optional
        Evidence: two elements, and 1 (related) or 0 (unrelated).
    groups, start : int64 arrays (n,), optional
        See `relatum.pair_tables.solve.component.Component`.

    Returns
    -------
    batch : Components
        In the order of the components' numbers.
    order : int64 array (n,)
        Element k of the batch is element ``order[k]``.
    """
    n = len(component)
    order = np.argsort(component, kind="stable")
    sorted_component = component[order]
    new = np.ones(n, dtype=np.bool_)
    new[1:] = sorted_component[1:] != sorted_component[:-1]
    first = np.flatnonzero(new)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    number = np.empty(n, dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    pointers = np.append(first, n).astype(np.int64)
    ends = _inside(number, np.column_stack([pairs[0], pairs[1]]).astype(np.int64))
    low, high, owner = _local(number, place, pointers, ends[1])
    by = np.lexsort((high, low, owner))
    known = np.empty((0, 3), dtype=np.int64) if fixed is None else fixed
    inner = _inside(number, known[:, :2])
    a, b, fixed_owner = _local(number, place, pointers, inner[1])
    sign = known[inner[0], 2]
    fixed_by = np.lexsort((sign, b, a, fixed_owner))
    none = np.empty(0, np.int64)
    batch = Components(
        pointers,
        _pointers(owner, len(first)),
        low[by].astype(np.int32),
        high[by].astype(np.int32),
        np.asarray(pairs[2], dtype=np.float64)[ends[0]][by],
        _pointers(fixed_owner, len(first)),
        np.column_stack([a, b, sign])[fixed_by].astype(np.int32),
        none if groups is None else groups[order],
        none if start is None else start[order],
    )
    return batch, order


def _inside(number: Index, pairs: Index) -> tuple[Index, Index]:
    """Return which pairs lie inside components, and these pairs."""
    rows = np.flatnonzero(number[pairs[:, 0]] == number[pairs[:, 1]])
    return rows, pairs[rows]


def _local(
    number: Index, place: Index, pointers: Index, pairs: Index
) -> tuple[Index, Index, Index]:
    """Return pairs counted from the first elements of their components, and the components."""
    owner = number[pairs[:, 0]]
    local = place[pairs] - pointers[owner][:, None]
    return local.min(axis=1), local.max(axis=1), owner


def _pointers(owner: Index, count: int) -> Index:
    pointers = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=pointers[1:])
    return pointers
