"""How sure a cluster is: the probability that it is exactly one of the sets of its component.

Components of at most ``Tuning.exact_elements`` elements are summed over all their clusterings. In
larger ones a cluster is compared with what single steps make of it, the rest staying as it is: an
element leaves it, alone or for another cluster, one comes from another cluster, or it is joined to
another one; steps to clusters that no listed pair leads to are left out. That is a conditional
probability given the rest, and mostly too high.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.probability.component_sets import component_set_probabilities
from relatum.pair_tables.options import Settings
from relatum.pair_tables.solve.batching import Components, ends_of, first_elements
from relatum.problem import Partition

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
    large = np.diff(batch.element_ptr) > most
    if large.any():
        elements = np.repeat(large, np.diff(batch.element_ptr))
        own = Partition(first_elements(batch, labels)[elements]).labels
        some = _linked(moderate, large, elements, background)
        confidence[elements] = _against_single_steps(some, own, background, settings.cap)
    return confidence, exact


class _Links(NamedTuple):
    """Pairs of elements, how far their bits are above the background, and groups of elements."""

    i: Index
    j: Index
    bits: Floats
    groups: Index | None


def _linked(batch: Components, large: Flags, elements: Flags, background: float) -> _Links:
    """Return the listed and known pairs of large components, as if these were one."""
    number = np.cumsum(elements) - 1
    owner, i, j = ends_of(batch)
    own = large[owner]
    first = np.repeat(batch.element_ptr[:-1], np.diff(batch.fixed_ptr))
    fixed = batch.fixed[elements[first]].astype(np.int64) if len(first) else batch.fixed
    a, b = (fixed[:, k] + first[elements[first]] for k in (0, 1))
    bits = np.where(fixed[:, 2] == 1, LARGEST, -LARGEST) * 8
    return _Links(
        number[np.concatenate([i[own], a])],
        number[np.concatenate([j[own], b])],
        np.concatenate([batch.log_odds[own] - background, bits]),
        batch.groups[elements] if len(batch.groups) else None,
    )


def _against_single_steps(links: _Links, own: Index, background: float, cap: int) -> Floats:
    """Return the confidence of each element's cluster `own`, against single steps."""
    i, j, bits, sizes = links.i, links.j, links.bits, np.bincount(own)
    steps = np.zeros(len(sizes))  # what all steps of a cluster weigh, against staying as it is
    shut = _Shut(links.groups, own, len(sizes))
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

    def __init__(self, groups: Index | None, own: Index, count: int) -> None:
        self.groups = None if groups is None or not (groups >= 0).any() else groups
        if self.groups is None:
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
