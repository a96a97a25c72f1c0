"""Similarities of pairs of values: of names, numbers, dates and sets of words.

All take arrays of pairs and work on all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index

LONGEST = 40  # letters of a name that are compared
_BATCH = 50_000  # pairs of names at a time


def letters_of(texts: Sequence[str]) -> tuple[NDArray[np.uint32], Index]:
    """Return texts as rows of characters, 0 after their end, and their lengths."""
    cut = [text[:LONGEST] for text in texts]
    lengths = np.array([len(text) for text in cut], dtype=np.int64)
    width = max(1, int(lengths.max(initial=1)))
    array = np.array(cut, dtype=f"<U{width}")
    return array.view(np.uint32).reshape(len(cut), width), lengths


def edit_distances(letters: NDArray[np.uint32], lengths: Index, i: Index, j: Index) -> Index:
    """Return how many letters must be inserted, left out, changed or swapped with the next.

    Parameters
    ----------
    letters, lengths : what `letters_of` returns
    i, j : int64 arrays
        The texts of each pair.
    """
    out = np.zeros(len(i), dtype=np.int64)
    order = np.argsort(np.maximum(lengths[i], lengths[j]), kind="stable")  # short ones together
    for start in range(0, len(i), _BATCH):
        some = order[start : start + _BATCH]
        a, b = i[some], j[some]
        out[some] = _distances(letters[a].T, letters[b].T, lengths[a], lengths[b])
    return out


def _distances(a: NDArray[np.uint32], b: NDArray[np.uint32], size_a: Index, size_b: Index) -> Index:
    """Return distances by the rows of the usual table, for all pairs at once."""
    rows, columns = int(size_a.max(initial=0)), int(size_b.max(initial=0))
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    count = len(size_a)
    before = np.repeat(np.arange(columns + 1, dtype=np.int16)[:, None], count, axis=1)
    earlier = before
    out = np.where(size_a == 0, size_b, 0).astype(np.int64)
    for x in range(1, rows + 1):
        now = np.empty_like(before)
        now[0] = x
        for y in range(1, columns + 1):
            change = before[y - 1] + (a[x - 1] != b[y - 1])
            best = np.minimum(np.minimum(before[y], now[y - 1]) + 1, change)
            if x > 1 and y > 1:
                swapped = (a[x - 1] == b[y - 2]) & (a[x - 2] == b[y - 1])
                best = np.where(swapped, np.minimum(best, earlier[y - 2] + 1), best)
            now[y] = best
        done = np.flatnonzero(size_a == x)
        out[done] = now[size_b[done], done]
        earlier, before = before, now
    return out


def is_initial(letters: NDArray[np.uint32], lengths: Index, i: Index, j: Index) -> Flags:
    """Say of which pairs one is the first letter of the other."""
    one = (lengths[i] == 1) | (lengths[j] == 1)
    return np.asarray(one & (letters[i, 0] == letters[j, 0]))


def ratios(values: Floats, i: Index, j: Index) -> Floats:
    """Return |log(a / b)| of pairs of numbers; infinite if their signs differ."""
    a, b = values[i], values[j]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.abs(np.log(np.abs(a)) - np.log(np.abs(b)))
    found = np.where(np.sign(a) == np.sign(b), found, np.inf)
    return np.where(a == b, 0.0, found)


DATES = (
    "other",
    "within a year",
    "same year",
    "same month and day",
    "same year and month",
    "within a week",
    "one digit, or two swapped",
    "month and day swapped",
    "same",
)


def date_levels(dates: Index, i: Index, j: Index) -> NDArray[np.int8]:
    """Return how well pairs of (year, month, day) agree, as numbers of `DATES`."""
    a, b = dates[i], dates[j]
    year, month, day = (((a[:, k] == b[:, k]) & (a[:, k] > 0)) for k in range(3))
    swapped = (a[:, 1] == b[:, 2]) & (a[:, 2] == b[:, 1]) & year & (a[:, 1] > 0)
    full = ((a > 0) & (b > 0)).all(axis=1)
    apart = np.abs(_days(a) - _days(b))
    texts = [f"{y:04d}{m:02d}{d:02d}" for y, m, d in dates.tolist()]
    slip = np.zeros(len(i), np.bool_)
    if len(i):
        slip = edit_distances(*letters_of(texts), i, j) == 1
    level = np.zeros(len(i), np.int8)
    rules = [full & (apart <= 366), year, month & day, year & month, full & (apart <= 7)]
    for k, rule in enumerate([*rules, slip & full, swapped, (a == b).all(axis=1)]):
        level[rule] = k + 1
    return level


def _days(dates: Index) -> Index:
    return dates[:, 0] * 365 + dates[:, 1] * 30 + dates[:, 2]


def jaccard(common: Floats, size_a: Floats, size_b: Floats) -> Floats:
    """Return the share of words that both sets have among those that any has."""
    return np.asarray(common / np.maximum(1, size_a + size_b - common))
