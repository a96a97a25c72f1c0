"""Buckets: each component as if it were alone, kept if nothing changed, whatever the threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relatum.pair_tables import Component, Settings, solve_component
from relatum.pair_tables.options import Tuning
from relatum.pair_tables.previous import Earlier

pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb.buckets import Solver, solve_buckets  # noqa: E402
from relatum.pair_tables.on_duckdb.components import Linked, Units, fill_buckets  # noqa: E402
from relatum.pair_tables.on_duckdb.known import Known  # noqa: E402
from relatum.pair_tables.on_duckdb.store import Spool, Workspace  # noqa: E402

SIZES = [4, 1, 7, 5, 3, 6]
TUNING = Tuning(batch_pairs=8, least_batch_pairs=8)


def random_pairs(seed):
    """All pairs inside blocks of `SIZES` elements but some, and the block of each element."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(SIZES)), SIZES)
    i, j = np.triu_indices(len(block), 1)
    keep = (block[i] == block[j]) & (rng.random(len(i)) < 0.8)
    return i[keep], j[keep], 3 * rng.normal(size=int(keep.sum())), block


def solver_of(tmp_path, pairs, known=None, threads=2, score=None):
    i, j, w, block = pairs
    space = Workspace(tmp_path, 8 << 20, threads)
    spool = Spool(tmp_path / "pairs.bin", 1 << 20)
    spool.append(i, j, w)
    roots = np.flatnonzero(np.diff(block, prepend=-1))[block]
    known = Known() if known is None else known
    units = Units(roots, np.bincount(roots, minlength=len(roots)), np.zeros(len(roots), bool))
    buckets = fill_buckets(Linked(spool, roots), units, known, TUNING, space, score is not None)
    ids = pa.table({"unique_id": [f"e{k}" for k in range(len(block))]})
    keys = np.arange(len(block)).astype(np.uint64)
    return Solver(buckets, known, Settings(-1.0, tuning=TUNING), ids, keys, score), space


def test_each_component_is_solved_as_if_alone(tmp_path):
    pairs = random_pairs(0)
    i, j, w, block = pairs
    solver, space = solver_of(tmp_path, pairs)
    parts = solve_buckets(solver, space)
    assert len(parts) > 2
    assert list(tmp_path.iterdir()) == []
    cluster, gaps = (np.concatenate([getattr(p, k) for p in parts]) for k in ("cluster", "gaps"))
    for k, n in enumerate(SIZES):
        own, first = block[i] == k, int(np.flatnonzero(block == k)[0])
        alone = solve_component(
            Component(n, i[own] - first, j[own] - first, w[own]), Settings(-1.0)
        )
        smallest = [first + np.flatnonzero(alone.labels == c)[0] for c in alone.labels]
        assert cluster[block == k].tolist() == smallest
        assert gaps[k] == alone.gap
    one, alone = solver_of(tmp_path, pairs, threads=1)
    again = solve_buckets(one, alone)
    assert [p.cluster.tolist() for p in again] == [p.cluster.tolist() for p in parts]
    assert [p.summary for p in again] == [p.summary for p in parts]


def test_components_are_kept_where_nothing_changed(tmp_path):
    i, j, w, block = random_pairs(1)
    solver, space = solver_of(tmp_path, (i, j, w, block))
    parts = solve_buckets(solver, space)
    cluster, hashes = (
        np.concatenate([getattr(p, k) for p in parts]) for k in ("cluster", "hashes")
    )
    assert len(np.unique(hashes)) == len(SIZES)
    earlier = Earlier(cluster, None, np.empty(0, int), hashes, np.full(len(block), 0.125))
    changed = np.where(np.arange(len(w)) == 0, w + 1.0, w)  # in the first component
    later, space = solver_of(tmp_path, (i, j, changed, block), Known(earlier=earlier))
    found = solve_buckets(later, space)
    assert sum(p.summary.components_reused for p in found) == len(SIZES) - 1
    assert sum(p.summary.components_solved for p in found) == 1
    gaps = np.concatenate([p.gaps for p in found])
    assert gaps[1:].tolist() == pytest.approx([0.125] * (len(SIZES) - 1))
    assert gaps[0] == 0
    after = np.concatenate([p.cluster for p in found])
    assert after[block > 0].tolist() == cluster[block > 0].tolist()
    proving, space = solver_of(tmp_path, (i, j, w, block), Known(earlier=earlier))
    proving = replace(proving, settings=replace(proving.settings, prove=True))
    assert sum(p.summary.components_reused for p in solve_buckets(proving, space)) == 0


def test_pairs_that_are_not_listed_are_asked_for_by_id(tmp_path):
    i, j, w, block = random_pairs(2)
    asked = []

    def score(a, b):
        asked.extend(zip(a.tolist(), b.tolist(), strict=True))
        return np.full(len(a), -9.0)

    solver, space = solver_of(tmp_path, (i, j, w, block), threads=1, score=score)
    parts = solve_buckets(solver, space)
    a, b = np.triu_indices(len(block), 1)
    listed = set(zip(i.tolist(), j.tolist(), strict=True))
    inside = zip(a[block[a] == block[b]].tolist(), b[block[a] == block[b]].tolist(), strict=True)
    missing = {(f"e{x}", f"e{y}") for x, y in inside if (x, y) not in listed}
    assert set(asked) == missing
    assert sum(p.summary.pairs_scored for p in parts) == len(missing)
