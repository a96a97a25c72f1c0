"""What changed between two clusterings, set by set."""

from __future__ import annotations

import numpy as np

from relatum.review.changes import Change, Clustering, changes_between


def clustering(labels):
    return Clustering(set(range(len(labels))), {}, lambda own: {e: labels[e] for e in own})


def test_sets_that_stay_are_not_told():
    assert changes_between(clustering([0, 0, 1]), clustering([5, 5, 2])) == []


def test_joined_split_and_moved():
    before = clustering([0, 0, 1, 2, 2, 3, 3, 4])
    after = clustering([0, 0, 0, 2, 9, 3, 4, 4])
    found = changes_between(before, after)
    assert [c.kind for c in found] == ["joined", "split", "moved"]
    assert found[0] == Change(((0, 1), (2,)), ((0, 1, 2),))
    assert found[1] == Change(((3, 4),), ((3,), (4,)))
    assert found[2] == Change(((5, 6), (7,)), ((5,), (6, 7)))


def test_changes_hold_just_the_sets_that_differ():
    rng = np.random.default_rng(0)
    for _ in range(30):
        labels = rng.integers(0, 4, (2, 8)).tolist()
        found = changes_between(*map(clustering, labels))
        sets = [{tuple(k for k in range(8) if own[k] == x) for x in set(own)} for own in labels]
        assert {s for c in found for s in c.before} == sets[0] - sets[1]
        assert {s for c in found for s in c.after} == sets[1] - sets[0]
        for c in found:  # each is about the same elements before and after
            assert sorted(sum(c.before, ())) == sorted(sum(c.after, ()))
