"""From buckets of pairs to clusters: each bucket is a batch of components, on a thread of its own.

What a bucket finds depends on nothing but its pairs; sums are taken in the order of buckets, so
that rounding is the same whatever the number of threads.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import EvidenceError
from relatum.kernels.tables.places import fingerprints
from relatum.pair_tables.check.gaps import total_value
from relatum.pair_tables.on_duckdb.components import Buckets, batch_at, sorted_pairs
from relatum.pair_tables.on_duckdb.keeping import Keeper
from relatum.pair_tables.on_duckdb.known import Known
from relatum.pair_tables.on_duckdb.store import Workspace
from relatum.pair_tables.on_duckdb.tables import ids_at
from relatum.pair_tables.options import Settings
from relatum.pair_tables.result import Summary
from relatum.pair_tables.solve.batching import Components, first_elements
from relatum.pair_tables.solve.cluster_confidence import cluster_confidence
from relatum.pair_tables.solve.component import solve_batch
from relatum.pair_tables.solve.unlisted import with_missing
from relatum.threads import Threads

CLOSED = 1e-6  # bits: a gap that was proven to be none


@dataclass(frozen=True, eq=False)
class Solved:
    """The clusters of a bucket."""

    cluster: Index  # for each place of the bucket, the first place of its cluster
    hashes: NDArray[np.uint64]  # for each place, of its component
    gaps: Floats  # of the components, in bits
    value: Fraction  # of all clusters together, exact
    summary: Summary  # of the bucket alone: its pairs, components and odd rows
    contradiction: tuple[int, int] | None  # two elements whose rows contradict each other
    confidence: Floats | None = None  # for each place, if asked for


@dataclass(frozen=True, eq=False)
class Solver:
    """What the buckets of a run share."""

    buckets: Buckets
    known: Known
    settings: Settings
    ids: Any  # in the order of their numbers, an Arrow table: source, if any, and id
    keys: NDArray[np.uint64]  # hashes of the ids
    score_missing: Callable[[Any, Any], Any] | None = None
    keeper: Keeper | None = None  # of what proves the clusters, if that is asked for
    offset: float = 0.0  # bits that listed pairs have already, and `score_missing` has not
    confidence: bool = False  # whether to say how sure each cluster is

    @property
    def seed(self) -> int:
        """Tells hashes of runs apart whose components have different clusters."""
        described = (self.settings.background, self.settings.max_size, self.settings.search)
        shift = (self.offset,) if self.offset else ()
        return zlib.crc32(repr((described, self.score_missing is not None, *shift)).encode())

    def solve(self, number: int) -> Solved:
        """Find the clusters of a bucket, and forget its pairs."""
        bounds = self.buckets.bounds
        starts = self.buckets.starts[bounds[number] : bounds[number + 1] + 1]
        first = int(starts[0])
        elements = self.buckets.order[first : int(starts[-1])]
        pairs, odd = sorted_pairs(self.buckets.spools[number], first, len(elements))
        batch = batch_at(self.buckets, self.known, starts, pairs)
        hashes = self._hashes(batch, elements)
        gaps = self._known_gaps(batch, elements, hashes)
        batch, scored, unscored = self._scored(batch, elements, number)
        try:
            found = solve_batch(batch, self.settings, gaps)
        except EvidenceError as error:
            self._explain(error, elements, batch.element_ptr)
            raise
        stated = found.gap
        if self.keeper is not None:
            stated = self.keeper.gaps(batch, found, elements)
        summary = Summary(
            pairs_cut=int(found.cut.sum()),
            pairs_added=int(found.added.sum()),
            pairs_scored=scored,
            components_left_unscored=unscored,
            components_solved=int(np.count_nonzero(gaps < 0)),
            components_reused=int(np.count_nonzero(gaps >= 0)),
            odd_rows={"duplicates": int(odd[0]), "contradictory": int(odd[1])},
        )
        at = int(odd[2])
        where = None if at < 0 else (int(elements[pairs[0][at]]), int(elements[pairs[1][at]]))
        cluster = first + first_elements(batch, found.labels)
        value = total_value(batch, found.labels, self.settings.background)
        sure = None
        if self.confidence:
            sure, exact = cluster_confidence(batch, found.labels, self.settings)
            summary = replace(summary, confidences_exact=int(np.count_nonzero(exact)))
        return Solved(cluster, hashes, stated, value, summary, where, sure)

    def _hashes(self, batch: Components, elements: Index) -> NDArray[np.uint64]:
        """Return a hash of each element's component."""
        out = np.empty(len(batch.element_ptr) - 1, dtype=np.uint64)
        bits = np.ascontiguousarray(batch.log_odds).view(np.uint64)
        fingerprints(batch, self.keys[elements], bits, self.seed, out)
        return np.repeat(out, np.diff(batch.element_ptr))

    def _known_gaps(self, batch: Components, elements: Index, hashes: Any) -> Floats:
        """Return gaps of components that are as they were in the earlier run; -1 for others."""
        firsts, earlier = batch.element_ptr[:-1], self.known.earlier
        if earlier is None or earlier.hashes is None or earlier.gaps is None:
            return np.full(len(firsts), -1.0)
        same = np.minimum.reduceat(earlier.hashes[elements] == hashes, firsts)
        found = earlier.gaps[elements[firsts]]
        if self.settings.prove:  # what proves an earlier gap was not kept in the clusters
            same &= (found <= CLOSED) & (self.keeper is None)
        return np.where(same, found, -1.0)

    def _scored(
        self, batch: Components, elements: Index, number: int
    ) -> tuple[Components, int, int]:
        """Score what is not listed; return also how many pairs, and components left as they are."""
        if self.score_missing is None:
            return batch, 0, 0
        most = self.settings.tuning.scored_elements
        unscored = int(np.count_nonzero(np.diff(batch.element_ptr) > most))
        score, offset = self.score_missing, self.offset

        def shifted(left: Any, right: Any) -> Any:
            return np.asarray(score(left, right), dtype=np.float64) + offset

        batch, scored = with_missing(batch, most, self._ids_of(elements), shifted)
        if self.keeper is not None:
            self.keeper.keep_missing(number, scored, elements)
        return batch, len(scored[2]), unscored

    def _ids_of(self, elements: Index) -> Callable[[Index], Any]:
        """Return a function from places to ids: an array, or one of (source, id) tuples."""

        def ids(places: Index) -> Any:
            return ids_at(self.ids, elements[places])

        return ids

    def _explain(self, error: Any, elements: Index, pointers: Index) -> None:
        """Say which elements a component that cannot be clustered has."""
        start, stop = pointers[error.number], pointers[error.number + 1]
        rows = self.ids.take(elements[start : min(stop, start + 6)]).to_pylist()
        values = [tuple(row.values()) for row in rows]
        names = ", ".join(str(v[0] if len(v) == 1 else v) for v in values)
        error.args = (
            f"{error.args[0]} Its elements: {names}{', ...' if stop - start > 6 else ''}.",
        )


