from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.probability.exact import cluster_parts
from relatum.probability.exact.cluster_parts import parts_of
from relatum.probability.methods import Task
from relatum.probability.sampling.neighbours import neighbours_of


def _problem(seed=0, n=12):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.4
    feasible = rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)], [(3, 4)])
    feasible = feasible & rt.one_per_group(np.append(np.arange(n - 2), [7, 7]))
    given = i[kept], j[kept], rng.normal(size=kept.sum())
    return rt.Problem.from_pairs(*given, n=n, background=-0.5, feasible=feasible)


@pytest.mark.parametrize("seed", range(5))
def test_lists_and_matrices_say_the_same(seed, monkeypatch):
    problem = _problem(seed)
    (part,) = parts_of(Task(problem))
    dense = neighbours_of(part, problem)
    monkeypatch.setattr(cluster_parts, "DENSE", 0)
    (part,) = parts_of(Task(problem))
    listed = neighbours_of(part, problem)
    assert np.array_equal(dense.labels, listed.labels)
    assert np.array_equal(dense.sizes, listed.sizes)
    assert listed.constant == pytest.approx(dense.constant)
    for near in (dense, listed):
        assert (near.start[1:] > near.start[:-1]).all()
    a, b = [_matrix(near) for near in (dense, listed)]
    assert np.array_equal(np.isinf(a), np.isinf(b))
    assert np.where(np.isinf(a), 0, a) == pytest.approx(np.where(np.isinf(b), 0, b))


def _matrix(near):
    out = np.zeros((len(near.sizes),) * 2)
    out[np.repeat(np.arange(len(near.sizes)), np.diff(near.start)), near.other] = near.above
    return out


def test_values_are_those_of_the_problem():
    problem = _problem()
    (part,) = parts_of(Task(problem))
    near = neighbours_of(part, problem)
    relation = rt.infer(problem).relation
    labels = np.zeros(len(near.sizes), int)
    labels[near.labels] = relation.labels
    assert near.value(labels) == pytest.approx(problem.value(relation))
    assert near.heated(2.0).background == -1.0
    assert np.isneginf(near.heated(0.5).above).sum() == np.isneginf(near.above).sum() > 0
