"""Rows of Spark tables: checked and counted as on DuckDB, each pair once."""

from __future__ import annotations

import pytest

from relatum.errors import DataError
from relatum.pair_tables.columns import find_columns
from relatum.pair_tables.options import Given

pytest.importorskip("pyspark", reason="install relatum[spark]")
duckdb = pytest.importorskip("duckdb")

from relatum.pair_tables.on_duckdb import reading  # noqa: E402
from relatum.pair_tables.on_duckdb.store import Workspace  # noqa: E402
from relatum.pair_tables.on_spark.reading import read_source  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = [
    ("a", "b", 0.9), ("b", "a", 0.9), (None, "c", 0.5), ("c", "d", None), ("c", "d", 1.5),
    ("c", "c", 0.7), ("d", "e", 0.2), ("e", "d", 0.8), ("f", "g", 1.0), ("h", "i", 0.0),
]  # fmt: skip


def test_rows_are_counted_as_on_duckdb_and_pairs_are_unique(spark, tmp_path):
    names = ["unique_id_l", "unique_id_r", "match_probability"]
    pairs = spark.createDataFrame(
        ROWS, "unique_id_l string, unique_id_r string, match_probability double"
    )
    columns = find_columns(names)
    with pytest.raises(DataError, match=r"contradictory: 2 rows"):
        read_source(Given(pairs), columns)
    found = read_source(Given(pairs, odd_rows="handle"), columns)
    bits = {(row.a, row.b): row.bits for row in found.listed.collect()}
    assert bits == pytest.approx({("a", "b"): 3.169925, ("d", "e"): 0.0, ("f", "g"): 64.0,
                                  ("h", "i"): -64.0}, abs=1e-6)  # fmt: skip
    assert {row.node for row in found.nodes.collect()} == set("abcdefghi")
    assert (found.odd_rows["contradictory"], found.odd_rows["duplicates"]) == (2, 1)
    table = pairs.toPandas()
    other = reading.read_source(
        duckdb.connect(), Given(table, odd_rows="handle"), Workspace(tmp_path, 8 << 20)
    )
    assert found.rows == other.rows == len(ROWS)
    for kind, count in other.odd_rows.items():
        assert found.odd_rows[kind] == count, kind
