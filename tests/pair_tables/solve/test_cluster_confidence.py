from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from naive import probability as naive
from relatum.pair_tables.options import Settings, Tuning
from relatum.pair_tables.solve.batching import Component, batch_of, problem_of
from relatum.pair_tables.solve.cluster_confidence import cluster_confidence
from relatum.pair_tables.solve.component import solve_batch, solve_component


def _component(rng, n, facts=True, listed=0.7):
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < listed
    truth = rng.integers(0, 3, n)
    known = {}
    if facts and n > 2:
        a, b = rng.choice(n, 2, replace=False)
        known = {"related" if truth[a] == truth[b] else "unrelated": [(a, b)]}
        known["groups"] = np.where(rng.random(n) < 0.5, -1, np.arange(n) + truth * n)
    return Component(n, i[kept], j[kept], rng.normal(size=kept.sum()) * 3, **known)


@pytest.mark.parametrize("cap", [None, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_small_components_are_exact(n, cap):
    rng = np.random.default_rng(n)
    settings = Settings(background=-1.5, max_size=cap)
    for _ in range(6):
        component = _component(rng, n)
        found = solve_component(component, settings)
        p, exact = cluster_confidence(component.batch(), found.labels, settings)
        assert exact.all()
        known = rt.probabilities(problem_of(component, -1.5, cap))
        assert p == pytest.approx(known.confidence(rt.Partition(found.labels)), abs=1e-12)


def test_a_batch_is_one_component_after_the_other():
    rng = np.random.default_rng(0)
    settings = Settings(background=-4.0)
    sizes = [1, 4, 2, 12, 3]
    owner = np.repeat(np.arange(5), sizes)
    i, j = np.triu_indices(len(owner), 1)
    inside = owner[i] == owner[j]
    batch, _ = batch_of(owner, (i[inside], j[inside], rng.normal(size=inside.sum()) * 4))
    labels = solve_batch(batch, settings).labels
    p, exact = cluster_confidence(batch, labels, settings)
    assert exact.tolist() == (owner != 3).tolist()
    assert ((p >= 0) & (p <= 1)).all()
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for k in (0, 1, 2, 4):
        own = slice(starts[k], starts[k + 1])
        here = (owner[i] == k) & inside
        low = i[here] - starts[k], j[here] - starts[k]
        scores = batch.log_odds[batch.pair_ptr[k] : batch.pair_ptr[k + 1]]
        alone = Component(sizes[k], *low, scores)
        assert np.array_equal(cluster_confidence(alone.batch(), labels[own], settings)[0], p[own])


def _one_step(y, z):
    """Whether one element moved, or two sets were joined."""
    sets = [frozenset(np.flatnonzero(y == k)) for k in set(y)]
    others = [frozenset(np.flatnonzero(z == k)) for k in set(z)]
    gone, come = set(sets) - set(others), set(others) - set(sets)
    if len(gone) == 2 and len(come) == 1:
        return True
    without = [
        all(len({y[a] for a in s if a != x}) <= 1 for s in others)
        and all(len({z[a] for a in s if a != x}) <= 1 for s in sets)
        for x in range(len(y))
    ]  # but for one element, they are the same
    return any(without)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("cap", [None, 3])
def test_larger_components_are_compared_with_single_steps(grouped, cap):
    rng = np.random.default_rng(int(grouped))
    settings = Settings(background=-1.5, max_size=cap, tuning=replace(Tuning(), exact_elements=1))
    n = 5
    partitions = np.array(naive.partitions(n))
    for _ in range(8):
        component = _component(rng, n, facts=grouped, listed=2.0)
        labels = solve_component(component, settings).labels
        p, exact = cluster_confidence(component.batch(), labels, settings)
        assert not exact.any()
        problem = problem_of(component, -1.5, cap)
        value = problem.value(rt.Partition(labels))
        for a in range(n):
            own = labels == labels[a]
            steps = 0.0
            for other in partitions:
                y = rt.Partition(other)
                same = np.array_equal(other == other[a], own)
                if not same and _one_step(labels, other) and problem.feasible.contains(y):
                    steps += 2.0 ** (problem.value(y) - value)
            assert p[a] == pytest.approx(1 / (1 + steps), rel=1e-9)


def test_scores_without_end_are_certain():
    settings = Settings(background=-4.0)
    huge = Component(3, [0, 1], [1, 2], [1e199, -1e199])
    p, exact = cluster_confidence(huge.batch(), np.array([0, 0, 1]), settings)
    assert exact.all()
    assert p.tolist() == [1.0, 1.0, 1.0]