def solve_buckets(solver: Solver, space: Workspace) -> list[Solved]:
    """Find the clusters of all buckets, on all threads, and return them in order.

    Where proofs are asked for, the first Ctrl-C ends these, and so does the end of time: what is
    found so far is kept.
    """
    if not solver.settings.prove:
        return _solved(solver, space, solver.solve)
    from relatum.solvers import Control, polite_interrupts, within  # all solvers

    control = Control(time_limit=solver.settings.time_limit)
    waiting = {k: max(1, spool.count) for k, spool in enumerate(solver.buckets.spools)}

    def solve(number: int) -> Solved:
        """Solve a bucket within its share, by its pairs, of the time that is left."""
        part = min(1.0, max(1, space.threads) * waiting[number] / sum(list(waiting.values())))
        with within(control.child(None, part * control.remaining())):
            found = solver.solve(number)
        del waiting[number]
        return found

    with polite_interrupts(control), within(control):
        return _solved(solver, space, solve)


def _solved(solver: Solver, space: Workspace, solve_one: Callable[[int], Solved]) -> list[Solved]:
    count, found = len(solver.buckets.spools), []
    contexts = [copy_context() for _ in range(count)]  # threads do not have ours by themselves

    def solve(number: int) -> Solved:
        return contexts[number].run(solve_one, number)

    with Threads(max(1, space.threads)) as pool:
        try:
            for each in pool.map(solve, range(count)):
                found.append(each)
                space.tell("solve", len(found), count)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return found
