"""Corrections, as what they do to the most probable clusters."""

from __future__ import annotations

import pytest

from relatum.errors import DataError
from relatum.review.corrections import MOST, join, pin, split


def test_what_is_refused():
    with pytest.raises(DataError, match="not all of them"):
        split([1, 2], [1, 2])
    with pytest.raises(DataError, match="not all of them"):
        split([1, 2], [7])
    with pytest.raises(DataError, match="two different clusters"):
        join([1, 2], [2, 3])
    with pytest.raises(DataError, match="alone in its component"):
        pin(1, [1], [])
    with pytest.raises(DataError, match=f"at most {MOST:,}"):
        split(range(400), range(200))


def test_split_join_and_pin_do_what_they_say(opened):
    session = opened()
    solved = max(
        (session.solved(row.root) for row in session.components(_all(), 0, 50)[0]),
        key=lambda s: (s.clusters > 1, s.base.n),
    )
    root = int(session.root(int(solved.base.elements[0])))
    sets = clusters(session.solved(root))
    large = max(sets, key=len)
    told = session.act(split(large, large[:1]), "split")
    assert any(c.kind in ("split", "moved") for c in told.changes)
    now = session.solved(root)
    mates = {tuple(s) for s in clusters(now)}
    assert not any(large[0] in s and set(s) & set(large[1:]) for s in mates)
    others = [list(s) for s in clusters(now)][:2]
    session.act(join(*others), "join")
    assert any(set(others[0] + others[1]) <= set(s) for s in clusters(session.solved(root)))
    own = next(s for s in clusters(session.solved(root)) if len(s) > 1)
    rest = [int(e) for e in session.solved(root).base.elements if e not in own]
    before = session.solved(root).labels
    told = session.act(pin(own[0], own, rest), "pin")
    assert told.changes == []
    assert session.solved(root).labels is before
    while session.undo() is not None:
        pass
    assert clusters(session.solved(root)) == sets


def clusters(solved):
    return [solved.base.elements[solved.labels == k].tolist() for k in range(solved.clusters)]


def _all():
    from relatum.review.catalogue import Filter

    return Filter()
