from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from naive import probability as naive
from relatum.probability.exact import clusterings
from relatum.probability.exact.clusterings import posterior, refusal
from relatum.probability.methods import Task
from relatum.solvers import Control


@pytest.mark.parametrize("n", [9, 13, 18])
def test_equal_scores_count_partitions(n):
    p = rt.probabilities(rt.Problem(np.zeros((n, n)), rt.EQUIVALENCES))
    bell = [1]
    for k in range(n):
        bell.append(sum(b * _choose(k, j) for j, b in enumerate(bell)))
    assert 2.0**p.log2_normalizer == pytest.approx(bell[n], rel=1e-12)
    assert p.pairs(0, n - 1) == pytest.approx(bell[n - 1] / bell[n], rel=1e-12)
    assert p.sets([3]) == pytest.approx(bell[n - 1] / bell[n], rel=1e-12)


def _choose(n, k):
    from math import comb

    return comb(n, k)


def test_matchings_are_clusterings_of_two_sources():
    rng = np.random.default_rng(0)
    groups = np.array([0, 0, 0, 1, 1, 1, 1])
    feasible = rt.EQUIVALENCES & rt.one_per_group(groups)
    scores = rng.normal(size=(7, 7)) * 3
    problem = rt.Problem(scores, feasible)
    over_partitions = rt.probabilities(problem)
    ys = naive.filtered(naive.equivalences(7), groups=groups)
    p, bits = naive.distribution(scores, ys)
    assert over_partitions.log2_normalizer == pytest.approx(bits, rel=1e-12)
    part = next(iter(clusterings.parts_of(Task(problem))))
    found = clusterings._over_matchings(part, part.sides, 7, Control())
    assert found.pairs == pytest.approx(np.tensordot(p, ys * 1.0, axes=1), abs=1e-12)
    assert float(found.normalizer) == pytest.approx(bits, rel=1e-12)
    for own in ([0], [0, 3], [4, 1], [0, 1], [0, 3, 4]):
        exact = over_partitions.sets(own)
        assert found.of_set(np.array(own)) == pytest.approx(exact, abs=1e-12)
    labels = found.draw(300, rng)
    for row in labels:
        assert feasible.contains(rt.Partition(row))
    together = (labels[:, :, None] == labels[:, None, :]).mean(axis=0)
    assert np.abs(together - found.pairs).max() < 0.15


def test_two_large_sources_are_exact():
    rng = np.random.default_rng(1)
    n_a, n_b = 9, 40
    scores = rng.normal(size=(n_a, n_b)) * 4 - 4
    i, j = np.divmod(np.arange(n_a * n_b), n_b)
    groups = np.repeat([0, 1], [n_a, n_b])
    problem = rt.Problem.from_pairs(
        i, n_a + j, scores.ravel(), n=n_a + n_b, feasible=rt.EQUIVALENCES & rt.one_per_group(groups)
    )
    p = rt.probabilities(problem)
    one_to_one = rt.Problem(scores, rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE)
    other = rt.probabilities(one_to_one)
    assert p.exact
    assert p.matrix()[:n_a, n_a:] == pytest.approx(other.matrix(), abs=1e-12)
    assert p.log2_normalizer == pytest.approx(other.log2_normalizer, rel=1e-12)


def test_components_have_probabilities_of_their_own():
    rng = np.random.default_rng(2)
    parts = [np.arange(0, 12), np.arange(12, 24), np.arange(24, 30)]
    i, j, c = [], [], []
    for own in parts:
        a, b = np.triu_indices(len(own), 1)
        i.append(own[a])
        j.append(own[b])
        c.append(rng.normal(size=len(a)))
    pairs = [np.concatenate(x) for x in (i, j, c)]
    problem = rt.Problem.from_pairs(*pairs, n=30, feasible=rt.EQUIVALENCES)
    found = rt.probabilities(problem, across=False)
    total = 0.0
    for own in parts:
        alone = rt.probabilities(problem.restrict(own))
        total += alone.log2_normalizer
        assert found.matrix()[np.ix_(own, own)] == pytest.approx(alone.matrix(), abs=1e-13)
    assert found.log2_normalizer == pytest.approx(total, rel=1e-13)
    assert found.pairs(0, 29) == 0.0
    assert found.sets([0, 29]) == 0.0
    assert found.of(rt.Partition(np.zeros(30, int))) == -np.inf
    drawn = found.sample(4)
    assert all(np.isfinite(found.of(y)) for y in drawn)
    # the same, said by evidence, needs no condition
    out = [(a, b) for a in parts[0] for b in np.concatenate(parts[1:])]
    out += [(a, b) for a in parts[1] for b in parts[2]]
    told = problem.with_feasible(rt.EQUIVALENCES & rt.evidence(unrelated=out))
    assert rt.probabilities(told).matrix() == pytest.approx(found.matrix(), abs=1e-13)


def test_parts_that_are_too_large_are_refused():
    task = Task(rt.Problem(np.zeros((19, 19)), rt.EQUIVALENCES))
    assert "18 elements (20 if asked for by name), and one has 19" in (refusal(task) or "")
    assert refusal(Task(task.problem, patient=True)) is None
    together = rt.EQUIVALENCES & rt.evidence([(0, 1)])
    task = Task(rt.Problem(np.zeros((19, 19)), together))
    assert refusal(task) is None
    assert posterior(task, Control()).marginals.pairs(np.array([0]), np.array([1]))[0] == [1.0]
