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

import relatum as rt  # noqa: E402
from relatum.pair_tables.on_duckdb import engine  # noqa: E402
from relatum.pair_tables.on_duckdb.buckets import Solver, solve_buckets  # noqa: E402
from relatum.pair_tables.on_duckdb.components import Linked, Units, fill_buckets  # noqa: E402
from relatum.pair_tables.on_duckdb.known import Known  # noqa: E402
from relatum.pair_tables.on_duckdb.store import Spool, Workspace  # noqa: E402
from relatum.proof import Status  # noqa: E402

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


def _hard_table(sizes):
    """Return a table of random scores whose components have these sizes."""
    rng = np.random.default_rng(sizes)
    left, right, begin = [], [], 0
    for size in sizes:
        i, j = np.triu_indices(size, 1)
        left.append(begin + i)
        right.append(begin + j)
        begin += size
    a, b = np.concatenate(left), np.concatenate(right)
    return pa.table({"unique_id_l": a, "unique_id_r": b, "match_weight": rng.normal(size=len(a))})


class _Stepping:
    """A clock that every call of `infer` moves on by the time it was given."""

    def __init__(self, monkeypatch):
        self.given, self.now = [], 0.0
        monkeypatch.setattr("relatum.solvers.control.Control.seconds", lambda control: self.now)
        monkeypatch.setattr("relatum.inference.infer", self)

    def __call__(self, problem, *, prove, time_limit, start):
        self.given.append((problem.n, time_limit))
        self.now += time_limit
        return rt.Estimate(Status.FEASIBLE, start, problem.value(start), np.inf, None, "none")


def test_a_time_limit_is_that_of_all_components_together(monkeypatch):
    table = _hard_table((60, 20, 30, 60, 40, 25))
    plain = rt.cluster_pairs(table, threads=1)
    clock = _Stepping(monkeypatch)
    found = rt.cluster_pairs(table, prove=True, time_limit=10.0, threads=1)
    assert [n for n, _ in clock.given] == sorted(n for n, _ in clock.given)
    assert sum(seconds for _, seconds in clock.given) == pytest.approx(10.0)
    shares = dict(clock.given)
    assert shares[60] > shares[30] > shares[20] > 0
    # what has no proof has the clusters and the bound it has without one
    assert found.summary.value == plain.summary.value
    assert found.summary.bound == plain.summary.bound


def test_components_in_several_buckets_all_have_their_share(monkeypatch):
    def small(linked, units, known, tuning, *rest):
        tuning = replace(tuning, batch_pairs=500, least_batch_pairs=500)
        return fill_buckets(linked, units, known, tuning, *rest)

    monkeypatch.setattr(engine, "fill_buckets", small)
    table = _hard_table((30,) * 8)
    clock = _Stepping(monkeypatch)
    rt.cluster_pairs(table, prove=True, time_limit=8.0, threads=1)
    seconds = [s for _, s in clock.given]
    assert len(seconds) == 8
    assert min(seconds) > 0.5
    assert sum(seconds) <= 8.0 + 1e-9


def test_no_proof_is_begun_when_time_is_up(monkeypatch):
    table = _hard_table((20, 25, 30))
    plain = rt.cluster_pairs(table, threads=1)
    clock = _Stepping(monkeypatch)
    clock.now = 5.0
    found = rt.cluster_pairs(table, prove=True, time_limit=5.0, threads=1)
    assert clock.given == []
    assert found.summary.value == plain.summary.value
    assert found.summary.bound == plain.summary.bound
