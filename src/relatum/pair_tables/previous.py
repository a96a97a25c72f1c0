"""Clusters of an earlier run: their ids are kept where sets persist, and changes are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.pair_tables.columns import arrow_numbers


@dataclass(frozen=True, eq=False)
class Earlier:
    """Clusters of an earlier run, by element number."""

    cluster: Index  # numbered from 0; -1 for elements that are new
    ids: Any  # of the clusters, an Arrow array
    gone: Index  # clusters of elements that are not there any more
    hashes: NDArray[np.uint64] | None = None  # of each element's component; 0 if unknown
    gaps: Floats | None = None  # of that component


@dataclass(frozen=True)
class Changes:
    """What became of earlier clusters.

    Attributes
    ----------
    unchanged : int
        Earlier clusters with exactly the same elements.
    split : int
        Earlier clusters whose elements are now in several clusters.
    merged : int
        Clusters with elements of several earlier clusters.
    moved : int
        Elements whose cluster has another id than before.
    new, gone : int
        Elements that were not there before, or are not there any more.
    """

    unchanged: int
    split: int
    merged: int
    moved: int
    new: int
    gone: int

    def __str__(self) -> str:
        return (
            f"{self.unchanged} clusters unchanged, {self.split} split, {self.merged} merged; "
            f"{self.moved} elements moved, {self.new} new, {self.gone} gone"
        )


def name_clusters(ids: Any, first: Index, earlier: Earlier | None) -> tuple[Any, Changes | None]:
    """Return the id of each element's cluster, and what changed since the earlier run.

    Parameters
    ----------
    ids : Arrow array
        The ids of the elements, as cluster ids.
    first : int64 array (n,)
        The smallest element of each element's cluster.
    earlier : Earlier or None
    """
    if earlier is None:
        return ids.take(arrow_numbers(first)), None
    kept = kept_clusters(first, earlier.cluster)
    changes = changes_of(first, earlier.cluster, kept, earlier.gone)
    return assign_ids(ids, first, kept, earlier.ids), changes


def _overlaps(first: Index, earlier: Index) -> tuple[Index, Index, Index]:
    """Return (cluster, earlier cluster, elements in both), largest overlaps first."""
    own = earlier >= 0
    width = int(earlier.max(initial=0)) + 1
    keys, counts = np.unique(first[own] * width + earlier[own], return_counts=True)
    cluster, before = keys // width, keys % width
    order = np.lexsort((cluster, before, -counts))
    return cluster[order], before[order], counts[order]


def kept_clusters(first: Index, earlier: Index) -> Index:
    """Return, for each element, the earlier cluster whose id its cluster keeps; -1 for none.

    Overlaps are taken by falling size; each id is kept by one cluster.

    Parameters
    ----------
    first : int64 array (n,)
        The smallest element of each element's cluster.
    earlier : int64 array (n,)
        Its cluster in the earlier run, numbered from 0; -1 for elements that are new.
    """
    cluster, before, _ = _overlaps(first, earlier)
    kept = np.full(len(first), -1, dtype=np.int64)
    taken = np.zeros(int(earlier.max(initial=-1)) + 1, dtype=np.bool_)
    alone = (np.bincount(cluster, minlength=len(first))[cluster] == 1) & (
        np.bincount(before, minlength=len(taken) or 1)[before] == 1
    )
    kept[cluster[alone]] = before[alone]
    taken[before[alone]] = True
    for c, b in zip(cluster[~alone].tolist(), before[~alone].tolist(), strict=True):
        if kept[c] < 0 and not taken[b]:
            kept[c], taken[b] = b, True
    return kept[first]


def changes_of(first: Index, earlier: Index, kept: Index, gone: NDArray[Any]) -> Changes:
    """Count what changed; `gone` are the earlier clusters of elements that are not there now."""
    cluster, before, counts = _overlaps(first, earlier)
    width = max(int(earlier.max(initial=-1)), int(gone.max(initial=-1))) + 1
    parts = np.bincount(before, minlength=width)
    sources = np.bincount(cluster, minlength=len(first))
    old_sizes = np.bincount(earlier[earlier >= 0], minlength=width)
    old_sizes = old_sizes + np.bincount(gone, minlength=width)
    sizes = np.bincount(first, minlength=len(first))
    same = (counts == sizes[cluster]) & (counts == old_sizes[before])
    return Changes(
        int(np.count_nonzero(same)),
        int(np.count_nonzero(parts > 1)),
        int(np.count_nonzero(sources > 1)),
        int(np.count_nonzero((earlier >= 0) & (earlier != kept))),
        int(np.count_nonzero(earlier < 0)),
        len(gone),
    )


def assign_ids(ids: Any, first: Index, kept: Index, earlier_ids: Any) -> Any:
    """Return the cluster id of each element, as an Arrow array.

    A cluster that keeps no earlier id gets the id of its smallest element, or, where that has
    been the id of an earlier cluster, an id that nobody has.

    Parameters
    ----------
    ids : Arrow array
        The ids of the elements, as cluster ids.
    first, kept : int64 arrays (n,)
        See `kept_clusters`.
    earlier_ids : Arrow array
        The id of each earlier cluster.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if ids.type != earlier_ids.type:
        both_integers = pa.types.is_integer(ids.type) and pa.types.is_integer(earlier_ids.type)
        common = pa.int64() if both_integers else pa.string()
        ids, earlier_ids = ids.cast(common), earlier_ids.cast(common)
    fresh = np.unique(first[kept < 0])
    names = ids.take(pa.array(fresh))
    clash = np.asarray(pc.is_in(names, value_set=earlier_ids).to_numpy(zero_copy_only=False))
    number = np.full(len(first), -1, dtype=np.int64)  # of a fresh cluster's name
    number[fresh] = np.arange(len(fresh))
    count = int(np.count_nonzero(clash))
    if count and pa.types.is_integer(ids.type):
        top = max(pc.max(ids).as_py(), pc.max(earlier_ids).as_py())
        extra = pa.array(np.arange(top + 1, top + 1 + count)).cast(ids.type)
        names = pc.replace_with_mask(names, pa.array(clash), extra)
    elif count:
        used = set(earlier_ids.to_pylist()) | set(ids.to_pylist())
        texts = [_unused(str(t), used) for t in names.filter(pa.array(clash)).to_pylist()]
        names = pc.replace_with_mask(names.cast(pa.string()), pa.array(clash), pa.array(texts))
        earlier_ids = earlier_ids.cast(pa.string())
    every = pa.concat_arrays([_one(earlier_ids), _one(names)])
    place = np.where(kept >= 0, kept, len(earlier_ids) + number[first])
    return every.take(pa.array(place))


def _one(array: Any) -> Any:
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array


def _unused(text: str, used: set[Any]) -> str:
    k = 2
    while f"{text}~{k}" in used:
        k += 1
    used.add(f"{text}~{k}")
    return f"{text}~{k}"
