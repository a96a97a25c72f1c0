"""Which bound is reported where a solver proves none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from instances.partitions import proved
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds import choose
from relatum.solvers.partition.bounds.choose import ChoiceSettings, affordable_bound
from relatum.solvers.partition.bounds.known import Known
from relatum.solvers.partition.bounds.packing import packing_bound
from relatum.solvers.trivial_bound import trivial_bound


@pytest.fixture
def problem():
    c = np.random.default_rng(0).normal(size=40 * 39 // 2) * 2
    return rt.Problem(c, rt.EQUIVALENCES)


def test_clusterings_get_the_packing_bound(problem):
    bound, _ = affordable_bound(problem, Control(time_limit=10.0))
    packed = packing_bound(problem, Known(), Control())[0]
    assert packed - 1e-5 < bound <= packed  # the same rows, summed up without rounding
    assert bound < trivial_bound(problem)[0]


def test_sparse_clusterings_get_a_bound_by_paths():
    problem = rt.Problem.from_pairs(
        [0, 1, 2, 3, 0, 1],
        [1, 2, 3, 4, 4, 3],
        [2.0, 2.0, 2.0, 2.0, -3.0, -3.0],
        n=5,
        feasible=rt.EQUIVALENCES,
    )
    bound, proof = affordable_bound(problem, Control(), rt.Partition([0, 0, 0, 1, 1]))
    assert proved(problem, bound, proof)
    # one cut ends both conflicts: the packing, one conflict after the other, may say so or not
    assert bound == pytest.approx(6.0, abs=1e-4)


def planted(background):
    """Return a sparse problem and the partition that it was made from."""
    rng = np.random.default_rng(2)
    labels = np.arange(200) // 10
    i, j = np.triu_indices(200, 1)
    keep = rng.random(len(i)) < np.where(labels[i] == labels[j], 0.6, 0.03)
    i, j = i[keep], j[keep]
    c = rng.normal(size=len(i)) * 2 + np.where(labels[i] == labels[j], 2.0, -2.0)
    problem = rt.Problem.from_pairs(i, j, c, n=200, background=background, feasible=rt.EQUIVALENCES)
    return problem, rt.Partition(labels)


@pytest.mark.parametrize("quick", [0, 1 << 30])
@pytest.mark.parametrize(("background", "limit"), [(0, 10.0), (0, math.inf), (-0.2, math.inf)])
def test_packing_without_a_partition_needs_time(monkeypatch, quick, background, limit):
    problem, partition = planted(background)
    settings = ChoiceSettings(quick_path_pairs=quick, path_seconds=1.0)
    guides = []

    def watched(problem, known, control):
        guides.append(known.partition is not None)
        return packing_bound(problem, known, control)

    monkeypatch.setattr(choose, "packing_bound", watched)
    bound, proof = affordable_bound(problem, Control(time_limit=limit), partition, settings)
    assert proved(problem, bound, proof)
    assert guides
    assert all(guides) == (limit == 10.0 or background < 0)


@pytest.mark.parametrize("few", [True, False])
def test_large_sparse_clusterings_are_packed_along_the_partition(few):
    problem, partition = planted(-0.2)
    settings = ChoiceSettings(quick_path_pairs=0)
    settings = settings if few else replace(settings, path_pairs=0)
    bound, proof = affordable_bound(problem, Control(), partition, settings)
    value, plain = problem.value(partition), packing_bound(problem, Known(), Control())[0]
    assert proved(problem, bound, proof)
    assert value <= bound < plain
    bad = affordable_bound(problem, Control(), rt.Partition(np.arange(200)), settings)[0]
    assert value <= bad <= plain + 1e-6


def test_without_time_pairs_are_bounded_one_by_one(problem):
    hasty = ChoiceSettings(array_seconds=math.inf, listed_seconds=math.inf)
    out_of_time = Control(time_limit=1e-9)
    assert affordable_bound(problem, out_of_time, None, hasty)[0] == trivial_bound(problem)[0]
    # there is a last moment for a bound of few pairs
    assert affordable_bound(problem, out_of_time)[0] < trivial_bound(problem)[0]


def test_other_relations_are_bounded_pair_by_pair():
    orders = rt.Problem(np.random.default_rng(1).normal(size=(5, 5)), rt.LINEAR_ORDERS)
    assert affordable_bound(orders, Control())[0] == trivial_bound(orders)[0]


def test_a_worthless_partition_is_no_guide():
    """Along single elements a packing of noise is poor while time is short: here, there is none."""
    n = 150
    problem = rt.Problem(np.random.default_rng(0).normal(size=n * (n - 1) // 2), rt.EQUIVALENCES)
    settings = replace(choose.CHOICE, quick_cut_elements=0)
    asked = []

    def guided(problem, known, control):
        asked.append(known.partition)
        return trivial_bound(problem)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose, "guided_bound", guided)
        patch.setattr(choose, "semidefinite_bound", lambda *_: None)
        alone = rt.Partition(np.arange(n))
        bound, proof = affordable_bound(problem, Control(time_limit=60.0), alone, settings)
        assert proved(problem, bound, proof)
        assert bound <= packing_bound(problem, Known(), Control())[0]
        good = rt.infer(problem, solver="partition_local_search", time_limit=60.0).relation
        asked.clear()
        found, _ = affordable_bound(problem, Control(time_limit=60.0), good, settings)
    assert asked == [good]
    assert found == trivial_bound(problem)[0] > bound
