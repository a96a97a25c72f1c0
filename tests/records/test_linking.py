"""Scores by id, tables of pairs, groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from relatum.errors import DataError
from relatum.records import linking
from relatum.records.comparison import Comparison
from relatum.records.intake import read_records
from relatum.records.level_bits import Weights
from relatum.records.linking import Scorer, cluster_records, groups_of, pair_table, twins_of


def scorer_of(table, id_=None, source=None, offset=0.0):
    records = read_records(table, {"name": "exact"}, id_, source)
    comparison = Comparison(records, {})
    tables = [np.zeros(len(scale.levels)) for scale in comparison.scales]
    tables[1][2] = 6.0  # the same name
    return Scorer(comparison, Weights(comparison.scales, tables, -2.0), offset)


NAMES = ["ann", "ann", "bob", "bob", "eve"]


@pytest.mark.parametrize("ids", [list("edcba"), [5, 4, 3, 2, 1]])
def test_pairs_of_ids_are_scored(ids):
    scorer = scorer_of(pa.table({"id": ids, "name": NAMES}), offset=0.5)
    assert scorer([ids[0], ids[0]], [ids[1], ids[2]]).tolist() == [4.5, -1.5]
    many = np.array([ids[0]] * 200), np.array([ids[1]] * 200)
    assert scorer(*many).tolist() == [4.5] * 200
    found = scorer.contributions(ids[0], ids[1])
    assert sum(bits for _, _, bits in found) == 4.5
    assert ("name", "value the same", 6.0) in found
    with pytest.raises(DataError, match="no record with the id"):
        scorer(["nobody"], [ids[0]])


def test_records_without_candidates_are_clusters_of_their_own():
    scorer = scorer_of(pa.table({"id": list("abcde"), "name": NAMES}))
    pairs = np.array([[0, 1], [1, 2]])
    table = pair_table(scorer.records, pairs, np.array([4.0, -2.0]))
    assert table.column_names == ["id_l", "id_r", "match_weight"]
    found = cluster_records(scorer, pairs, np.array([4.0, -2.0]), False, {}).table
    assert found["id"].to_pylist() == list("abcde")
    assert found["cluster_id"].to_pylist() == list("aacde")


def test_ids_within_sources_and_one_record_of_each():
    data = {"id": [1, 2, 1, 2, 3], "name": ["ann"] * 5, "shop": list("aabbb")}
    scorer = scorer_of(pa.table(data), source="shop")
    assert groups_of(scorer.records) == "source_dataset"
    i, j = np.triu_indices(5, 1)
    pairs = np.column_stack([i, j])[np.array(data["shop"])[i] != np.array(data["shop"])[j]]
    bits = scorer.of_rows(*pairs.T)
    found = cluster_records(scorer, pairs, bits, True, {}).table.to_pylist()
    by_cluster: dict = {}
    for row in found:
        by_cluster.setdefault(row["cluster_id"], []).append(row["source_dataset"])
    assert sorted(map(sorted, by_cluster.values())) == [["a", "b"], ["a", "b"], ["b"]]
    assert scorer.row(("b", 1)) == 2
    apart = scorer_of(pa.table({**data, "id": [1, 2, 3, 4, 5]}), source="shop")
    assert groups_of(apart.records).column_names == ["id", "group"]


def test_very_many_equal_records_are_one(monkeypatch):
    monkeypatch.setattr(linking, "TWINS", 4)
    names = ["ann"] * 5 + ["bob"] * 3 + [None] * 6
    scorer = scorer_of(pa.table({"id": np.arange(14), "name": names}))
    assert twins_of(scorer) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    pairs, bits = np.array([[0, 1]]), np.array([4.0])
    found = cluster_records(scorer, pairs, bits, False, {"evidence": {"related": [(5, 6)]}})
    sizes = found.table["cluster_size"].to_pylist()
    assert sorted(sizes)[-7:] == [2, 2, 5, 5, 5, 5, 5]
    apart = {"evidence": {"unrelated": [(0, 4)]}}
    held = cluster_records(scorer, pairs, bits, False, apart).table
    cluster = dict(zip(held["id"].to_pylist(), held["cluster_id"].to_pylist(), strict=True))
    assert cluster[0] != cluster[4]
    assert not twins_of(scorer_of(pa.table({"id": np.arange(14), "name": names}), offset=-9.0))
