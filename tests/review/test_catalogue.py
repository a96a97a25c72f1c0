"""Lists, filters and search, against the same in plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.review.catalogue import Catalogue, Filter, spans_of

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def catalogue(table):
    origin = table.clusters.origin
    return Catalogue(origin, origin.whole["confidence"].to_numpy(), table.records)


def test_components_are_listed_least_sure_first(catalogue, table):
    roots, whole = table.clusters.origin.roots, table.clusters.origin.whole
    rows, total = catalogue.components(Filter(), 0, 1000)
    own = [r for r in np.unique(roots).tolist() if np.count_nonzero(roots == r) > 1]
    assert total == len(rows) == len(own)
    assert {row.root for row in rows} == set(own)
    confidence = whole["confidence"].to_numpy()
    for row in rows:
        inside = roots == row.root
        assert row.n == inside.sum()
        assert row.sure == confidence[inside].min()
        assert row.clusters == len({whole["cluster_id"][k].as_py() for k in np.flatnonzero(inside)})
        assert row.name == table.names[row.root]
    assert [row.sure for row in rows] == sorted(row.sure for row in rows)
    pages = [catalogue.components(Filter(), k, 1)[0][0] for k in range(total)]
    assert pages == rows


def test_filters(catalogue):
    rows = catalogue.components(Filter(least=1), 0, 1000)[0]
    few = catalogue.components(Filter(least=1, most=1), 0, 1000)[0]
    assert few == [row for row in rows if row.n == 1]
    unsure = catalogue.components(Filter(sure=0.5), 0, 1000)[0]
    assert unsure == [row for row in rows if row.n > 1 and row.sure <= 0.5]
    catalogue.update([(rows[0].root, {"answers": 3})])
    answered = catalogue.components(Filter(least=1, answered=True), 0, 10)[0]
    assert [(row.root, row.answers) for row in answered] == [(rows[0].root, 3)]
    by_size = catalogue.components(Filter(order="size"), 0, 1000)[0]
    assert [row.n for row in by_size] == sorted((row.n for row in by_size), reverse=True)


def test_search_finds_ids_and_texts(catalogue, table):
    assert catalogue.search("  R007 ")[0][:2] == (7, "r007")
    person = f"person {table.truth[3]}"
    wanted = [k for k, t in enumerate(table.truth) if person in f"person {t}"]
    assert sorted(row[0] for row in catalogue.search(person.upper())) == wanted[:50]
    assert catalogue.search("%") == catalogue.search("_") == catalogue.search("") == []
    assert catalogue.search("' OR 1=1 --") == []


def test_records_are_cut_but_whole_where_asked(table, opened):
    long = table.records.set_column(1, "name", pa.array(["x" * 5000] * table.records.num_rows))
    catalogue = opened(records=long).catalogue
    assert catalogue.records([3])[3]["name"] == "x" * 300 + "…"
    assert catalogue.records([3], whole=True)[3]["name"] == "x" * 5000
    assert catalogue.records([0])[0]["town"] == ""


def test_ids_of_sources(tmp_path):
    pairs = pa.table(
        {
            "source_dataset_l": ["x", "x"], "unique_id_l": [1, 2],
            "source_dataset_r": ["y", "y"], "unique_id_r": [1, 2], "match_weight": [3.0, 2.0],
        }
    )  # fmt: skip
    found = rt.cluster_pairs(pairs)
    records = pa.table({"source_dataset": ["x", "y"], "unique_id": [1, 1], "name": ["p", "q"]})
    catalogue = Catalogue(found.origin, np.ones(4), records)
    assert catalogue.numbers([("x", "1"), ("y", "2"), ("z", "1")]) == {("x", "1"): 0, ("y", "2"): 3}
    assert catalogue.keys([2]) == {2: ("y", "1")}
    assert catalogue.records([0, 2]) == {0: {"name": "p"}, 2: {"name": "q"}}
    assert catalogue.unknown == 2
    with pytest.raises(DataError, match="no column 'source_dataset'"):
        Catalogue(found.origin, np.ones(4), records.drop_columns(["source_dataset"]))


def test_records_that_do_not_fit_are_refused(table):
    origin, sure = table.clusters.origin, np.ones(len(table.names))
    with pytest.raises(DataError, match="no column 'unique_id' or 'id'"):
        Catalogue(origin, sure, table.records.drop_columns(["unique_id"]))
    with pytest.raises(DataError, match="No record has an id"):
        Catalogue(origin, sure, table.records, "name")
    with pytest.raises(DataError, match="There is no file"):
        Catalogue(origin, sure, "nowhere.csv")


def test_files_of_records(table, tmp_path):
    from pyarrow import csv

    path = tmp_path / "records.csv"
    csv.write_csv(table.records, path)
    origin = table.clusters.origin
    found = Catalogue(origin, np.ones(len(table.names)), path).records([5])
    assert found[5]["name"] == f"person {table.truth[5]}"


def test_spans():
    roots = np.array([0, 1, 0, 1, 4])
    order, own, starts = spans_of(roots)
    assert own.tolist() == [0, 1, 4]
    parts = [order[a:b].tolist() for a, b in itertools.pairwise(starts)]
    assert parts == [[0, 2], [1, 3], [4]]


def test_fields_may_have_names_of_ours(table):
    names = ["unique_id", "id", "element", "root", "source", "cluster", "f0", '<b>"', "sure"]
    cells = pa.array(table.names)
    records = pa.Table.from_arrays([cells] * len(names), names=names)
    origin = table.clusters.origin
    own = Catalogue(origin, origin.whole["confidence"].to_numpy(), records)
    assert own.records([3]) == {3: dict.fromkeys(names[1:], table.names[3])}


def test_records_that_cannot_be_read_are_named(table, tmp_path):
    path = tmp_path / "records.csv"
    path.write_bytes(b'unique_id,x\nr000,\xe9\xe9\nr001,"open\n')
    origin = table.clusters.origin
    with pytest.raises(DataError, match=r"records\.csv cannot be read"):
        Catalogue(origin, origin.whole["confidence"].to_numpy(), path)
