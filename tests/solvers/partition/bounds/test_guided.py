"""Packing along a partition: valid, verified, not above the packing, and often far below."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from instances.partitions import proved, restricted_problem
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.guided import GuidedSettings, guided_bound
from relatum.solvers.partition.bounds.known import Known
from relatum.solvers.partition.bounds.packing import packing_bound


def known_of(problem, partition, thorough=False):
    return Known(partition, problem.value(partition), thorough)


@pytest.mark.parametrize("block", range(10))
def test_bounds_are_valid_verified_and_never_worse_than_the_packing(block):
    for seed in range(30 * block, 30 * block + 30):
        problem, best = restricted_problem(seed)
        solver = ("partition_local_search", "greedy_contraction")[seed % 2]
        partition = rt.infer(problem, solver=solver).relation
        known, control = known_of(problem, partition, seed % 4 < 2), Control(seed=seed)
        bound, proof = guided_bound(problem, known, control)
        assert bound >= best - 1e-9
        assert bound <= packing_bound(problem, known, control)[0] + 1e-9
        assert proved(problem, bound, proof)


def noisy(n, seed=0, noise=3.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    i, j = np.triu_indices(n, 1)
    c = rng.normal(size=len(i)) * noise + np.where(labels[i] == labels[j], 2.0, -4.0)
    return rt.Problem(c, rt.EQUIVALENCES), rt.Partition(labels)


def test_half_of_the_gap_that_the_packing_leaves_is_closed():
    problem, planted = noisy(300)
    value = problem.value(planted)
    bound, proof = guided_bound(problem, known_of(problem, planted, True), Control())
    assert proved(problem, bound, proof)
    assert value <= bound
    assert bound - value < 0.5 * (
        packing_bound(problem, Known(thorough=True), Control())[0] - value
    )


def test_large_problems_fall_back_on_the_packing_where_the_partition_is_bad():
    problem, planted = noisy(120)
    bad = rt.Partition(np.arange(120))
    plain, large = packing_bound(problem, Known(), Control())[0], GuidedSettings(few_pairs=0)
    assert guided_bound(problem, known_of(problem, bad), Control(), large)[0] <= plain
    assert guided_bound(problem, known_of(problem, planted), Control(), large)[0] < plain


def test_the_same_bound_each_time_and_little_without_time():
    problem, planted = noisy(150)
    known = known_of(problem, planted)
    first, again = (guided_bound(problem, known, Control(seed=3)) for _ in range(2))
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1].cuts[0].index, again[1].cuts[0].index)
    late = guided_bound(problem, known, Control(time_limit=1e-9))
    assert proved(problem, *late)
    assert late[0] >= first[0]
