"""Reading: rows counted by kind, and numbers for ids by bitmap and by table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.pair_tables.options import Given

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb.reading import Bitmap, read_source  # noqa: E402
from relatum.pair_tables.on_duckdb.store import Workspace  # noqa: E402


def source_of(tmp_path, memory, odd_rows="refuse", **columns):
    space = Workspace(tmp_path, 8 * memory)
    return read_source(duckdb.connect(), Given(pa.table(columns), odd_rows=odd_rows), space)


@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_numbers_are_in_the_order_of_ids(tmp_path, memory):
    rng = np.random.default_rng(0)
    left, right = rng.integers(-50, 400, (2, 100))
    weights = {"match_weight": np.ones(len(left))}
    source = source_of(tmp_path, memory, unique_id_l=left, unique_id_r=right, **weights)
    assert isinstance(source, Bitmap) == (memory > 0)
    ids, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    assert source.n == len(ids)
    assert source.ids()["unique_id"].to_pylist() == ids.tolist()
    a, b, bits = next(source.batches())
    found = {tuple(sorted(p)) for p in zip(a.tolist(), b.tolist(), strict=True)}
    assert found == {
        tuple(sorted(p)) for p in zip(codes[:100].tolist(), codes[100:].tolist(), strict=True)
    }
    assert set(bits.tolist()) == {1.0}
    asked = pa.table({"id": [int(ids[3]), 10**6, int(ids[0]), -99], "row": [0, 1, 2, 3]})
    source.view.con.register("asked", asked)
    assert source.look_up("SELECT id, row FROM asked").tolist() == [3, -1, 0, -1]
    assert len(np.unique(source.keys())) == len(ids)


def test_rows_are_counted_by_kind_and_turned_into_bits(tmp_path):
    table = {
        "unique_id_l": ["a", None, "c", "b", "e", "a"],
        "unique_id_r": ["b", "b", "c", "d", "f", "c"],
        "match_probability": [0.8, 0.9, 0.4, 1.5, math.nan, 1.0],
    }
    with pytest.raises(DataError, match=r"null_ids: 1 rows(.|\n)*'unique_id_l': None"):
        source_of(tmp_path, 0, **table)
    source = source_of(tmp_path, 0, "handle", **table)
    assert source.rows == 6
    assert dict(source.odd_rows) == {
        "null_ids": 1, "null_scores": 1, "out_of_range": 1, "self_pairs": 1, "certain": 1,
    }  # fmt: skip
    a, b, bits = (np.concatenate(arrays) for arrays in zip(*source.batches(), strict=True))
    rows = {(x, y): w for x, y, w in zip(a.tolist(), b.tolist(), bits.tolist(), strict=True)}
    assert (rows[0, 1], rows[0, 2]) == (pytest.approx(2.0), 64.0)
    assert math.isnan(rows[1, 3])
    assert math.isnan(rows[4, 5])


def test_records_of_sources_are_numbered_by_source_and_id(tmp_path):
    table = {
        "source_dataset_l": ["y", "x"],
        "unique_id_l": [1, 1],
        "source_dataset_r": ["x", "x"],
        "unique_id_r": [2, None],
        "match_weight": [1.0, 1.0],
    }
    source = source_of(tmp_path, 1 << 20, "handle", **table)
    assert source.ids().to_pylist() == [
        {"source_dataset": "x", "unique_id": 2},
        {"source_dataset": "y", "unique_id": 1},
    ]
    assert [array.tolist() for array in next(source.batches())] == [[1], [0], [1.0]]


@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_ids_are_not_compared_with_those_of_other_types(tmp_path, memory):
    ones = {"match_weight": [1.0, 1.0]}
    for left, right in (([1, 2], ["2", "01"]), ([2**53 + 1, 1], [2.0**53, 3.0])):
        with pytest.raises(DataError, match="Ids are of one type"):
            source_of(tmp_path, memory, unique_id_l=left, unique_id_r=right, **ones)
    short = pa.array([1, 2], pa.int8())
    assert source_of(tmp_path, memory, unique_id_l=short, unique_id_r=[2, 300], **ones).n == 3
    texts = pa.array(["a", "b"]).dictionary_encode()
    assert source_of(tmp_path, memory, unique_id_l=texts, unique_id_r=["b", "c"], **ones).n == 3


@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_ids_that_are_asked_for_are_found_once_or_not_at_all(tmp_path, memory):
    def look_up(source, ids):
        source.view.con.register("asked", pa.table({"id": ids, "row": np.arange(len(ids))}))
        return source.look_up("SELECT id, row FROM asked").tolist()

    ones = {"match_weight": [1.0, 1.0]}
    texts = source_of(tmp_path, memory, unique_id_l=["1", "01"], unique_id_r=["2", "x"], **ones)
    assert look_up(texts, [1, 2, 3]) == [1, 2, -1]  # of "01", "1", "2" and "x"
    whole = source_of(tmp_path, memory, unique_id_l=[1, 2], unique_id_r=[2, 3], **ones)
    assert look_up(whole, ["1", "x", "3"]) == [0, -1, 2]
    assert look_up(whole, [1.0, 1.4, 3.0]) == [0, -1, 2]
    assert look_up(whole, ["01", "3"]) == [-1, 2]
