"""Reading: memory limits, and numbers for ids by bitmap and by table."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import relatum
from relatum.errors import DataError, MissingDependencyError
from relatum.pair_tables.columns import find_columns
from relatum.pair_tables.on_duckdb.reading import Source, parse_memory, require_duckdb

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")


def test_memory_is_read():
    assert parse_memory("2GB") == 2 * 10**9
    assert parse_memory(" 1.5 MiB") == 3 * 2**19
    assert parse_memory(77) == 77
    with pytest.raises(DataError, match="'2GB'"):
        parse_memory("GB")


def test_without_duckdb_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingDependencyError, match=r"relatum\[tables\]"):
        require_duckdb()


def source_of(left, right, memory):
    con = duckdb.connect()
    table = pa.table(
        {"unique_id_l": left, "unique_id_r": right, "match_weight": np.ones(len(left))}
    )
    con.register("pairs", table)
    source = Source(con, find_columns(table.column_names), memory)
    source.check("refuse")
    source.number()
    return source


@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_numbers_are_in_the_order_of_ids(memory):
    rng = np.random.default_rng(0)
    left, right = rng.integers(-50, 400, (2, 100))
    source = source_of(left, right, memory)
    assert (source.numbering.present is None) == (memory == 0)
    ids, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    assert source.id_table()["unique_id"].to_pylist() == ids.tolist()
    (a, b, bits), _ = next(source.batches())
    found = {tuple(sorted(p)) for p in zip(a.tolist(), b.tolist(), strict=True)}
    assert found == {
        tuple(sorted(p)) for p in zip(codes[:100].tolist(), codes[100:].tolist(), strict=True)
    }
    assert set(bits.tolist()) == {1.0}
    asked = pa.table({"id": [int(ids[3]), 10**6, int(ids[0]), -99], "row": [0, 1, 2, 3]})
    source.con.register("asked", asked)
    assert source.look_up("SELECT id, row FROM asked").tolist() == [3, -1, 0, -1]
    assert len(np.unique(source.keys())) == len(ids)


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
    expected = [{"001", "0012"}, {"1", "12"}] if right == "0012" else None
    assert {row["unique_id"] for row in rows} == {"001", "1", right, "12"}
    if expected:
        assert sorted(map(sorted, sets.values())) == sorted(map(sorted, expected))


def test_plain_numbers_stay_numbers(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("unique_id_l,unique_id_r,match_weight\n0,12,3\n-5,12,3\n")
    rows = relatum.cluster_pairs(path).table.to_pylist()
    assert {row["unique_id"] for row in rows} == {0, 12, -5}
