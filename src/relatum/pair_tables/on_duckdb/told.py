"""What is known of a table's problem besides its scores: what the certificate says, or the caller.

What the caller tells must be what the certificate says. What nobody tells is taken from the
certificate, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import CertificateError, DataError
from relatum.pair_tables.check.claims import Stated
from relatum.pair_tables.check.container import Archive
from relatum.pair_tables.columns import find_columns
from relatum.pair_tables.on_duckdb.known import Known, read_known
from relatum.pair_tables.on_duckdb.reading import Source, element
from relatum.pair_tables.on_duckdb.tables import column_names, open_table
from relatum.pair_tables.options import Given


@dataclass(frozen=True, eq=False)
class Told:
    """A table, what its certificate says of it, and what the caller does."""

    source: Source
    archive: Archive
    stated: Stated
    names: set[str]  # members of the certificate
    told: Mapping[str, Any]  # by the caller


def known_of(case: Told, folder: Path) -> tuple[Known, tuple[str, ...]]:
    """Return evidence and groups, and sentences on what only the certificate says."""
    stated, told = case.stated, case.told
    for name in ("background", "offset", "max_size", "odd_rows"):
        own = getattr(stated, name)
        if name in told and told[name] != own:
            raise CertificateError(f"The certificate is about {name} {own!r}, not {told[name]!r}.")
    fixed, groups = _evidence(case), _groups(case, folder)
    said = [*_columns(case), *_numbers(stated, told)]
    if "evidence" in told:
        asked = read_known(case.source, Given(None, evidence=told["evidence"]), folder).fixed
        if not np.array_equal(asked, fixed):
            raise CertificateError("The certificate is about other evidence.")
    elif len(fixed):
        said.append(f"evidence on {len(fixed)} pairs")
    if "one_per_group" in told:
        given = Given(None, one_per_group=told["one_per_group"])
        if not _same_groups(read_known(case.source, given, folder).groups, groups):
            raise CertificateError("The certificate is about other groups.")
    elif groups is not None:
        said.append("at most one element of each group in a cluster")
    return Known(fixed, groups), tuple(said)


def _numbers(stated: Stated, told: Mapping[str, Any]) -> list[str]:
    """Say which settings only the certificate tells."""
    said = []
    if "background" not in told:
        said.append(f"a background of {stated.background:g} bits")
    if "offset" not in told and stated.offset:
        said.append(f"{stated.offset:+g} bits added to every score")
    if "max_size" not in told and stated.max_size is not None:
        said.append(f"clusters of at most {stated.max_size} elements")
    if "odd_rows" not in told and stated.odd_rows == "handle":
        said.append("rows without usable scores dropped, contradictory ones averaged")
    if stated.scored:
        said.append(f"{stated.scored} pairs that score_missing scored")
    return said


def _columns(case: Told) -> list[str]:
    """Compare the columns with those that the caller names, or with the usual ones."""
    own, names = case.stated.columns, case.told.get("names", ())
    try:
        c = find_columns(column_names(case.source.view.con, "pairs"), *names)
        usual = (c.left, c.right, c.score, c.is_probability) == own
    except DataError:
        usual = False
    if names and not usual:
        raise CertificateError(f"The certificate is about the columns {', '.join(own[:3])}.")
    kind = "probabilities" if own[3] else "bits"
    return [] if usual else [f"ids in {own[0]} and {own[1]}, {kind} in {own[2]}"]


def _evidence(case: Told) -> Index:
    if "evidence.npy" not in case.names:
        return Known().fixed
    fixed = case.archive.array("evidence.npy", "<i4", (None, 3)).astype(np.int64)
    a, b, related = fixed.T
    fits = (a >= 0) & (a < b) & (b < case.stated.elements) & (related >= 0) & (related <= 1)
    if not fits.all() or not np.array_equal(np.unique(fixed, axis=0), fixed):
        raise CertificateError("The member evidence.npy does not list pairs of elements.")
    return fixed


def _groups(case: Told, folder: Path) -> Index | None:
    """Return groups, by columns of the table or as they are stored."""
    if case.stated.one_per_group is not None:
        given = Given(None, one_per_group=case.stated.one_per_group)
        return read_known(case.source, given, folder).groups
    if "groups.npy" not in case.names:
        return None
    n = case.stated.elements
    groups = case.archive.array("groups.npy", "<i4", (n,)).astype(np.int64)
    if not ((groups >= -1) & (groups <= n)).all():
        raise CertificateError("The member groups.npy does not number groups.")
    return groups


def _same_groups(asked: Index | None, stated: Index | None) -> bool:
    """Say whether groups are the same, whatever their numbers."""
    if asked is None or stated is None:
        return asked is stated
    own = asked >= 0
    if not np.array_equal(own, stated >= 0):
        return False
    return _same_sets(asked[own], stated[own])


def _same_sets(a: Index, b: Index) -> bool:
    """Say whether two arrays of labels tell the same sets."""
    pairs = np.unique(np.column_stack([a, b]), axis=0)
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


def check_clusters(
    source: Source, clusters: Any, cluster: Index, gaps: Floats, folder: Path
) -> None:
    """Refuse a table of clusters that are not those of the certificate.

    Parameters
    ----------
    source : Source
    clusters : table
        Ids, ``cluster_id`` and, if they are there, ``cluster_size`` and ``cluster_gap``.
    cluster : int64 array (n,)
        The smallest element of each element's cluster.
    gaps : float64 array (n,)
        Of each element's component.
    folder : Path
    """
    con, c = source.view.con, source.view.columns
    open_table(con, clusters, "clusters_table", folder, what="A table of clusters")
    names = column_names(con, "clusters_table")
    for name in (c.source_name, c.id_name, "cluster_id"):
        if name is not None and name not in names:
            raise DataError(f"The table of clusters has no column {name!r}; it has {names}.")
    more = [name for name in ("cluster_size", "cluster_gap") if name in names]
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE told AS SELECT {element(c.id_name, c.source_name)} AS id, "
        "cluster_id IS NULL AS lost, (dense_rank() OVER (ORDER BY cluster_id)) - 1 AS code, "
        f"{''.join(name + '::DOUBLE AS ' + name + ', ' for name in more)}"
        "row_number() OVER () AS row FROM clusters_table"
    )
    numbers = source.look_up("SELECT id, row FROM told")
    rest = ", ".join(["lost", "code", *more])
    found = con.sql(f"SELECT {rest} FROM told ORDER BY row").fetchnumpy()
    every = np.array_equal(np.sort(numbers), np.arange(source.n))
    if not every or np.asarray(found["lost"]).any():
        raise CertificateError("The table of clusters does not list each element once.")
    if not _same_sets(np.asarray(found["code"], dtype=np.int64), cluster[numbers]):
        raise CertificateError("The table has other clusters than those that are proved.")
    sizes = np.bincount(cluster, minlength=source.n)[cluster].astype(np.float64)
    for name, right in (("cluster_size", sizes), ("cluster_gap", gaps)):
        if name in more and not np.array_equal(np.ma.filled(found[name], np.nan), right[numbers]):
            raise CertificateError(f"The column {name} is not what is proved.")
