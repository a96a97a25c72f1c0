"""Pairs fetched again are those of the run: one component, or all in batches."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables.solve.batching import ends_of, pairs_of

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")

from relatum.pair_tables.on_duckdb.fetching import (  # noqa: E402
    DuckDBAccess,
    batches_of,
    copy_pairs,
    fetch_component,
    pairs_between,
    scored_pairs,
)


def odd_pairs():
    """Rows in both directions, twice, contradictory and without scores."""
    return pa.table(
        {
            "unique_id_l": ["b", "a", "c", "c", "d", "e", "x", "a"],
            "unique_id_r": ["a", "b", "b", "a", "c", "f", "y", "a"],
            "match_probability": [0.8, 0.8, 0.5, 0.9, None, 0.75, 0.1, 0.4],
        }
    )


def listed(component, ids):
    i, j, w = pairs_of(component)
    return {(ids[a], ids[b]): round(float(x), 6) for a, b, x in zip(i, j, w, strict=True)}


def test_rows_are_read_as_the_run_read_them():
    found = rt.cluster_pairs(odd_pairs(), odd_rows="handle")
    origin = found.origin
    own = origin.part(origin.number("a"))
    assert own.ids == ["a", "b", "c"]
    component = fetch_component(origin, own.elements)
    bits = {("a", "b"): 2.0, ("b", "c"): 0.0, ("a", "c"): round(np.log2(9), 6)}
    assert listed(component, own.ids) == bits
    alone = origin.part(origin.number("d"))
    assert (alone.ids, listed(alone.component, alone.ids)) == (["d"], {})


def test_batches_hold_every_component_once():
    found = rt.cluster_pairs(odd_pairs(), odd_rows="handle", offset=1.0)
    origin, seen, total = found.origin, [], 0.0
    for batch, elements in batches_of(origin):
        _, i, j = ends_of(batch)
        roots = origin.roots[elements]
        assert (roots[i] == roots[j]).all()
        seen += elements.tolist()
        total += batch.log_odds.sum()
    assert sorted(seen) == list(range(len(origin.roots)))
    assert total == pytest.approx(2 + np.log2(9) + np.log2(3) + 4)


def test_missing_pairs_are_told_as_they_were_scored(tmp_path):
    pairs = pa.table(
        {"unique_id_l": [1, 2, 3], "unique_id_r": [2, 3, 4], "match_weight": [3.0] * 3}
    )
    found = rt.cluster_pairs(pairs, score_missing=lambda a, b: -(a + b).astype(float), offset=2.0)
    i, j, bits = scored_pairs(found.origin)
    assert sorted(zip(i.tolist(), j.tolist(), bits.tolist(), strict=True)) == [
        (0, 2, -4.0),
        (0, 3, -5.0),
        (1, 3, -6.0),
    ]
    (batch, _), *_ = DuckDBAccess().batches(found.origin)
    assert sorted(batch.log_odds.tolist()) == [-4.0, -3.0, -2.0, 5.0, 5.0, 5.0]


def test_columns_that_matter_are_copied(tmp_path):
    from pyarrow import parquet

    pairs = odd_pairs().append_column("shop_l", pa.array(list("xyxyxyxy")))
    pairs = pairs.append_column("shop_r", pa.array(list("xxyyyxxx")))
    pairs = pairs.append_column("more", pa.array(range(8)))
    found = rt.cluster_pairs(pairs, odd_rows="handle")
    path = tmp_path / "it's.parquet"
    copy_pairs(found.origin, path)
    copy = parquet.read_table(path)
    assert copy.column_names == ["unique_id_l", "unique_id_r", "match_probability"]
    assert copy.num_rows == 8


def test_pairs_of_other_elements_are_refused(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    def write(left, right, bits):
        table = {"unique_id_l": left, "unique_id_r": right, "match_weight": bits}
        parquet.write_table(pa.table(table), tmp_path / "p.parquet", compression="none")
        return (tmp_path / "p.parquet").stat().st_size

    size = write([1, 2, 3, 4], [5, 6, 7, 8], [1.0, 2.0, 3.0, 4.0])
    known = {"related": [(7, 8)]}
    found = rt.cluster_pairs(str(tmp_path / "p.parquet"), evidence=known)
    # fewer elements, and as many in other components, in files of the same size
    for left, right in (([1, 2, 3, 4], [2, 3, 4, 1]), ([1, 2, 3, 4], [8, 7, 6, 5])):
        again = write(left, right, [1.0, 2.0, 3.0, 4.0])
        object.__setattr__(found.origin, "size", again)
        assert abs(again - size) < 100
        with pytest.raises(rt.errors.DataError, match="cluster them again"):
            found.uncertain()


@pytest.mark.parametrize("most", [10**6, 5])
def test_pairs_between_components_are_the_best_of_those_listed(monkeypatch, most):
    import relatum.pair_tables.on_duckdb.fetching as module

    monkeypatch.setattr(module, "MOST_BETWEEN", most)
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(30, 1)
    keep = rng.random(len(i)) < 0.3
    i, j = i[keep], j[keep]
    bits = rng.uniform(-8, 0.4, len(i)).round(3)
    turn = rng.random(len(i)) < 0.5
    left, right = np.where(turn, j, i), np.where(turn, i, j)
    rows = [np.append(x, x[:7]) for x in (left, right, bits)]  # some are listed twice
    names = ("unique_id_l", "unique_id_r", "match_weight")
    found = rt.cluster_pairs(pa.table(dict(zip(names, rows, strict=True))), offset=0.25)
    roots, ids = found.origin.roots, np.unique([i, j])
    a, b = np.searchsorted(ids, i), np.searchsorted(ids, j)
    wanted = sorted(
        (-(x + 0.25), int(p), int(q))
        for p, q, x in zip(a, b, bits, strict=True)
        if roots[p] != roots[q] and x + 0.25 > -6
    )[:most]
    low, high, got = pairs_between(found.origin, -6.0)
    assert wanted
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(p, q) for _, p, q in wanted]
    assert got.tolist() == pytest.approx([-x for x, _, _ in wanted])


def test_what_splink_says_of_the_fields_of_a_pair():
    table = {
        "unique_id_l": ["b", "c"], "unique_id_r": ["a", "a"], "match_weight": [2.0, -1.0],
        "bf_name": [8.0, 0.25], "gamma_name": [2, 0], "bf_tf_adj_name": [2.0, 1.0],
        "bf_<b>": [0.5, None], "gamma_<b>": [-1, 1],
    }  # fmt: skip
    found = rt.cluster_pairs(pa.table(table))
    access, origin = found.origin.access, found.origin
    assert access.has_fields(origin)
    told = [("name", "level 2", 3.0), ("name", "how rare it is", 1.0), ("<b>", "missing", -1.0)]
    assert sorted(access.fields(origin, 0, 1)) == sorted(told)
    assert sorted(access.fields(origin, 1, 0)) == sorted(told)
    assert access.fields(origin, 2, 0)[0] == ("name", "level 0", -2.0)
    assert access.fields(origin, 1, 2) == []  # not listed
    plain = rt.cluster_pairs(pa.table({k: table[k] for k in list(table)[:3]}))
    assert not plain.origin.access.has_fields(plain.origin)
    assert plain.origin.access.fields(plain.origin, 0, 1) == []
