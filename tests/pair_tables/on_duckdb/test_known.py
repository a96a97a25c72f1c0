"""Evidence, groups, labels and earlier clusters as arrays, from mappings and from tables."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError, EvidenceError
from relatum.pair_tables.options import Given

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb.known import Known, read_known  # noqa: E402
from relatum.pair_tables.on_duckdb.reading import read_source  # noqa: E402
from relatum.pair_tables.on_duckdb.store import Workspace  # noqa: E402

PAIRS = {"unique_id_l": ["a", "b", "c"], "unique_id_r": ["b", "d", "e"]}  # numbers 0 to 4
PAIRS |= {"match_weight": [1.0, 1.0, 1.0], "shop_l": ["x", "y", None], "shop_r": ["y", "x", None]}


@pytest.fixture
def read(tmp_path):
    def known(pairs=PAIRS, **given):
        asked = Given(pa.table(pairs), **given)
        source = read_source(duckdb.connect(), asked, Workspace(tmp_path, 8 << 20))
        return read_known(source, asked, tmp_path)

    return known


def test_evidence_is_sorted_and_each_pair_once(read):
    facts = {"related": [("d", "a"), ("a", "d"), ("c", "c")], "unrelated": [("e", "b")]}
    known = read(evidence=facts)
    assert known.fixed.tolist() == [[0, 3, 1], [1, 4, 0]]
    assert known.related.tolist() == [[0, 3]]
    names = {"unique_id_l": ["d", "e"], "unique_id_r": ["a", "b"]}
    table = pa.table({**names, "related": [True, False]})
    assert read(evidence=table).fixed.tolist() == known.fixed.tolist()
    assert read().fixed.shape == (0, 3)
    for wrong, told in (
        ({"related": [("a", "z")]}, "names 'z'"),
        ({"unrelated": [("a", "a")]}, "'a' is related to itself"),
        ({"maybe": []}, "got the key 'maybe'"),
    ):
        with pytest.raises(EvidenceError, match=told):
            read(evidence=wrong)
    with pytest.raises(DataError, match="no column 'related'"):
        read(evidence=pa.table(names))
    for wrong in ([("a", "b")], rt.evidence(related=[(0, 1)])):  # of elements, not of ids
        with pytest.raises(DataError, match=r"^Evidence is \{'related'.* got"):
            read(evidence=wrong)


def test_groups_say_which_pairs_may_join(read):
    known = read(one_per_group="shop")
    assert known.groups.tolist() == [0, 1, -1, 0, -1]
    i, j = np.array([0, 0, 2, 2]), np.array([3, 1, 4, 0])
    assert known.may_join(i, j).tolist() == [False, True, True, True]
    assert Known().may_join(i, j).all()
    given = {"a": "x", "b": "y", "d": "x", "nobody": "x"}
    assert read(one_per_group=given).groups.tolist() == [0, 1, -1, 0, -1]
    with pytest.raises(DataError, match="no column 'street_l'"):
        read(one_per_group="street")
    with pytest.raises(DataError, match=r"^one_per_group= is a mapping of ids, or a table"):
        read(one_per_group=[1, 2])


def test_values_come_from_mappings_and_tables(read, tmp_path):
    assert read(labels={"e": 7, "b": 3, "a": 3}).labels.tolist() == [0, 0, -1, -1, 1]
    (tmp_path / "labels.csv").write_text("unique_id,entity\ne,7\nb,3\na,3\n")
    assert read(labels=tmp_path / "labels.csv").labels.tolist() == [0, 0, -1, -1, 1]
    with pytest.raises(DataError, match=r"labels= gives the element \('b',\) two values"):
        read(labels=pa.table({"unique_id": ["b", "b"], "entity": [1, 2]}))
    with pytest.raises(DataError, match=r"labels= is a mapping.*no column 'label'"):
        read(labels=pa.table({"unique_id": ["b"], "x": [1], "y": [2]}))


def test_earlier_clusters_bring_hashes_and_gaps_if_they_have_them(read):
    earlier = read(previous={"a": "p", "b": "p", "z": "q"}).earlier
    assert earlier.cluster.tolist() == [0, 0, -1, -1, -1]
    assert earlier.ids.to_pylist() == ["p", "q"]
    assert earlier.gone.tolist() == [1]
    assert earlier.hashes is None
    rows = {"unique_id": ["b", "c", "z"], "cluster_id": ["p", "q", "q"], "cluster_size": [1, 2, 2]}
    rows |= {"cluster_gap": [0.5, 2.0, 2.0], "component": [-1, 6, 6]}
    earlier = read(previous=pa.table(rows)).earlier
    assert earlier.cluster.tolist() == [-1, 0, 1, -1, -1]
    assert earlier.hashes.tolist() == [0, 2**64 - 1, 6, 0, 0]
    assert earlier.gaps.tolist() == [0, 0.5, 2.0, 0, 0]
    assert earlier.gone.tolist() == [1]


def test_records_of_sources_are_named_by_both(read):
    pairs = {"source_dataset_l": ["x"], "unique_id_l": [1], "source_dataset_r": ["y"]}
    pairs |= {"unique_id_r": [1], "match_weight": [1.0]}
    known = read(pairs, evidence={"unrelated": [(("y", 1), ("x", 1))]}, labels={("y", 1): 4})
    assert known.fixed.tolist() == [[0, 1, 0]]
    assert known.labels.tolist() == [-1, 0]


def test_ids_may_be_large_unsigned_numbers():
    import pyarrow as pa

    ids = np.array([(1 << 63) + 1, (1 << 63) + 5, 2], dtype=np.uint64)
    columns = {"unique_id_l": ids[[0, 0]], "unique_id_r": ids[[1, 2]], "match_weight": [3.0, -9.0]}
    first, second, third = ids.tolist()
    known = {"related": [(first, third)], "unrelated": [(first, second)]}
    found = rt.cluster_pairs(pa.table(columns), evidence=known)
    clusters = {row["unique_id"]: row["cluster_id"] for row in found.table.to_pylist()}
    assert clusters[first] == clusters[third] != clusters[second]


LARGE = np.array([2**63 + 5, 2**63 + 6, 2**63 + 7, 2**63 + 8], dtype=np.uint64)


def test_large_unsigned_ids_with_a_source_are_known_by_mappings():
    table = pa.table(
        {
            "source_dataset_l": ["a", "a"],
            "unique_id_l": LARGE[:2],
            "source_dataset_r": ["b", "b"],
            "unique_id_r": LARGE[2:],
            "match_weight": [2.0, 3.0],
        }
    )
    left, right = [("a", int(k)) for k in LARGE[:2]], [("b", int(k)) for k in LARGE[2:]]
    apart = rt.cluster_pairs(table, evidence={"unrelated": [(left[0], right[0])]})
    assert apart.summary.clusters == 3
    labels = {left[0]: "x", right[0]: "x", left[1]: "y", right[1]: "y"}
    assert rt.cluster_pairs(table, labels=labels).summary.f1 == 1.0


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_labels_that_are_not_a_number_are_not_known(kind):
    table = pa.table(
        {"unique_id_l": [0, 1, 2], "unique_id_r": [1, 2, 3], "match_weight": [5.0, -1.0, 5.0]}
    )
    labels = pa.array([7.0, 7.0, np.nan, np.nan], kind)
    known = pa.table({"unique_id": [0, 1, 2, 3], "label": labels})
    found = rt.cluster_pairs(table, labels=known)
    only = known.slice(0, 2)
    assert found.summary.f1 == rt.cluster_pairs(table, labels=only).summary.f1
    assert found.summary.block_recall == rt.cluster_pairs(table, labels=only).summary.block_recall


GIVEN = (
    lambda k, other: {"evidence": {"related": [(k, other)]}},
    lambda k, other: {"labels": {k: 1, other: 2}},
    lambda k, other: {"one_per_group": {k: 1, other: 2}},
    lambda k, other: {"previous": {k: 1, other: 2}},
)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("wrong", [2**64, -(2**63) - 1, 1.5, object(), ("x", "a")])
def test_ids_of_no_kind_that_a_table_has_are_refused_by_the_name_of_what_was_given(given, wrong):
    """Never as what another library says of it, nor as if the table of pairs were to blame."""
    asked = given(wrong, "a")
    with pytest.raises(DataError, match=rf"^Ids in {next(iter(asked))}= are all of one kind"):
        rt.cluster_pairs(pa.table(PAIRS), **asked)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("wrong", [1, "xa", None, ("x",), ("x", 1, 2)])
def test_where_there_are_sources_ids_without_one_are_refused(given, wrong):
    """A text of two letters is no source and id, either."""
    pairs = {"source_dataset_l": ["x"], "unique_id_l": ["a"], "source_dataset_r": ["y"]}
    pairs |= {"unique_id_r": ["b"], "match_weight": [1.0]}
    asked = given(wrong, ("y", "b"))
    with pytest.raises(DataError, match=rf"ids in {next(iter(asked))}= are pairs \(source, id\)"):
        rt.cluster_pairs(pa.table(pairs), **asked)


@pytest.mark.parametrize("wrong", [2**64, "one", object()])
def test_labels_of_different_kinds_are_refused(wrong):
    with pytest.raises(DataError, match=r"^Values in labels= are all of one kind"):
        rt.cluster_pairs(pa.table(PAIRS), labels={"a": 1, "b": wrong})
