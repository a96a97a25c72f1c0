"""From rows to components, and from components to buckets of pairs that fit into memory.

Positive pairs, and pairs known to be related, connect; between components no pair gains anything.
Components too large for a batch are split along their weakest pairs. Each unit, a component or a
piece of one, has its elements in consecutive places, and so has each bucket its units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.tables.places import merge_duplicates, place_elements, sort_rows
from relatum.kernels.tables.union_find import count_edges, find_roots, join_pairs
from relatum.pair_tables.columns import SAME
from relatum.pair_tables.on_duckdb.fingerprint import Fingerprint
from relatum.pair_tables.on_duckdb.known import Known
from relatum.pair_tables.on_duckdb.reading import Source
from relatum.pair_tables.on_duckdb.store import BYTES, Rows, Spool, Workspace
from relatum.pair_tables.options import Settings, Tuning
from relatum.pair_tables.solve.batching import Components, Pairs, assemble, of_two_groups
from relatum.pair_tables.solve.splitting import split_elements
from relatum.problem import ExactSum


@dataclass(frozen=True, eq=False)
class Linked:
    """The pairs of a table, and their components."""

    spool: Spool  # pairs i < j with finite bits, as often as rows list them
    roots: Index  # (n,): the smallest element of each element's component
    fingerprint: str = ""  # of the pairs, if it was asked for

    def pairs_within(self, units: Index) -> Index:
        """Return how many listed pairs each unit holds, at its smallest element."""
        counts = np.zeros(len(units), dtype=np.int64)
        for i, j, _ in self.spool.batches():
            count_edges(units, i, j, counts)
        return counts


def link_pairs(
    source: Source, known: Known, space: Workspace, marked: bool = False, offset: float = 0.0
) -> Linked:
    """Read all rows once; positive pairs that are forbidden connect nothing.

    ``marked`` asks for a fingerprint of the pairs, as the table lists them; ``offset`` is added to
    their bits afterwards.
    """
    mark = Fingerprint()
    spool = Spool(space.folder / "pairs.bin", space.share)
    parent = np.arange(source.n, dtype=np.int64)
    join_pairs(parent, *np.ascontiguousarray(known.related.T))
    seen = 0
    for a, b, bits in source.batches():
        keep = (a != b) & ~np.isnan(bits)
        i, j, w = np.minimum(a, b)[keep], np.maximum(a, b)[keep], bits[keep]
        if marked:
            mark.add(i, j, w)
        w = w + offset if offset else w
        spool.append(i, j, w)
        links = (w > 0) & known.may_join(i, j)
        join_pairs(parent, i[links], j[links])
        seen += len(a)
        space.tell("components", seen, source.rows)
    find_roots(parent)
    return Linked(spool, parent, mark.text() if marked else "")


def shift_pairs(linked: Linked, known: Known, space: Workspace, offset: float) -> Linked:
    """Return the pairs with an offset added to their bits, and their components."""
    if not offset:
        return linked
    spool = Spool(space.folder / "shifted.bin", space.share)
    parent = np.arange(len(linked.roots), dtype=np.int64)
    join_pairs(parent, *np.ascontiguousarray(known.related.T))
    for i, j, bits in linked.spool.batches():
        w = bits + offset
        spool.append(i, j, w)
        links = (w > 0) & known.may_join(i, j)
        join_pairs(parent, i[links].astype(np.int64), j[links].astype(np.int64))
    linked.spool.clear()
    find_roots(parent)
    return Linked(spool, parent, linked.fingerprint)


@dataclass(frozen=True, eq=False)
class Units:
    """Components, and pieces of those that are too large."""

    roots: Index  # (n,): the smallest element of each element's unit
    sizes: Index  # (n,): elements of each component, at its smallest element
    giant: Flags  # (n,): which components were split, at their smallest elements
    pieces: int = 0  # into how many


def split_giants(linked: Linked, known: Known, settings: Settings, space: Workspace) -> Units:
    """Split the components that are not to be searched whole."""
    roots, most = linked.roots, settings.tuning.kernel_elements
    sizes = np.bincount(roots, minlength=len(roots))
    many = linked.pairs_within(roots) > settings.most_pairs
    giant = (sizes > settings.most_elements) | (many & (sizes > most))
    if giant.any() and known.groups is not None and settings.cap >= 2:
        giant &= ~of_two_groups(known.groups, roots, len(roots))[0]  # matched whole, at any size
    if not giant.any():
        return Units(roots, sizes, giant)
    inside = giant[roots]
    fits = max(settings.tuning.sorted_pairs, space.share // 40)
    ranges = _ranges(linked.spool, inside, fits)
    pairs = (_positive(linked, known, inside, bits) for bits in ranges)
    units = np.where(inside, split_elements(len(roots), pairs, known.related, most), roots)
    return Units(units, sizes, giant, int(np.count_nonzero(giant[roots[np.unique(units)]])))


def _ranges(spool: Spool, inside: Flags, fits: int) -> list[tuple[float, float]]:
    """Return ranges of log-odds, falling, of about so many positive pairs inside giants."""
    sample = [w[(w > 0) & inside[i]][::16] for i, _, w in spool.batches()]
    values = np.sort(np.concatenate([np.empty(0), *sample]))[::-1]
    step = max(1, fits // 16)
    cuts = np.unique(values[step::step])[::-1]
    edges = [np.inf, *cuts.tolist(), 0.0]
    return list(zip(edges[1:], edges[:-1], strict=True))


def _positive(linked: Linked, known: Known, inside: Flags, bits: tuple[float, float]) -> Rows:
    """Return the pairs inside giants whose log-odds lie in a range, its lower end excluded."""
    parts = []
    for i, j, w in linked.spool.batches():
        take = (w > bits[0]) & (w <= bits[1]) & inside[i] & (linked.roots[i] == linked.roots[j])
        take &= known.may_join(i, j)
        parts.append((i[take], j[take], w[take]))
    i, j, w = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return i, j, w


@dataclass(frozen=True, eq=False)
class Buckets:
    """Elements in places, unit by unit, and pairs, by place, in buckets of whole units."""

    place: Index  # (n,): of each element
    order: Index  # (n,): the element at each place
    starts: Index  # (units + 1,): the first place of each unit, and n
    bounds: Index  # (buckets + 1,): the first unit of each bucket, and the number of units
    spools: list[Spool]  # the pairs of each bucket
    fixed: Index  # (k, 3): evidence inside units, low place, high place, 1 or 0; sorted
    lost_pairs: int  # positive pairs in no bucket: cut by splitting, or forbidden
    # bits of those that might have been kept, which the bound must count, by component, which is
    # known by its smallest element
    lost: Mapping[int, Fraction]

    def append_to(self, spools: list[Spool], a: Index, b: Index, w: Floats) -> None:
        """Append pairs of places to a list of spools, one for each bucket."""
        _append(spools, self.starts[self.bounds], (np.minimum(a, b), np.maximum(a, b), w))


def fill_buckets(
    linked: Linked, units: Units, known: Known, tuning: Tuning, space: Workspace, scored: bool
) -> Buckets:
    """Distribute pairs over ranges of units; each range is a batch.

    ``scored`` says whether pairs that are not listed will be scored.
    """
    n = len(units.roots)
    place, order, starts = (np.empty(k, dtype=np.int64) for k in (n, n, n + 1))
    starts = starts[: place_elements(units.roots, place, order, starts) + 1].copy()
    firsts = order[starts[:-1]]  # the first element of a unit is its root
    sizes, cost = np.diff(starts), linked.pairs_within(units.roots)[firsts]
    filled = scored & (sizes <= tuning.scored_elements)
    cost += np.where(filled, sizes * (sizes - 1) // 2, 0) + sizes // 4
    room = min(tuning.batch_pairs, space.share // (8 * BYTES))
    bounds = _bounds(cost, max(tuning.least_batch_pairs, room))
    memory = space.share // max(1, len(bounds) - 1)
    spools = [Spool(space.folder / f"bucket{k}.bin", memory) for k in range(len(bounds) - 1)]
    lost_pairs, lost = 0, _Lost()
    for i, j, w in linked.spool.batches():
        within = units.roots[i] == units.roots[j]
        _append(spools, starts[bounds], (place[i[within]], place[j[within]], w[within]))
        out = ~within & (w > 0)
        i, j, w = i[out], j[out], w[out]
        lost_pairs += len(w)
        joined = known.may_join(i, j)
        lost.add(linked.roots[i[joined]], w[joined])
    linked.spool.clear()
    fixed = _fixed(known, units, place)
    return Buckets(place, order, starts, bounds, spools, fixed, lost_pairs, lost.sums())


class _Lost:
    """Exact sums of bits by component."""

    def __init__(self) -> None:
        self._by_root: dict[int, ExactSum] = {}

    def add(self, roots: Index, bits: Floats) -> None:
        by = np.argsort(roots, kind="stable")
        own, counts = np.unique(roots, return_counts=True)
        ends = np.cumsum(counts)
        for root, start, end in zip(own.tolist(), ends - counts, ends, strict=True):
            self._by_root.setdefault(root, ExactSum()).add(bits[by[start:end]])

    def sums(self) -> dict[int, Fraction]:
        return {root: total.value() for root, total in self._by_root.items()}


def _fixed(known: Known, units: Units, place: Index) -> Index:
    ends = known.fixed[:, :2]
    within = units.roots[ends[:, 0]] == units.roots[ends[:, 1]]
    facts = np.column_stack([np.sort(place[ends[within]], axis=1), known.fixed[within, 2]])
    return facts[np.lexsort(facts.T[::-1])]


def _bounds(cost: Index, room: int) -> Index:
    """Return the first unit of each bucket that costs about `room`, and the number of units."""
    number = (np.cumsum(cost) - cost) // room
    return np.concatenate([[0], np.flatnonzero(np.diff(number)) + 1, [len(cost)]]).astype(np.int64)


def _append(spools: list[Spool], limits: Index, pairs: tuple[Index, Index, Floats]) -> None:
    """Append pairs of places to the buckets whose places they have."""
    a, b, w = pairs
    bucket = np.searchsorted(limits, a, side="right") - 1
    small = np.int16 if len(spools) < 30_000 else np.int64  # two bytes are sorted by radix
    by = np.argsort(bucket.astype(small), kind="stable")
    ends = np.searchsorted(bucket[by], np.arange(len(spools) + 1))
    for k, spool in enumerate(spools):
        part = by[ends[k] : ends[k + 1]]
        if len(part):
            spool.append(a[part], b[part], w[part])


def batch_at(buckets: Buckets, known: Known, starts: Index, pairs: Pairs) -> Components:
    """Return the batch of the units that start at some places, of pairs counted from the first."""
    first = starts[0]
    elements = buckets.order[int(first) : int(starts[-1])]
    fixed = buckets.fixed
    facts = fixed[slice(*np.searchsorted(fixed[:, 0], starts[[0, -1]]))]
    groups = None if known.groups is None else known.groups[elements]
    start = None if known.earlier is None else known.earlier.cluster[elements]
    return assemble(starts - first, pairs, facts - [first, first, 0], groups, start)


def sorted_pairs(spool: Spool, first: int, n: int) -> tuple[Pairs, Index]:
    """Return the pairs of a bucket, each once, counted from its first place, and odd rows."""
    a, b, w = spool.load()
    spool.clear()
    a, b, w = sort_rows(a, b, w, first, n)
    odd = np.zeros(3, dtype=np.int64)
    kept = merge_duplicates(a, b, w, SAME, odd)
    return (a[:kept] - first, b[:kept] - first, w[:kept]), odd
