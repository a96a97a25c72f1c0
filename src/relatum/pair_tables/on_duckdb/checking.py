"""Clusters of a table proved again, from the table and a certificate alone, and without a solver.

The table is read once, its components found and its pairs distributed to buckets, as for
clustering; each bucket is then checked on its own. What holds of the whole is little: a cluster
lies in one part, positive pairs between parts are counted in full, and all others between parts
are worth nothing, because the background is at most 0.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import CertificateError
from relatum.pair_tables.check.claims import Stated, read_claims
from relatum.pair_tables.check.container import GAP, Archive
from relatum.pair_tables.check.gaps import Rules, proves, total_value
from relatum.pair_tables.check.proofs import check_stored
from relatum.pair_tables.check.verdict import TableVerification
from relatum.pair_tables.columns import MOST_BITS
from relatum.pair_tables.on_duckdb.components import (
    Buckets,
    Linked,
    Units,
    batch_at,
    fill_buckets,
    link_pairs,
    sorted_pairs,
)
from relatum.pair_tables.on_duckdb.fingerprint import ids_fingerprint
from relatum.pair_tables.on_duckdb.known import Known
from relatum.pair_tables.on_duckdb.reading import read_source
from relatum.pair_tables.on_duckdb.store import ROW, Spool, Workspace
from relatum.pair_tables.on_duckdb.tables import connect
from relatum.pair_tables.on_duckdb.told import Told, check_clusters, known_of
from relatum.pair_tables.options import Given, Plan
from relatum.pair_tables.solve.batching import Components, Pairs, component_of, problem_of
from relatum.problem import exact_sum, float_up
from relatum.threads import Threads

PROOF = 3  # after PAIRS, TRIANGLES and SUBSETS: by a proof that the certificate holds


def check(
    given: Given, path: Path, clusters: Any, told: Mapping[str, Any], plan: Plan
) -> TableVerification:
    """Prove again what a certificate claims about a table.

    Parameters
    ----------
    given : Given
        The table of pairs.
    path : Path
        The certificate.
    clusters : table or None
        Clusters that must be those of the certificate.
    told : mapping
        What the caller knows of the problem, by name: ``background``, ``offset``,
        ``max_size``, ``evidence``, ``one_per_group``, ``odd_rows``, and ``names`` of columns. What
        is missing is taken from the certificate.
    plan : Plan
        Memory and threads.
    """
    with (
        tempfile.TemporaryDirectory(prefix="relatum-") as folder,
        closing(Archive(path)) as archive,
    ):
        space = Workspace.of(plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            try:
                return _checked(con, given, archive, clusters, told, space)
            except CertificateError as error:
                return TableVerification(False, str(error))


def _checked(
    con: Any,
    given: Given,
    archive: Archive,
    clusters: Any,
    told: Mapping[str, Any],
    space: Workspace,
) -> TableVerification:
    names, stated = archive.names(), read_claims(archive.manifest)
    source = read_source(con, replace(given, names=stated.names, odd_rows=stated.odd_rows), space)
    ids = source.ids()
    if source.n != stated.elements or ids_fingerprint(ids) != stated.ids:
        raise CertificateError(
            "The certificate was written for another table of pairs: its elements differ."
        )
    known, said = known_of(Told(source, archive, stated, names, told), space.folder)
    linked = link_pairs(source, known, space, True, stated.offset)
    if linked.fingerprint != stated.pairs:
        raise CertificateError(
            "The certificate was written for another table of pairs: its rows differ."
        )
    claims = _read_arrays(archive, names, stated, linked)
    claims.require_allowed(known, stated, ids)
    prover = _fill(archive, names, stated, known, linked, claims, ids, space)
    answer = prover.run(space)
    if clusters is not None:
        gaps = prover.component_gaps(linked)
        check_clusters(source, clusters, claims.cluster, gaps, space.folder)
    return replace(answer, stated=said)


@dataclass(frozen=True, eq=False)
class _Arrays:
    """Clusters, parts and gaps as a certificate states them, checked against each other."""

    cluster: Index  # (n,): the smallest element of each element's cluster
    part: Index  # (n,): the same of its part
    gap: Floats  # (n,): of each part, at its smallest element

    def require_allowed(self, known: Known, stated: Stated, ids: Any) -> None:
        """Refuse clusters that evidence, groups or the largest size forbid."""
        n = len(self.cluster)
        sizes = np.bincount(self.cluster, minlength=n)
        if stated.max_size is not None and sizes.max(initial=0) > stated.max_size:
            raise _wrong("is in a cluster larger than max_size", ids, int(sizes.argmax()))
        same = self.cluster[known.fixed[:, 0]] == self.cluster[known.fixed[:, 1]]
        against = np.flatnonzero(same != (known.fixed[:, 2] == 1))
        if len(against):
            raise _wrong("is in a cluster against the evidence", ids, known.fixed[against[0], 0])
        if known.groups is None:
            return
        own = np.flatnonzero(known.groups >= 0)
        keys = np.sort(self.cluster[own] * np.int64(n + 1) + known.groups[own])
        twice = np.flatnonzero(keys[1:] == keys[:-1])
        if len(twice):
            where = int(keys[twice[0]]) // (n + 1)
            raise _wrong("is in a cluster with two elements of one group", ids, where)


def _read_arrays(archive: Archive, names: set[str], stated: Stated, linked: Linked) -> _Arrays:
    n = stated.elements
    needed = {"cluster.npy", "gaps.npy"}
    if not needed <= names:
        raise CertificateError(f"It lacks the member {min(needed - names)}.")
    cluster = _smallest(archive.array("cluster.npy", "<i4", (n,)), "cluster")
    part = linked.roots
    if "part.npy" in names:
        part = _smallest(archive.array("part.npy", "<i4", (n,)), "part")
    if not (linked.roots[part] == linked.roots).all():
        raise CertificateError("A part holds elements of several components of positive pairs.")
    if not (part[cluster] == part).all():
        raise CertificateError("A cluster reaches across components, or pieces of one.")
    roots = part == np.arange(n)
    whole = linked.roots == np.arange(n)
    counts = int(np.count_nonzero(roots)), int(np.count_nonzero(whole))
    if counts != (stated.parts, stated.components):
        raise CertificateError(
            f"There are {counts[1]} components in {counts[0]} parts, and {stated.components} in "
            f"{stated.parts} are claimed."
        )
    rows = archive.array("gaps.npy", GAP, (None,))
    at = rows["part"]
    if len(at) and not (at[0] >= 0 and at[-1] < n and (np.diff(at) > 0).all() and roots[at].all()):
        raise CertificateError("Gaps are not of parts, each once and in their order.")
    if not (np.isfinite(rows["gap"]) & (rows["gap"] > 0)).all():
        raise CertificateError("A gap is not a positive number of bits.")
    gap = np.zeros(n)
    gap[at] = rows["gap"]
    return _Arrays(cluster, part, gap)


def _smallest(given: NDArray[Any], what: str) -> Index:
    """Return the smallest elements of sets, refusing others."""
    first = given.astype(np.int64)
    n = np.arange(len(first))
    if not ((first >= 0) & (first <= n)).all() or not (first[first] == first).all():
        raise CertificateError(f"The member {what}.npy does not name smallest elements of sets.")
    return first


def _wrong(what: str, ids: Any, element: Any) -> CertificateError:
    """Return the error about a part or cluster, which is known by one of its elements."""
    row = ids.slice(int(element), 1).to_pylist()[0]
    name = next(iter(row.values())) if len(row) == 1 else tuple(row.values())
    return CertificateError(f"The element {name!r} {what}.")


def _fill(
    archive: Archive,
    names: set[str],
    stated: Stated,
    known: Known,
    linked: Linked,
    claims: _Arrays,
    ids: Any,
    space: Workspace,
) -> _Prover:
    """Distribute the pairs, those of the table and those that were scored, to buckets."""
    units = Units(claims.part, np.bincount(linked.roots), np.zeros(0, np.bool_))
    inside = int(linked.pairs_within(claims.part).sum())
    tuning = stated.settings.tuning
    buckets = fill_buckets(linked, units, known, tuning, space, stated.scored > 0)
    if sum(spool.count for spool in buckets.spools) != inside:
        raise CertificateError("Pairs were lost on their way to the checker.")
    memory = space.share // max(1, len(buckets.spools))
    missing = [Spool(space.folder / f"missing{k}.bin", memory) for k in range(len(buckets.spools))]
    count = 0
    for name in sorted(name for name in names if name.startswith("missing/")):
        rows = archive.array(name, ROW, (None,))
        i, j, w = (rows[k] for k in ("i", "j", "w"))
        fits = (i >= 0) & (i < j) & (j < stated.elements)
        fits &= np.abs(w) <= MOST_BITS
        if not (fits.all() and (claims.part[i] == claims.part[j]).all()):
            raise CertificateError(f"The member {name} does not score pairs inside parts.")
        buckets.append_to(missing, buckets.place[i], buckets.place[j], w)
        count += len(w)
    if count != stated.scored:
        raise CertificateError(f"{count} pairs were scored, and {stated.scored} are claimed.")
    return _Prover(archive, names, stated, known, claims, buckets, missing, ids, space.folder)


@dataclass(frozen=True, eq=False)
class _Prover:
    """What the buckets of a run share."""

    archive: Archive
    names: set[str]
    stated: Stated
    known: Known
    claims: _Arrays
    buckets: Buckets
    missing: list[Spool]
    ids: Any
    folder: Path

    def run(self, space: Workspace) -> TableVerification:
        """Check all buckets, and what they add up to."""
        count, value, methods = len(self.buckets.spools), Fraction(0), np.zeros(4, dtype=np.int64)
        with Threads(max(1, space.threads)) as pool:
            try:
                for done, (own, used) in enumerate(pool.map(self._bucket, range(count))):
                    value, methods = value + own, methods + used
                    space.tell("check", done + 1, count)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        gaps = exact_sum(self.claims.gap) + sum(self.buckets.lost.values())
        self.stated.require_sums(value, gaps)
        pairs, triangles, subsets, proofs = (int(k) for k in methods)
        return TableVerification(
            True,
            f"Clusters, value and bound re-proved in exact arithmetic: {pairs} parts pair by pair, "
            f"{triangles} by triangles, {subsets} by going through all partitions, {proofs} by "
            "proofs of their own.",
            self.stated.elements,
            self.stated.components,
            pairs,
            triangles,
            subsets,
            proofs,
            self.stated.value,
            self.stated.bound,
        )

    def component_gaps(self, linked: Linked) -> Floats:
        """Return the gap of each element's component."""
        out, gap = np.zeros(len(linked.roots)), self.claims.gap
        roots = np.flatnonzero(self.claims.part == np.arange(len(gap)))
        out[linked.roots[roots]] = gap[roots]
        for root, bits in self.buckets.lost.items():
            own = gap[roots[linked.roots[roots] == root]]
            out[root] = float_up(exact_sum(own) + bits)
        return np.asarray(out[linked.roots])

    def _bucket(self, number: int) -> tuple[Fraction, Index]:
        """Return the exact value of a bucket's clusters, and how many parts were proved how."""
        bounds = self.buckets.bounds
        starts = self.buckets.starts[bounds[number] : bounds[number + 1] + 1]
        first = int(starts[0])
        elements = self.buckets.order[first : int(starts[-1])]
        pairs, odd = sorted_pairs(self.buckets.spools[number], first, len(elements))
        if odd[1] and self.stated.odd_rows == "refuse":
            raise _wrong(
                "has rows that contradict each other", self.ids, elements[pairs[0][odd[2]]]
            )
        pairs = self._with_missing(number, pairs, first, len(elements))
        batch = batch_at(self.buckets, self.known, starts, pairs)
        begins = np.repeat(starts[:-1], np.diff(starts))
        labels = self.buckets.place[self.claims.cluster[elements]] - begins
        firsts = elements[starts[:-1] - first]
        rules = Rules(self.stated.background, self.stated.settings.cap)
        proved, method = proves(batch, labels, rules, self.claims.gap[firsts])
        for k in np.flatnonzero(~proved).tolist():
            self._by_proof(batch, k, labels, int(firsts[k]))
            method[k] = PROOF
        value = total_value(batch, labels, self.stated.background)
        return value, np.bincount(method, minlength=4)

    def _with_missing(self, number: int, pairs: Pairs, first: int, n: int) -> Pairs:
        """Add the pairs that were scored, none of which may be listed."""
        spool = self.missing[number]
        if not spool.count:
            return pairs
        more, odd = sorted_pairs(spool, first, n)
        both = [np.concatenate([a, b]) for a, b in zip(pairs, more, strict=True)]
        order = np.lexsort((both[1], both[0]))
        i, j, w = (x[order] for x in both)
        again = (i[1:] == i[:-1]) & (j[1:] == j[:-1])
        if odd[:2].any() or again.any():
            raise CertificateError("A pair that was scored is listed, or scored twice.")
        return i, j, w

    def _by_proof(self, batch: Components, k: int, labels: Index, root: int) -> None:
        """Check the gap of a part by the proof that the certificate holds of it."""
        name = f"proofs/{root}.npz"
        gap = float(self.claims.gap[root])
        if name not in self.names:
            what = f"is in a component whose gap of {gap!r} bits is not proved"
            raise _wrong(what, self.ids, root)
        path = self.folder / f"proof-{root}.npz"
        try:
            self.archive.extract(name, path)
            component = component_of(batch, k)
            problem = problem_of(component, self.stated.background, self.stated.max_size)
            own = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
            check_stored(path, problem, labels[own], gap)
        except CertificateError as error:
            what = f"is in a component whose gap is not proved: {error}"
            raise _wrong(what.rstrip("."), self.ids, root) from None
        finally:
            path.unlink(missing_ok=True)
