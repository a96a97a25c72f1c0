"""Tables in DuckDB: files of every kind, a limit on memory, names with any sign."""

from __future__ import annotations

import gzip

import pytest

import relatum
from relatum.errors import DataError

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb.tables import (  # noqa: E402
    arrow_of,
    arrow_reader,
    column_names,
    connect,
    open_table,
    quoted,
)

TEXT = "a,b c\n1,x\n2,y\n"


def test_files_frames_and_relations_become_views(tmp_path):
    con = connect(tmp_path, 100 << 20, 1)
    (tmp_path / "t.csv").write_text(TEXT)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "t.tsv").write_text(TEXT.replace(",", "\t"))
    table = pa.table({"a": [1, 2], "b c": ["x", "y"]})
    other = duckdb.connect().from_arrow(table)
    for given in (tmp_path / "t.csv", str(tmp_path / "t.csv.gz"), tmp_path / "t.tsv", table, other):
        open_table(con, given, "view", tmp_path)
        assert column_names(con, "view") == ["a", "b c"]
        found = arrow_of(con, f"SELECT {quoted('b c')} AS x, a FROM view ORDER BY a")
        assert found.to_pylist() == [{"x": "x", "a": 1}, {"x": "y", "a": 2}]
    batches = arrow_reader(con, "SELECT range AS k FROM range(5000)", 2048)
    assert sorted(k for batch in batches for k in batch.column(0).to_pylist()) == list(range(5000))


def test_what_is_no_table_is_refused(tmp_path):
    con = duckdb.connect()
    for given, told in (
        (tmp_path / "none.parquet", "no file"),
        (tmp_path / "table.xls", r"ends in \.parquet, \.csv or \.tsv"),
        (7, "got int"),
    ):
        with pytest.raises(DataError, match=told):
            open_table(con, given, "view", tmp_path)


def test_the_connection_keeps_its_limits(tmp_path):
    con = connect(tmp_path, 200 << 20, 1)
    query = "SELECT current_setting('memory_limit'), current_setting('threads')"
    assert con.execute(query).fetchall()[0] == ("200.0 MiB", 1)
    least = connect(tmp_path, 7, 1).execute(query).fetchall()[0][0]
    assert least == "64.0 MiB"


def test_names_may_have_any_sign():
    con = duckdb.connect()
    name = 'a "b'
    assert con.execute(f"SELECT 1 AS {quoted(name)}").description[0][0] == name


@pytest.mark.parametrize("right", ["12", "0012"])
def test_numbers_with_leading_zeros_are_text(tmp_path, right):
    path = tmp_path / "pairs.csv"
    path.write_text(
        "unique_id_l,unique_id_r,match_weight\n"
        f"001,{right},3\n1,12,3\n001,1,-9\n"  # read as integers: one pair twice and 1 with itself
    )
    found = relatum.cluster_pairs(path, background=-9.0)
    rows = found.table.to_pylist()
    sets = {}
    for row in rows:
        sets.setdefault(row["cluster_id"], set()).add(row["unique_id"])
    expected = [{"001", "0012"}, {"1", "12"}]
    if right == "12":  # both want to be with 12, and -9 bits keep them apart
        expected = [{"001", "12"}, {"1"}]
    assert sorted(map(sorted, sets.values())) == sorted(map(sorted, expected))


def test_plain_numbers_stay_numbers(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("unique_id_l,unique_id_r,match_weight\n0,12,3\n-5,12,3\n")
    rows = relatum.cluster_pairs(path).table.to_pylist()
    assert {row["unique_id"] for row in rows} == {0, 12, -5}
