"""Tables of every kind are read alike; what cannot be is refused with a sentence."""

from __future__ import annotations

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from relatum.errors import DataError
from relatum.records.intake import arrow_table, entity_codes, read_records

FIELDS = {"name": "name", "year": "exact"}
DATA = {"id": [3, 1, 2], "name": ["Ann", "Bob", None], "year": [1990, None, 1991]}


def same(table):
    found = read_records(arrow_table(table), FIELDS, None, None)
    assert found.ids.to_pylist() == [3, 1, 2]
    assert found.id_name == "id"
    assert found.columns["name"].values == ["ann", "bob"]
    assert found.columns["name"].codes.tolist() == [0, 1, -1]
    assert found.columns["year"].values == ["1990", "1991"]
    assert found.columns["year"].codes.tolist() == [0, -1, 1]
    return found


def test_all_kinds_of_tables_say_the_same(tmp_path):
    table = pa.table(DATA)
    same(table)
    same(table.to_batches()[0])
    same(pd.DataFrame(DATA))
    same(pd.DataFrame(DATA, dtype=object))
    same(pl.DataFrame(DATA))
    same(duckdb.connect().from_arrow(table))
    csv.write_csv(table, tmp_path / "records.csv")
    same(tmp_path / "records.csv")
    parquet.write_table(table, tmp_path / "records.parquet")
    same(str(tmp_path / "records.parquet"))


def test_columns_of_several_types_dictionaries_and_lists_are_texts():
    frame = pd.DataFrame({"name": ["a", 1, None], "year": pd.Categorical(["x", "y", "x"])})
    found = read_records(arrow_table(frame), FIELDS, None, None)
    assert found.columns["name"].values == ["a", "1"]
    assert found.columns["year"].codes.tolist() == [0, 1, 0]
    assert found.ids.to_pylist() == [0, 1, 2]
    lists = pa.table({"name": [["b", "a"], None]})
    assert read_records(lists, {"name": "words"}, None, None).columns["name"].values == ["a b"]


def test_codes_in_csv_files_keep_their_zeros_and_whole_ids_are_numbers(tmp_path):
    (tmp_path / "r.csv").write_text("key,name,year\n7,ann,007\n8,ann,7\n")
    found = read_records(arrow_table(tmp_path / "r.csv"), FIELDS, "key", None)
    assert found.ids.to_pylist() == [7, 8]
    assert found.columns["year"].values == ["007", "7"]
    (tmp_path / "r.csv").write_text("key,name,year\n07,ann,1\n8,ann,7\n")
    found = read_records(arrow_table(tmp_path / "r.csv"), FIELDS, "key", None)
    assert found.ids.to_pylist() == ["07", "8"]


def test_ids_may_be_unique_within_sources_only():
    table = pa.table({**DATA, "id": [1, 1, 2], "shop": ["b", "a", "a"]})
    found = read_records(table, FIELDS, None, "shop")
    assert found.within_sources
    assert found.source_codes is not None
    assert len({*found.source_codes.tolist()}) == 2
    assert found.id_of(0) == ("b", 1)
    with pytest.raises(DataError, match="1 is in 'id' more than once"):
        read_records(table, FIELDS, None, None)


@pytest.mark.parametrize(
    ("change", "arguments", "told"),
    [
        ({"name": None}, {}, "no column 'name'"),
        ({}, {"id_": "key"}, "no column 'key'"),
        ({}, {"source": "shop"}, "no column 'shop'"),
        ({"id": [1, None, 2]}, {}, "'id' is null"),
        ({"shop": ["a", None, "b"]}, {"source": "shop"}, "'shop' is null"),
        ({"id": [[1], [2], [3]]}, {}, "An id is a number or a text, but 'id' holds"),
    ],
)
def test_tables_without_what_is_needed_are_refused(change, arguments, told):
    data = {key: value for key, value in {**DATA, **change}.items() if value is not None}
    with pytest.raises(DataError, match=told):
        read_records(pa.table(data), FIELDS, arguments.get("id_"), arguments.get("source"))


def test_texts_that_are_not_unicode_are_refused():
    for others in (["Bob", None], [3, None]):
        frame = pd.DataFrame({"name": pd.Series(["A\ud800", *others], dtype=object)})
        with pytest.raises(DataError, match=r"column 'name' holds a text that is not Unicode"):
            arrow_table(frame)


def test_what_is_no_table_is_refused(tmp_path):
    for thing in (3, None, [1, 2], tmp_path / "records.txt.zip", tmp_path / "none.csv"):
        with pytest.raises(DataError):
            arrow_table(thing)


def test_entities_are_numbers_and_unknown_ones_minus_one():
    table = pa.table({"e": ["x", None, "y", "x", ""]})
    expected = [0, -1, 1, 0, -1]
    assert entity_codes("e", table, 5).tolist() == expected
    assert entity_codes(table["e"], table, 5).tolist() == expected
    assert entity_codes(["x", None, "y", "x", float("nan")], table, 5).tolist() == expected
    assert entity_codes(np.array([5.0, np.nan, 4, 5, np.nan]), table, 5).tolist() == expected
    assert entity_codes(pd.Series(["x", None, "y", "x", pd.NA]), table, 5).tolist() == expected
    assert entity_codes(pl.Series(["x", None, "y", "x", None]), table, 5).tolist() == expected
    assert entity_codes(None, table, 5).tolist() == [-1] * 5
    days = [datetime.date(2000, 1, 1), None, datetime.date(2000, 1, 2)]
    assert entity_codes(days, table, 3).tolist() == [0, -1, 1]


@pytest.mark.parametrize("entity", [[1, 2], 7, "f", [[1], [2], [3], [4], [5]]])
def test_entities_that_do_not_fit_are_refused(entity):
    with pytest.raises(DataError):
        entity_codes(entity, pa.table({"e": [1] * 5}), 5)


def test_cells_that_are_no_fields_are_refused_before_they_are_compared(tmp_path):
    long = {**DATA, "name": ["Ann", "x" * 10_000_000, None]}
    with pytest.raises(DataError, match="the column 'name' has 10000000; shorten it"):
        read_records(arrow_table(pa.table(long)), FIELDS, None, None)
    path = tmp_path / "long.csv"
    csv.write_csv(pa.table(long), path)
    with pytest.raises(DataError, match="a line that is too long for a table of records"):
        arrow_table(path)
    kept = {**long, "name": ["Ann", "x" * 1_000_000, None]}
    assert len(read_records(arrow_table(pa.table(kept)), FIELDS, None, None)) == 3
