"""Comparisons in every way that people write them down, and those that nobody can read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.estimators.comparisons import read_comparisons

A, B = ["x", "y", "z", "x"], ["y", "z", "x", "z"]
RESULTS = [1.0, 0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    "outcome",
    [
        ["win", "draw", "loss", "win"],
        [1, 0.5, 0, 1],
        np.array([1, 0.5, 0, 1]),
        ([3, 1, 0, 2], [1, 1, 4, 0]),
        [[3, 1, 0, 2], [1, 1, 4, 0]],
        np.array([[3, 1], [1, 1], [0, 4], [2, 0]]),
    ],
    ids=["words", "numbers", "array", "goals", "lists of goals", "columns of goals"],
)
def test_outcomes_say_who_won(outcome):
    read = read_comparisons(A, B, outcome)
    assert read.result.tolist() == RESULTS
    assert read.items == ["x", "y", "z"]
    assert [read.items[k] for k in read.first] == A
    assert [read.items[k] for k in read.second] == B


def test_without_outcome_the_first_wins():
    assert read_comparisons(iter(A), tuple(B)).result.tolist() == [1.0] * 4


def test_frames_have_columns_of_goals():
    import pandas as pd

    table = pd.DataFrame({"a": A, "b": B, "home": [3, 1, 0, 2], "away": [1, 1, 4, 0]})
    read = read_comparisons(table["a"], table["b"], table[["home", "away"]])
    assert read.result.tolist() == RESULTS
    same = read_comparisons(table["a"], table["b"], (table["home"], table["away"]))
    assert same.result.tolist() == RESULTS


def test_numbers_of_numpy_are_items():
    read = read_comparisons(np.array([3, 1]), np.array([1, 7]))
    assert read.items == [3, 1, 7]
    assert all(type(item) is int for item in read.items)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ab", ["x", "y"]), "a is a list of items"),
        ((["x"], 3), "b is a list of items"),
        ((["x"], ["y", "z"]), "got 1 items in a and 2 in b"),
        (([], []), "one or more"),
        ((["x", "y"], ["z", "y"]), "Comparison 1 compares 'y' with itself"),
        ((["x"], [None]), r"b\[0\] is no name"),
        ((["x"], [float("nan")]), r"b\[0\] is no name"),
        ((["x"], [["y"]]), r"b\[0\] is no name"),
        ((["x"], ["y"], ["won"]), r"outcome\[0\].*got 'won'"),
        ((["x"], ["y"], [2]), r"outcome\[0\].*got 2"),
        ((["x"], ["y"], [float("nan")]), r"outcome\[0\]"),
        ((["x"], ["y"], ["win", "win"]), "got 2 of them"),
        ((["x"], ["y"], "win"), "outcome is 1 times"),
        ((["x"], ["y"], 1), "outcome is 1 times"),
        ((["x"], ["y"], np.zeros((1, 3))), "two columns"),
        ((["x"], ["y"], ([1], [2, 3])), "Goals are 1 finite numbers"),
        ((["x"], ["y"], ([1], [float("nan")])), "without a result"),
        ((["x"], ["y"], (["1"], ["2"])), "Goals are 1 finite numbers"),
        ((["x"], ["y"], None, [-1]), "weight is 1 finite numbers"),
        ((["x"], ["y"], None, [1, 2]), "weight is 1 finite numbers"),
        ((["x"], ["y"], None, ["1"]), "weight is 1 finite numbers"),
        ((["x"], ["y"], [Fraction(1, 3)]), r"outcome\[0\]"),
    ],
)
def test_odd_comparisons_are_refused(arguments, says):
    with pytest.raises(DataError, match=says):
        read_comparisons(*arguments)
