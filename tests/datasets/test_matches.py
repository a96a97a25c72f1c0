"""The embedded matches are those of a whole tournament."""

from __future__ import annotations

from collections import Counter

from relatum.datasets import load_matches


def test_matches_are_those_of_a_whole_tournament():
    """32 teams in 8 groups, each of 6 matches; then 16 that lose one by one: 64 matches."""
    found = load_matches()
    assert found.goals.shape == (64, 2)
    assert int(found.goals.sum()) == 172  # what FIFA counted
    played = Counter([*found.first, *found.second])
    assert Counter(played.values()) == {3: 16, 4: 8, 5: 4, 7: 4}
