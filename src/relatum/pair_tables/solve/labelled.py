"""Labelled elements of a table, to learn from: their scored pairs, and clusters at an offset."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Flags, Floats, Index
from relatum.errors import DataError
from relatum.kernels.tables.places import merge_duplicates, sort_rows
from relatum.kernels.tables.union_find import find_roots, join_pairs
from relatum.pair_tables.columns import SAME, bits_of
from relatum.pair_tables.options import Settings, Tuning
from relatum.pair_tables.solve.batching import Pairs, batch_of
from relatum.pair_tables.solve.component import solve_batch
from relatum.pair_tables.solve.unlisted import with_missing

TIE = 1e-6  # bits by which scores are shaken: of equal scores, others win at every offset


@dataclass(frozen=True, eq=False)
class Labelled:
    """Scored pairs of elements, some of which have labels."""

    pairs: Pairs  # each once, the smaller element first
    labels: Index  # (n,): -1 for elements without
    groups: Index | None = None  # (n,): -1 for elements of no group
    settings: Settings = field(default_factory=Settings)
    learn_background: bool = False
    total: int | None = None  # elements of the whole table, if these are only some of them
    score: Callable[[Index, Index], Floats] | None = None  # bits of pairs that are not listed

    @property
    def n(self) -> int:
        """How many elements there are."""
        return len(self.labels)

    @property
    def is_matching(self) -> bool:
        """Whether clusters are pairs of elements of two groups, or single elements."""
        if self.groups is None or self.settings.cap < 2:
            return False
        return bool((self.groups >= 0).all()) and len(np.unique(self.groups)) == 2

    def may_join(self) -> Flags:
        """Say which pairs groups leave a choice."""
        if self.groups is None:
            return np.ones(len(self.pairs[2]), dtype=np.bool_)
        own = self.groups[self.pairs[0]]
        return np.asarray((own != self.groups[self.pairs[1]]) | (own < 0))


def codes_of(values: ArrayLike, what: str) -> Index:
    """Return labels as numbers from 0; -1 where they are unknown: negative, NaN or None."""
    given = np.asarray(values)
    if given.ndim != 1:
        raise DataError(f"{what} has one entry for each element, got shape {given.shape}.")
    if given.dtype.kind in "iu":
        known = given >= 0
    elif given.dtype.kind == "f":
        known = ~np.isnan(given) & (given >= 0)
    else:
        known = np.array([x is not None and x == x for x in given.tolist()], dtype=np.bool_)
    out = np.full(len(given), -1, dtype=np.int64)
    own = given[known]
    if own.dtype.kind == "O":
        own = np.array([str(x) for x in own.tolist()], dtype=str)
    out[known] = np.unique(own, return_inverse=True)[1]
    return out


def pairs_once(i: ArrayLike, j: ArrayLike, bits: ArrayLike, n: int) -> Pairs:
    """Return pairs each once, sorted, the smaller element first; refuse what is none."""
    a, b, w = np.asarray(i), np.asarray(j), bits_of(bits, False)
    if not (a.shape == b.shape == w.shape and a.ndim == 1):
        shapes = f"{a.shape}, {b.shape} and {w.shape}"
        raise DataError(f"i, j and bits are columns of one length, got shapes {shapes}.")
    if len(a) and (a.dtype.kind not in "iu" or b.dtype.kind not in "iu"):
        raise DataError(f"i and j are numbers of elements, got {a.dtype} and {b.dtype}.")
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    if len(low) and (low.min() < 0 or high.max() >= n):
        raise DataError(f"Elements are numbered from 0 to {n - 1}, as many as entity has.")
    missing = np.flatnonzero(np.isnan(w))
    if len(missing):
        raise DataError(
            f"The bits of pairs are numbers, but those of pair {missing[0]} are NaN; leave pairs "
            "without a score out."
        )
    keep = low != high
    return merged_pairs(low[keep], high[keep], w[keep], n)


def merged_pairs(low: Index, high: Index, w: Floats, n: int) -> Pairs:
    """Return pairs sorted, each once, with its mean score."""
    a, b, c = sort_rows(low.astype(np.int64), high.astype(np.int64), w.copy(), 0, n)
    kept = merge_duplicates(a, b, c, SAME, np.zeros(3, dtype=np.int64))
    return a[:kept], b[:kept], c[:kept]


def clusters_at(case: Labelled, offset: float, background: float, seed: int = 0) -> Index:
    """Return the clusters of the elements with an offset, as labels; `seed` decides ties."""
    i, j, w = case.pairs
    shaken = np.random.default_rng(seed).uniform(-1.0, 1.0, len(w)) * TIE
    w = w + offset + shaken
    if case.is_matching and case.score is None:
        return _matched(case, w)
    parent = np.arange(case.n, dtype=np.int64)
    links = (w > 0) & case.may_join()
    join_pairs(parent, *(np.ascontiguousarray(x[links], np.int64) for x in (i, j)))
    find_roots(parent)
    batch, order = batch_of(parent, (i, j, w), None, case.groups)
    settings = replace(case.settings, background=background)
    score = case.score
    if score is not None:
        most = settings.tuning.scored_elements
        batch, _ = with_missing(batch, most, lambda p: order[p], lambda a, b: score(a, b) + offset)
    found = solve_batch(batch, settings)
    labels = np.empty(case.n, dtype=np.int64)
    first = np.repeat(batch.element_ptr[:-1], np.diff(batch.element_ptr))
    labels[order] = first + found.labels
    return labels


def _matched(case: Labelled, w: Floats) -> Index:
    """Return the best matching of two groups, as labels."""
    from relatum.probability import best_matching  # all solvers, which few tables need

    labels, take = np.arange(case.n, dtype=np.int64), case.may_join()
    i, j = (np.asarray(x[take], np.int64) for x in case.pairs[:2])
    if case.groups is not None:
        turn = case.groups[i] > case.groups[j]
        first, second = best_matching(np.where(turn, j, i), np.where(turn, i, j), w[take])
        labels[second] = first
    return labels


def labelled_part(
    batches: Callable[[], Iterable[Pairs]],
    labels: Index,
    groups: Index | None,
    score: Callable[[Index, Index], Floats] | None = None,
) -> Labelled:
    """Return labelled elements of a table, and those that they have pairs with.

    Where there are too many, entities are chosen at random. `score` scores pairs of elements that
    are not listed.
    """
    labels = _some_entities(labels, Tuning.offset_elements)
    near = labels >= 0
    for i, j, _ in batches():
        own = (labels[i] >= 0) | (labels[j] >= 0)
        near[i[own]] = near[j[own]] = True
    elements = np.flatnonzero(near)
    place = np.cumsum(near) - 1
    parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for i, j, w in batches():
        own = near[i] & near[j]
        parts.append((place[i[own]], place[j[own]], w[own]))
    low, high, w = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    pairs = merged_pairs(low, high, w, len(elements))
    own_groups = None if groups is None else groups[elements]
    own_score = None if score is None else Remembered(score, elements)
    found = Labelled(pairs, _numbered(labels[elements]), own_groups, score=own_score)
    return replace(found, total=len(labels))


def _some_entities(labels: Index, most: int) -> Index:
    """Return labels with -1 for all but whole entities of at most about so many elements."""
    count = int(np.count_nonzero(labels >= 0))
    if count <= most:
        return labels
    few = np.random.default_rng(0).random(int(labels.max()) + 1) < most / count
    return np.where((labels >= 0) & few[labels], labels, -1)


def _numbered(labels: Index) -> Index:
    out = np.full(len(labels), -1, dtype=np.int64)
    own = labels >= 0
    out[own] = np.unique(labels[own], return_inverse=True)[1]
    return out


class Remembered:
    """Scores of pairs of elements, each asked for once however often it is needed."""

    def __init__(self, score: Callable[[Index, Index], Any], elements: Index) -> None:
        self.score, self.elements = score, elements
        self._keys, self._bits = np.empty(0, dtype=np.int64), np.empty(0)

    def __call__(self, a: Index, b: Index) -> Floats:
        """Return the bits of pairs."""
        keys = np.minimum(a, b) * np.int64(len(self.elements)) + np.maximum(a, b)
        new = np.setdiff1d(keys, self._keys)
        if len(new):
            low, high = new // len(self.elements), new % len(self.elements)
            bits = np.asarray(self.score(self.elements[low], self.elements[high]), np.float64)
            if bits.shape != new.shape:  # as `with_missing` says
                return np.asarray(self.score(self.elements[a], self.elements[b]), np.float64)
            order = np.argsort(np.concatenate([self._keys, new]), kind="stable")
            self._bits = np.concatenate([self._bits, bits])[order]
            self._keys = np.concatenate([self._keys, new])[order]
        return np.asarray(self._bits[np.searchsorted(self._keys, keys)])
