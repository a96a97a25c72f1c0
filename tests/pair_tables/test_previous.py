"""Ids of earlier clusters: kept by the largest overlap, never given to two."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.pair_tables.previous import (
    Earlier,
    assign_ids,
    changes_of,
    kept_clusters,
    name_clusters,
)

pa = pytest.importorskip("pyarrow")
NONE = np.empty(0, dtype=np.int64)


def test_the_largest_overlap_keeps_the_id():
    # earlier: {0,1,2,3} is 0, {4,5} is 1, 6 is new; now {0}, {1,2,3,4}, {5,6}
    first = np.array([0, 1, 1, 1, 1, 5, 5])
    earlier = np.array([0, 0, 0, 0, 1, 1, -1])
    kept = kept_clusters(first, earlier)
    assert kept.tolist() == [-1, 0, 0, 0, 0, 1, 1]
    changes = changes_of(first, earlier, kept, NONE)
    assert (changes.unchanged, changes.split, changes.merged) == (0, 2, 1)
    assert (changes.moved, changes.new, changes.gone) == (2, 1, 0)


@pytest.mark.parametrize("seed", range(10))
def test_ids_are_kept_by_one_cluster_each(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 6, 40)
    first = np.array([np.flatnonzero(labels == c)[0] for c in labels])
    earlier = rng.integers(-1, 7, 40)
    kept = kept_clusters(first, earlier)
    ids = {int(f): int(k) for f, k in zip(first, kept, strict=True)}
    used = [k for k in ids.values() if k >= 0]
    assert len(set(used)) == len(used)
    counts = {(f, e): np.sum((first == f) & (earlier == e)) for f in ids for e in range(7)}
    top = max(counts, key=lambda key: counts[key])
    best = [key for key in counts if counts[key] == counts[top]]
    assert any(ids[f] == e for f, e in best)
    for (f, e), count in counts.items():  # no overlap is left over while both are free
        assert count == 0 or ids[f] >= 0 or e in used


def test_sets_that_persist_keep_everything():
    first = np.array([0, 0, 2, 2])
    earlier = np.array([1, 1, 0, 0])
    kept = kept_clusters(first, earlier)
    changes = changes_of(first, earlier, kept, np.array([2]))
    assert kept.tolist() == [1, 1, 0, 0]
    assert (changes.unchanged, changes.split, changes.merged, changes.moved) == (2, 0, 0, 0)
    assert changes.gone == 1
    assert "2 clusters unchanged" in str(changes)


@pytest.mark.parametrize(("ids", "old"), [([1, 2, 3], [1, 9]), (["a", "b", "c"], ["a", "z"])])
def test_fresh_ids_are_nobodys(ids, old):
    # the earlier cluster named like element 0 goes on without it
    first, kept = np.array([0, 1, 1]), np.array([-1, 0, 0])
    names = assign_ids(pa.array(ids), first, kept, pa.array(old)).to_pylist()
    assert names[1:] == [old[0], old[0]]
    assert names[0] not in {*ids, *old}


def test_ids_of_another_type_become_text():
    first, kept = np.array([0, 0, 2]), np.array([0, 0, -1])
    names = assign_ids(pa.array(["a", "b", "c"]), first, kept, pa.array([5])).to_pylist()
    assert names == ["5", "5", "c"]


def test_clusters_are_named_by_their_smallest_element_or_as_before():
    ids, first = pa.array(["a", "b", "c", "d"]), np.array([0, 0, 2, 3])
    names, changes = name_clusters(ids, first, None)
    assert (names.to_pylist(), changes) == (["a", "a", "c", "d"], None)
    earlier = Earlier(np.array([1, 1, -1, 0]), pa.array(["p", "q"]), np.array([0]))
    names, changes = name_clusters(ids, first, earlier)
    assert names.to_pylist() == ["q", "q", "c", "p"]
    assert (changes.unchanged, changes.new, changes.gone) == (1, 1, 1)
