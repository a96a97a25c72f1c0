"""A slice of the campaign of odd input; ``python -m tests.fuzzing`` runs as much as one likes."""

from __future__ import annotations

import pytest

from fuzzing.campaign import campaign
from fuzzing.functions import FUNCTIONS


@pytest.mark.parametrize("part", range(4))
def test_odd_input_is_answered_or_refused(part):
    tally = campaign(seed=1, numbers=range(60 * part, 60 * part + 60))
    assert tally.failures == []
    assert sum(tally.outcomes.values()) == 60
    assert tally.outcomes["function: answered"] > 3  # input is not all nonsense
    assert tally.outcomes["function: refused"] > 3


def test_the_campaign_finds_what_is_wrong(monkeypatch):
    """It can fail: by an untyped error, and by two lines."""

    def broken(k):
        raise KeyError(k)

    monkeypatch.setattr("fuzzing.campaign.FUNCTIONS", {"at_most": None})
    monkeypatch.setitem(FUNCTIONS, "at_most", broken)
    tally = campaign(seed=1, numbers=range(5))
    assert tally.outcomes["FAILED: untyped"] >= 1
    assert "KeyError" in tally.failures[0][2]
