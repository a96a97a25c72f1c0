"""Packing bounds: valid by brute force, verified, and below the trivial bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
import relatum as rt
from instances.partitions import restricted_problem
from relatum.solvers.control import Control
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.partition.bounds.known import Known
from relatum.solvers.partition.bounds.packing import PACKING, DensePacking, packing_bound
from relatum.solvers.trivial_bound import trivial_bound


def checked(problem, **arguments):
    bound, proof = packing_bound(problem, Known(**arguments), Control())
    e = rt.Estimate(
        rt.Status.BOUND_ONLY, None, -np.inf, bound, rt.Certificate(bound, proof), "packing"
    )
    report = rt.verify(problem, e)
    assert report, report.reason
    return bound


def best(problem):
    c = problem.dense()
    w = c + c.T - np.diag(np.diagonal(c))
    value = naive.best_partition(w, lambda y: problem.feasible.contains(rt.Partition(y)))
    return value + np.trace(c)


@pytest.mark.parametrize("seed", range(30))
def test_dense_bounds_are_valid(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    feasible = rt.EQUIVALENCES
    if seed % 3 == 0:
        feasible = feasible & rt.evidence(related=[(0, 1)], unrelated=[(0, 2)])
    if seed % 5 == 0:
        feasible = feasible & rt.one_per_group(np.arange(n) % 4)
    if seed % 5 == 0 and seed % 3 == 0:
        feasible = rt.EQUIVALENCES & rt.at_most(2)
    problem = rt.Problem(rng.normal(size=(n, n)) * 2, feasible)
    bound = checked(problem, thorough=seed % 2 == 0)
    assert bound >= best(problem) - 1e-9
    assert bound <= trivial_bound(problem)[0] + 1e-6


@pytest.mark.parametrize("seed", range(30))
def test_sparse_bounds_are_valid(seed):
    rng = np.random.default_rng(seed)
    n = 8
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < 0.6
    feasible = rt.EQUIVALENCES
    if seed % 3 == 0:
        feasible = feasible & rt.evidence(related=[(0, 1)], unrelated=[(5, 2)])
    if seed % 4 == 1:
        feasible = feasible & rt.one_per_group(np.arange(n) // 2)
    problem = rt.Problem.from_pairs(
        i[keep],
        j[keep],
        rng.normal(size=int(keep.sum())) + 0.5,
        n=n,
        background=[0.0, -0.7, -3.0][seed % 3],
        feasible=feasible,
    )
    bound = checked(problem)
    assert bound >= best(problem) - 1e-9
    trivial = trivial_bound(problem)[0]
    assert bound <= trivial + 1e-6 or trivial == -np.inf  # 0 and 1 are related, in one group


@pytest.mark.parametrize("block", range(5))
def test_sparse_bounds_along_a_partition_are_valid(block):
    for seed in range(30 * block, 30 * block + 30):
        problem, value = restricted_problem(seed, listed=0.7)
        partition = rt.infer(problem, solver="greedy_contraction").relation
        bound = checked(problem, partition=partition)
        assert bound >= value - 1e-9
        assert bound <= trivial_bound(problem)[0] + 1e-6


def test_a_positive_background_is_bounded_densely():
    problem = rt.Problem.from_pairs(
        [0, 1], [1, 2], [1.0, -3.0], n=5, background=0.5, feasible=rt.EQUIVALENCES
    )
    assert checked(problem) >= best(problem) - 1e-9


def test_most_of_the_gap_of_planted_clusters_is_closed():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 200)
    i, j = np.triu_indices(200, 1)
    c = rng.normal(size=len(i)) * 2 + np.where(labels[i] == labels[j], 2, -2)
    problem = rt.Problem(c, rt.EQUIVALENCES)
    planted = problem.value(rt.Partition(labels))
    bound, trivial = checked(problem), trivial_bound(problem)[0]
    assert bound - planted < 0.2 * (trivial - planted)


def test_long_paths_close_sparse_conflicts():
    # a ring of positive pairs closed by a negative one: one of them has to give
    n = 9
    problem = rt.Problem.from_pairs(
        [*range(n - 1), 0],
        [*range(1, n), n - 1],
        [2.0] * (n - 1) + [-5.0],
        n=n,
        feasible=rt.EQUIVALENCES,
    )
    assert checked(problem) == pytest.approx(2.0 * (n - 1) - 2.0, abs=1e-6)


def sparse_sets(seed, background, n=600, size=15):
    """Return sets of which half of the pairs are listed, and as many pairs between them."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) // size
    i, j = np.triu_indices(n, 1)
    inside = labels[i] == labels[j]
    listed = rng.random(len(i)) < np.where(inside, 0.45, 0.45 * inside.sum() / (~inside).sum())
    i, j = i[listed], j[listed]
    c = np.where(labels[i] == labels[j], 2.0, -2.0) + 2.0 * rng.normal(size=len(i))
    problem = rt.Problem.from_pairs(i, j, c, n=n, background=background, feasible=rt.EQUIVALENCES)
    return problem, rt.Partition(labels)


@pytest.mark.parametrize("seed", range(3))
def test_longer_paths_close_most_of_what_triangles_leave(seed):
    problem, partition = sparse_sets(seed, -0.1)
    value = problem.value(partition)
    bound = checked(problem, partition=partition)
    only = replace(PACKING, closings=())
    triangles, _ = packing_bound(problem, Known(partition=partition), Control(), only)
    assert value <= bound
    assert bound - value < 0.5 * (triangles - value)


@pytest.mark.parametrize("known", [False, True])
def test_triangles_found_elsewhere_count_as_if_they_had_been_packed(known):
    facts = rt.evidence(related=[(0, 3)], unrelated=[(1, 3)]) if known else rt.evidence()
    rng = np.random.default_rng(3)
    problem = rt.Problem(rng.normal(size=(6, 6)), rt.EQUIVALENCES & facts)
    packing = DensePacking(problem)
    packing.take(np.array([[0, 1, 2], [4, 3, 1]], dtype=np.int32), np.array([0.25, 0.5]))
    packing.take(np.array([[5, 0, 2]], dtype=np.int32), np.array([0.125]))
    bound, proof = packing.proved()
    estimate = rt.Estimate(
        rt.Status.BOUND_ONLY, None, -np.inf, bound, rt.Certificate(bound, proof), "packing"
    )
    assert rt.verify(problem, estimate)
    assert abs(float(leaf_bound(problem, proof.cuts)[0]) - bound) < 1e-6
