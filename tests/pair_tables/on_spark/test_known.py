"""Evidence and groups on Spark, in every form."""

from __future__ import annotations

import pytest

from relatum.errors import DataError, EvidenceError
from relatum.pair_tables.columns import find_columns
from relatum.pair_tables.options import Given

pytest.importorskip("pyspark", reason="install relatum[spark]")

from relatum.pair_tables.on_spark.known import ends_of, quoted, read_known

pytestmark = pytest.mark.filterwarnings("ignore")


def test_evidence_and_groups_in_other_forms(spark):
    columns = find_columns(["unique_id_l", "unique_id_r", "match_weight"])
    pairs = spark.createDataFrame([(1, 2, 1.0), (2, 3, 1.0)], columns.names())
    facts = spark.createDataFrame(
        [(1, 2, True), (2, 3, False)], ["unique_id_l", "unique_id_r", "related"]
    )

    def read(evidence=None, groups=None):
        return read_known(Given(pairs, evidence=evidence, one_per_group=groups), columns)

    known = read(facts, {1: "x", 2: "y", 3: "x"})
    assert [tuple(r) for r in known.related.collect()] == [(1, 2)]
    assert [tuple(r) for r in known.unrelated.collect()] == [(2, 3)]
    codes = {row.node: row.group_code for row in known.groups.collect()}
    assert codes[1] == codes[3] != codes[2]
    rows = spark.createDataFrame([(1, 2), (1, 3), (1, 4), (4, 5)], ["a", "b"])
    free = known.with_groups(rows).where(known.may_join()).collect()
    assert {(row.a, row.b) for row in free} == {(1, 2), (1, 4), (4, 5)}  # 1 and 3 are of one group
    nothing = read()
    assert (nothing.related, nothing.unrelated, nothing.groups) == (None, None, None)
    assert nothing.with_groups(rows) is rows
    table = spark.createDataFrame([(1, "x"), (2, "y"), (1, "z")], ["unique_id", "source"])
    with pytest.raises(DataError, match="element 1 two values"):
        read(groups=table)
    with pytest.raises(DataError, match="no column 'shop_l'"):
        read(groups="shop")
    with pytest.raises(DataError, match="the columns unique_id and one of groups"):
        read(groups=spark.createDataFrame([(1,)], ["unique_id"]))
    with pytest.raises(EvidenceError, match="'maybe'"):
        read({"maybe": []})
    with pytest.raises(DataError, match="no column 'unique_id_l'"):
        read(spark.createDataFrame([(1,)], ["a"]))


def test_elements_of_sources_are_structs_and_null_if_one_part_is(spark):
    names = ["source_dataset_l", "a`b", "source_dataset_r", "unique_id_r", "match_weight"]
    rows = [("s", 1, "t", None, 1.0)]
    schema = ", ".join(f"{quoted(n)} {t}" for n, t in zip(
        names, ("string", "long", "string", "long", "double"), strict=True
    ))  # fmt: skip
    columns = find_columns(names, left="a`b")
    row = spark.createDataFrame(rows, schema).select(*ends_of(columns)).first()
    assert (tuple(row.a), row.b) == (("s", 1), None)
