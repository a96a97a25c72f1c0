"""Spark against the same pairs solved in memory: few and small, for every job takes seconds."""

from __future__ import annotations

import math
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables.options import Given, Plan, Settings, Tuning

pd = pytest.importorskip("pandas")
pytest.importorskip("pyspark", reason="install relatum[spark]")

import relatum.pair_tables.on_spark.engine as module  # noqa: E402
from relatum.pair_tables.on_spark.frame_task import SCORED, solve_frame  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas 3
SETTINGS = Settings(background=-3.0)


def planted(n=300, pairs=1500, seed=0, noise=3.0):
    rng = np.random.default_rng(seed)
    entity = rng.integers(0, n // 5, n)
    near = np.argsort(entity, kind="stable")
    k = rng.integers(0, n - 4, pairs)
    a, b = near[k], near[k + rng.integers(1, 5, pairs)]
    bits = np.where(entity[a] == entity[b], 3.0, -4.0) + noise * rng.normal(size=pairs)
    frame = pd.DataFrame({"unique_id_l": a, "unique_id_r": b, "match_weight": bits})
    return frame[~pd.DataFrame({"a": np.minimum(a, b), "b": np.maximum(a, b)}).duplicated()]


def in_memory(pairs, settings=SETTINGS):
    """One component that holds everything; the solver finds the parts by itself or not at all."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b = pairs["unique_id_l"].to_numpy(), pairs["unique_id_r"].to_numpy()
    bits = pairs["match_weight"].to_numpy()
    n = int(max(a.max(), b.max())) + 1
    on = bits > 0
    graph = coo_matrix((np.ones(on.sum()), (a[on], b[on])), (n, n))
    labels = connected_components(graph, directed=False)[1].astype(np.int64)
    same = labels[a] == labels[b]
    frame = pd.DataFrame({"a": a, "b": b, "bits": bits, "kind": SCORED, "component": labels[a]})
    found = solve_frame(frame[same], settings)
    alone = np.setdiff1d(np.concatenate([a, b]), found["id"])
    sets = {frozenset(g) for g in found.groupby("first")["id"].agg(list)}
    return sets | {frozenset([k]) for k in alone}, found["value"].sum(), found["bound"].sum()


def sets_of(clusters, name="unique_id"):
    rows = clusters.collect()
    sets: dict[object, set[object]] = {}
    for row in rows:
        sets.setdefault(row["cluster_id"], set()).add(row[name])
    assert all(len(sets[row["cluster_id"]]) == row["cluster_size"] for row in rows)
    assert all(row["cluster_gap"] >= 0 for row in rows)
    return {frozenset(s) for s in sets.values()}


def run(spark, pairs, settings=SETTINGS, tuning=None, **given):
    frame = spark.createDataFrame(pairs) if isinstance(pairs, pd.DataFrame) else pairs
    settings = settings if tuning is None else replace(settings, tuning=tuning)
    found = module.cluster(Given(frame, **given), Plan(settings))
    return found.table, found.summary


def test_equals_the_same_pairs_in_memory_and_in_duckdb(spark):
    pairs = planted()
    clusters, summary = run(spark, pairs, tuning=Tuning(task_pairs=200))
    expected, value, bound = in_memory(pairs)
    assert sets_of(clusters) == expected
    assert summary.value == pytest.approx(value)
    assert summary.bound == pytest.approx(bound)
    assert summary.clusters == len(expected)
    assert summary.elements == sum(map(len, expected))
    where = {k: s for s in expected for k in s}
    positive = pairs[pairs["match_weight"] > 0]
    cut = sum(b not in where[a] for a, b, _ in positive.itertuples(index=False))
    assert summary.pairs_cut == cut
    inside = sum(len(s) * (len(s) - 1) // 2 for s in expected)
    assert summary.pairs_added == inside - (len(positive) - cut)
    assert clusters.columns == ["unique_id", "cluster_id", "cluster_size", "cluster_gap"]
    other = rt.cluster_pairs(pairs, background=-3.0)
    theirs = clusters.toPandas().sort_values("unique_id")
    ours = other.table.sort_values("unique_id")
    for name in ("unique_id", "cluster_id", "cluster_size"):
        np.testing.assert_array_equal(theirs[name], ours[name])
    np.testing.assert_allclose(theirs["cluster_gap"], ours["cluster_gap"], atol=1e-6)
    for name in ("components", "largest_component", "largest_cluster", "pairs_cut", "pairs_added"):
        assert getattr(other.summary, name) == getattr(summary, name), name


def test_a_killed_worker_loses_nothing(spark, tmp_path, monkeypatch):
    flag = str(tmp_path / "killed")

    def dying(frame, settings, score_missing):
        """Kill this worker, the first time."""
        from relatum.pair_tables.on_spark.frame_task import solve_frame

        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
        return solve_frame(frame, settings)

    monkeypatch.setattr(module, "solve_frame", dying)
    pairs = planted(seed=1)
    clusters, _ = run(spark, pairs, tuning=Tuning(task_pairs=200))
    assert sets_of(clusters) == in_memory(pairs)[0]
    assert os.path.exists(flag)  # noqa: PTH110


def test_evidence_groups_and_sources(spark):
    rows = [
        ("s", 1, "t", 1, 0.9), ("s", 2, "t", 1, 0.95), ("s", 2, "t", 2, 0.8),
        ("s", 3, "t", 3, 0.7), ("s", 5, "t", 5, 0.1), ("s", 6, "t", 6, 0.9),
    ]  # fmt: skip
    names = ["source_dataset_l", "unique_id_l", "source_dataset_r", "unique_id_r"]
    pairs = spark.createDataFrame(rows, [*names, "match_probability"])
    known = {"related": [(("s", 5), ("t", 6))], "unrelated": [(("t", 3), ("s", 3))]}
    clusters, summary = run(
        spark, pairs, Settings(), evidence=known, one_per_group="source_dataset"
    )
    sets: dict[str, set[str]] = {}
    for row in clusters.collect():
        sets.setdefault(row.cluster_id, set()).add(f"{row.source_dataset}{row.unique_id}")
    # t1 goes with s1, and t2 with s2: 3.17 + 2 bits beat 4.25; s5 is t6, hence s6 is alone
    assert set(map(frozenset, sets.values())) == {
        frozenset(s.split()) for s in ["s1 t1", "s2 t2", "s3", "t3", "s5 t6", "s6", "t5"]
    }  # fmt: skip
    assert summary.value == pytest.approx(math.log2(9) + 2)


def test_giant_components_are_split_and_the_bound_stays_valid(spark):
    pairs = planted(seed=2, noise=6.0)
    expected, value, _ = in_memory(pairs)
    clusters, summary = run(spark, pairs, tuning=Tuning(task_pairs=50, most_task_pairs=60))
    assert summary.components_split >= 1
    assert summary.value <= value + 1e-9 <= summary.bound + 1e-6
    assert summary.value >= 0.8 * value
    gaps = {row.cluster_gap for row in clusters.collect()}
    assert sum(gaps) == pytest.approx(summary.gap, abs=1e-6)  # each component has its own
    sets = sets_of(clusters)
    assert sum(map(len, sets)) == sum(map(len, expected))
    where = {k: s for s in sets for k in s}
    total = sum(x for a, b, x in pairs.itertuples(index=False) if b in where[a])
    listed = sum(b in where[a] for a, b, _ in pairs.itertuples(index=False))
    inside = sum(len(s) * (len(s) - 1) // 2 for s in sets)
    assert summary.value == pytest.approx(total - 3.0 * (inside - listed))


def test_odd_rows_are_shown_or_handled(spark):
    rows = [
        (1, 2, 0.9), (2, 1, 0.9), (None, 3, 0.5), (3, 4, None), (3, 4, 1.5), (3, 3, 0.7),
        (4, 5, 0.2), (5, 4, 0.7), (6, 7, 1.0), (8, 9, 0.0),
    ]  # fmt: skip
    schema = "unique_id_l long, unique_id_r long, match_probability double"
    pairs = spark.createDataFrame(rows, schema)
    with pytest.raises(DataError, match="certificate= is not available on Spark"):
        rt.cluster_pairs(pairs, certificate="proof.npz")
    with pytest.raises(DataError) as error:
        rt.cluster_pairs(pairs)
    for kind in ("null_ids: 1", "null_scores: 1", "out_of_range: 1", "contradictory: 2"):
        assert kind in str(error.value)
    found = rt.cluster_pairs(pairs, background=-3.0, odd_rows="handle")
    assert sets_of(found.table) == {
        frozenset(s) for s in [{1, 2}, {3}, {4}, {5}, {6, 7}, {8}, {9}]
    }  # fmt: skip
    odd = found.summary.odd_rows
    assert (odd["self_pairs"], odd["duplicates"], odd["certain"]) == (1, 1, 2)
