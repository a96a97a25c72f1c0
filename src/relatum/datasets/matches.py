"""The matches of a football world cup, to make orders of."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from relatum.array_types import Index

__all__ = ["Matches", "load_matches"]


class Matches(NamedTuple):
    """Matches of two teams and their goals.

    Attributes
    ----------
    first, second : list of str
        The teams.
    goals : int64 array (matches, 2)
        Of the first and of the second team.

    Examples
    --------
    >>> import relatum as rt
    >>> cup = rt.datasets.load_matches()
    >>> cup.first[0], cup.second[0], cup.goals[0].tolist()
    ('Qatar', 'Ecuador', [0, 2])
    """

    first: list[str]
    second: list[str]
    goals: Index


def load_matches() -> Matches:
    """Return the 64 matches of the football world cup of 2022, in the order of its rounds.

    Goals count to the end of extra time: a match that a penalty shoot-out decided is a draw.

    Examples
    --------
    >>> import relatum as rt
    >>> cup = rt.datasets.load_matches()
    >>> len(cup.first), sorted(set(cup.first))[:3]
    (64, ['Argentina', 'Australia', 'Belgium'])
    """
    text = files("relatum").joinpath("data", "matches.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    goals = np.array([[int(x) for x in row[2:]] for row in rows], dtype=np.int64)
    return Matches([row[0] for row in rows], [row[1] for row in rows], goals)
