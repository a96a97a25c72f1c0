"""Components as arrays: one of them, or a batch, one behind the other.

Elements of a batch are numbered through it, component by component, and so are the ends of pairs
until `assemble` counts them from the first element of their component.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.tables.records import Components
from relatum.problem import EQUIVALENCES, Problem, at_most, numbered_evidence, one_per_group

__all__ = [
    "Component",
    "Components",
    "Pairs",
    "assemble",
    "batch_of",
    "component_of",
    "ends_of",
    "facts_of",
    "first_elements",
    "of_two_groups",
    "pairs_of",
    "problem_of",
    "with_pairs",
]

Pairs: TypeAlias = tuple[NDArray[np.integer], NDArray[np.integer], Floats]


def _no_pairs() -> Index:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Component:
    """A component of scored pairs.

    Attributes
    ----------
    n : int
        Elements are numbered from 0, in the order of their ids.
    i, j : integer arrays
        The listed pairs, each once, in either direction.
    log_odds : float array
        In bits, finite.
    related, unrelated : integer arrays (k, 2)
        Evidence.
    groups : integer array (n,) or None
        No cluster holds two elements of one group; -1 for elements in no group.
    start : integer array (n,) or None
        Labels of clusters to start from, -1 for elements that are new. Of clusterings that
        are equally probable, this one is kept.
    """

    n: int
    i: ArrayLike
    j: ArrayLike
    log_odds: ArrayLike
    related: ArrayLike = field(default_factory=_no_pairs)
    unrelated: ArrayLike = field(default_factory=_no_pairs)
    groups: ArrayLike | None = None
    start: ArrayLike | None = None

    def batch(self) -> Components:
        """Return a batch of this component alone, pairs in order."""
        starts = np.array([0, self.n], np.int64)
        return _sorted(starts, pairs_of(self), facts_of(self), self.groups, self.start)


def pairs_of(component: Component) -> tuple[Index, Index, Floats]:
    """Return the listed pairs as arrays, as they were given."""
    i, j = np.asarray(component.i, np.int64), np.asarray(component.j, np.int64)
    return i, j, np.asarray(component.log_odds, np.float64)


def facts_of(component: Component) -> Index:
    """Return the evidence as rows of two elements, and 1 (related) or 0 (unrelated)."""
    given = (component.related, component.unrelated)
    yes, no = (np.asarray(x, np.int64).reshape(-1, 2) for x in given)
    return np.column_stack([np.concatenate([yes, no]), np.repeat([1, 0], [len(yes), len(no)])])


def batch_of(
    component: Index,
    pairs: Pairs,
    fixed: Index | None = None,
    groups: ArrayLike | None = None,
    start: ArrayLike | None = None,
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
        See `Component`.

    Returns
    -------
    batch : Components
        In the order of the components' numbers.
    order : int64 array (n,)
        Element k of the batch is element ``order[k]``.
    """
    n = len(component)
    order = np.argsort(component, kind="stable")
    own = component[order]
    starts = np.append(np.flatnonzero(np.append(True, own[1:] != own[:-1])[:n]), n)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    i, j = np.asarray(pairs[0]), np.asarray(pairs[1])
    inside = component[i] == component[j]
    facts = np.empty((0, 3), np.int64) if fixed is None else fixed
    facts = facts[component[facts[:, 0]] == component[facts[:, 1]]]
    batch = _sorted(
        starts.astype(np.int64),
        (place[i[inside]], place[j[inside]], np.asarray(pairs[2], np.float64)[inside]),
        np.column_stack([place[facts[:, :2]], facts[:, 2]]),
        None if groups is None else np.asarray(groups)[order],
        None if start is None else np.asarray(start)[order],
    )
    return batch, order


def _sorted(
    starts: Index, pairs: Pairs, fixed: Index, groups: ArrayLike | None, start: ArrayLike | None
) -> Components:
    """Make a batch of pairs and evidence in any order and direction."""
    low, high = np.minimum(pairs[0], pairs[1]), np.maximum(pairs[0], pairs[1])
    by = np.lexsort((high, low))
    facts = np.column_stack([np.sort(fixed[:, :2], axis=1), fixed[:, 2]])
    facts = facts[np.lexsort((facts[:, 2], facts[:, 1], facts[:, 0]))]
    return assemble(starts, (low[by], high[by], pairs[2][by]), facts, groups, start)


