"""From records to clusters, end to end, on invented persons."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

import relatum as rt
from relatum.errors import BlockingWarning, DataError, NotFittedError
from relatum.records import fitting as module
from relatum.records.blocking import candidates
from relatum.records.comparison import Comparison
from relatum.records.intake import read_records
from relatum.records.linking import Scorer


def f1(entity, clusters):
    return rt.metrics.pair_precision_recall_f1(entity, clusters)[2]


def halves(people, seed=0):
    first = np.random.default_rng(seed).random(people.entity.max() + 1) < 0.5
    return (np.flatnonzero(first[people.entity] == side) for side in (True, False))


def clusters_in(found, ids):
    """Clusters in the order of ids."""
    table = pa.table(found.table) if not isinstance(found.table, pa.Table) else found.table
    names = dict(zip(table["id"].to_pylist(), table["cluster_id"].to_pylist(), strict=True))
    return np.unique([names[k] for k in ids], return_inverse=True)[1]


@pytest.fixture(scope="module")
def split(people):
    train, test = halves(people)
    return (
        people.records.take(train),
        people.entity[train],
        people.records.take(test),
        people.entity[test],
    )


@pytest.fixture(scope="module")
def linker(split, fields):
    return rt.RecordLinker(fields).fit(split[0], split[1])


def components_at_half(linker, records):
    """What is mostly done: connected components of pairs more likely than not."""
    own = read_records(records, linker.fields, None, None)
    comparison = Comparison(own, linker.frequencies_)
    pairs = candidates(own, comparison.frequencies, linker.neighbors_).pairs
    bits = Scorer(comparison, linker.weights_, 0.0).of_rows(*pairs.T)
    on = pairs[bits > 0]
    graph = coo_array((np.ones(len(on)), tuple(on.T)), shape=(len(own), len(own)))
    return connected_components(graph, directed=False)[1]


def test_new_records_are_clustered_better_than_by_components(linker, split):
    _, _, records, entity = split
    found = linker.predict(records)
    ours = f1(entity, clusters_in(found, records["id"].to_pylist()))
    assert ours > 0.85
    assert ours > f1(entity, components_at_half(linker, records))
    assert abs(ours - linker.report_.f1) < 0.1  # what was held out told the truth
    assert linker.report_.block_recall > 0.95
    assert "held out" in str(linker.report_)


@pytest.mark.slow
def test_the_same_is_found_every_time(linker, split, fields):
    records, entity, new, _ = split
    again = rt.RecordLinker(fields).fit(records, entity)
    assert again.offset_ == linker.offset_
    for one, two in zip(again.weights_.tables, linker.weights_.tables, strict=True):
        assert np.array_equal(one, two)
    assert again.predict(new).table.equals(linker.predict(new).table)


@pytest.mark.slow
def test_all_kinds_of_tables_are_clustered_alike(linker, split, tmp_path):
    new = split[2]
    expected = clusters_in(linker.predict(new), new["id"].to_pylist()).tolist()
    csv.write_csv(new, tmp_path / "new.csv")
    tables = [
        new.to_pandas(),
        pl.from_arrow(new),
        duckdb.connect().from_arrow(new),
        tmp_path / "new.csv",
    ]
    for table in tables:
        found = linker.predict(table).table
        if hasattr(found, "to_arrow_table"):
            found = found.to_arrow_table()
        elif isinstance(found, pl.DataFrame):
            found = found.to_arrow()
        names = dict(
            zip(*(pa.array(found[c]).to_pylist() for c in ("id", "cluster_id")), strict=True)
        )
        own = np.unique([names[k] for k in new["id"].to_pylist()], return_inverse=True)[1]
        assert own.tolist() == expected


def test_two_sources_without_duplicates(two_sources, fields):
    train, test = halves(two_sources)
    linker = rt.RecordLinker(fields, source="source", one_per_source=True)
    linker.fit(two_sources.records.take(train), two_sources.entity[train])
    new = two_sources.records.take(test)
    found = linker.predict(new)
    own = clusters_in(found, new["id"].to_pylist())
    sources = np.array(new["source"].to_pylist())
    for cluster in range(own.max() + 1):
        assert len(set(sources[own == cluster])) == (own == cluster).sum()
    assert f1(two_sources.entity[test], own) > 0.8


def test_labels_of_some_records_are_enough(people, fields):
    rng = np.random.default_rng(0)
    known = rng.random(people.entity.max() + 1) < 0.4
    entity = [int(e) if known[e] else None for e in people.entity]
    linker = rt.RecordLinker(fields).fit(people.records, entity)
    assert linker.report_.labelled == sum(e is not None for e in entity)
    own = clusters_in(linker.predict(people.records), people.records["id"].to_pylist())
    rest = ~known[people.entity]
    assert f1(people.entity[rest], own[rest]) > 0.85


def test_evidence_and_earlier_clusters_are_kept(linker, split):
    new = split[2]
    found = linker.predict(new)
    own = found.table
    ids, clusters = own["id"].to_pylist(), own["cluster_id"].to_pylist()
    a = next(k for k in range(len(ids)) if clusters.count(clusters[k]) > 1)
    b = next(k for k in range(len(ids)) if k != a and clusters[k] == clusters[a])
    facts = {"unrelated": [(ids[a], ids[b])]}
    later = linker.predict(new, evidence=facts, previous=found)
    names = dict(
        zip(later.table["id"].to_pylist(), later.table["cluster_id"].to_pylist(), strict=True)
    )
    assert names[ids[a]] != names[ids[b]]
    assert later.summary.components_reused > 0


def test_a_pair_is_explained_by_bits_that_add_up(linker, split):
    new = split[2]
    ids = new["id"].to_pylist()
    found = linker.explain_pair(new, ids[0], ids[1])
    own = read_records(new, linker.fields, None, None)
    comparison = Comparison(own, linker.frequencies_)
    offset = linker.report_.shifted(len(own))
    score = Scorer(comparison, linker.weights_, offset)([ids[0]], [ids[1]])[0]
    assert sum(bits for _, _, bits in found) == pytest.approx(score)
    assert {name for name, _, _ in found} > set(linker.fields)


@pytest.mark.slow
def test_a_monitor_is_told_of_the_stages(split, fields):
    stages = []
    linker = rt.RecordLinker(fields).fit(*split[:2], monitor=lambda *told: stages.append(told[0]))
    assert {"read", "vectors", "block", "compare", "learn", "calibrate"} <= set(stages)
    stages.clear()
    linker.predict(split[2], monitor=lambda *told: stages.append(told[0]))
    assert {"block", "compare", "cluster"} <= set(stages)


@pytest.mark.slow
def test_an_offset_may_be_given(split, fields):
    linker = rt.RecordLinker(fields, offset=-3.0, neighbors=5).fit(*split[:2])
    assert linker.offset_ == linker.report_.offset == -3.0
    assert linker.neighbors_ == 5


@pytest.mark.slow
def test_few_candidates_are_warned_of(split, fields, monkeypatch):
    monkeypatch.setattr(module, "ENOUGH", 1.1)
    with pytest.warns(BlockingWarning, match="true pairs"):
        found = rt.RecordLinker(fields).fit(*split[:2])
    assert found.neighbors_ == 40


def test_it_is_a_scikit_learn_estimator(fields):
    linker = rt.RecordLinker(fields, source="s", keys=["a"])
    again = clone(linker).set_params(neighbors=3)
    assert again.get_params()["neighbors"] == 3
    assert again.get_params()["keys"] == ["a"]
    assert "RecordLinker" in repr(linker)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fields": {"surname": "prose"}}, "kind of the field"),
        ({"fields": {"nobody": "name"}}, "no column 'nobody'"),
        ({"fields": None}, "fields= names"),
        ({"source": "nowhere"}, "no column 'nowhere'"),
        ({"source": 3}, "source= is the name"),
        ({"id": "nothing"}, "no column 'nothing'"),
        ({"one_per_source": True}, "needs source="),
        ({"one_per_source": 7}, "one_per_source"),
        ({"keys": "surname"}, "keys= is a list"),
        ({"keys": ["nothing"]}, "no column 'nothing'"),
        ({"neighbors": 0}, "neighbors"),
        ({"neighbors": "many"}, "neighbors"),
        ({"offset": "large"}, "offset"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_settings_that_make_no_sense_are_refused(people, fields, options, told):
    with pytest.raises(DataError, match=told):
        rt.RecordLinker(**{"fields": fields, **options}).fit(people.records, people.entity)


def test_records_that_nothing_can_be_learned_from_are_refused(people, fields):
    with pytest.raises(DataError, match="entities; give one label"):
        rt.RecordLinker(fields).fit(people.records, people.entity[:-1])
    with pytest.raises(DataError, match="No two records have the same entity"):
        rt.RecordLinker(fields).fit(people.records, np.arange(len(people.entity)))
    with pytest.raises(DataError, match="At least two records"):
        rt.RecordLinker(fields).fit(people.records.slice(0, 1), [1])
    with pytest.raises(DataError, match="monitor"):
        rt.RecordLinker(fields).fit(people.records, people.entity, monitor=3)


def test_sources_that_nothing_can_be_learned_between_are_refused(people, fields):
    records, entity = people.records.slice(0, 60), people.entity[:60]
    one = records.append_column("shop", pa.array(["a"] * len(records)))
    own = records.append_column("shop", pa.array(entity))  # a source for each entity
    linker = rt.RecordLinker(fields, source="shop", one_per_source=True)
    for table in (one, own):
        with pytest.raises(DataError, match="No two records of different sources"):
            linker.fit(table, entity)
    with pytest.raises(DataError, match="All records are of one source"):
        linker.fit(one)


def test_fields_stay_those_that_it_was_fitted_to(linker, split, fields):
    records = split[2]
    expected = linker.predict(records).table
    other = clone(linker)
    other.__dict__ |= {key: value for key, value in vars(linker).items() if key.endswith("_")}
    other.set_params(fields=dict(reversed(fields.items())))  # the same, in another order
    assert other.predict(records).table.equals(expected)
    other.set_params(fields={**fields, "surname": "text"})
    with pytest.raises(DataError, match="call its fit method again"):
        other.predict(records)
    with pytest.raises(DataError, match="call its fit method again"):
        other.explain_pair(records, 0, 1)


def test_a_linker_that_is_not_fitted_says_so(people, fields):
    with pytest.raises(NotFittedError):
        rt.RecordLinker(fields).predict(people.records)
    with pytest.raises(NotFittedError):
        rt.RecordLinker(fields).explain_pair(people.records, 0, 1)


def test_clusters_explain_pairs_by_fields(linker, split):
    found = linker.predict(split[2])
    own = found.table
    ids, clusters = own["id"].to_pylist(), own["cluster_id"].to_pylist()
    a = next(k for k in range(len(ids)) if clusters.count(clusters[k]) > 1)
    b = next(k for k in range(len(ids)) if k != a and clusters[k] == clusters[a])
    assert found.contributions(ids[a], ids[b]) == linker.explain_pair(split[2], ids[a], ids[b])
    assert "surname" in str(found.explain(ids[a], ids[b]))


def test_a_linker_is_kept_in_a_file(linker, split, tmp_path):
    rt.io.save_model(tmp_path / "people.model", linker)
    again = rt.io.load_model(tmp_path / "people.model")
    assert again.report_ == linker.report_
    assert again.get_params() == linker.get_params()
    assert again.predict(split[2]).table.equals(linker.predict(split[2]).table)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fields_", {"surname": "name"}),
        ("tables_", []),
        ("intercept_", float("nan")),
        ("background_", 1.0),
        ("neighbors_", 0),
        ("counted_", {}),
        ("measure_", "none"),
        ("told_", {"x": 1}),
    ],
)
def test_a_damaged_linker_is_refused(linker, name, value, tmp_path):
    damaged = clone(linker)
    damaged.__dict__.update({**linker.__dict__, name: value})
    with pytest.raises(DataError):
        rt.io.save_model(tmp_path / "people.model", damaged)
