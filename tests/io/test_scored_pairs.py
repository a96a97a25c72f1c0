"""Tables of scored pairs, read as other programs write them and back as they were."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.io.scored_pairs import (
    csv_text,
    numbered_rows,
    read_pair_table,
    read_rows,
    write_pair_table,
    write_rows,
)

HEADING = "unique_id_l,unique_id_r,match_weight\n"
NAMES = ["unique_id_l", "unique_id_r", "match_weight"]


@pytest.mark.parametrize(
    "name", ["p.csv", "p.tsv", "p.csv.gz", "p.parquet", "p.arrow", "p.feather"]
)
@pytest.mark.parametrize("ids", [[1, 20, 300], ["a", "b, c", 'd "e"\nf']])
def test_every_kind_of_file_gives_the_pairs_back(tmp_path, name, ids):
    pytest.importorskip("pyarrow")
    left, right, bits = [ids[0], ids[1]], [ids[2], ids[0]], [0.1, -np.inf]
    write_pair_table(tmp_path / name, left, right, bits)
    table = read_pair_table(tmp_path / name)
    for column, expected in zip(NAMES, (left, right, bits), strict=True):
        assert np.asarray(table[column]).tolist() == expected


def test_ids_are_numbers_only_if_written_as_numbers(tmp_path):
    (tmp_path / "p.csv").write_text(HEADING + "007,8,1\n9,10,2\n")
    assert read_pair_table(tmp_path / "p.csv")["unique_id_l"].tolist() == ["007", "9"]
    (tmp_path / "p.csv").write_text(HEADING + "7,8,1\n9,10,2\n")
    found = read_pair_table(tmp_path / "p.csv")["unique_id_l"]
    assert found.tolist() == [7, 9]
    assert found.dtype == np.int64


def test_the_csv_of_python_reads_what_is_written():
    rows = [["a,b", 'say "x"'], ["two\nlines", "é"]]
    assert list(csv.reader(io.StringIO(csv_text(["p", "q"], rows)))) == [["p", "q"], *rows]


def test_rows_carry_the_line_on_which_they_end(tmp_path):
    (tmp_path / "x.csv").write_text('a,b\n1,"two\nlines"\n\n3,4\n')
    names, rows = numbered_rows(tmp_path / "x.csv")
    assert names == ["a", "b"]
    assert rows == [(3, ["1", "two\nlines"]), (5, ["3", "4"])]
    assert read_rows(tmp_path / "x.csv") == (names, [row for _, row in rows])


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_rows_come_back(tmp_path, name):
    write_rows(tmp_path / name, ["a", "b"], [["1\t", "2,"], ["3", "4"]])
    assert read_rows(tmp_path / name) == (["a", "b"], [["1\t", "2,"], ["3", "4"]])
    assert ("\t" in (tmp_path / name).read_text().splitlines()[0]) == (name == "x.tsv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a,c\n", "two columns have the name 'a'"),
        ("a,b\n1,2\n", "a table of pairs has the columns"),
        (HEADING + "1,2\n", "line 2: 3 columns are named"),
        (HEADING + ",2,1\n", "line 2: the id in column 'unique_id_l' is empty"),
        (HEADING + "1,2,nan\n", "line 2: 'nan' is not a number"),
        (HEADING + '1,"2\n', "is not CSV"),
        ("", "the file is empty"),
    ],
)
def test_wrong_tables_are_refused_by_line(tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        [read_pair_table(tmp_path / "p.csv")[name] for name in NAMES]


def test_columns_have_one_length(tmp_path):
    with pytest.raises(DataError, match="left, right and log_odds have one entry"):
        write_pair_table(tmp_path / "p.csv", [1, 2], [3], [0.5])
    assert not (tmp_path / "p.csv").exists()


def test_numbers_that_are_too_large_are_not_certain(tmp_path):
    path = tmp_path / "x.csv"
    for word in ("1e999", "-1e999", "9" * 400):
        path.write_text(f"a,b,bits\nx,y,{word}\n")
        with pytest.raises(DataError, match=r"line 2: '-?[19].* is larger than any number here"):
            read_pair_table(path)["bits"]
    for word in ("inf", "-inf", "+Infinity"):
        path.write_text(f"a,b,bits\nx,y,{word}\n")
        assert np.isinf(read_pair_table(path)["bits"]).all()


def test_ten_million_columns_are_refused_at_once(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",".join(map(str, range(10**6))) + "\n")  # quadratic time would be hours
    with pytest.raises(
        DataError, match=r"line 1: a table of pairs has .* got 1000000: 0, 1, 2"
    ) as e:
        read_pair_table(path)
    assert len(str(e.value)) < 500


@pytest.mark.parametrize(
    "given",
    [
        (np.ma.array(["a"]), ["b"], [1.0]),
        (["a"], ["b"], ["x"]),
        (["a"], ["b"], [np.nan]),
        (["a"], [["b"], ["c", "d"]], [1.0]),
        (["a", 1], ["b", "c"], [1.0, 2.0]),
    ],
)
def test_odd_pairs_are_not_written(tmp_path, given):
    with pytest.raises(DataError) as caught:
        write_pair_table(tmp_path / "x.parquet", *given)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
