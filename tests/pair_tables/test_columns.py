"""Columns of pair tables: names, units, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relatum.errors import DataError, EvidenceError
from relatum.pair_tables.columns import (
    CERTAIN,
    REFUSED,
    Columns,
    arrow_numbers,
    bits_of,
    evidence_pairs,
    find_columns,
    numbers_of,
    refuse,
    require_evidence_columns,
    require_group_columns,
    two_values,
)


def test_names_are_those_of_splink_unless_told():
    names = ["match_weight", "match_probability", "unique_id_l", "unique_id_r"]
    found = find_columns(names)
    assert (found.score, found.is_probability, found.id_name) == (
        "match_weight",
        False,
        "unique_id",
    )
    assert find_columns(names[1:]).is_probability
    sources = find_columns([*names, "source_dataset_l", "source_dataset_r"])
    assert sources.source_name == "source_dataset"
    own = find_columns(["a", "b", "p"], "a", "b", probability="p")
    assert (own.id_name, own.is_probability) == ("id", True)
    assert own.names() == ["a", "b", "p"]


@pytest.mark.parametrize(
    ("left", "right", "name"),
    [
        ("unique_id_l", "unique_id_r", "unique_id"),
        ("a_id", "b_id", "id"),
        ("left_record_id", "right_record_id", "record_id"),
        ("id1", "id2", "id"),
        ("record.left", "record.right", "record"),
        ("recordA", "recordB", "record"),
        ("source", "target", "id"),
        ("left", "right", "id"),
        ("author", "autor", "id"),
        ("a", "a2", "id"),
        ("cluster_id_l", "cluster_id_r", "cluster_id_element"),
    ],
)
def test_the_result_names_ids_by_what_the_columns_share(left, right, name):
    assert Columns(left, right).id_name == name


def test_missing_columns_are_named():
    with pytest.raises(DataError, match=r"no column 'unique_id_r'.*left="):
        find_columns(["unique_id_l", "match_weight"])
    with pytest.raises(DataError, match="once"):
        find_columns(["a"], log_odds="a", probability="a")


def test_probabilities_become_bits():
    p = np.array([0.2, 0.5, 0.75])
    assert bits_of(p, True) == pytest.approx([math.log2(x / (1 - x)) for x in p])
    assert bits_of([0.0, 1.0], True).tolist() == [-CERTAIN, CERTAIN]
    assert bits_of([-np.inf, np.inf, 200.0], False).tolist() == [-CERTAIN, CERTAIN, 200.0]
    assert np.isnan(bits_of([1.5, -0.1, np.nan], True)).all()


def test_bits_whose_sums_are_no_floats_are_no_scores():
    assert bits_of([1e200, np.nan, -np.inf], False)[0] == 1e200
    for bits in (1e201, -1.7e308):
        assert np.isnan(bits_of([0.0, bits, np.nan], False)).tolist() == [False, True, True]


def test_refused_rows_are_shown():
    refuse({"self_pairs": 3, "duplicates": 2}, {})  # harmless
    with pytest.raises(DataError) as error:
        refuse({"null_ids": 2, "out_of_range": 1}, {"null_ids": [("x", None, 0.5)]})
    assert "null_ids: 2 rows" in str(error.value)
    assert "('x', None, 0.5)" in str(error.value)
    assert "odd_rows" in str(error.value)


@pytest.mark.parametrize("kind", REFUSED)
def test_each_refused_kind_is_told_with_its_meaning(kind):
    with pytest.raises(DataError, match=f"{kind}: 4 rows (with|whose|that)"):
        refuse({kind: 4}, {})


def test_evidence_and_groups_name_what_is_missing():
    assert evidence_pairs({"related": [["a", "b"]]}) == ([("a", "b")], [])
    with pytest.raises(EvidenceError, match="got the key 'maybe'"):
        evidence_pairs({"maybe": []})
    require_evidence_columns(Columns(), ["related", "unique_id_r", "unique_id_l"])
    with pytest.raises(DataError, match="no column 'related'; its columns are unique_id_l, u"):
        require_evidence_columns(Columns(), ["unique_id_l", "unique_id_r"])
    assert require_group_columns("shop", ["shop_r", "shop_l"]) == ("shop_l", "shop_r")
    with pytest.raises(DataError, match="no column 'shop_r'"):
        require_group_columns("shop", ["shop_l"])
    assert str(two_values("labels", ("a",))) == (
        "labels= gives the element ('a',) two values; give it one."
    )


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64, np.float64])
def test_numbers_go_to_arrow_and_back(kind):
    pa = pytest.importorskip("pyarrow")
    given = np.arange(10).astype(kind)[1::2]
    column = arrow_numbers(given)
    assert column.equals(pa.array(given))
    found = numbers_of(column[1:4])
    assert found.dtype == kind
    assert found.tolist() == given[1:4].tolist()
    assert numbers_of(arrow_numbers(given[:0])).shape == (0,)


def test_null_scores_are_not_numbers():
    pa = pytest.importorskip("pyarrow")
    column = pa.array([1.5, None, -2.0])
    np.testing.assert_array_equal(numbers_of(column), column.to_numpy(zero_copy_only=False))
