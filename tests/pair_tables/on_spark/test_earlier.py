"""Earlier clusters on Spark against the same in memory."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables.previous import Earlier, name_clusters

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyspark", reason="install relatum[spark]")

from relatum.pair_tables.on_spark.earlier import keep_ids  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas 3
# elements and the smallest of their clusters; and clusters before, in which 99 was, too:
# 1, 2 are as before; 3, 4, 5 were of two; 6, 7 of a larger one; 8 and 9 of one named after 9
FIRST = {1: 1, 2: 1, 3: 3, 4: 3, 5: 3, 6: 6, 7: 6, 8: 8, 9: 9, 10: 10, 12: 12}
EARLIER = {1: 1, 2: 1, 3: 3, 4: 4, 5: 4, 6: 6, 7: 6, 12: 6, 8: 9, 9: 9, 99: 9}


def in_memory():
    ids = list(FIRST)
    names = sorted(set(EARLIER.values()))
    before = np.array([names.index(EARLIER[x]) if x in EARLIER else -1 for x in ids])
    first = np.array([ids.index(FIRST[x]) for x in ids])
    gone = np.array([names.index(EARLIER[x]) for x in EARLIER if x not in ids])
    given = Earlier(before, pa.array(names), gone)
    named, changes = name_clusters(pa.array(ids), first, given)
    return dict(zip(ids, named.to_pylist(), strict=True)), changes


def on_spark(spark, kind=int):
    rows = [(kind(k), kind(v)) for k, v in FIRST.items()]
    before = [(kind(k), kind(v)) for k, v in EARLIER.items()]
    name = "bigint" if kind is int else "string"
    clusters = spark.createDataFrame(rows, f"_node {name}, cluster_id {name}")
    named, changes = keep_ids(clusters, spark.createDataFrame(before, f"node {name}, value {name}"))
    return {row["_node"]: row["cluster_id"] for row in named.collect()}, changes


@pytest.mark.slow
def test_ids_and_changes_are_those_of_memory(spark):
    assert on_spark(spark) == in_memory()


@pytest.mark.slow
def test_texts_get_names_that_nobody_has(spark):
    found, _ = on_spark(spark, str)
    assert (found["8"], found["9"]) == ("9", "9~2")
    assert [found[k] for k in ("1", "3", "6", "10")] == ["1", "4", "6", "10"]


@pytest.mark.slow
def test_previous_reaches_the_engine(spark):
    pairs = pd.DataFrame({"unique_id_l": [1, 3], "unique_id_r": [2, 4], "match_weight": [5.0, -5]})
    found = rt.cluster_pairs(spark.createDataFrame(pairs), previous={1: 2, 2: 2, 3: 3})
    rows = {row["unique_id"]: row["cluster_id"] for row in found.table.collect()}
    assert rows == {1: 2, 2: 2, 3: 3, 4: 4}
    assert (
        found.summary.changes
        == rt.cluster_pairs(pairs, previous={1: 2, 2: 2, 3: 3}).summary.changes
    )


@pytest.mark.slow
def test_what_cannot_be_earlier_clusters_is_refused(spark):
    from relatum.pair_tables.columns import find_columns
    from relatum.pair_tables.on_spark.earlier import read_earlier

    columns = find_columns(["unique_id_l", "unique_id_r", "match_weight"])
    with pytest.raises(DataError, match=r"previous= on Spark .*spark.read"):
        read_earlier(None, columns, "earlier.parquet")
    with pytest.raises(DataError, match="no column 'cluster_id'"):
        read_earlier(None, columns, pd.DataFrame({"unique_id": [1]}))
