"""Components that are as they were: their clusters are kept, the others solved again."""

from __future__ import annotations

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.tables.component_batch import Components
from relatum.pair_tables.solve.component import Settings, Solutions, count_changes, solve_batch

__all__ = ["choose_components", "solve_others"]


def choose_components(batch: Components, chosen: Flags) -> tuple[Components, Index]:
    """Return a batch of some of the components, and which elements these have."""
    sizes, pairs = np.diff(batch.element_ptr), np.diff(batch.pair_ptr)
    facts = np.diff(batch.fixed_ptr)
    elements = np.flatnonzero(np.repeat(chosen, sizes))
    rows = np.repeat(chosen, pairs)

    def pointers(counts: Index) -> Index:
        return np.concatenate([[0], np.cumsum(counts[chosen])]).astype(np.int64)

    part = Components(
        pointers(sizes),
        pointers(pairs),
        batch.i[rows],
        batch.j[rows],
        batch.log_odds[rows],
        pointers(facts),
        batch.fixed[np.repeat(chosen, facts)],
        batch.groups[elements] if len(batch.groups) else batch.groups,
        batch.start[elements] if len(batch.start) else batch.start,
    )
    return part, elements


def solve_others(batch: Components, settings: Settings, gaps: Floats) -> Solutions:
    """Solve the components whose gap is negative; the others keep the labels they start from.

    Parameters
    ----------
    batch : Components
        With `start`.
    settings : Settings
    gaps : float64 array
        Known gaps of components, -1 where there is none.
    """
    todo = gaps < 0
    sizes = np.diff(batch.element_ptr)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    both = np.unique(np.column_stack([owner, batch.start]), axis=0, return_inverse=True)[1]
    first = np.full(len(sizes), len(both) + 1, dtype=np.int64)
    np.minimum.at(first, owner, both.ravel())
    labels = both.ravel() - first[owner]
    part, elements = choose_components(batch, todo)
    found = solve_batch(part, settings)
    labels[elements] = found.labels
    value, bound = _values(batch, labels, settings.background), np.zeros(len(sizes))
    bound = value + np.maximum(gaps, 0.0)
    value[todo], bound[todo] = found.value, found.bound
    cut, added = count_changes(batch, labels)
    pieces = np.ones(len(sizes), dtype=np.int64)
    pieces[todo] = found.pieces
    return Solutions(labels, value, bound, cut, added, pieces)


def _values(batch: Components, labels: Index, background: float) -> Floats:
    """Return the value of given clusters, component by component."""
    count = len(batch.element_ptr) - 1
    owner = np.repeat(np.arange(count), np.diff(batch.pair_ptr))
    first = batch.element_ptr[owner]
    same = labels[first + batch.i] == labels[first + batch.j]
    value = np.bincount(owner, np.where(same, batch.log_odds - background, 0.0), count)
    part = np.repeat(np.arange(count), np.diff(batch.element_ptr))
    sizes = np.bincount(batch.element_ptr[part] + labels, minlength=len(labels))
    pairs = np.bincount(part, (sizes * (sizes - 1) // 2).astype(np.float64), count)
    return np.asarray(value + background * pairs, dtype=np.float64)
