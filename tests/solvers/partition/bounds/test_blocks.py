"""Bounds by blocks: the design covers every pair, bounds are valid, verified and better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from instances.partitions import proved, restricted_problem
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.blocks import (
    BLOCKS,
    BlockPlan,
    block_bound,
    block_plan,
    design,
)
from relatum.solvers.partition.bounds.choose import CHOICE, affordable_bound
from relatum.solvers.partition.bounds.guided import guided_bound
from relatum.solvers.partition.bounds.known import Known


def planted(n, seed=0, sets=4):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, sets, n)
    place = rng.normal(size=(sets, 5))[labels] * 1.6 + rng.normal(size=(n, 5))
    i, j = np.triu_indices(n, 1)
    far = np.linalg.norm(place[i] - place[j], axis=1)
    problem = rt.Problem(3.0 * (3.8 - far), rt.EQUIVALENCES)
    return problem, rt.infer(problem, solver="partition_local_search").relation


@pytest.mark.parametrize("q", [2, 3, 5])
def test_every_pair_of_different_points_is_in_one_block_and_others_in_all_of_theirs(q):
    labels = np.random.default_rng(q).integers(0, 3, 7 * q * q + 3)
    count = np.zeros((len(labels), len(labels)), dtype=int)
    point = np.empty(len(labels), dtype=int)
    lines = design(labels, q, seed=1)
    assert len(lines) == q * q + q
    for elements, points in lines:
        count[np.ix_(elements, elements)] += 1
        point[elements] = points
    same = point[:, None] == point
    assert (count[same] == q + 1).all()
    assert (count[~same] == 1).all()
    sizes = np.array([np.bincount(labels[e], minlength=3) for e, _ in lines])
    assert (np.ptp(sizes, axis=0) <= q).all()  # each has the same share of every set


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_valid_and_verified_whatever_evidence_there_is(seed):
    problem, best = restricted_problem(seed)
    partition = rt.infer(problem, solver="partition_local_search").relation
    known = Known(partition, problem.value(partition))
    bound, proof = block_bound(problem, known, Control(seed=seed), BlockPlan(1 + seed % 3, 4))
    assert bound >= best - 1e-9
    assert proved(problem, bound, proof)


def test_blocks_close_much_of_what_the_packing_leaves():
    problem, partition = planted(300)
    known = Known(partition, problem.value(partition))
    bound, proof = block_bound(problem, known, Control(), BlockPlan(2, 4))
    packed = guided_bound(problem, known, Control())[0]
    assert known.value <= bound
    assert bound - known.value < 0.7 * (packed - known.value)
    assert proved(problem, bound, proof)


def test_the_same_whatever_the_number_of_threads():
    problem, partition = planted(150)
    known = Known(partition, problem.value(partition))
    found = [
        block_bound(problem, known, Control(), BlockPlan(3, 3), replace(BLOCKS, threads=t))
        for t in (1, 2, 3)
    ]
    for bound, proof in found[1:]:
        assert bound == found[0][0]
        np.testing.assert_array_equal(proof.cuts[0].index, found[0][1].cuts[0].index)


def test_without_time_there_is_a_bound_all_the_same():
    problem, partition = planted(150)
    known = Known(partition, problem.value(partition))
    bound, proof = block_bound(problem, known, Control(time_limit=0.0), BlockPlan(3, 3))
    assert proved(problem, bound, proof)


def test_blocks_are_as_large_as_time_allows():
    plans = [block_plan(10_000, seconds) for seconds in (0.1, 40.0, 100.0, 1_000.0, 1e9)]
    assert plans[0] is None
    orders = [plan.order for plan in plans[1:]]
    assert orders[0] > orders[1] > orders[2] >= orders[3] > 1
    assert 10_000 / orders[3] <= BLOCKS.most
    assert block_plan(BLOCKS.most, 1e9).order == 1
    assert block_plan(BLOCKS.most_elements + 1, 1e9) is None


def test_more_time_for_the_same_blocks_is_more_rounds():
    rounds = {}
    for seconds in np.geomspace(10, 1e5, 400):
        plan = block_plan(10_000, seconds)
        if plan is not None:
            rounds.setdefault(plan.order, []).append(plan.rounds)
    assert all(found == sorted(found) for found in rounds.values())
    assert max(map(np.ptp, rounds.values())) == BLOCKS.more_rounds


def test_proofs_of_many_elements_use_blocks(monkeypatch):
    problem, partition = planted(240)
    few = replace(CHOICE, cut_elements=200, quick_cut_elements=200)
    monkeypatch.setattr(
        "relatum.solvers.partition.bounds.choose.block_plan", lambda *_: BlockPlan(3, 3)
    )
    plain, other = (affordable_bound(problem, Control(prove=p), partition, few) for p in (0, 1))
    assert other[0] < plain[0]
    assert proved(problem, *other)
