"""Pair tables on one machine: DuckDB reads, pairs are sorted by component, batches are solved.

Memory: what the limit allows DuckDB and the batches, and about 100 bytes an element for
numbers, components and clusters. Pairs are held in memory up to a share of the limit, and in
temporary files beyond.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.errors import EvidenceError
from relatum.kernels.tables.component_batch import Components
from relatum.kernels.tables.places import fingerprints, merge_duplicates, place_elements, sort_rows
from relatum.kernels.tables.union_find import count_edges, find_roots, join_pairs
from relatum.pair_tables.columns import SAME
from relatum.pair_tables.on_duckdb.reading import Source
from relatum.pair_tables.on_duckdb.reuse import solve_others
from relatum.pair_tables.on_duckdb.store import BYTES, Spool
from relatum.pair_tables.on_duckdb.work import Known, Outcome, Work
from relatum.pair_tables.solve.component import SMALL, Settings, Solutions, solve_batch
from relatum.pair_tables.solve.splitting import Splitter, falling_order
from relatum.pair_tables.solve.unlisted import MOST_MISSING, with_missing

__all__ = ["read_pairs", "run"]


BUCKET_PAIRS = 1_000_000
FEWEST = 100_000  # pairs that are sorted at once, however small the memory


def run(source: Source, known: Known, work: Work, spool: Spool, roots: Index) -> Outcome:
    """Cluster the elements of pairs that have been read by `read_pairs`."""
    return _Run(source, known, work, spool, roots).outcome()


def read_pairs(source: Source, known: Known, work: Work) -> tuple[Spool, Index]:
    """Read all rows once; return the pairs and the smallest element of each component.

    Positive pairs that are forbidden connect nothing.
    """
    spool = Spool(work.folder / "pairs.bin", work.memory // 4)
    parent = np.arange(source.numbering.n, dtype=np.int64)
    yes = known.fixed[known.fixed[:, 2] == 1]
    join_pairs(parent, np.ascontiguousarray(yes[:, 0]), np.ascontiguousarray(yes[:, 1]))
    seen = 0
    for (a, b, bits), _ in source.batches():
        keep = (a != b) & ~np.isnan(bits)
        i, j, w = np.minimum(a, b)[keep], np.maximum(a, b)[keep], bits[keep]
        spool.append(i, j, w)
        links = w > 0
        if known.groups is not None:
            links &= (known.groups[i] != known.groups[j]) | (known.groups[i] < 0)
        join_pairs(parent, i[links], j[links])
        seen += len(a)
        if work.monitor is not None:
            work.monitor("components", seen, source.rows)
    find_roots(parent)
    return spool, parent


@dataclass(eq=False)
class _Run:
    source: Source
    known: Known
    work: Work
    spool: Spool
    roots: Index

    def __post_init__(self) -> None:
        n = len(self.roots)
        self.component_gap = np.zeros(n)  # at the roots
        self.lost_pairs, self.lost_bits = 0, 0.0
        self.odd = np.zeros(2, dtype=np.int64)  # duplicates, contradictory rows
        self.contradiction: tuple[int, int] | None = None
        self.reused = self.components = self.unscored_components = 0
        self.value = self.bound = 0.0
        self.cut = self.added = self.scored_missing = 0
        self.pieces = np.zeros(0, dtype=np.int64)

    def outcome(self) -> Outcome:
        work, n = self.work, len(self.roots)
        with work.stage("split"):
            sizes = np.bincount(self.roots, minlength=n)
            self.edges = np.zeros(n, dtype=np.int64)
            for i, j, _ in self.spool.batches():
                count_edges(self.roots, i, j, self.edges)
            largest = int(sizes.max(initial=0))
            units = self._split_giants(sizes)
        with work.stage("sort"):
            self.place, self.order = np.empty(n, np.int64), np.empty(n, np.int64)
            starts = np.empty(n + 1, dtype=np.int64)
            count = place_elements(units, self.place, self.order, starts)
            self.starts = starts[: count + 1].copy()
            buckets = self._partition(units)
        self.cluster = np.arange(n, dtype=np.int64)  # by place: the first place of the cluster
        self.prints = np.zeros(n, dtype=np.uint64)  # by place
        self.keys = self.source.keys()
        with work.stage("solve"):
            self._solve_all(buckets)
        with work.stage("finish"):
            return self._finish(sizes, largest)

    # --- components too large for a batch

    def _split_giants(self, sizes: Index) -> Index:
        s = self.work.settings
        giant = (sizes > s.most_elements) | ((self.edges > s.most_pairs) & (sizes > SMALL))
        self.giant, self.n_giants = giant, int(np.count_nonzero(giant))
        if not self.n_giants:
            return self.roots
        inside = giant[self.roots]
        splitter = Splitter(len(self.roots), SMALL, 1 << 60)
        yes = self.known.fixed[self.known.fixed[:, 2] == 1]
        splitter.must_join(np.ascontiguousarray(yes[:, 0]), np.ascontiguousarray(yes[:, 1]))
        for low, high in self._ranges(inside):
            i, j, w = self._positive(inside, low, high)
            order = falling_order(i, j, w)
            splitter.add(i[order].astype(np.int64), j[order].astype(np.int64))
        units = np.where(inside, splitter.pieces(), self.roots)
        counts = np.bincount(self.roots[np.unique(units)], minlength=len(sizes))
        self.pieces = counts[giant]
        return units

    def _ranges(self, inside: Flags) -> list[tuple[float, float]]:
        """Return ranges of log-odds, falling, whose positive pairs fit into memory."""
        fits = max(FEWEST, self.work.memory // 4 // 40)
        sample = [w[(w > 0) & inside[i]][::16] for i, _, w in self.spool.batches()]
        values = np.sort(np.concatenate([np.empty(0), *sample]))[::-1]
        step = max(1, fits // 16)
        cuts = np.unique(values[step::step])[::-1]
        edges = [np.inf, *cuts.tolist(), 0.0]
        return list(zip(edges[1:], edges[:-1], strict=True))

    def _positive(self, inside: Flags, low: float, high: float) -> Any:
        parts = []
        for i, j, w in self.spool.batches():
            take = (w > low) & (w <= high) & inside[i] & (self.roots[i] == self.roots[j])
            if self.known.groups is not None:
                g = self.known.groups
                take &= (g[i] != g[j]) | (g[i] < 0)
            parts.append((i[take], j[take], w[take]))
        return [np.concatenate([p[k] for p in parts]) for k in range(3)]

    # --- pairs to batches

    def _partition(self, units: Index) -> list[tuple[int, int, Spool]]:
        """Distribute pairs over ranges of units; each range is a batch."""
        count = len(self.starts) - 1
        edges = np.zeros(len(units), dtype=np.int64)
        for i, j, _ in self.spool.batches():
            count_edges(units, i, j, edges)
        own = edges[self.order[self.starts[:-1]]]  # the first element of a unit is its root
        room = max(50_000, min(BUCKET_PAIRS, self.work.memory // 4 // (8 * BYTES)))
        sizes = np.diff(self.starts)
        cost = own + sizes // 4
        if self.work.score_missing is not None:
            cost += np.where(sizes <= MOST_MISSING, sizes * (sizes - 1) // 2, 0)
        number = (np.cumsum(cost) - cost) // room
        change = np.flatnonzero(np.diff(number)) + 1
        bounds = np.concatenate([[0], change, [count]]).astype(np.int64)
        limits = self.starts[bounds]
        memory = self.work.memory // 4 // max(1, len(bounds) - 1)
        folder = self.work.folder
        spools = [Spool(folder / f"bucket{k}.bin", memory) for k in range(len(bounds) - 1)]
        for i, j, w in self.spool.batches():
            within = units[i] == units[j]
            lost = ~within & (w > 0)
            if lost.any():
                self._lose(i[lost], j[lost], w[lost])
            a, b, c = self.place[i[within]], self.place[j[within]], w[within]
            bucket = np.searchsorted(limits, a, side="right") - 1
            by = np.argsort(
                bucket.astype(np.int16 if len(spools) < 30_000 else np.int64), kind="stable"
            )
            ends = np.searchsorted(bucket[by], np.arange(len(spools) + 1))
            for k, spool in enumerate(spools):
                part = by[ends[k] : ends[k + 1]]
                if len(part):
                    spool.append(a[part], b[part], c[part])
        self.spool.clear()
        return [(int(bounds[k]), int(bounds[k + 1]), s) for k, s in enumerate(spools)]

    def _lose(self, i: Any, j: Any, w: Floats) -> None:
        """Account for positive pairs that no batch holds: cut by splitting, or forbidden."""
        same = self.roots[i] == self.roots[j]
        self.lost_pairs += len(w)
        if self.known.groups is not None:
            g = self.known.groups
            same &= (g[i] != g[j]) | (g[i] < 0)
        self.lost_bits += float(w[same].sum())
        np.add.at(self.component_gap, self.roots[i[same]], w[same])

    # --- batches to clusters

    def _solve_all(self, buckets: list[tuple[int, int, Spool]]) -> None:
        work, done = self.work, 0
        with ThreadPoolExecutor(max(1, work.threads)) as pool:
            tasks = [pool.submit(self._solve_bucket, *bucket) for bucket in buckets]
            try:
                for task in tasks:
                    self._take(task.result())
                    done += 1
                    if work.monitor is not None:
                        work.monitor("solve", done, len(tasks))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _solve_bucket(self, begin: int, end: int, spool: Spool) -> dict[str, Any]:
        """Solve the components from `begin` to `end`; write their clusters; return sums."""
        first = int(self.starts[begin])
        n = int(self.starts[end]) - first
        a, b, w = spool.load()
        spool.clear()
        a, b, w = sort_rows(a, b, w, first, n)
        odd = np.zeros(3, dtype=np.int64)
        kept = merge_duplicates(a, b, w, SAME, odd)
        where = None if odd[2] < 0 else (int(self.order[a[odd[2]]]), int(self.order[b[odd[2]]]))
        batch = self._batch(begin, end, (a[:kept], b[:kept], w[:kept]))
        out: dict[str, Any] = {"odd": odd[:2], "where": where, "components": end - begin}
        prints = np.empty(end - begin, dtype=np.uint64)
        bits = np.ascontiguousarray(batch.log_odds).view(np.uint64)
        fingerprints(batch, self.keys[self.order[first : first + n]], bits, self.work.seed, prints)
        self.prints[first : first + n] = np.repeat(prints, np.diff(batch.element_ptr))
        kept_gaps = self._known_gaps(first, batch, prints)
        out["missing"] = out["left_out"] = 0
        if self.work.score_missing is not None:
            out["left_out"] = int(np.count_nonzero(np.diff(batch.element_ptr) > MOST_MISSING))
            elements = self.order[first : first + n]
            batch, out["missing"] = with_missing(batch, elements, self.work.score_missing)
        out["reused"] = int(np.count_nonzero(kept_gaps >= 0))
        try:
            found = _solve_some(batch, self.work.settings, kept_gaps)
        except EvidenceError as error:
            self._explain(error, begin)
            raise
        own = np.repeat(batch.element_ptr[:-1], np.diff(batch.element_ptr))
        keys = own + found.labels
        start = np.full(n, n, dtype=np.int64)
        np.minimum.at(start, keys, np.arange(n))
        self.cluster[first : first + n] = first + start[keys]
        return out | {
            "gap": (self.roots[self.order[self.starts[begin:end]]], found.gap),
            "value": float(found.value.sum()),
            "bound": float(np.maximum(found.bound, found.value).sum()),
            "cut": int(found.cut.sum()),
            "added": int(found.added.sum()),
        }

    def _batch(self, begin: int, end: int, pairs: tuple[Any, Any, Floats]) -> Components:
        a, b, w = pairs
        first = int(self.starts[begin])
        pointers = self.starts[begin : end + 1] - first
        pair_ptr = np.searchsorted(a, self.starts[begin : end + 1])
        shift = np.repeat(self.starts[begin:end], np.diff(pair_ptr))
        elements = slice(first, int(self.starts[end]))
        none = np.empty(0, dtype=np.int64)
        fixed_ptr, fixed = self._fixed(begin, end)
        k = self.known
        return Components(
            pointers,
            pair_ptr.astype(np.int64),
            (a - shift).astype(np.int32),
            (b - shift).astype(np.int32),
            w,
            fixed_ptr,
            fixed,
            none if k.groups is None else k.groups[self.order[elements]],
            none if k.start is None else k.start[self.order[elements]],
        )

    def _fixed(self, begin: int, end: int) -> tuple[Index, NDArray[np.int32]]:
        """Return the evidence inside the components from `begin` to `end`."""
        count = end - begin
        if not len(self.known.fixed):
            return np.zeros(count + 1, np.int64), np.empty((0, 3), np.int32)
        ends = np.sort(self.place[self.known.fixed[:, :2]], axis=1)
        owner = np.searchsorted(self.starts, ends, side="right") - 1
        here = (owner[:, 0] == owner[:, 1]) & (owner[:, 0] >= begin) & (owner[:, 0] < end)
        ends, sign, owner = ends[here], self.known.fixed[here, 2], owner[here, 0]
        by = np.lexsort((sign, ends[:, 1], ends[:, 0]))
        local = ends[by] - self.starts[owner[by]][:, None]
        pointers = np.searchsorted(owner[by], np.arange(begin, end + 1))
        return pointers.astype(np.int64), np.column_stack([local, sign[by]]).astype(np.int32)

    def _known_gaps(self, first: int, batch: Components, prints: Any) -> Floats:
        """Return gaps of components that are as they were in the earlier run; -1 for others."""
        gaps = np.full(len(prints), -1.0)
        k = self.known
        if k.prints is None or k.gaps is None or k.start is None:
            return gaps
        elements = self.order[first : first + int(batch.element_ptr[-1])]
        same = k.prints[elements] == np.repeat(prints, np.diff(batch.element_ptr))
        all_same = np.minimum.reduceat(same, batch.element_ptr[:-1])
        found = k.gaps[elements[batch.element_ptr[:-1]]]
        if self.work.settings.prove:
            all_same &= found <= 1e-6
        gaps[all_same] = found[all_same]
        return gaps

    def _explain(self, error: Any, begin: int) -> None:
        """Say which elements a component that cannot be clustered has."""
        start, stop = self.starts[begin + error.number], self.starts[begin + error.number + 1]
        numbers = self.order[start : min(stop, start + 6)]
        ids = self.source.id_table().take(numbers).to_pylist()
        names = ", ".join(str(tuple(row.values())) for row in ids)
        error.args = (
            f"{error.args[0]} Its elements: {names}{', ...' if stop - start > 6 else ''}.",
        )

    def _take(self, found: dict[str, Any]) -> None:
        """Add the sums of a batch, in the order of batches, so that rounding is always the same."""
        np.add.at(self.component_gap, *found["gap"])
        self.odd += found["odd"]
        self.contradiction = self.contradiction or found["where"]
        self.components += found["components"]
        self.reused += found["reused"]
        self.value += found["value"]
        self.bound += found["bound"]
        self.cut += found["cut"]
        self.added += found["added"]
        self.scored_missing += found["missing"]
        self.unscored_components += found["left_out"]

    def _finish(self, sizes: Index, largest: int) -> Outcome:
        n = len(self.roots)
        count = np.bincount(self.cluster, minlength=n)
        mine = self.cluster[self.place]
        bound = self.bound + self.lost_bits
        prints = self.prints[self.place]
        prints[self.giant[self.roots]] = 0  # of pieces, whose gaps are not kept
        totals = {
            "elements": n,
            "clusters": int(np.count_nonzero(count)),
            "components": int(np.count_nonzero(sizes)),
            "largest_component": largest,
            "largest_cluster": int(count.max(initial=0)),
            "components_split": self.n_giants,
            "pieces": int(self.pieces.sum()),
            "value": self.value,
            "bound": max(bound, self.value),
            "pairs_cut": self.cut + self.lost_pairs,
            "pairs_added": self.added,
            "pairs_scored": self.scored_missing,
            "components_left_unscored": self.unscored_components,
            "components_reused": self.reused,
            "components_solved": self.components - self.reused,
            "duplicates": int(self.odd[0]),
            "contradictory": int(self.odd[1]),
            "contradiction": self.contradiction,
        }
        return Outcome(
            self.order[mine], count[mine], self.component_gap[self.roots], prints, totals
        )


def _solve_some(batch: Components, settings: Settings, gaps: Floats) -> Solutions:
    """Solve the components whose gap is not known; the others keep their start."""
    if not (gaps >= 0).any():
        return solve_batch(batch, settings)
    return solve_others(batch, settings, gaps)
