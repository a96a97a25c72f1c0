"""What comes out of a review: clusters, and a certificate that proves them given the answers.

The whole table is clustered once more with the answers as evidence, starting from the clusters of
the review, and its certificate is checked without a solver before anybody is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.pair_tables import Clusters, TableVerification, cluster_pairs, write_table
from relatum.review.session import Session

CLUSTERS, CERTIFICATE = "clusters", "clusters.certificate"
FILES = ("clusters.csv", "clusters.parquet", CERTIFICATE)


@dataclass(frozen=True, eq=False)
class Export:
    """Files of clusters, and what checking them said.

    Attributes
    ----------
    folder : Path
        Where `FILES` are.
    clusters : Clusters
    verified : TableVerification
    """

    folder: Path
    clusters: Clusters
    verified: TableVerification


def export(session: Session, folder: Path) -> Export:
    """Cluster the table with all answers that hold, write `FILES` to a folder, and verify.

    Parameters
    ----------
    session : Session
    folder : path
    """
    origin = session.origin
    given, settings = origin.opened(), origin.settings
    left, right, log_odds, probability = given.names
    found = cluster_pairs(
        given.pairs,
        background=settings.background,
        offset=origin.offset,
        evidence=evidence_of(session),
        one_per_group=given.one_per_group,
        max_size=settings.max_size,
        score_missing=given.score_missing,
        previous=current_table(session),
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
    return Export(folder, found, found.verify())


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
    own = whole[session.origin.columns.id_name].to_pylist()
    if session.origin.columns.source_name is not None:  # as clusters are named there
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
    kind = whole["cluster_id"].type
    place = whole.column_names.index("cluster_id")
    table = whole.set_column(place, "cluster_id", pa.array(names, kind))
    place = whole.column_names.index("component")
    return table.set_column(place, "component", pa.array(np.asarray(hashes, np.int64)))
