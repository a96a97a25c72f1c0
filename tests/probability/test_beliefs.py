"""What is believed of open pairs, beside exact probabilities, before and after answers."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import EvidenceError
from relatum.probability import beliefs
from relatum.probability.beliefs import beliefs_of, with_answer

MATCHINGS = rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE


def compare(problem, found):
    exact = rt.probabilities(problem, method="exact")
    pairs = found.open_pairs()
    assert len(pairs.i)
    assert pairs.probability == pytest.approx(exact.pairs(pairs.i, pairs.j), abs=1e-7)


def problems():
    rng = np.random.default_rng(0)
    yield rt.Problem(3 * rng.normal(size=(5, 4)), MATCHINGS)
    yield rt.Problem(
        3 * rng.normal(size=15), rt.EQUIVALENCES & rt.one_per_group([0, 1, 1, 0, 1, 0])
    )
    yield rt.Problem(2 * rng.normal(size=21), rt.EQUIVALENCES)
    yield rt.Problem(2 * rng.normal(size=(5, 5)), rt.LINEAR_ORDERS)
    yield rt.Problem(2 * rng.normal(size=(4, 3)), rt.MAPS)


@pytest.mark.parametrize("problem", list(problems()))
def test_small_problems_are_exact_after_every_answer(problem):
    found = beliefs_of(problem, {})
    truth = rt.sample(problem, 1, seed=3)[0].matrix()
    compare(problem, found)
    for _ in range(3):
        pairs = found.open_pairs()
        at = int(np.abs(pairs.probability - 0.5).argmin())
        i, j = int(pairs.i[at]), int(pairs.j[at])
        found.learn(i, j, bool(truth[i, j]))
        problem = with_answer(problem, i, j, bool(truth[i, j]))
        if not len(found.open_pairs().i):
            break
        compare(problem, found)
    best = rt.infer(problem, prove=True)
    assert problem.feasible.contains(found.relation())
    assert problem.value(found.relation()) == pytest.approx(best.value)


def test_parts_are_on_their_own_and_only_one_is_looked_at_again(monkeypatch):
    rng = np.random.default_rng(1)
    block = np.repeat([0, 1, 2], 4)
    i, j = np.triu_indices(12, 1)
    bits = np.where(block[i] == block[j], 2 * rng.normal(size=len(i)), -9.0)
    problem = rt.Problem(bits, rt.EQUIVALENCES)
    found = beliefs_of(problem, {})
    asked = []
    plain = beliefs.probabilities

    def counted(part, **options):
        asked.append(part.n)
        return plain(part, **options)

    monkeypatch.setattr(beliefs, "probabilities", counted)
    pairs = found.open_pairs()
    assert (block[pairs.i] == block[pairs.j]).all()
    assert pairs.probability == pytest.approx(
        rt.probabilities(problem).pairs(pairs.i, pairs.j), abs=0.1
    )
    assert asked == [4, 4, 4]
    found.learn(int(pairs.i[0]), int(pairs.j[0]), True)
    found.open_pairs()
    assert asked == [4, 4, 4, 4]
    found.learn(0, 11, False)  # of different parts: nothing new
    assert len(found.open_pairs().i) == len(pairs.i) - 1
    assert asked == [4, 4, 4, 4]


def test_large_parts_go_by_the_most_probable_clustering(monkeypatch):
    monkeypatch.setattr(beliefs, "EXACT", 3)
    rng = np.random.default_rng(2)
    problem = rt.Problem(2 * rng.normal(size=28), rt.EQUIVALENCES)
    found = beliefs_of(problem, {})
    pairs = found.open_pairs()
    assert ((pairs.probability >= 0) & (pairs.probability <= 1)).all()
    best = rt.infer(problem, prove=True)
    assert problem.value(found.relation()) == pytest.approx(best.value)
    labels = best.relation.labels
    a, b = (int(x) for x in np.argwhere(np.triu(labels[:, None] == labels[None, :], 1))[0])
    found.learn(a, b, False)
    told = with_answer(problem, a, b, False)
    assert told.feasible.contains(found.relation())


def test_small_parts_count_the_pairs_that_answers_put_right():
    """Two sets of two that are surely sets: whether they are one decides four pairs."""
    scores = np.array([20.0, -0.3, -0.3, -0.3, -0.3, 20.0])
    pairs = beliefs_of(rt.Problem(scores, rt.EQUIVALENCES), {}).open_pairs()
    best = int(pairs.worth.argmax())
    assert {int(pairs.i[best]) // 2, int(pairs.j[best]) // 2} == {0, 1}
    p = pairs.probability[best]
    assert p == pytest.approx(1 / (1 + 2**1.2), abs=1e-4)
    # whoever is with one of them is with the other with the same probability
    assert pairs.worth[best] == pytest.approx(p * (2 - p) ** 2, abs=1e-4)


def test_answers_that_contradict_each_other():
    problem = rt.Problem([1.0, 1.0, 1.0], rt.EQUIVALENCES)
    found = beliefs_of(problem, {})
    for i, j, related in ((0, 1, True), (1, 2, True), (0, 2, False)):
        found.learn(i, j, related)
    with pytest.raises(EvidenceError, match="contradict each other"):
        found.relation()
    matching = beliefs_of(rt.Problem(np.zeros((2, 2)), MATCHINGS), {})
    matching.learn(0, 0, True)
    with pytest.raises(EvidenceError, match="contradict"):
        matching.learn(0, 1, True)
