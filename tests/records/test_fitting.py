"""Fitting with labels, with few of them, and without."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import relatum as rt
from relatum.errors import BlockingWarning, CalibrationWarning, DataError
from relatum.records import fitting


def f1(people, found, own=slice(None)):
    names = dict(
        zip(found.table["id"].to_pylist(), found.table["cluster_id"].to_pylist(), strict=True)
    )
    clusters = np.unique([names[k] for k in people.records["id"].to_pylist()], return_inverse=True)
    return rt.metrics.pair_precision_recall_f1(people.entity[own], clusters[1][own])[2]


def test_records_without_labels_are_linked(people, fields):
    linker = rt.RecordLinker(fields).fit(people.records)
    report = linker.report_
    assert report.learned_from == "records"
    assert report.f1 is None
    assert report.block_recall > 0.9
    sizes = np.bincount(people.entity)
    assert report.related == pytest.approx((sizes * (sizes - 1) // 2).sum(), rel=0.25)
    assert "(estimated)" in str(report)
    assert f1(people, linker.predict(people.records)) > 0.8


def test_two_sources_without_labels(two_sources, fields):
    linker = rt.RecordLinker(fields, source="source", one_per_source=True)
    linker.fit(two_sources.records)
    assert linker.offset_ == fitting.UNLABELLED_OFFSET
    assert f1(two_sources, linker.predict(two_sources.records)) > 0.75
    linker.set_params(offset=1.5)
    assert linker.fit(two_sources.records).offset_ == 1.5


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [4, 30])
def test_a_few_labels_do_no_harm(people, fields, labelled):
    chosen = np.random.default_rng(5).permutation(people.entity.max() + 1) < labelled
    entity = [int(e) if chosen[e] else None for e in people.entity]
    linker = rt.RecordLinker(fields).fit(people.records, entity)
    assert linker.report_.labelled == sum(e is not None for e in entity)
    assert linker.offset_ <= 0  # too few labelled records to say that scores are too low
    rest = ~chosen[people.entity]
    assert f1(people, linker.predict(people.records), rest) > 0.75


def test_pairs_that_two_searches_find_apart_are_warned_of(people, fields, monkeypatch):
    monkeypatch.setattr(fitting, "ENOUGH", 1.1)
    with pytest.warns(BlockingWarning, match="probable pairs"):
        rt.RecordLinker(fields, neighbors=3).fit(people.records)


def test_households_taken_for_persons_are_warned_of(fields):
    people = rt.datasets.load_people(400, seed=5)
    first = np.unique(people.entity, return_index=True)[1]
    with pytest.warns(CalibrationWarning, match="mostly differ in given_name.*born"):
        rt.RecordLinker(fields).fit(people.records.take(first))


def test_records_that_have_nothing_in_common_are_refused():
    table = pa.table({"e": ["abc", "xyz"]})
    with pytest.raises(DataError, match="three letters in common"):
        rt.RecordLinker({"e": "exact"}).fit(table)


def test_an_offset_without_limit_is_warned_of(two_sources, fields):
    entity = np.asarray(two_sources.entity)
    both = np.bincount(entity)[entity] == 2  # every record has a partner
    records = two_sources.records.filter(pa.array(both))
    linker = rt.RecordLinker(fields, source="source", one_per_source=True)
    with pytest.warns(CalibrationWarning, match="no limit to the offset"):
        linker.fit(records, entity[both])