def assemble(
    starts: Index, pairs: Pairs, fixed: Index, groups: ArrayLike | None, start: ArrayLike | None
) -> Components:
    """Make a batch of what is sorted already.

    Parameters
    ----------
    starts : int64 array (components + 1,)
        The first element of each component, and the number of elements.
    pairs : (low ends, high ends, log_odds)
        Sorted, elements numbered through the batch.
    fixed : int64 array (k, 3)
        Evidence: low end, high end, 1 or 0; sorted.
    groups, start : arrays or None
        See `Component`.
    """
    pointers, low, high = _local(starts, pairs[0], pairs[1])
    fixed_pointers, a, b = _local(starts, fixed[:, 0], fixed[:, 1])
    none = np.empty(0, np.int64)
    return Components(
        starts,
        pointers,
        low,
        high,
        pairs[2],
        fixed_pointers,
        np.ascontiguousarray(np.column_stack([a, b, fixed[:, 2]]), np.int32),
        none if groups is None else np.ascontiguousarray(groups, np.int64),
        none if start is None else np.ascontiguousarray(start, np.int64),
    )


def _local(
    starts: Index, low: NDArray[np.integer], high: NDArray[np.integer]
) -> tuple[Index, NDArray[np.int32], NDArray[np.int32]]:
    """Return where the sorted pairs of each component begin, and ends counted from its first."""
    pointers = np.searchsorted(low, starts).astype(np.int64)
    first = np.repeat(starts[:-1], np.diff(pointers))
    return pointers, (low - first).astype(np.int32), (high - first).astype(np.int32)


def with_pairs(batch: Components, pairs: Pairs) -> Components:
    """Return a batch with other pairs: sorted, elements numbered through the batch."""
    pointers, low, high = _local(batch.element_ptr, pairs[0], pairs[1])
    return batch._replace(pair_ptr=pointers, i=low, j=high, log_odds=pairs[2])


def component_of(batch: Components, k: int) -> Component:
    """Return one component of a batch."""
    e = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
    p = slice(batch.pair_ptr[k], batch.pair_ptr[k + 1])
    fixed = batch.fixed[batch.fixed_ptr[k] : batch.fixed_ptr[k + 1]].astype(np.int64)
    return Component(
        int(e.stop - e.start),
        batch.i[p],
        batch.j[p],
        batch.log_odds[p],
        fixed[fixed[:, 2] == 1, :2],
        fixed[fixed[:, 2] == 0, :2],
        batch.groups[e] if len(batch.groups) else None,
        batch.start[e] if len(batch.start) else None,
    )


def problem_of(component: Component, background: float, max_size: int | None) -> Problem:
    """Return the problem that a component, or a piece of one, is on its own."""
    fixed = facts_of(component)
    yes, no = fixed[fixed[:, 2] == 1, :2], fixed[fixed[:, 2] == 0, :2]
    feasible = EQUIVALENCES & numbered_evidence(yes, no)
    if component.groups is not None:
        groups = np.array(component.groups)
        alone = np.flatnonzero(groups < 0)
        groups[alone] = groups.max(initial=0) + 1 + np.arange(len(alone))
        feasible = feasible & one_per_group(groups)
    if max_size is not None and max_size < component.n:
        feasible = feasible & at_most(max_size)
    return Problem.from_pairs(
        *pairs_of(component), n=component.n, background=background, feasible=feasible
    )


def ends_of(batch: Components) -> tuple[Index, Index, Index]:
    """Return the component of each listed pair, and its ends, numbered through the batch."""
    owner = np.repeat(np.arange(len(batch.pair_ptr) - 1), np.diff(batch.pair_ptr))
    first = batch.element_ptr[owner]
    return owner, first + batch.i, first + batch.j


def first_elements(batch: Components, labels: Index) -> Index:
    """Return the first element of each element's cluster, numbered through the batch."""
    cluster = np.repeat(batch.element_ptr[:-1], np.diff(batch.element_ptr)) + labels
    first = np.empty(len(labels), dtype=np.int64)
    first[cluster[::-1]] = np.arange(len(labels))[::-1]  # the last one written is the smallest
    return np.asarray(first[cluster])


def of_two_groups(groups: Index, owner: Index, count: int) -> tuple[Flags, Index]:
    """Say which components have elements of two groups, and of nothing else.

    Parameters
    ----------
    groups : int64 array (n,)
        -1 for elements in no group.
    owner : int64 array (n,)
        The component of each element, below `count`.

    Returns
    -------
    two : bool array (count,)
    low : int64 array (count,)
        The smaller group of each component.
    """
    low = np.full(count, np.iinfo(np.int64).max)
    high = np.full(count, -1, dtype=np.int64)
    np.minimum.at(low, owner, groups)
    np.maximum.at(high, owner, groups)
    two = (low >= 0) & (low < high)
    others = (groups != low[owner]) & (groups != high[owner])
    two[owner[others]] = False
    return two, low
