"""Values are made comparable as their kinds say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.records.fields import (
    checked_fields,
    code_of,
    column_of,
    date_of,
    dates_in,
    number_of,
    numbers_in,
    plain,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("  Émile  ZOLA ", "emile zola"), ("STRASSE", "strasse"), ("straße", "strasse"), ("", "")],
)
def test_case_accents_and_blanks_do_not_matter(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1990-04-03", (1990, 4, 3)),
        ("19900403", (1990, 4, 3)),
        ("3/4/1990", (1990, 4, 3)),
        ("12/31/1990", (1990, 12, 31)),
        ("3 april 1990", (1990, 4, 3)),
        ("apr 1990", (1990, 4, 0)),
        ("1990", (1990, 0, 0)),
        ("1990-04", (1990, 4, 0)),
        ("1990-04-03t10:11:12", (1990, 4, 3)),
        ("unknown", (0, 0, 0)),
    ],
)
def test_dates_are_read_however_they_are_written(text, expected):
    assert date_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,299.50", 1299.5),
        ("-3", -3.0),
        ("about .5 l", 0.5),
        ("1e3", 1000.0),
        ("12,5", 12.5),
        ("-1.299,50 eur", -1299.5),
        ("1.234.567,5", 1234567.5),
        ("0,125", 0.125),
        ("1,299", 1299.0),
        ("1,234,567", 1234567.0),
        ("3,4,5", 3.0),
    ],
)
def test_numbers_are_found_in_texts(text, expected):
    assert number_of(text) == expected
    assert math.isnan(number_of("free"))


def test_codes_and_words_lose_signs():
    assert code_of("310/246-1501") == "3102461501"
    assert words_of("o'neil, (jr.)") == "o neil jr"


def test_columns_keep_every_value_once():
    codes = np.array([0, 1, 2, 3, -1, 4, 5], dtype=np.int32)
    column = column_of("x", "name", ["Ann", "ann ", "BOB", "", "N/A", None], codes)
    assert column.values == ["ann", "bob"]
    assert column.codes.tolist() == [0, 0, 1, -1, -1, -1, -1]
    assert column.counts().tolist() == [2, 1]


def test_columns_of_numbers_and_dates_have_arrays():
    codes = np.arange(3, dtype=np.int32)
    assert numbers_in(column_of("x", "number", ["$3", "3.0", "x"], codes)).tolist() == [3.0]
    dates = column_of("x", "date", ["1990-01-02", "2 jan 1990", "1991"], codes)
    assert dates_in(dates).tolist() == [[1990, 1, 2], [1991, 0, 0]]
    assert column_of("x", "words", ["b a b", "a, b"], codes[:2]).values == ["a b"]


@pytest.mark.parametrize("fields", [None, {}, ["title"], {"title": "prose"}, {1: "text"}])
def test_fields_that_make_no_sense_are_refused(fields):
    with pytest.raises(DataError):
        checked_fields(fields)


def test_an_unknown_kind_is_told_with_all_that_there_are():
    with pytest.raises(DataError, match="'words': a set of words"):
        checked_fields({"title": "prose"})
