"""How sure a cluster is: the probability that it is exactly one of the sets of its component.

Components of at most ``Tuning.exact_elements`` elements are summed over all their clusterings. In
larger ones a cluster is compared with what single steps make of it, the rest staying as it is: an
element leaves it, alone or for another cluster, one comes from another cluster, or it is joined to
another one; steps to clusters that no listed pair leads to are left out. That is a conditional
probability given the rest, and mostly too high.
"""

from __future__ import annotations

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.probability.component_sets import component_set_probabilities
from relatum.pair_tables.options import Settings
from relatum.pair_tables.solve.batching import Component, Components, component_of

LARGEST = 2.0**20  # bits: larger scores make no other probabilities than 0 and 1


def cluster_confidence(
    batch: Components, labels: Index, settings: Settings
) -> tuple[Floats, Flags]:
    """Return each element's confidence, and whether it is exact.

    Parameters
    ----------
    batch : Components
    labels : int64 array
        The clusters of each component.
    settings : Settings
    """
    moderate = batch._replace(log_odds=np.clip(batch.log_odds, -LARGEST, LARGEST))
    background = max(settings.background, -LARGEST)
    most = settings.tuning.exact_elements
    given = np.ascontiguousarray(labels, np.int64), background, settings.cap, most
    confidence = component_set_probabilities(moderate, *given)
    exact = ~np.isnan(confidence)
    for k in np.flatnonzero(np.diff(batch.element_ptr) > most).tolist():
        own = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
        part = component_of(moderate, k)
        confidence[own] = _against_single_steps(part, labels[own], background, settings.cap)
    return confidence, exact


def _against_single_steps(
    component: Component, labels: Index, background: float, cap: int
) -> Floats:
    """Return the confidence of each element's cluster, against single steps."""
    _, own = np.unique(labels, return_inverse=True)
    sizes = np.bincount(own)
    known = component.related, component.unrelated
    yes, no = (np.asarray(x, np.int64).reshape(-1, 2) for x in known)
    i = np.concatenate([np.asarray(component.i, np.int64), yes[:, 0], no[:, 0]])
    j = np.concatenate([np.asarray(component.j, np.int64), yes[:, 1], no[:, 1]])
    bits = np.asarray(component.log_odds, np.float64) - background
    certain = np.repeat([LARGEST, -LARGEST], [len(yes), len(no)]) * 8
    bits = np.concatenate([bits, certain])
    steps = np.zeros(len(sizes))  # what all steps of a cluster weigh, against staying as it is
    shut = _Shut(component, own, len(sizes))
    gain = _links(np.concatenate([i, j]), own[np.concatenate([j, i])], np.tile(bits, 2), sizes)
    x, to, linked = gain
    gains = linked + background * (sizes[to] - (own[x] == to))
    stay = np.asarray(background * (sizes[own] - 1.0), dtype=np.float64)
    at_home = own[x] == to
    stay[x[at_home]] = gains[at_home]
    many = sizes[own] > 1
    half = np.where(sizes[own] == 2, 0.5, 1.0)  # if one of two leaves, so does the other
    np.add.at(steps, own[many], (half * _weight(-stay))[many])
    single = (sizes[own[x]] == 1) & (sizes[to] == 1)  # the one joins the other: one step
    moves = ~at_home & (sizes[to] < cap) & ~shut(x, to) & ~(single & (own[x] > to))
    weight = _weight(gains[moves] - stay[x[moves]])
    np.add.at(steps, own[x[moves]], weight)
    np.add.at(steps, to[moves], weight)
    a, b = np.minimum(own[i], own[j]), np.maximum(own[i], own[j])
    c, d, linked = _links(a[a != b], b[a != b], bits[a != b], sizes)
    # to join a single element to a cluster is to move it
    joins = (sizes[c] + sizes[d] <= cap) & (sizes[c] > 1) & (sizes[d] > 1) & ~shut(c, d, whole=True)
    weight = _weight((linked + background * sizes[c] * sizes[d])[joins])
    np.add.at(steps, c[joins], weight)
    np.add.at(steps, d[joins], weight)
    return np.asarray(1.0 / (1.0 + steps))[own]


def _weight(bits: Floats) -> Floats:
    return np.asarray(np.exp2(np.clip(bits, -1000.0, 1000.0)))


def _links(x: Index, to: Index, bits: Floats, sizes: Index) -> tuple[Index, Index, Floats]:
    """Add up bits from each x to each cluster: (x, cluster, sum)."""
    keys, place = np.unique(x * len(sizes) + to, return_inverse=True)
    sums = np.bincount(place, bits, len(keys)).astype(np.float64)
    return keys // len(sizes), keys % len(sizes), sums


class _Shut:
    """Says where groups shut out: whether an element's group, or a cluster's, is in a cluster."""

    def __init__(self, component: Component, own: Index, count: int) -> None:
        self.groups = None if component.groups is None else np.asarray(component.groups, np.int64)
        if self.groups is None or not (self.groups >= 0).any():
            self.groups = None
            return
        has = np.flatnonzero(self.groups >= 0)
        shape = count, int(self.groups.max()) + 1
        from scipy.sparse import csr_array  # slow to import: only where it is used

        held = csr_array((np.ones(len(has)), (own[has], self.groups[has])), shape=shape)
        self.keys = np.unique(own[has] * shape[1] + self.groups[has])
        self.width, self.held = shape[1], held

    def __call__(self, x: Index, to: Index, whole: bool = False) -> Flags:
        if self.groups is None:
            return np.zeros(len(x), np.bool_)
        if whole:
            shared: Floats = np.asarray(self.held[x].multiply(self.held[to]).sum(axis=1))
            return shared.ravel() > 0
        group = self.groups[x]
        return (group >= 0) & np.isin(to * self.width + group, self.keys)
