"""Bounds by separated paths: valid by brute force, verified, never above the packing's."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from instances.partitions import check_stops, proved, restricted_problem
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.known import Known
from relatum.solvers.partition.bounds.packing import packing_bound
from relatum.solvers.partition.bounds.paths import QUICK, THOROUGH, path_bound


def improved(problem, effort=THOROUGH, value=-np.inf, **control):
    packed, proof = packing_bound(problem, Known(), Control())
    known = Known(value=value, proof=proof)
    return packed, *path_bound(problem, known, Control(**control), effort)


@pytest.mark.parametrize("block", range(10))
def test_bounds_are_valid_verified_and_never_worse_than_the_packing(block):
    closed = 0
    for seed in range(30 * block, 30 * block + 30):
        problem, best = restricted_problem(seed, listed=0.7)
        packed, bound, proof = improved(problem, QUICK)
        assert bound >= best - 1e-9
        assert bound <= packed + 1e-7
        assert proved(problem, bound, proof)
        closed += bound <= best + 1e-3
    assert closed >= 10  # the relaxation is tight for many small problems


def ring(n):
    """Pairs 0-1, 1-2, ... of 2 bits; the ends say -5."""
    i, j = [*range(n - 1), 0], [*range(1, n), n - 1]
    c = [2.0] * (n - 1) + [-5.0]
    return rt.Problem.from_pairs(i, j, c, n=n, feasible=rt.EQUIVALENCES)


def signed_network(seed, n=120, pairs=900):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    i, j = rng.integers(0, n, (2, pairs))
    i, j = np.unique(np.sort(np.column_stack([i, j])[i != j], axis=1), axis=0).T
    flip = rng.random(len(i)) < 0.08
    c = np.where((truth[i] == truth[j]) != flip, 1.0, -1.0)
    return rt.Problem.from_pairs(i, j, c, n=n, feasible=rt.EQUIVALENCES)


def test_most_of_the_gap_that_the_packing_leaves_is_closed():
    problem = signed_network(0)
    value = rt.infer(problem, solver="partition_local_search").value
    packed, bound, proof = improved(problem, value=value)
    assert proved(problem, bound, proof)
    assert value <= bound
    assert bound - value < 0.4 * (packed - value)


def test_the_same_bound_each_time_and_rows_with_weight_only():
    problem = signed_network(1)
    first, second = improved(problem, QUICK), improved(problem, QUICK)
    assert first[1] == second[1]
    for a, b in zip(first[2].cuts, second[2].cuts, strict=True):
        np.testing.assert_array_equal(a.index, b.index)
        np.testing.assert_array_equal(a.multipliers, b.multipliers)
        assert (a.multipliers > 0).all()


def test_groups_close_over_pairs_that_are_not_listed():
    # 0 would like to be with 1 and with 2, which share a group and are not scored
    group = rt.one_per_group(np.array([0, 1, 1]))
    problem = rt.Problem.from_pairs(
        [0, 0], [1, 2], [3.0, 2.0], n=3, feasible=rt.EQUIVALENCES & group
    )
    packed, bound, proof = improved(problem)
    assert packed == pytest.approx(5.0, abs=1e-6)
    assert bound == pytest.approx(3.0, abs=1e-3)
    assert proved(problem, bound, proof)


def test_a_ring_is_cut_at_its_weakest_pair():
    problem = ring(8)
    _, bound, proof = improved(problem)
    assert bound == pytest.approx(12.0, abs=1e-6)
    assert proved(problem, bound, proof)


def test_time_and_monitors_stop_it():
    problem = signed_network(2)
    check_stops(improved, problem)
