"""Decisions in most doubt: what a clustering would lose least by deciding otherwise.

Three kinds of changes are looked at, for all components of a batch at once and without a search: an
element leaves its cluster, alone or for another one; a cluster falls apart at the weakest pair of
its spanning tree of largest log-odds; two clusters join. What the value loses is an upper bound of
what forcing the pair costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import RelatumError
from relatum.kernels.tables.records import Components
from relatum.pair_tables.options import Settings
from relatum.pair_tables.origin import Origin, Part
from relatum.pair_tables.solve.batching import ends_of
from relatum.pair_tables.solve.cluster_confidence import cluster_confidence
from relatum.problem import Partition, Problem

if TYPE_CHECKING:
    from relatum.probability import Probabilities


@dataclass(frozen=True)
class Doubt:
    """One decision, told by a pair.

    Attributes
    ----------
    a, b : id
    related : bool
        Whether the pair is in one cluster.
    log_odds : float
        The pair's own bits.
    cost : float
        Bits that the value loses, at most, if it is decided otherwise; 0 is a tie.
    change : str
        What would be otherwise, in words.
    probability : float
        That the pair is related, given the scores and the rules of its component: of at most 16
        elements summed up over all ways to cluster it, of at most 100 by sampling. In larger
        components it is that of the decision against its opposite alone, all else staying as it
        is.
    exact : bool
        Whether the probability is such a sum.
    """

    a: Any
    b: Any
    related: bool
    log_odds: float
    cost: float
    change: str
    probability: float | None = None
    exact: bool = False

    def __str__(self) -> str:
        how = "together" if self.related else "apart"
        return f"{self.a} and {self.b} are {how}: {self.change} would cost {self.cost:.3g} bits"


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of a batch: cost, kind, and the pair that tells it."""

    cost: Floats
    kind: int  # a place in KINDS
    pair: Index  # of the batch's listed pairs
    first: Index | None = None  # the end of the pair that leaves


SUMMED_ELEMENTS = 16  # of components whose clusterings are summed over, some hundredths of a second
DRAWN_ELEMENTS, DRAWS = 100, 400  # of components that are sampled, about a second, and how often
KINDS = ("taking {} out of the cluster", "parting the cluster here", "joining the clusters")
LEAVES, PARTS, JOINS = range(3)


def doubts_of(origin: Origin, k: int) -> list[Doubt]:
    """Return the k changes of a whole table that cost least."""
    codes = origin.whole["cluster_id"].combine_chunks().dictionary_encode().indices
    cluster = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)
    found = cheapest(origin.access.batches(origin), cluster, origin.settings, k)
    names = origin.ids(np.array([end for c in found for end in c[1:3]], dtype=np.int64))
    pairs, sure = zip(names[::2], names[1::2], strict=True), _Sure(origin)
    return [
        Doubt(a, b, kind != JOINS, bits, cost, KINDS[kind].format(a), *sure(p, q, kind, cost))
        for (cost, p, q, kind, bits), (a, b) in zip(found, pairs, strict=True)
    ]


def confidence_of(origin: Origin) -> Floats:
    """Return how sure the cluster of each element is, as ``cluster_pairs(confidence=True)`` does.

    The pairs are read once more, batch by batch.
    """
    out = np.ones(len(origin.roots))
    codes = origin.whole["cluster_id"].combine_chunks().dictionary_encode().indices
    cluster = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)
    for batch, elements in origin.access.batches(origin):
        sizes = np.diff(batch.element_ptr)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        width = int(cluster.max(initial=0)) + 1
        through = Partition(owner * width + cluster[elements]).labels
        first = np.repeat(through[batch.element_ptr[:-1]], sizes)
        out[elements] = cluster_confidence(batch, through - first, origin.settings)[0]
    return out


