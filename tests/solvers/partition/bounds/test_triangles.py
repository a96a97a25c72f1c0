"""Cutting planes on top of a packing: valid, verified, never worse, tight where known."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from instances.partitions import check_stops, proved, restricted_problem
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.known import Known
from relatum.solvers.partition.bounds.packing import packing_bound
from relatum.solvers.partition.bounds.triangles import TriangleSettings, triangle_bound


def improved(problem, rounds=np.inf, work=np.inf, value=-np.inf, **control):
    packed, proof = packing_bound(problem, Known(), Control())
    known, settings = Known(value=value, proof=proof), TriangleSettings(rounds, work)
    return packed, *triangle_bound(problem, known, Control(**control), settings)


@pytest.mark.parametrize("block", range(8))
def test_bounds_are_valid_verified_and_never_worse_than_the_packing(block):
    closed = 0
    for seed in range(30 * block, 30 * block + 30):
        problem, best = restricted_problem(seed)
        packed, bound, proof = improved(problem)
        assert bound >= best - 1e-9
        assert bound <= packed + 1e-7
        assert proved(problem, bound, proof)
        closed += bound <= best + 1e-2
    assert closed >= 15


def test_time_and_monitors_stop_it():
    problem = rt.Problem(np.random.default_rng(0).normal(size=60 * 59 // 2), rt.EQUIVALENCES)
    check_stops(improved, problem)


@pytest.mark.slow
def test_more_work_never_gives_a_worse_bound_and_the_same_work_the_same():
    problem = rt.Problem(np.random.default_rng(1).normal(size=50 * 49 // 2), rt.EQUIVALENCES)
    efforts = ((0, 1e9), (9, 0.0), (6, 1e9), (6, 1e9), (12, 1e9))
    bounds = [improved(problem, *effort)[1] for effort in efforts]
    assert bounds[0] == bounds[1] == pytest.approx(improved(problem)[0])
    assert bounds[1] > bounds[2] == bounds[3] > bounds[4]


@pytest.mark.parametrize("name", ["strat_n100_0", "unstrat_n100_1", "unstrat_n300_2"])
def test_learned_scores_are_bounded_by_their_optimum(data_folder, name):
    with np.load(data_folder / "mnist-clustering" / f"{name}.npz") as file:
        problem = rt.Problem(file["costs"], rt.EQUIVALENCES)
    exact = rt.infer(problem, prove=True)
    assert exact.status is rt.Status.OPTIMAL
    packed, bound, proof = improved(problem, value=exact.value)
    assert proved(problem, bound, proof)
    assert exact.value <= bound < packed
    assert bound - exact.value < 0.2 * (packed - exact.value)
