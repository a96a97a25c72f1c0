"""Pair tables on one machine: DuckDB reads, pairs are sorted by component, batches are solved.

`cluster` is the whole way, one step after the other; each step returns a frozen record.

Memory: what the limit allows DuckDB and the batches, and about 100 bytes per element for
numbers, components and clusters. Pairs are held in memory up to a share of the limit, and in
temporary files beyond.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.pair_tables.check.claims import rounded_bound
from relatum.pair_tables.columns import Columns, arrow_numbers, refuse
from relatum.pair_tables.offsets import Offset, best_offset, told
from relatum.pair_tables.on_duckdb.buckets import Solved, Solver, solve_buckets
from relatum.pair_tables.on_duckdb.components import (
    Buckets,
    Linked,
    Units,
    fill_buckets,
    link_pairs,
    shift_pairs,
    split_giants,
)
from relatum.pair_tables.on_duckdb.fetching import DuckDBAccess
from relatum.pair_tables.on_duckdb.fingerprint import ids_fingerprint
from relatum.pair_tables.on_duckdb.keeping import Claims, Keeper, write_certificate
from relatum.pair_tables.on_duckdb.known import Known, read_known
from relatum.pair_tables.on_duckdb.reading import Source, read_source
from relatum.pair_tables.on_duckdb.store import Workspace
from relatum.pair_tables.on_duckdb.tables import connect, ids_at
from relatum.pair_tables.options import Given, Plan
from relatum.pair_tables.origin import Origin, bytes_of
from relatum.pair_tables.previous import name_clusters
from relatum.pair_tables.result import Clusters, Summary
from relatum.pair_tables.scoring import block_recall, learned_background, pairwise_f1
from relatum.pair_tables.solve.labelled import labelled_part
from relatum.pair_tables.solve.learned_confidence import learned_confidence
from relatum.problem import exact_sum, float_up, nearest_float

# what the summaries of buckets add up to
ADDED = ["pairs_cut", "pairs_added", "pairs_scored", "components_left_unscored"]
ADDED += ["components_solved", "components_reused", "confidences_exact"]


def cluster(given: Given, plan: Plan) -> Clusters:
    """Find clusters of the elements of a table that DuckDB reads.

    Parameters
    ----------
    given : Given
    plan : Plan

    Returns
    -------
    Clusters
        Whose table is an Arrow table, elements in the order of their ids, with hashes of
        components; and whose origin holds what components can be fetched by.
    """
    if plan.learn_background and given.labels is None:
        raise DataError('background="learned" needs labels=: entities of some elements.')
    if plan.learn_offset and given.labels is None:
        raise DataError('offset="learned" needs labels=: entities of some elements.')
    with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
        space = Workspace.of(plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            return _cluster(con, given, plan, space)


def _cluster(con: Any, given: Given, plan: Plan, space: Workspace) -> Clusters:
    with space.stage("read"):
        source = read_source(con, given, space)
    with space.stage("known"):
        known = read_known(source, given, space.folder)
    with space.stage("components"):
        linked = link_pairs(source, known, space, plan.certificate is not None, plan.offset)
    ids, offset = source.ids(), plan.offset
    if plan.learn_offset:
        with space.stage("offset"):
            offset = _learned_offset(linked, known, given, plan, ids).bits
            linked = shift_pairs(linked, known, space, offset)
    recall, learned = _from_labels(linked, known, plan, space)
    settings = plan.final(lambda: linked.spool.count, learned)
    with space.stage("split"):
        units = split_giants(linked, known, settings, space)
    with space.stage("sort"):
        scored = given.score_missing is not None
        buckets = fill_buckets(linked, units, known, settings.tuning, space, scored)
    keeper = None if plan.certificate is None else Keeper(space.folder / "kept", settings)
    with space.stage("solve"):
        missing = (given.score_missing, keeper, offset, plan.confidence)
        solver = Solver(buckets, known, settings, ids, source.keys(), *missing)
        parts = solve_buckets(solver, space)
    odd_rows = _odd_rows(source, parts, given.odd_rows, ids)
    with space.stage("finish"):
        found = _taught(_gathered(linked, units, buckets, parts), known.labels)
    with space.stage("write"):
        names = _cluster_names(source.view.columns, ids)
        cluster_ids, changes = name_clusters(names, found.first, known.earlier)
        table = _table(ids, cluster_ids, found)
    summary = replace(
        found.summary,
        rows=source.rows,
        odd_rows=odd_rows,
        background=settings.background,
        offset=offset,
        block_recall=recall,
        f1=None if known.labels is None else pairwise_f1(found.first, known.labels),
        changes=changes,
        seconds=dict(space.seconds),
    )
    if keeper is not None and plan.certificate is not None:
        with space.stage("certificate"):
            marks = linked.fingerprint, ids_fingerprint(ids)
            part = units.roots if summary.components_split else None
            claims = Claims(found.first, part, found.roots, found.part_gaps, marks)
            columns = source.view.columns
            write_certificate(plan.certificate, keeper, given, columns, known, claims, summary)
        summary = replace(summary, seconds=dict(space.seconds))
    origin = Origin(
        given,
        replace(plan, monitor=None),
        source.view.columns,
        settings,
        table,
        linked.roots.astype(np.int32),
        known.fixed,
        None if known.groups is None else known.groups.astype(np.int32),
        DuckDBAccess(),
        offset,
        size=bytes_of(given.pairs) if isinstance(given.pairs, str | Path) else None,
    )
    return Clusters(table, summary, origin=origin)


def _from_labels(
    linked: Linked, known: Known, plan: Plan, space: Workspace
) -> tuple[float | None, float | None]:
    """Return block recall and learned background, of labelled elements."""
    if known.labels is None:
        return None, None
    with space.stage("labels"):
        recall = block_recall(linked.spool.batches(), known.labels)
        if not plan.learn_background:
            return recall, None
        return recall, learned_background(linked.spool.batches(), known.labels)


def _learned_offset(linked: Linked, known: Known, given: Given, plan: Plan, ids: Any) -> Offset:
    """Learn the offset from labelled elements, without evidence, which knows what labels know."""
    score = given.score_missing
    if known.labels is None:
        return Offset(0.0, "f1")
    own = None if score is None else lambda a, b: score(ids_at(ids, a), ids_at(ids, b))
    case = labelled_part(linked.spool.batches, known.labels, known.groups, own)
    settings, learn = plan.settings, plan.learn_background
    found = best_offset(replace(case, settings=settings, learn_background=learn))
    return told(found, stacklevel=6)  # whoever called cluster_pairs


def _odd_rows(source: Source, parts: list[Solved], odd_rows: str, ids: Any) -> dict[str, int]:
    """Return odd rows by kind; refuse contradictory ones if they must be, showing a pair."""
    counts = dict(source.odd_rows)
    for kind in ("duplicates", "contradictory"):
        counts[kind] = sum(part.summary.odd_rows[kind] for part in parts)
    pairs = [part.contradiction for part in parts if part.contradiction is not None]
    if pairs and odd_rows == "refuse":
        a, b = (tuple(row.values()) for row in ids.take(list(pairs[0])).to_pylist())
        refuse(counts, {"contradictory": [f"the pair {a}, {b}"]})
    return counts


@dataclass(frozen=True, eq=False)
class _Found:
    """Clusters by element number."""

    first: Index  # the smallest element of each element's cluster
    size: Index  # of the cluster
    gap: Floats  # of the component, in bits
    hashes: NDArray[np.uint64]  # of the component; 0 if it was split, for its gap is not kept
    roots: Index  # the smallest element of each part: component, or piece of one
    part_gaps: Floats  # of these
    summary: Summary  # as far as components tell
    confidence: Floats | None  # of the cluster, if asked for


def _gathered(linked: Linked, units: Units, buckets: Buckets, parts: list[Solved]) -> _Found:
    """Put the clusters of buckets together; sums are exact, and rounded at the end."""
    order = buckets.order
    by_place = np.concatenate([part.cluster for part in parts])
    sizes = np.bincount(by_place, minlength=len(order))
    own = by_place[buckets.place]
    hashes = np.concatenate([part.hashes for part in parts])[buckets.place]
    hashes[units.giant[linked.roots]] = 0
    roots, part_gaps = order[buckets.starts[:-1]], np.concatenate([part.gaps for part in parts])
    gaps = _component_gaps(linked, buckets, roots, part_gaps)
    value = sum((part.value for part in parts), Fraction(0))
    bound = rounded_bound(value, exact_sum(part_gaps) + sum(buckets.lost.values()))
    sums = {name: sum(getattr(part.summary, name) for part in parts) for name in ADDED}
    sums["pairs_cut"] += buckets.lost_pairs
    summary = Summary(
        elements=len(order),
        clusters=int(np.count_nonzero(sizes)),
        value=nearest_float(value),
        bound=bound,
        components=int(np.count_nonzero(units.sizes)),
        largest_component=int(units.sizes.max(initial=0)),
        largest_cluster=int(sizes.max(initial=0)),
        components_split=int(np.count_nonzero(units.giant)),
        pieces=units.pieces,
        **sums,
    )
    sure = [part.confidence for part in parts if part.confidence is not None]
    confidence = np.concatenate(sure)[buckets.place] if sure else None
    clusters = order[own], sizes[own], gaps[linked.roots], hashes
    return _Found(*clusters, roots, part_gaps, summary, confidence)


def _taught(found: _Found, labels: Index | None) -> _Found:
    """Let labels, if there are any, say how sure clusters are that seemed so sure."""
    if labels is None or found.confidence is None:
        return found
    confidence, judged = learned_confidence(found.confidence, found.first, labels)
    summary = replace(found.summary, clusters_judged=judged)
    return replace(found, confidence=confidence, summary=summary)


def _component_gaps(linked: Linked, buckets: Buckets, roots: Index, gaps: Floats) -> Floats:
    """Return the gap of each component, at its smallest element: of its parts and between them."""
    out, whole = np.zeros(len(linked.roots)), linked.roots[roots]
    out[whole] = gaps
    for root, bits in buckets.lost.items():
        out[root] = float_up(exact_sum(gaps[whole == root]) + bits)
    return out


def _cluster_names(columns: Columns, ids: Any) -> Any:
    """Return element ids as ids of clusters: integers and texts as they are, others as text."""
    own = ids[columns.id_name].combine_chunks()
    if columns.source_name is not None:
        source = ids[columns.source_name].combine_chunks().cast(pa.string())
        return pc.binary_join_element_wise(source, own.cast(pa.string()), "-__-")
    if pa.types.is_integer(own.type) or pa.types.is_string(own.type):
        return own
    return own.cast(pa.string())


def _table(ids: Any, cluster_ids: Any, found: _Found) -> Any:
    table = ids.append_column("cluster_id", cluster_ids)
    table = table.append_column("cluster_size", arrow_numbers(found.size))
    table = table.append_column("cluster_gap", arrow_numbers(found.gap))
    if found.confidence is not None:
        table = table.append_column("confidence", arrow_numbers(found.confidence))
    return table.append_column("component", arrow_numbers(found.hashes.view(np.int64)))
