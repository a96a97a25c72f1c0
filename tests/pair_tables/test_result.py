"""Results: plain numbers, and tables of the kind that the pairs came in."""

from __future__ import annotations

import json

import pytest

from relatum.errors import DataError
from relatum.pair_tables import Changes, Clusters, Summary, TableVerification
from relatum.pair_tables.result import in_kind_of, write_table

pa = pytest.importorskip("pyarrow")


def test_a_summary_is_plain_numbers_and_a_few_lines():
    changes = Changes(1, 2, 3, 4, 5, 6)
    summary = Summary.of({"clusters": 3, "value": 7.0, "bound": 8.5, "unknown": 1, "f1": 0.5,
                          "block_recall": 0.75, "odd_rows": {"self_pairs": 2, "certain": 0},
                          "components_split": 1, "pieces": 9, "pairs_scored": 4,
                          "changes": changes, "seconds": {"read": 0.25}})  # fmt: skip
    told = json.loads(json.dumps(summary.as_dict()))
    assert (told["clusters"], told["gap"], told["changes"]["gone"]) == (3, 1.5, 6)
    text = str(summary)
    for part in ("in 3 clusters", "at most 1.5 bits", "9 pieces", "4 missing pairs", "2 self_pairs",
                 "recall 0.750, pairwise F1 0.500", str(changes)):  # fmt: skip
        assert part in text
    assert "read" not in text
    assert "read 0.2 s" in summary.report(seconds=True)
    assert "1 component of" in str(Summary(components=1))
    assert "proven optimal" in str(Summary(value=3.0, bound=3.0))
    assert "certain" not in text
    assert Summary(value=2.0, bound=1.0).gap == 0.0
    assert repr(Clusters(None, summary)) == f"Clusters\n{text}"


def test_tables_come_back_in_their_kind():
    table = pa.table({"unique_id": [1, 2]})
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    assert in_kind_of(table, table) is table
    assert in_kind_of("pairs.csv", table) is table
    assert in_kind_of(pandas.DataFrame(), table)["unique_id"].tolist() == [1, 2]
    assert in_kind_of(polars.DataFrame(), table)["unique_id"].to_list() == [1, 2]
    relation = duckdb.connect().from_arrow(table)
    assert in_kind_of(relation, table).fetchall() == [(1,), (2,)]


def test_files_are_written_whole_or_not_at_all(tmp_path):
    from pyarrow import csv, parquet

    table = pa.table({"unique_id": ["a", "b"], "cluster_size": [1, 1]})
    write_table(tmp_path / "c.csv", table)
    write_table(str(tmp_path / "c.parquet"), table)
    assert csv.read_csv(tmp_path / "c.csv").equals(table)
    assert parquet.read_table(tmp_path / "c.parquet").equals(table)
    with pytest.raises(DataError, match=r"\.parquet or \.csv, got 'c\.xls'"):
        write_table(tmp_path / "c.xls", table)
    with pytest.raises(DataError, match="cannot be written"):
        write_table(tmp_path / "no folder" / "c.csv", table)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.csv", "c.parquet"]


def test_clusters_without_a_certificate_say_how_to_get_one():
    with pytest.raises(DataError, match="certificate=PATH"):
        Clusters(None, Summary()).verify()
    answer = TableVerification(True, "All is proved.")
    assert Clusters(None, Summary(), None, lambda: answer).verify() is answer


def test_clusters_that_know_no_table_say_so():
    found = Clusters(None, Summary())
    for question in (lambda: found.problem(1), lambda: found.uncertain(), lambda: found.plot(1)):
        with pytest.raises(DataError, match="do not know the table"):
            question()
