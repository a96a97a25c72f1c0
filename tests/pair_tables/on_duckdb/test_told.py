"""What is told and what is stated: the same, whatever groups are called."""

from __future__ import annotations

import pytest

pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

import relatum as rt  # noqa: E402
from relatum.pair_tables import verify_clusters  # noqa: E402


@pytest.fixture
def case(tmp_path):
    pairs = pa.table(
        {"unique_id_l": ["a", "b", "c"], "unique_id_r": ["b", "c", "d"], "w": [3.0, 2.0, 1.0]}
    )
    groups = {"a": "x", "c": "x", "d": "y"}
    path = tmp_path / "c.cert"
    rt.cluster_pairs(pairs, log_odds="w", one_per_group=groups, certificate=path)
    return pairs, path


@pytest.mark.parametrize(
    ("groups", "right"),
    [
        ({"a": 5, "c": 5, "d": 1}, True),
        ({"d": "y", "c": "x", "a": "x", "nobody": "z"}, True),
        ({"a": "x", "c": "x"}, False),
        ({"a": "x", "c": "x", "d": "x"}, False),
        ({"a": "x", "c": "y", "d": "y"}, False),
        ({"a": "x", "b": "x", "d": "y"}, False),
    ],
)
def test_groups_are_compared_by_what_they_hold(case, groups, right):
    pairs, path = case
    answer = verify_clusters(pairs, path, one_per_group=groups)
    assert answer.ok == right
    assert right or answer.reason == "The certificate is about other groups."


def test_what_nobody_tells_is_stated(case):
    pairs, path = case
    assert verify_clusters(pairs, path).stated == (
        "ids in unique_id_l and unique_id_r, bits in w",
        "a background of -0.5 bits",
        "at most one element of each group in a cluster",
    )


@pytest.mark.parametrize(
    ("clusters", "right"),
    [
        (["p", "p", "q", "q"], True),  # 3 + 1 bits; a and c are of one group
        ([1, 1, 0, 0], True),
        ([3.5, 3.5, 1.0, 2.0], False),
        (["r", "s", "s", "s"], False),
        (["u", "v", "v", "w"], False),
        (["p", "p", "q", None], False),
    ],
)
def test_ids_of_clusters_may_be_anything(case, clusters, right):
    pairs, path = case
    table = pa.table({"unique_id": ["a", "b", "c", "d"], "cluster_id": clusters})
    assert verify_clusters(pairs, path, clusters=table).ok == right


def test_columns_are_those_that_were_meant(tmp_path, forge):
    columns = {"unique_id_l": [1, 2], "unique_id_r": [2, 3]}
    scores = {"match_weight": [3.0, 2.0], "other": [3.0, -2.0]}
    pairs, path = pa.table(columns | scores), tmp_path / "c.cert"
    meant = rt.cluster_pairs(pairs, certificate=path)
    assert meant.verify()
    assert "columns" not in str(verify_clusters(pairs, path).stated)
    rt.cluster_pairs(pairs, log_odds="other", certificate=path)  # in its place
    answer = meant.verify()
    assert answer.reason == "The certificate is about the columns unique_id_l, unique_id_r, other."
    assert "bits in other" in verify_clusters(pairs, path).stated[0]
    handled = rt.cluster_pairs(pairs, odd_rows="handle", certificate=path)
    assert handled.verify()
    assert "averaged" in verify_clusters(pairs, path).stated[-1]
    assert "odd_rows 'handle'" in meant.verify().reason


def test_an_empty_table_is_proved(tmp_path):
    none = pa.array([], pa.int64())
    pairs = pa.table({"unique_id_l": none, "unique_id_r": none, "match_weight": [0.0][:0]})
    found = rt.cluster_pairs(pairs, certificate=tmp_path / "c")
    answer = found.verify()
    assert answer, answer.reason
    assert (answer.elements, answer.components, answer.bound) == (0, 0, 0.0)