class _Sure:
    """How probable pairs of some components are; each component is looked at once."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.parts: dict[int, tuple[Part, Probabilities | None]] = {}

    def __call__(self, a: int, b: int, kind: int, cost: float) -> tuple[float, bool]:
        """Return the probability that two elements are related, and whether it is exact."""
        root = int(self.origin.roots[a])
        if root not in self.parts:
            part = self.origin.part(a)
            self.parts[root] = part, _of_component(part.problem)
        part, known = self.parts[root]
        if known is None:  # the decision against its opposite
            kept = 1.0 / (1.0 + 2.0 ** -min(cost, 1000.0))
            return (1.0 - kept if kind == JOINS else kept), False
        return float(known.pairs(part.place(a), part.place(b))), known.exact


def _of_component(problem: Problem) -> Probabilities | None:
    """Return the probabilities of a component, unless it is large."""
    if problem.n > DRAWN_ELEMENTS:
        return None
    from relatum.probability import probabilities  # which most clusters are never asked

    with suppress(RelatumError):  # rules that no method takes
        method = "exact" if problem.n <= SUMMED_ELEMENTS else "tempering"
        return probabilities(problem, method=method, draws=DRAWS, across=False)
    return None


def cheapest(
    batches: Iterable[tuple[Components, Index]], cluster: Index, settings: Settings, k: int
) -> list[tuple[float, int, int, int, float]]:
    """Return the k cheapest changes: (cost, element, element, kind, log-odds of the pair).

    Parameters
    ----------
    batches : iterable of (Components, elements)
    cluster : integer array (n,)
        The cluster of each element, any numbers.
    settings : Settings
    k : int
    """
    best: list[tuple[float, int, int, int, float]] = []
    for batch, elements in batches:
        if not len(batch.log_odds):
            continue
        graph = _Graph(batch, cluster[elements], settings)
        for found in (graph.leaving(), graph.parting(), graph.joining()):
            order = np.argsort(found.cost, kind="stable")[:k]
            pair = found.pair[order]
            a = graph.i[pair] if found.first is None else found.first[order]
            b = graph.i[pair] + graph.j[pair] - a
            columns = (np.maximum(0.0, found.cost[order]), elements[a], elements[b], graph.w[pair])
            rows = zip(*(column.tolist() for column in columns), strict=True)
            best += [(cost, p, q, found.kind, bits) for cost, p, q, bits in rows]
        best = _each_once(sorted(best))[:k]
    return best


def _each_once(
    changes: list[tuple[float, int, int, int, float]],
) -> list[tuple[float, int, int, int, float]]:
    """Keep the cheapest change of those that one pair tells."""
    first: dict[frozenset[int], tuple[float, int, int, int, float]] = {}
    for change in changes:
        first.setdefault(frozenset(change[1:3]), change)
    return list(first.values())


class _Graph:
    """The listed pairs of a batch, and its clusters, numbered from 0."""

    def __init__(self, batch: Components, cluster: Index, settings: Settings) -> None:
        _, self.i, self.j = ends_of(batch)
        self.w, self.background = batch.log_odds, settings.background
        self.n, self.cap = len(cluster), settings.cap
        part = np.repeat(np.arange(len(batch.element_ptr) - 1), np.diff(batch.element_ptr))
        keys = part * (int(cluster.max(initial=0)) + 1) + cluster  # a set lies in one component
        self.label = np.unique(keys, return_inverse=True)[1]
        self.size = np.bincount(self.label)
        self.same = self.label[self.i] == self.label[self.j]
        fixed = batch.fixed.astype(np.int64)
        first = np.repeat(batch.element_ptr[:-1], np.diff(batch.fixed_ptr))
        self.fixed = np.column_stack([fixed[:, :2] + first[:, None], fixed[:, 2]])
        self.groups = batch.groups if len(batch.groups) else None

    def leaving(self) -> Changes:
        """Take each element to the other cluster that speaks most for it, or alone."""
        ends = np.concatenate([self.i, self.j]), np.concatenate([self.j, self.i])
        pair = np.tile(np.arange(len(self.w)), 2)
        k = len(self.size)
        keys, place = np.unique(ends[0] * k + self.label[ends[1]], return_inverse=True)
        listed = np.bincount(place, self.w[pair] - self.background)
        element, target = keys // k, keys % k
        own = target == self.label[element]
        worth = listed + self.background * (self.size[target] - own)
        kept, best = np.zeros(self.n), np.zeros(self.n)
        kept += self.background * (self.size[self.label] - 1)
        kept[element[own]] = worth[own]
        free = ~own & self._allowed_moves(element, target)
        np.maximum.at(best, element[free], worth[free])
        inside = self.same[pair]
        told = _strongest(ends[0][inside], self.w[pair][inside], pair[inside], self.n)
        bound = np.unique(self.fixed[self.fixed[:, 2] == 1, :2])  # may not leave
        told[bound] = -1
        who = np.flatnonzero((told >= 0) & (self.size[self.label] > 1))
        cost = kept[who] - best[who]
        return Changes(cost, LEAVES, told[who], who)

    def _allowed_moves(self, element: Index, target: Index) -> Any:
        allowed = self.size[target] < self.cap
        k = len(self.size)
        no = self.fixed[self.fixed[:, 2] == 0, :2]
        forbidden = [no[:, a] * k + self.label[no[:, 1 - a]] for a in (0, 1)]
        allowed &= ~np.isin(element * k + target, np.concatenate(forbidden))
        if self.groups is not None:
            width = int(self.groups.max(initial=0)) + 2
            taken = np.unique(self.label * width + self.groups + 1)
            wanted = target * width + self.groups[element] + 1
            allowed &= (self.groups[element] < 0) | ~np.isin(wanted, taken)
        return allowed

    def parting(self) -> Changes:
        """Part each cluster at the weakest pair of its spanning tree of largest log-odds."""
        inner = np.flatnonzero(self.same)
        if not len(inner):
            return _nothing()
        order = inner[np.argsort(-self.w[inner], kind="stable")]
        rank = np.arange(1.0, len(order) + 1)
        shape = (self.n, self.n)
        from scipy.sparse import coo_array  # slow to import: only where it is used
        from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

        tree = minimum_spanning_tree(coo_array((rank, (self.i[order], self.j[order])), shape))
        edges = order[tree.tocoo().data.astype(np.int64) - 1]
        edges = edges[np.lexsort((-self.w[edges], self.label[self.i[edges]]))]
        own = self.label[self.i[edges]]
        last = np.append(own[1:] != own[:-1], True)
        kept = edges[~last]
        graph = coo_array((np.ones(len(kept)), (self.i[kept], self.j[kept])), shape)
        half = connected_components(graph, directed=False)[1]
        weakest = edges[last]
        sizes = np.bincount(half)
        between = inner[half[self.i[inner]] != half[self.j[inner]]]
        cost = np.bincount(
            self.label[self.i[between]], self.w[between] - self.background, len(self.size)
        )[own[last]]
        both = sizes[half[self.i[weakest]]] * sizes[half[self.j[weakest]]]
        yes = self.fixed[self.fixed[:, 2] == 1, :2]
        torn = np.unique(self.label[yes[half[yes[:, 0]] != half[yes[:, 1]], 0]])
        free = ~np.isin(own[last], torn)
        cost = (cost + self.background * both)[free]
        return Changes(cost, PARTS, weakest[free])

    def joining(self) -> Changes:
        """Join clusters that a listed pair links."""
        outer = np.flatnonzero(~self.same)
        if not len(outer):
            return _nothing()
        ends = np.sort(self.label[np.column_stack([self.i[outer], self.j[outer]])], axis=1)
        k = len(self.size)
        keys, place = np.unique(ends[:, 0] * k + ends[:, 1], return_inverse=True)
        low, high = keys // k, keys % k
        gain = np.bincount(place, self.w[outer] - self.background)
        gain += self.background * self.size[low] * self.size[high]
        told = _strongest(place, self.w[outer], outer, len(keys))
        free = (self.size[low] + self.size[high] <= self.cap) & ~np.isin(keys, self._hostile())
        return Changes(-gain[free], JOINS, told[free])

    def _hostile(self) -> Index:
        """Return pairs of clusters that evidence or groups keep apart, as numbers."""
        k = len(self.size)
        pairs = [self.label[self.fixed[self.fixed[:, 2] == 0, :2]]]
        if self.groups is not None:  # of listed pairs of one group, and clusters that share one
            ends = np.sort(self.label[np.column_stack([self.i, self.j])], axis=1)
            outer = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
            pairs.append(outer[[self._share_a_group(a, b) for a, b in outer.tolist()]])
        ends = np.sort(np.concatenate(pairs), axis=1)
        return np.asarray(ends[:, 0] * k + ends[:, 1])

    def _share_a_group(self, a: int, b: int) -> bool:
        groups = self._groups_of()
        return bool(groups[a] & groups[b])

    def _groups_of(self) -> list[set[int]]:
        if not hasattr(self, "_sets"):
            self._sets: list[set[int]] = [set() for _ in self.size]
            assert self.groups is not None
            for label, group in zip(self.label.tolist(), self.groups.tolist(), strict=True):
                if group >= 0:
                    self._sets[label].add(group)
        return self._sets


def _nothing() -> Changes:
    return Changes(np.empty(0), JOINS, np.empty(0, np.int64))


def _strongest(key: Index, bits: Floats, pair: Index, count: int) -> Index:
    """Return the pair of largest log-odds of each key; -1 for those without any."""
    out = np.full(count, -1, dtype=np.int64)
    order = np.lexsort((pair, -bits, key))
    first = np.append(True, key[order][1:] != key[order][:-1])[: len(order)]
    out[key[order[first]]] = pair[order[first]]
    return out
