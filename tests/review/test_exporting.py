"""What comes out is verified, and is what the review shows."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

import relatum as rt
from relatum.io import read_answers
from relatum.pair_tables import verify_clusters
from relatum.review.exporting import FILES, current_table, export

pytest.importorskip("pyarrow")


def test_export_is_verified_and_agrees(opened, table, tmp_path):
    session = opened()
    for _ in range(8):
        question = session.question()
        a, b = question.a, question.b
        session.answer(a, b, bool(table.truth[a] == table.truth[b]))
    made = export(session, tmp_path)
    assert made.verified
    assert all((tmp_path / name).is_file() for name in FILES)
    assert made.clusters.summary.value == pytest.approx(session.numbers().value, abs=1e-6)
    again = verify_clusters(
        table.pairs,
        tmp_path / "clusters.certificate",
        clusters=tmp_path / "clusters.parquet",
        evidence=tmp_path / "answers.csv",
    )
    assert again
    session.undo()  # the certificate is about other evidence now
    other = verify_clusters(
        table.pairs, tmp_path / "clusters.certificate", evidence=tmp_path / "answers.csv"
    )
    assert not other


def test_the_table_as_it_is_now(opened, table):
    session = opened()
    whole = current_table(session)
    assert whole.equals(table.clusters.origin.whole)
    roots = sorted({session.root(k) for k in range(len(table.truth))})
    session.answer(roots[0], roots[1], True)
    ids = current_table(session)["cluster_id"].to_pylist()
    assert ids[roots[0]] == ids[roots[1]]
    assert len(set(ids)) == session.numbers().clusters


def test_answers_that_contradict_others_are_left_out_and_the_rest_verifies(opened, table, tmp_path):
    ann, bob = opened(), opened(who="bob")
    ann.answer(0, 1, True)
    ann.answer(1, 2, True)
    bob.answer(0, 2, False)  # set aside
    bob.answer(3, 4, False)
    ann.answer(5, 6, True)
    ann.undo()
    made = export(bob, tmp_path)
    assert made.verified
    assert (made.used, made.aside) == (3, 1)
    used = read_answers(tmp_path / "evidence.csv")
    every = {(a.left, a.right, a.action): a for a in read_answers(tmp_path / "answers.csv")}
    assert len(every) == 4
    assert [(a.left, a.right, a.verdict) for a in used] == [
        ("r000", "r001", "same"), ("r001", "r002", "same"), ("r003", "r004", "different"),
    ]  # fmt: skip
    assert all(every[a.left, a.right, a.action] == a for a in used)  # who and when, too
    files = {"clusters": tmp_path / "clusters.csv", "evidence": tmp_path / "evidence.csv"}
    certificate = tmp_path / "clusters.certificate"
    assert verify_clusters(table.pairs, certificate, **files)
    raw = {"clusters": tmp_path / "clusters.csv", "evidence": tmp_path / "answers.csv"}
    assert not _verifies(table.pairs, certificate, raw)
    again = rt.cluster_pairs(table.pairs, evidence=tmp_path / "evidence.csv")
    assert again.summary.value == pytest.approx(made.clusters.summary.value, abs=1e-6)


def _verifies(pairs, certificate, files):
    try:
        return verify_clusters(pairs, certificate, **files)
    except rt.errors.RelatumError:  # evidence that contradicts itself may also be refused
        return False


def test_what_was_known_before_is_evidence_of_the_export(table, tmp_path):
    from relatum.review import Session

    known = {"related": [("r000", "r001")], "unrelated": [("r002", "r003")]}
    session = Session(rt.cluster_pairs(table.pairs, evidence=known), answers=tmp_path / "a.csv")
    session.answer(0, 1, False)  # against what was known
    session.answer(4, 5, True)
    made = export(session, tmp_path)
    assert made.verified
    assert (made.used, made.aside) == (1, 1)
    used = read_answers(tmp_path / "evidence.csv")
    assert [(a.left, a.right, a.verdict) for a in used] == [
        ("r000", "r001", "same"), ("r002", "r003", "different"), ("r004", "r005", "same"),
    ]  # fmt: skip


FIRST = datetime.datetime(2020, 1, 1, 12, 0, 0, 25)
IDS = {
    "dates": [FIRST.date() + datetime.timedelta(days=k) for k in range(6)],
    "times": [FIRST + datetime.timedelta(seconds=k) for k in range(6)],
    "decimals": [Decimal(k) / 8 for k in range(8, 14)],
    "floats": [1e22, 1e-7, 0.1 + 0.2, 1e16, -0.5, 5e-324],
    "texts": ["a,b", "a\nb", "=1+1", "'x", "\\n", "01"],
    "bytes": [b"a", b"b", b"c", b"d", b"e", b"f"],
    "large": [2**62 + k for k in range(6)],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize("sources", [False, True])
def test_elements_may_be_called_by_anything_that_tables_hold(ids, sources, tmp_path):
    """Clusters that answers split, and join, are named anew: as text, if ids are no names."""
    import pyarrow as pa

    from relatum.review import Session

    pairs = {"unique_id_l": ids[:-1], "unique_id_r": ids[1:]}
    pairs |= {"match_weight": [5.0, 5.0, -5.0, 5.0, 5.0]}
    if sources:
        pairs |= {"source_dataset_l": ["x"] * 5, "source_dataset_r": ["x"] * 5}
    pairs = pa.table(pairs)
    session = Session(rt.cluster_pairs(pairs), answers=tmp_path / "answers.csv")
    place = {name[-1] if sources else name: k for k, name in enumerate(session.names(range(6)))}
    a, b, c, d, *_ = (place[k] for k in ids)
    session.answer(a, b, False)
    session.answer(c, d, True)
    made = export(session, tmp_path)
    assert made.verified
    assert not session.unknown
    assert (made.used, made.clusters.summary.clusters) == (2, session.numbers().clusters)
    files = {"clusters": tmp_path / "clusters.csv", "evidence": tmp_path / "evidence.csv"}
    assert _verifies(pairs, made.folder / "clusters.certificate", files)
