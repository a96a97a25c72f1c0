from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.probability.exact import cluster_parts
from relatum.probability.exact.cluster_parts import parts_of
from relatum.probability.methods import Task

FROM, TO, SCORES = np.array([0, 1, 3, 5]), np.array([1, 2, 4, 6]), np.array([1.0, -2.0, 3.0, 4.0])


def _listed(feasible=rt.EQUIVALENCES):
    return rt.Problem.from_pairs(FROM, TO, SCORES, n=8, feasible=feasible)


def test_pairs_without_a_score_connect_unless_told_otherwise():
    assert [p.elements.tolist() for p in parts_of(Task(_listed()))] == [list(range(8))]
    apart = parts_of(Task(_listed(), across=False))
    assert [p.elements.tolist() for p in apart] == [[0, 1, 2], [3, 4], [5, 6], [7]]


def test_pairs_that_exclude_each_other_do_not_connect():
    out = [(a, b) for a in range(3) for b in range(3, 8)]
    some = list(parts_of(Task(_listed(rt.EQUIVALENCES & rt.evidence(unrelated=out)))))
    assert [p.elements.tolist() for p in some] == [[0, 1, 2], [3, 4, 5, 6, 7]]


def test_elements_that_are_one_have_a_size_and_summed_scores():
    scores = np.arange(16.0).reshape(4, 4)
    (part,) = parts_of(Task(rt.Problem(scores, rt.EQUIVALENCES & rt.evidence([(0, 2)]))))
    assert part.labels.tolist() == [0, 1, 0, 2]
    assert part.sizes.tolist() == [2, 1, 1]
    assert part.scores[0, 1] == scores[0, 1] + scores[1, 0] + scores[2, 1] + scores[1, 2]
    assert part.constant == scores[0, 0] + scores[1, 1] + scores[2, 2] + scores[3, 3] + 2 + 8
    assert part.possible
    assert part.sides is None


def test_two_sources_are_two_sides():
    (part,) = parts_of(Task(_listed(rt.EQUIVALENCES & rt.one_per_group([0, 1] * 4))))
    assert part.sides is not None
    assert sorted(map(int, np.bincount(part.sides))) == [4, 4]
    assert not part.allowed[np.ix_(part.sides, part.sides)].any()


def test_evidence_that_contradicts_itself_is_not_possible():
    feasible = rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)], [(0, 2)])
    assert not all(p.possible for p in parts_of(Task(_listed(feasible))))


@pytest.mark.parametrize("seed", range(5))
def test_lists_and_matrices_have_the_same_parts(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = 14
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.12
    groups = rng.integers(0, 9, n)
    yes, no = [(0, 5), (5, 7)], [(1, 2), (4, 3)]
    feasible = rt.EQUIVALENCES & rt.evidence(yes, no) & rt.one_per_group(groups)
    problem = rt.Problem.from_pairs(
        i[kept], j[kept], rng.normal(size=kept.sum()), n=n, background=-0.5, feasible=feasible
    )
    task = Task(problem, across=False)
    one = list(parts_of(task))
    monkeypatch.setattr(cluster_parts, "DENSE", 12)
    other = list(parts_of(task))
    assert len(one) == len(other) > 1
    assert all(p.possible for p in one) == all(p.possible for p in other)
    for p, q in zip(one, other, strict=True):
        assert p.elements.tolist() == q.elements.tolist()
        assert p.labels.tolist() == q.labels.tolist()
        assert p.constant == q.constant
        assert np.array_equal(p.allowed, q.allowed)
        assert np.allclose(p.scores, q.scores, atol=1e-14)
