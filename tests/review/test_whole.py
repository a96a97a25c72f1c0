"""Rankings and classifications reviewed: against exact probabilities and inference from nothing."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.review import Whole


def ranking(tmp_path, n=6, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 1.5, (n, n))
    np.fill_diagonal(scores, 0)
    problem = rt.Problem(scores, rt.LINEAR_ORDERS, names=[f"item {k}" for k in range(n)])
    return Whole(problem, tmp_path / "answers.csv", "ann")


def labels(tmp_path, seed=0):
    scores = np.random.default_rng(seed).normal(0, 1.5, (5, 3))
    return Whole(rt.Problem(scores, rt.MAPS), tmp_path / "answers.csv", "ann")


def test_the_first_question_tells_most(tmp_path):
    review = ranking(tmp_path)
    p = rt.probabilities(review.base, method="exact").matrix()
    asked = review.question()
    a, b = asked.options
    assert asked.probability[0] == pytest.approx(p[a, b])
    assert abs(p[a, b] - 0.5) == pytest.approx(
        min(abs(p[x, y] - 0.5) for x in range(6) for y in range(x))
    )


def test_answers_make_the_ranking_the_true_one(tmp_path):
    review = ranking(tmp_path)
    truth = np.random.default_rng(5).permutation(6)
    place = np.argsort(truth)
    count = 0
    while (asked := review.question()) is not None:
        a, b = (
            asked.options
            if place[asked.options[0]] < place[asked.options[1]]
            else asked.options[::-1]
        )
        before = review.values().copy()
        moved = review.answer(a, b)
        now = review.values()
        assert moved == [(k, before[k], now[k]) for k in np.flatnonzero(before != now)]
        known = rt.evidence(related=[(f"item {s.a}", f"item {s.b}") for s in review.held])
        best = rt.infer(review.base.with_feasible(rt.LINEAR_ORDERS & known), prove=True)
        assert review.estimate.value == pytest.approx(best.value, abs=1e-9)
        count += 1
    assert review.left() == 0
    assert count <= 15
    assert all(place[s.a] < place[s.b] for s in review.held)
    again = ranking(tmp_path)  # from the file
    assert again.held == review.held
    assert again.order() == review.order()


def test_a_circle_is_a_contradiction(tmp_path):
    review = ranking(tmp_path)
    review.answer(0, 1)
    review.answer(1, 2)
    review.answer(2, 0)
    ((said, sentence),) = review.aside
    assert (said.a, said.b) == (2, 0)
    assert "item 2" in sentence
    assert {(s.a, s.b) for s in review.against(said)} == {(0, 1), (1, 2)}
    review.undo(1)
    assert review.aside == []
    review.answer(0, 2)  # changes her mind about that pair
    assert (0, 2) in {(s.a, s.b) for s in review.held}
    assert (2, 0) not in {(s.a, s.b) for s in review.held}


def test_labels(tmp_path):
    review = labels(tmp_path)
    p = rt.probabilities(review.base).matrix()
    asked = review.question()
    entropy = -(p * np.log2(p)).sum(axis=1)
    assert asked.element == int(np.argmax(entropy))
    assert asked.bits == pytest.approx(entropy.max())
    assert list(asked.probability) == sorted(p[asked.element], reverse=True)
    least = asked.options[-1]
    assert review.answer(asked.element, least) == [
        (asked.element, int(np.argmax(p[asked.element])), least)
    ]
    assert review.values()[asked.element] == least
    review.skip([review.question().element])
    assert review.undo() is not None
    while (asked := review.question()) is not None:
        review.answer(asked.element, asked.options[0])
    assert review.left() == 1  # what was skipped


def test_what_is_refused(tmp_path):
    with pytest.raises(DataError, match="linear orders and maps"):
        Whole(rt.Problem([1.0, 2.0, 3.0], rt.EQUIVALENCES), tmp_path / "a.csv")
    review = ranking(tmp_path)
    with pytest.raises(DataError, match="does not come before itself"):
        review.answer(1, 1)
    with pytest.raises(DataError, match="no element 77"):
        review.answer(1, 77)
    assert review.undo() is None
    assert rt.verify(review.problem, review.proved())


def test_answers_that_could_not_be_kept_are_told_at_once(tmp_path, read_only):
    path, problem = tmp_path / "answers.csv", rt.Problem(np.eye(3), rt.LINEAR_ORDERS)
    Whole(problem, path, "ann").file.append([("0", "1", "above")], who="ann")
    with read_only(path), pytest.raises(DataError, match="cannot be written: Permission denied"):
        Whole(problem, path, "ann")
