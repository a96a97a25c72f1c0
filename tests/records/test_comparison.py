"""Levels of pairs of records, field by field."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from relatum.records import comparison as module
from relatum.records.comparison import WHOLE, Comparison, scales_of, terms_of, whole_texts
from relatum.records.intake import read_records

KINDS = {"t": "text", "n": "name", "e": "exact", "p": "number", "d": "date", "w": "words"}
DATA = pa.table(
    {
        "t": ["big red lamp x-100", "red lamp big x100", "tiny blue chair", None],
        "n": ["martha", "marhta", "m", "robert"],
        "e": ["12345", "12354", "12345", None],
        "p": [100.0, 101.0, 150.0, 1e6],
        "d": ["1990-04-03", "1990-03-04", "1990-04-03", None],
        "w": ["a b c d", "d c b a", "a x y z", "q"],
    }
)


def told(i, j, table=DATA, kinds=KINDS):
    """What the levels of a pair mean, by field and scale."""
    found = Comparison(read_records(table, kinds, None, None), {})
    levels = found.levels(np.array([i]), np.array([j]))[:, 0]
    return {
        (scale.field, scale.what): scale.levels[level]
        for scale, level in zip(found.scales, levels, strict=True)
    }


def test_similar_records_have_high_levels():
    found = told(0, 1)
    assert found["n", "letters"] == "one letter apart"
    assert found["n", "initial"] == "same first letter"
    assert found["e", "value"] == "one sign apart"
    assert found["p", "ratio"] == "within 2%"
    assert found["d", "day"] == "month and day swapped"
    assert found["w", "common words"] == "at least 0.999"
    assert found["t", "words"] in ("at least 0.45", "at least 0.6", "at least 0.75")
    assert found[WHOLE, "codes"] == "at least 0.95"
    assert {v for (_, what), v in found.items() if what == "missing"} == {"given"}


def test_an_initial_and_the_same_values_are_told():
    found = told(0, 2)
    assert found["n", "initial"] == "one is the initial"
    assert found["e", "value"] == "the same"
    assert found["d", "day"] == "same"
    assert found["p", "ratio"] == "within 101%"
    assert found["w", "common words"] == "at least 0.1"
    assert found[WHOLE, "codes"] == "none"


def test_missing_values_are_levels_of_their_own():
    found = told(0, 3)
    assert found["t", "missing"] == found["e", "missing"] == "one missing"
    assert found["t", "letters"] == found["e", "value"] == "other"
    table = pa.table({"e": ["", None, "x"]})
    assert told(0, 1, table, {"e": "exact"})["e", "missing"] == "both missing"


def test_agreement_on_a_rare_value_is_a_higher_level():
    values = ["common"] * 600 + ["rare"] * 2
    table = pa.table({"e": values, "id": list(range(602))})
    found = {told(i, j, table, {"e": "exact"})["e", "rarity"] for i, j in ((0, 1), (600, 601))}
    assert found == {"any value", "the same, of one in 32"}


def test_levels_are_symmetric_and_do_not_depend_on_how_many_are_compared(compared, monkeypatch):
    rng = np.random.default_rng(0)
    i, j = (rng.integers(0, len(compared.records), size=500) for _ in range(2))
    whole = compared.levels(i, j)
    assert np.array_equal(whole, compared.levels(j, i))
    monkeypatch.setattr(module, "CHUNK", 77)
    assert np.array_equal(whole, compared.levels(i, j))
    monkeypatch.setattr(module, "CACHED", 0)  # vectors are made when they are needed
    again = Comparison(compared.records, {})
    assert np.array_equal(whole, again.levels(i, j))
    for scale, levels in zip(compared.scales, whole, strict=True):
        assert 0 <= levels.min() <= levels.max() < len(scale.levels)


def test_what_other_records_say_counts(compared):
    records = compared.records
    later = Comparison(records, compared.frequencies)
    for key, own in compared.frequencies.items():
        assert later.frequencies[key].total == 2 * own.total
        assert np.array_equal(later.frequencies[key].counts, 2 * own.counts)


def test_scales_and_terms_follow_from_the_fields():
    scales = scales_of({"a": "exact"})
    assert [(s.field, s.what) for s in scales[:3]] == [
        ("a", "missing"),
        ("a", "value"),
        ("a", "rarity"),
    ]
    assert {s.field for s in scales[3:]} == {WHOLE}
    assert terms_of({"a": "exact"})["a/values"] == ("a", "values")
    with pytest.raises(KeyError):
        scales_of({"a": "prose"})


def test_whole_texts_leave_numbers_out():
    records = read_records(DATA, KINDS, None, None)
    assert whole_texts(records, False, np.array([2]))[0].startswith("tiny blue chair m 12345")
    assert "150" not in whole_texts(records, False, None)[2]
    assert whole_texts(records, True, None) == [*(str(t or "") for t in DATA["t"].to_pylist())]
    numbers = read_records(DATA, {"p": "number"}, None, None)
    assert whole_texts(numbers, False, None) == [""] * 4
