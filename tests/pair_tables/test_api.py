"""cluster_pairs: the same as inference on the whole, on every engine, whatever the rows' order."""

from __future__ import annotations

import functools
import math
import sys

import numpy as np
import pytest

import relatum as rt
from relatum.errors import BlockingWarning, DataError, EvidenceError, MissingDependencyError
from relatum.pair_tables import Settings, Summary, api, verify_clusters
from relatum.pair_tables.options import Tuning

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def planted(seed, n=60, size=5, density=0.5, noise=3.0, listed=0.9):
    """Listed pairs of a noisy clustering: names of elements, log-odds, the true entities."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) // size
    a, b = np.triu_indices(n, 1)
    same = truth[a] == truth[b]
    keep = np.where(same, rng.random(len(a)) < listed, rng.random(len(a)) < density * size / n)
    a, b, same = a[keep], b[keep], same[keep]
    bits = np.where(same, 5.0, -5.0) + noise * rng.normal(size=len(a))
    names = np.array([f"r{k:03d}" for k in rng.permutation(n)])
    return names[a], names[b], bits, dict(zip(names.tolist(), truth.tolist(), strict=True))


def table_of(left, right, bits):
    return pd.DataFrame({"unique_id_l": left, "unique_id_r": right, "match_weight": bits})


def sets_of(table, source=None):
    """Clusters as a set of sets of ids."""
    rows = pa.Table.from_pandas(table).to_pylist() if hasattr(table, "iloc") else table.to_pylist()
    found = {}
    for row in rows:
        key = row["unique_id"] if source is None else (row[source], row["unique_id"])
        found.setdefault(row["cluster_id"], set()).add(key)
    return {frozenset(s) for s in found.values()}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("background", [-4.0, -1.0, 0.0])
def test_value_and_bound_enclose_the_optimum_of_the_whole_problem(seed, background):
    left, right, bits, _ = planted(seed)
    found = rt.cluster_pairs(table_of(left, right, bits), background=background, prove=True)
    problem = rt.Problem.from_table(
        table_of(left, right, bits), background=background, feasible=rt.EQUIVALENCES
    )
    best = rt.infer(problem, prove=True)
    number = {name: k for k, name in enumerate(problem.ids)}
    labels = np.empty(problem.n, dtype=object)
    for row in found.table.itertuples():
        labels[number[row.unique_id]] = row.cluster_id
    codes = np.unique(labels.astype(str), return_inverse=True)[1]
    assert found.summary.value == pytest.approx(problem.value(rt.Partition(codes)))
    assert found.summary.value == pytest.approx(best.value, abs=1e-5)
    assert found.summary.gap <= 1e-4
    positive = {
        (row.unique_id_l, row.unique_id_r)
        for row in table_of(left, right, bits).itertuples()
        if row.match_weight > 0
    }
    cluster = dict(zip(found.table.unique_id, found.table.cluster_id, strict=True))
    assert found.summary.pairs_cut == sum(cluster[a] != cluster[b] for a, b in positive)
    sizes = found.table.groupby("cluster_id").size()
    inside = int((sizes * (sizes - 1) // 2).sum())
    kept = len(positive) - found.summary.pairs_cut
    assert found.summary.pairs_added == inside - kept


def test_order_and_direction_of_rows_do_not_matter():
    left, right, bits, _ = planted(1, n=200)
    first = rt.cluster_pairs(table_of(left, right, bits))
    rng = np.random.default_rng(0)
    order, flip = rng.permutation(len(bits)), rng.random(len(bits)) < 0.5
    a, b = np.where(flip, right, left)[order], np.where(flip, left, right)[order]
    second = rt.cluster_pairs(table_of(a, b, bits[order]), threads=1, memory_limit="100MB")
    assert first.table.equals(second.table)
    assert first.summary.value == second.summary.value


def test_every_kind_of_table_gives_the_same(tmp_path):
    left, right, bits, _ = planted(2)
    frame = table_of(left, right, bits)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    first = rt.cluster_pairs(frame)
    expected = sets_of(first.table)
    assert sets_of(rt.cluster_pairs(arrow).table) == expected
    from pyarrow import csv, parquet

    parquet.write_table(arrow.slice(0, 50), tmp_path / "a.parquet")
    parquet.write_table(arrow.slice(50), tmp_path / "b.parquet")
    csv.write_csv(arrow, tmp_path / "pairs.csv")
    assert sets_of(rt.cluster_pairs(tmp_path / "*.parquet").table) == expected
    assert sets_of(rt.cluster_pairs(str(tmp_path / "pairs.csv")).table) == expected
    relation = rt.cluster_pairs(duckdb.connect().from_arrow(arrow))
    assert type(relation.table).__name__ == "DuckDBPyRelation"
    assert sets_of(relation.table.to_arrow_table()) == expected
    polars = pytest.importorskip("polars")
    own = rt.cluster_pairs(polars.from_arrow(arrow))
    assert isinstance(own.table, polars.DataFrame)
    assert sets_of(own.table.to_arrow()) == expected


@pytest.mark.parametrize("kind", ["dense", "sparse", "date", "uuid"])
def test_ids_of_any_type(kind):
    import datetime
    import uuid

    left, right, bits, _ = planted(3)
    make = {
        "dense": lambda name: int(name[1:]) - 7,
        "sparse": lambda name: int(name[1:]) * 10**15 - 3,
        "date": lambda name: datetime.date(2020, 1, 1) + datetime.timedelta(int(name[1:])),
        "uuid": lambda name: str(uuid.UUID(int=int(name[1:]))),
    }[kind]
    ends = [pa.array([make(x) for x in side]) for side in (left, right)]
    own = pa.table({"unique_id_l": ends[0], "unique_id_r": ends[1], "match_weight": bits})
    expected = sets_of(rt.cluster_pairs(table_of(left, right, bits)).table)
    found = sets_of(rt.cluster_pairs(own).table)
    assert found == {frozenset(make(x) for x in s) for s in expected}


def test_records_of_several_sources_are_told_apart():
    pairs = pa.table(
        {
            "source_dataset_l": ["x", "x", "y"],
            "unique_id_l": [1, 2, 1],
            "source_dataset_r": ["y", "y", "y"],
            "unique_id_r": [1, 1, 2],
            "match_probability": [0.99, 0.97, 0.5],
        }
    )
    found = rt.cluster_pairs(pairs, background=0.0)
    assert found.table.column_names[:2] == ["source_dataset", "unique_id"]
    assert sets_of(found.table, "source_dataset") == {
        frozenset({("x", 1), ("y", 1), ("x", 2)}),
        frozenset({("y", 2)}),
    }
    assert "x-__-1" in found.table["cluster_id"].to_pylist()
    one = rt.cluster_pairs(pairs, background=0.0, one_per_group="source_dataset")
    assert frozenset({("x", 1), ("y", 1)}) in sets_of(one.table, "source_dataset")
    facts = {"unrelated": [(("x", 1), ("y", 1))]}
    other = rt.cluster_pairs(pairs, background=0.0, evidence=facts)
    assert frozenset({("x", 2), ("y", 1)}) in sets_of(other.table, "source_dataset")


def odd_table():
    return pa.table(
        {
            "unique_id_l": ["a", "a", None, "c", "b", "e", "e", "a"],
            "unique_id_r": ["b", "b", "b", "c", "d", "f", "g", "c"],
            "match_probability": [0.9, 0.9, 0.9, 0.4, 1.5, math.nan, None, 1.0],
        }
    )


def test_odd_rows_are_refused_and_shown():
    with pytest.raises(DataError) as error:
        rt.cluster_pairs(odd_table())
    text = str(error.value)
    assert "null_ids: 1 rows" in text
    assert "out_of_range: 1 rows" in text
    assert "null_scores: 2 rows" in text
    assert "1.5" in text
    assert "odd_rows" in text


def test_odd_rows_are_handled_and_counted():
    found = rt.cluster_pairs(odd_table(), odd_rows="handle", background=0.0)
    assert sets_of(found.table) == {frozenset("abc"), *(frozenset(x) for x in "defg")}
    assert dict(found.summary.odd_rows) == {
        "null_ids": 1,
        "null_scores": 2,
        "out_of_range": 1,
        "self_pairs": 1,
        "certain": 1,
        "duplicates": 1,
        "contradictory": 0,
    }


def test_contradictory_scores_are_refused_or_averaged():
    pairs = table_of(["a", "b", "b"], ["b", "a", "c"], [3.0, -1.0, 2.0])
    with pytest.raises(DataError, match=r"contradictory: 2 rows(.|\n)*\('a',\)"):
        rt.cluster_pairs(pairs)
    found = rt.cluster_pairs(pairs, odd_rows="handle", background=0.0)
    assert found.summary.value == 3.0
    assert found.summary.odd_rows["contradictory"] == 2


def test_evidence_by_mapping_and_by_table():
    left, right, bits, truth = planted(4)
    names = sorted(truth)
    pairs = table_of(left, right, bits)
    free = sets_of(rt.cluster_pairs(pairs).table)
    together = next(s for s in free if len(s) > 2)
    a, b = sorted(together)[:2]
    other = next(x for x in names if x not in together)
    facts = {"related": [(a, other)], "unrelated": [(b, a)]}
    found = rt.cluster_pairs(pairs, evidence=facts)
    cluster = dict(zip(found.table.unique_id, found.table.cluster_id, strict=True))
    assert cluster[a] == cluster[other] != cluster[b]
    table = pd.DataFrame({"unique_id_l": [a, b], "unique_id_r": [other, a], "related": [1, 0]})
    assert found.table.equals(rt.cluster_pairs(pairs, evidence=table).table)
    with pytest.raises(EvidenceError, match="'nobody'"):
        rt.cluster_pairs(pairs, evidence={"related": [(a, "nobody")]})
    with pytest.raises(EvidenceError, match=r"cannot be clustered.*Its elements.*"):
        rt.cluster_pairs(pairs, evidence={"related": [(a, b)], "unrelated": [(a, b)]})
    with pytest.raises(EvidenceError, match="'wrong'"):
        rt.cluster_pairs(pairs, evidence={"wrong": []})


def test_groups_and_caps_are_obeyed():
    left, right, bits, truth = planted(5)
    groups = {name: k % 7 for k, name in enumerate(sorted(truth))}
    found = rt.cluster_pairs(table_of(left, right, bits), one_per_group=groups, max_size=3)
    for cluster in sets_of(found.table):
        assert len(cluster) <= 3
        assert len({groups[x] for x in cluster}) == len(cluster)
    table = pd.DataFrame({"unique_id": list(groups), "group": list(groups.values())})
    again = rt.cluster_pairs(table_of(left, right, bits), one_per_group=table, max_size=3)
    assert again.table.equals(found.table)


def test_missing_pairs_are_scored_inside_components():
    left, right, bits, truth = planted(6, density=1.5)
    asked = []

    def score(a, b):
        asked.extend(zip(a, b, strict=True))
        return np.where([truth[x] == truth[y] for x, y in zip(a, b, strict=True)], 8.0, -8.0)

    pairs = table_of(left, right, bits)
    found = rt.cluster_pairs(pairs, score_missing=score, labels=truth)
    listed = {frozenset(p) for p in zip(left, right, strict=True)}
    assert asked
    assert found.summary.pairs_scored == len(asked)
    assert not {frozenset(p) for p in asked} & listed
    assert found.summary.f1 >= rt.cluster_pairs(pairs, labels=truth).summary.f1
    with pytest.raises(DataError, match="one finite number"):
        rt.cluster_pairs(pairs, score_missing=lambda a, b: np.full(len(a), np.nan))


def test_labels_give_recall_and_a_background():
    left, right, bits, truth = planted(7, n=200, listed=0.97)
    pairs = table_of(left, right, bits)
    found = rt.cluster_pairs(pairs, labels=truth, background="learned")
    listed = sum(truth[a] == truth[b] for a, b in zip(left, right, strict=True))
    assert found.summary.block_recall == pytest.approx(listed / 400)
    assert found.summary.background < 0
    assert f"block recall {listed / 400:.3f}" in str(found.summary)
    some = dict(list(truth.items())[:50])
    assert rt.cluster_pairs(pairs, labels=some).summary.block_recall is not None
    half = np.arange(len(pairs)) % 2 == 0
    with pytest.warns(BlockingWarning, match="score_missing") as told:
        rt.cluster_pairs(pairs[half], labels=truth)
    assert told[0].filename == __file__  # whoever called
    with pytest.raises(DataError, match="labels="):
        rt.cluster_pairs(pairs, background="learned")


def test_earlier_clusters_keep_their_ids_and_only_touched_components_are_solved(tmp_path):
    left, right, bits, _ = planted(8, n=300, density=0.05)
    pairs = table_of(left, right, bits)
    first = rt.cluster_pairs(pairs, output=tmp_path / "first.parquet", details=True)
    plain = rt.cluster_pairs(pairs)
    assert plain.table.equals(first.table.drop(columns="component"))
    same = rt.cluster_pairs(pairs, previous=plain)
    assert same.summary.components_solved == 0
    assert same.table.equals(plain.table)
    anew = rt.cluster_pairs(pairs, previous=plain.table)
    assert anew.summary.components_reused == 0
    assert anew.table.equals(plain.table)
    assert same.summary.value == pytest.approx(first.summary.value)
    assert same.summary.bound == pytest.approx(first.summary.bound)
    cluster = next(s for s in sorted(sets_of(first.table), key=sorted) if len(s) > 2)
    a, b = sorted(cluster)[:2]
    facts = {"unrelated": [(a, b)]}
    plain.save(tmp_path / "plain.clusters")
    kept = (first, first.table, tmp_path / "first.parquet", tmp_path / "plain.clusters")
    for previous in kept:
        found = rt.cluster_pairs(pairs, previous=previous, evidence=facts)
        assert found.summary.components_solved == 1
        assert found.summary.changes.split >= 1
        fresh = rt.cluster_pairs(pairs, evidence=facts)
        assert sets_of(found.table) == sets_of(fresh.table)
        assert found.summary.value == pytest.approx(fresh.summary.value)
    before = dict(zip(first.table.unique_id, first.table.cluster_id, strict=True))
    after = dict(zip(found.table.unique_id, found.table.cluster_id, strict=True))
    moved = [x for x in before if before[x] != after[x]]
    assert found.summary.changes.moved == len(moved) < len(cluster)
    assert len(set(after.values())) == found.summary.clusters


def test_new_and_gone_elements_are_counted():
    pairs = table_of(["a", "c"], ["b", "d"], [3.0, 3.0])
    earlier = {"a": 7, "b": 7, "x": 7, "c": 9}
    found = rt.cluster_pairs(pairs, previous=earlier)
    assert found.summary.changes.new == 1
    assert found.summary.changes.gone == 1
    assert found.table.cluster_id.tolist() == ["7", "7", "9", "9"]


@pytest.fixture
def small_wholes(monkeypatch):
    """Search components of up to 150 elements whole, not of 20,000."""
    monkeypatch.setattr(api, "Settings", functools.partial(Settings, most_elements=150))


def test_giant_components_are_split_and_told(small_wholes, monkeypatch):
    left, right, bits, _ = planted(9, n=400, density=3.0)
    pairs = table_of(left, right, bits)
    split = rt.cluster_pairs(pairs)
    few = functools.partial(Settings, most_elements=150, tuning=Tuning(sorted_pairs=40))
    monkeypatch.setattr(api, "Settings", few)
    again = rt.cluster_pairs(pairs, memory_limit=10_000)  # pairs sorted in many parts
    assert again.table.equals(split.table)
    monkeypatch.setattr(api, "Settings", Settings)
    whole = rt.cluster_pairs(pairs)
    assert whole.summary.components_split == 0
    assert split.summary.components_split == 1
    assert split.summary.pieces > 1
    assert "too large" in str(split.summary)
    assert split.summary.value <= whole.summary.value + 1e-6 <= split.summary.bound + 2e-6
    assert split.table.cluster_gap.max() == pytest.approx(split.summary.gap)


def test_split_components_obey_evidence_groups_and_keep_nothing(small_wholes):
    left, right, bits, truth = planted(12, n=400, density=3.0)
    pairs, names = table_of(left, right, bits), sorted(truth)
    facts = {"related": [(names[0], names[201])], "unrelated": [(left[0], right[0])]}
    groups = {name: k % 100 for k, name in enumerate(names)}
    found = rt.cluster_pairs(pairs, evidence=facts, one_per_group=groups)
    assert found.summary.components_split == 1
    cluster = dict(zip(found.table.unique_id, found.table.cluster_id, strict=True))
    assert cluster[names[0]] == cluster[names[201]]
    assert cluster[left[0]] != cluster[right[0]]
    for members in sets_of(found.table):
        assert len({groups[x] for x in members}) == len(members)
    later = rt.cluster_pairs(pairs, previous=found, evidence=facts, one_per_group=groups)
    assert later.summary.value >= found.summary.value - 1e-6


def test_little_memory_gives_the_same(tmp_path):
    rng = np.random.default_rng(0)
    n = 30_000
    a = rng.integers(0, n, 120_000)
    b = np.minimum(n - 1, a - a % 4 + rng.integers(0, 4, len(a)))
    far = rng.random(len(a)) < 0.3
    b[far] = rng.integers(0, n, int(far.sum()))
    bits = np.where(a // 4 == b // 4, 4.0, -4.0) + 2 * rng.normal(size=len(a))
    pairs = pa.table({"unique_id_l": a, "unique_id_r": b, "match_weight": bits})
    first = rt.cluster_pairs(pairs, odd_rows="handle")
    small = rt.cluster_pairs(pairs, odd_rows="handle", memory_limit=2_000_000)
    assert first.table.equals(small.table)
    with pytest.raises(DataError, match="2GB"):
        rt.cluster_pairs(pairs, memory_limit="much")


def test_an_interrupted_run_leaves_nothing_half_written(tmp_path):
    left, right, bits, _ = planted(10)
    out = tmp_path / "clusters.parquet"

    def stop(stage, done, total):
        if stage == "solve":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rt.cluster_pairs(table_of(left, right, bits), output=out, monitor=stop)
    assert list(tmp_path.iterdir()) == []
    rt.cluster_pairs(table_of(left, right, bits), output=out)
    assert [p.name for p in tmp_path.iterdir()] == ["clusters.parquet"]
    with pytest.raises(DataError, match=r"\.parquet or \.csv"):
        rt.cluster_pairs(table_of(left, right, bits), output=tmp_path / "clusters.xls")


def test_an_empty_table_has_no_clusters():
    empty = pa.table(
        {
            "unique_id_l": pa.array([], pa.string()),
            "unique_id_r": pa.array([], pa.string()),
            "match_weight": pa.array([], pa.float64()),
        }
    )
    found = rt.cluster_pairs(empty)
    assert found.summary.clusters == 0
    assert found.table.num_rows == 0


def test_wrong_input_is_named(tmp_path):
    pairs = table_of(["a"], ["b"], [1.0])
    with pytest.raises(DataError, match="no file"):
        rt.cluster_pairs(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="DuckDB relation"):
        rt.cluster_pairs(7)
    with pytest.raises(DataError, match="one number per row"):
        rt.cluster_pairs(
            pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": ["x"]})
        )
    with pytest.raises(DataError, match="odd_rows"):
        rt.cluster_pairs(pairs, odd_rows="ignore")
    with pytest.raises(DataError, match="Spark DataFrame"):
        rt.cluster_pairs(pairs, engine="spark")
    with pytest.raises(DataError, match="engine"):
        rt.cluster_pairs(pairs, engine="dask")
    with pytest.raises(rt.errors.ProblemError, match="at most 0"):
        rt.cluster_pairs(pairs, background=2.0)


def test_a_summary_is_plain_numbers():
    import json

    left, right, bits, _ = planted(11)
    summary = rt.cluster_pairs(table_of(left, right, bits)).summary
    assert json.loads(json.dumps(summary.as_dict()))["clusters"] == summary.clusters
    assert Summary.of({"clusters": 3, "unknown": 1}).clusters == 3


def test_without_duckdb_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("relatum.pair_tables.on_duckdb")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingDependencyError, match=r"relatum\[tables\]"):
        rt.cluster_pairs(table_of(["a"], ["b"], [1.0]))


def test_arguments_that_spark_does_not_take_are_named():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    given = (("certificate", "x"), ("details", True), ("confidence", True))
    for name, value in given:
        with pytest.raises(DataError, match=f"{name}= is not available on Spark"):
            rt.cluster_pairs(frame, **{name: value})
    with pytest.raises(DataError, match="Certificates are not available on Spark"):
        verify_clusters(frame, "x")
    with pytest.raises(DataError, match="needs labels="):
        rt.cluster_pairs(frame, background="learned")
    with pytest.raises(DataError, match="does not read Spark DataFrames"):
        rt.cluster_pairs(frame, engine="duckdb")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"background": "x"}, "background, in bits or .learned., is a finite number, got 'x'"),
        ({"background": None}, "got None"),
        ({"max_size": 2.5}, "max_size is a whole number from 1"),
        ({"max_size": 10**30}, "max_size is a whole number from 1"),
        ({"prove": "yes"}, "prove is True or False"),
        ({"time_limit": "1"}, "time_limit is a positive number"),
        ({"threads": 0}, "threads is a whole number from 1"),
        ({"search": -1}, "search is a whole number from 0"),
        ({"memory_limit": "much"}, "a number and a unit"),
        ({"monitor": 3}, "monitor is a function"),
        ({"left": 3}, "left= is the name of a column"),
        ({"engine": ["auto"]}, "engine is"),
    ],
)
def test_odd_options_are_refused(options, says):
    table = pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": [1.0]})
    with pytest.raises(rt.errors.RelatumError, match=says) as caught:
        rt.cluster_pairs(table, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bits", [1e308, -1e308, 2.0**901])
def test_scores_that_cannot_be_added_up_are_refused(bits):
    columns = {"unique_id_l": ["a", "b"], "unique_id_r": ["b", "c"], "match_weight": [bits, 1.0]}
    with pytest.raises(rt.errors.DataError, match="out_of_range: 1 rows"):
        rt.cluster_pairs(pa.table(columns))
    found = rt.cluster_pairs(pa.table(columns), odd_rows="handle")
    assert found.summary.value == 1.0
    columns["match_weight"] = [5e-324, 1.0]
    assert rt.cluster_pairs(pa.table(columns)).summary.value == 1.0


def test_outputs_that_cannot_be_written_are_refused_before_the_work(tmp_path, monkeypatch):
    table = pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": [1.0]})

    def never(*arguments):
        raise AssertionError("the work was begun")

    monkeypatch.setattr(api, "_engine", lambda on_spark: never)
    proof = tmp_path / "proof.npz"
    for output in (tmp_path / "x.gz", tmp_path / "nowhere" / "x.csv", tmp_path, 3, "a\0.csv"):
        with pytest.raises(DataError):
            rt.cluster_pairs(table, output=output, certificate=proof)
    with pytest.raises(DataError, match="name two files"):
        rt.cluster_pairs(table, output=tmp_path / "x.csv", certificate=tmp_path / "x.csv")
    with pytest.raises(DataError, match="named by a path"):
        rt.cluster_pairs(table, certificate=object())
    assert list(tmp_path.iterdir()) == []


def test_confidence_is_the_probability_of_the_cluster():
    left, right, bits, _ = planted(3, n=30, size=3, density=0.2)
    table = table_of(left, right, bits)
    plain = rt.cluster_pairs(table, background=-4.0, details=True)
    found = rt.cluster_pairs(table, background=-4.0, details=True, confidence=True)
    assert "confidence" not in plain.table.columns
    assert found.table.drop(columns="confidence").equals(plain.table)
    assert (
        found.summary.confidences_exact
        == np.isin(
            found.table["component"],
            found.table["component"].value_counts().loc[lambda c: c <= 10].index,
        ).sum()
    )
    for _, part in found.table.groupby("component"):
        if len(part) > 10:
            continue
        ids = part["unique_id"].tolist()
        inside = table["unique_id_l"].isin(ids) & table["unique_id_r"].isin(ids)
        own = {name: k for k, name in enumerate(ids)}
        problem = rt.Problem.from_pairs(
            table["unique_id_l"][inside].map(own).to_numpy(np.int64),
            table["unique_id_r"][inside].map(own).to_numpy(np.int64),
            table["match_weight"][inside].to_numpy(),
            n=len(ids),
            background=-4.0,
            feasible=rt.EQUIVALENCES,
        )
        labels = rt.Partition(pd.factorize(part["cluster_id"])[0])
        known = rt.probabilities(problem).confidence(labels)
        assert part["confidence"].to_numpy() == pytest.approx(known, abs=1e-12)
    with pytest.raises(rt.errors.ProblemError, match="confidence is True or False"):
        rt.cluster_pairs(table, confidence=1)


@pytest.mark.parametrize("certified", [False, True])
def test_binary_ids_are_texts_or_refused(tmp_path, certified):
    def table(ids):
        kind = pa.binary()
        left, right = pa.array(ids[:2], kind), pa.array(ids[1:], kind)
        return pa.table({"unique_id_l": left, "unique_id_r": right, "match_weight": [1.0, 2.0]})

    more = {"certificate": tmp_path / "c.cert"} if certified else {}
    found = rt.cluster_pairs(table([b"a", b"b", b"c"]), background=-9.0, **more)
    assert found.summary.value == 2.0
    out = tmp_path / "out.parquet"
    with pytest.raises(rt.errors.DataError, match=r"no text in UTF-8.*hexadecimal") as caught:
        rt.cluster_pairs(table([b"\xff\x01", b"b", b"\xff\x02"]), output=out, **more)
    assert "\n" not in str(caught.value)
    assert not out.exists()


def test_an_interrupted_query_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt), api._plain_errors():
        raise RuntimeError("Query interrupted")
