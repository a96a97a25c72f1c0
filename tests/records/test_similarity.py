"""Similarities against their plain definitions."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from relatum.records.similarity import (
    DATES,
    LONGEST,
    date_levels,
    edit_distances,
    is_initial,
    jaccard,
    letters_of,
    ratios,
)


def plain_distance(a, b):
    """Optimal string alignment, by its recursion."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for x in range(len(a) + 1):
        for y in range(len(b) + 1):
            if not x or not y:
                table[x][y] = x + y
                continue
            best = min(table[x - 1][y], table[x][y - 1]) + 1
            best = min(best, table[x - 1][y - 1] + (a[x - 1] != b[y - 1]))
            if x > 1 and y > 1 and a[x - 1] == b[y - 2] and a[x - 2] == b[y - 1]:
                best = min(best, table[x - 2][y - 2] + 1)
            table[x][y] = best
    return table[len(a)][len(b)]


def test_distances_of_names_are_as_defined(monkeypatch):
    monkeypatch.setattr("relatum.records.similarity._BATCH", 100)
    rng = random.Random(0)
    words = ["".join(rng.choice("abc\u00e9") for _ in range(rng.randint(0, 7))) for _ in range(60)]
    letters, lengths = letters_of(words)
    i, j = np.triu_indices(len(words))
    found = edit_distances(letters, lengths, i, j)
    expected = [plain_distance(words[a], words[b]) for a, b in zip(i, j, strict=True)]
    assert found.tolist() == expected


def test_long_names_are_cut():
    letters, lengths = letters_of(["a" * 100, "a" * 90])
    assert lengths.tolist() == [LONGEST, LONGEST]
    assert edit_distances(letters, lengths, np.array([0]), np.array([1])).tolist() == [0]


def test_an_initial_is_the_first_letter():
    letters, lengths = letters_of(["a", "ann", "b", "bob"])
    i, j = np.array([0, 0, 1, 3]), np.array([1, 3, 3, 2])
    assert is_initial(letters, lengths, i, j).tolist() == [True, False, False, True]


def test_ratios_of_numbers():
    values = np.array([1.0, 2.0, -2.0, 0.0, 0.0])
    i, j = np.array([0, 1, 3, 3, 0]), np.array([1, 2, 4, 0, 0])
    expected = [math.log(2), math.inf, 0.0, math.inf, 0.0]
    assert ratios(values, i, j) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("a", "b", "level"),
    [
        ((1990, 4, 3), (1990, 4, 3), "same"),
        ((1990, 4, 3), (1990, 3, 4), "month and day swapped"),
        ((1990, 4, 3), (1990, 4, 8), "one digit, or two swapped"),
        ((1990, 4, 13), (1990, 4, 31), "one digit, or two swapped"),
        ((1990, 4, 9), (1990, 4, 10), "within a week"),
        ((1990, 4, 1), (1990, 4, 29), "same year and month"),
        ((1990, 4, 13), (1957, 4, 13), "same month and day"),
        ((1990, 4, 1), (1990, 12, 29), "same year"),
        ((1990, 0, 0), (1990, 12, 29), "same year"),
        ((1990, 0, 0), (1990, 0, 0), "same"),
        ((1990, 8, 1), (1991, 2, 27), "within a year"),
        ((1990, 8, 1), (1967, 2, 27), "other"),
        ((1990, 0, 0), (1967, 0, 0), "other"),
    ],
)
def test_dates_agree_as_told(a, b, level):
    found = date_levels(np.array([a, b]), np.array([0, 1]), np.array([1, 0]))
    assert [DATES[k] for k in found] == [level, level]


def test_jaccard_is_the_common_share():
    assert jaccard(np.array([2.0, 0.0]), np.array([3.0, 0.0]), np.array([4.0, 0.0])).tolist() == [
        0.4,
        0.0,
    ]
