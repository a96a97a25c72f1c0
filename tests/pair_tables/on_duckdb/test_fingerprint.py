"""Fingerprints: the same in every order, another for every change."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")

from relatum.pair_tables.on_duckdb.fingerprint import Fingerprint, ids_fingerprint  # noqa: E402


def mark_of(*batches):
    mark = Fingerprint()
    for batch in batches:
        mark.add(*batch)
    return mark.text()


def test_pairs_in_any_order_and_number_of_batches():
    rng = np.random.default_rng(0)
    i, j, w = rng.integers(0, 9, 50), rng.integers(0, 9, 50), rng.normal(size=50)
    whole = mark_of((i, j, w))
    order = rng.permutation(50)
    parts = [(i[k].astype(np.int32), j[k].astype(np.int32), w[k]) for k in (order[:7], order[7:])]
    assert mark_of(*parts) == whole
    for k in range(3):
        changed = [x.copy() for x in (i, j, w)]
        changed[k][11] = np.nextafter(w[11], 9) if k == 2 else changed[k][11] + 1
        assert mark_of(tuple(changed)) != whole
    assert mark_of((j, i, w)) != whole
    assert mark_of((i[1:], j[1:], w[1:])) != whole
    twice = mark_of((i, j, w), (i[:1], j[:1], w[:1]))
    assert twice != whole


def test_ids_are_texts_in_order():
    words = pa.chunked_array([["a", "bc"], [], ["d"]])
    assert ids_fingerprint(pa.table({"id": words})) == ids_fingerprint(
        pa.table({"name": pa.array(["a", "bc", "d"])})
    )
    marks = [
        ids_fingerprint(pa.table(columns))
        for columns in (
            {"id": ["a", "bc", "d"]},
            {"id": ["ab", "c", "d"]},
            {"id": ["a", "d", "bc"]},
            {"id": ["a", "bc"]},
            {"s": ["a", "bc", "d"], "id": [1, 2, 3]},
            {"s": ["a", "bc", "d"], "id": [1, 2, 4]},
            {"id": [datetime.date(2020, 1, 1)]},
            {"id": [[1, 2], [3]]},
        )
    ]
    assert len(set(marks)) == len(marks)
    assert ids_fingerprint(pa.table({"id": [7]})) == ids_fingerprint(pa.table({"id": ["7"]}))
    part = pa.table({"id": ["x", "a", "bc", "d"]}).slice(1)
    assert ids_fingerprint(part) == marks[0]
