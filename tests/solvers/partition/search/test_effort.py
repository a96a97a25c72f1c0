"""Long searches of every kind find the proven optimum where there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from instances.partitions import free_rules, random_weights
from relatum.solvers.partition.search.dense import DenseSearch
from relatum.solvers.partition.search.effort import QUICK, long_effort, noisy_effort
from relatum.solvers.partition.search.memetic import evolve

# elements, sets: few or many of both
KINDS = [(100, 5), (100, 50), (2000, 5), (2000, 500)]


def test_kinds_are_told_apart():
    efforts = [long_effort(*kind) for kind in KINDS]
    assert len(set(efforts)) == 4
    assert long_effort(100, 10) == efforts[0]
    assert long_effort(100, 11) == efforts[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_search_reaches_the_proven_optimum(kind):
    effort = replace(long_effort(*kind), sweeps=40, epochs=0)
    weights = random_weights(np.random.default_rng(kind[1]), 28)
    problem = rt.Problem(weights[np.triu_indices(28, 1)], rt.EQUIVALENCES)
    exact = rt.infer(problem, solver="partition_branch_and_cut")
    assert exact.gap < 1e-6
    found, _ = evolve(DenseSearch(weights, free_rules(28)), effort, 0, [])
    assert found.value == pytest.approx(exact.value)


def test_noise_is_searched_otherwise_from_some_elements_on():
    few, some, many = (noisy_effort(n) for n in (60, 400, 1500))
    assert few == QUICK
    assert some.replicas > 0 == many.replicas
    weights = random_weights(np.random.default_rng(3), 28)
    problem = rt.Problem(weights[np.triu_indices(28, 1)], rt.EQUIVALENCES)
    exact = rt.infer(problem, solver="partition_branch_and_cut")
    for effort in (some, many):
        found, _ = evolve(DenseSearch(weights, free_rules(28)), effort, 0, [])
        assert found.value == pytest.approx(exact.value)
