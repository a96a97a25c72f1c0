"""What comes out of a review: clusters, and a certificate that proves them given the answers.

The whole table is clustered once more with the answers as evidence, starting from the clusters of
the review. Which answers these are stands in a file beside the clusters: those that were set aside,
because they contradict others, are not among them. With it, the certificate is checked without a
solver, as anybody can who has the files and the pairs, before anybody is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.io import write_answers
from relatum.pair_tables import (
    Clusters,
    TableVerification,
    cluster_pairs,
    verify_clusters,
    write_table,
)
from relatum.review.session import Session

CLUSTERS, CERTIFICATE, EVIDENCE = "clusters", "clusters.certificate", "evidence.csv"
FILES = ("clusters.csv", "clusters.parquet", CERTIFICATE, EVIDENCE)


@dataclass(frozen=True, eq=False)
class Export:
    """Files of clusters, and what checking them said.

    Attributes
    ----------
    folder : Path
        Where `FILES` are.
    clusters : Clusters
    verified : TableVerification
    used, aside : int
        How many answers are among the evidence, and how many contradict others.
    """

    folder: Path
    clusters: Clusters
    verified: TableVerification
    used: int = 0
    aside: int = 0


def export(session: Session, folder: Path) -> Export:
    """Cluster the table with all answers that hold, write `FILES` to a folder, and verify.

    Parameters
    ----------
    session : Session
    folder : path
    """
    origin = session.origin
    given, settings = origin.opened(), origin.settings
    with session.lock:  # others may answer on
        known, now, used = evidence_of(session), current_table(session), session.used()
        aside = len(session.ledger.contradictions)
    write_answers(folder / EVIDENCE, used, session.file.ids)
    left, right, log_odds, probability = given.names
    found = cluster_pairs(
        given.pairs,
        background=settings.background,
        offset=origin.offset,
        evidence=known,
        one_per_group=given.one_per_group,
        max_size=settings.max_size,
        score_missing=given.score_missing,
        previous=now,
        odd_rows=given.odd_rows,  # type: ignore[arg-type]
        left=left,
        right=right,
        log_odds=log_odds,
        probability=probability,
        memory_limit=origin.plan.memory_limit,
        certificate=folder / CERTIFICATE,
        confidence=True,
    )
    assert found.origin is not None
    table = found.origin.whole.drop_columns(["component"])
    for ending in ("csv", "parquet"):
        write_table(folder / f"{CLUSTERS}.{ending}", table)
    verified = verify_clusters(
        given.pairs,
        folder / CERTIFICATE,
        clusters=folder / "clusters.parquet",
        background=settings.background,
        offset=origin.offset,
        max_size=settings.max_size,
        evidence=folder / EVIDENCE,
        one_per_group=given.one_per_group,
        memory_limit=origin.plan.memory_limit,
    )
    return Export(folder, found, verified, sum(bool(a.action) for a in used), aside)


def evidence_of(session: Session) -> dict[str, list[tuple[Any, Any]]]:
    """Return what was known before, and all answers that hold, as evidence by ids."""
    held = session.ledger.held
    ends = [end for fact in held for end in (fact.a, fact.b)]
    names = session.names(ends)
    pairs = list(zip(names[::2], names[1::2], strict=True))
    out: dict[str, list[tuple[Any, Any]]] = {"related": [], "unrelated": []}
    for fact, pair in zip(held, pairs, strict=True):
        out["related" if fact.same else "unrelated"].append(pair)
    return out


def current_table(session: Session) -> Any:
    """Return the table of clusters as they are now, by which a later run knows them."""
    import pyarrow as pa

    whole = session.origin.whole
    names = whole["cluster_id"].to_pylist()
    kind = whole["cluster_id"].type
    own = whole[session.origin.columns.id_name].cast(kind).to_pylist()  # as clusters are named
    if session.origin.columns.source_name is not None:
        sources = whole[session.origin.columns.source_name].to_pylist()
        own = [f"{s}-__-{i}" for s, i in zip(sources, own, strict=True)]
    hashes = whole["component"].to_numpy().copy()
    for solved in session.touched():
        elements = solved.base.elements
        old = [names[e] for e in elements.tolist()]
        taken = set(old)
        hashes[elements] = 0
        for label in range(solved.clusters):
            members = elements[solved.labels == label].tolist()
            before = [names[e] for e in members]
            name = before[0] if len(set(before)) == 1 and before[0] in taken else None
            if name is None:
                name = next((own[e] for e in members if own[e] not in set(old)), own[members[0]])
            taken.discard(name)
            for e in members:
                names[e] = name
    place = whole.column_names.index("cluster_id")
    table = whole.set_column(place, "cluster_id", pa.array(names, kind))
    place = whole.column_names.index("component")
    return table.set_column(place, "component", pa.array(np.asarray(hashes, np.int64)))
