"""Bounds of large components come with proofs that hold, whatever the clock says."""

from __future__ import annotations

import numpy as np

import relatum as rt
from relatum.pair_tables.solve.proving import packed_certificate
from relatum.proof import Certificate, verify


def test_bounds_by_packing_are_proved_and_do_not_depend_on_time(monkeypatch):
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(150, 1)
    keep = rng.random(len(i)) < 0.1
    scores = 3 * rng.normal(size=int(keep.sum()))
    problem = rt.Problem.from_pairs(
        i[keep], j[keep], scores, n=150, background=-1.0, feasible=rt.EQUIVALENCES
    )
    labels = rt.infer(problem, solver="greedy_contraction").relation.labels
    found = packed_certificate(problem, labels)
    assert found.bound < scores[scores > 0].sum()
    relation = rt.Partition(labels)
    e = rt.Estimate(rt.Status.FEASIBLE, relation, problem.value(relation), found.bound, found)
    assert verify(problem, e)
    low = Certificate(problem.value(relation) - 1.0, found.proof)
    assert not verify(problem, rt.Estimate(e.status, relation, e.value, low.bound, low))
    monkeypatch.setattr("time.perf_counter", iter(range(0, 10**9, 1000)).__next__)
    again = packed_certificate(problem, labels)
    assert again.bound == found.bound
