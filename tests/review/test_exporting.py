"""What comes out is verified, and is what the review shows."""

from __future__ import annotations

import pytest

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
