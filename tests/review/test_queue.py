"""Which question comes first: as if everything had been looked at."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.review.catalogue import Filter
from relatum.review.doubtful import agenda_of


def every_question(session):
    near, out = session.queue.near, []
    for k in range(len(near)):
        solved = session.store.together(near.roots(k), session.ledger.held)
        out += agenda_of(solved, session.ledger).questions
    return sorted(out, key=lambda q: -q.worth)


def test_the_first_question_is_about_as_good_as_any(opened):
    session = opened()
    best = every_question(session)[0]
    first = session.question()
    assert first.worth >= 0.98 * best.worth - 1e-12


def test_skipped_pairs_are_not_asked_again(opened):
    session = opened()
    seen = set()
    while (question := session.question()) is not None:
        pair = question.a, question.b
        assert pair not in seen
        seen.add(pair)
        session.skip(*pair)
    assert seen == {(q.a, q.b) for q in every_question(session)}


def test_questions_about_one_component_stay_there(opened):
    session = opened()
    root = session.components(Filter(order="size"), 0, 1)[0][0].root
    for _ in range(3):
        question = session.question(root)
        assert session.root(question.a) == session.root(question.b) == root
        session.skip(question.a, question.b)


def test_what_is_left_shrinks_to_nothing(small, tmp_path):
    """Also between components: at the end, what is together is what is true."""
    session = small.opened(tmp_path / "answers.csv")
    assert session.left() > 0
    count, across = 0, 0
    while (question := session.question()) is not None:
        a, b = question.a, question.b
        across += session.root(a) != session.root(b)
        session.answer(a, b, bool(small.truth[a] == small.truth[b]))
        count += 1
        assert count < 100
    assert session.left() == 0
    assert across
    labels = small.labels(session)
    i, j = small.listed
    near = small.bits > -6
    same = small.truth[i] == small.truth[j]
    assert (labels[i] == labels[j])[near & same].all()
    assert not (labels[i] == labels[j])[near & ~same].any()


def test_an_answer_between_two_components_is_not_asked_again(small, tmp_path):
    session = small.opened(tmp_path / "answers.csv")
    for _ in range(60):
        question = session.question()
        if question is None or session.root(question.a) != session.root(question.b):
            break
        session.skip(question.a, question.b)
    assert question is not None
    a, b = question.a, question.b
    count = session.numbers().components
    session.answer(a, b, False)
    assert session.numbers().components == count
    assert [(f.a, f.b) for f in session.answers_of(session.root(a))] == [(a, b)]
    assert [(f.a, f.b) for f in session.answers_of(session.root(b))] == [(a, b)]
    rows = {r.root: r.answers for r in session.components(Filter(least=1), 0, 1000)[0]}
    assert rows[session.root(a)] == rows[session.root(b)] == 1
    for other in iter(session.question, None):
        assert {other.a, other.b} != {a, b}
        session.skip(other.a, other.b)


@pytest.mark.parametrize("most", [1, 4])
def test_small_neighbourhoods_leave_nothing_out(small, tmp_path, monkeypatch, most):
    """What is too large to be looked at together is asked about in twos."""
    import relatum.review.queue as module

    monkeypatch.setattr(module, "largest_of", lambda _groups: most)
    session = small.opened(tmp_path / "answers.csv")
    near = session.queue.near
    roots = np.asarray(session.origin.roots)
    covered = {tuple(sorted(near.roots(k))) for k in range(len(near)) if near.is_between(k)}
    whole = [set(near.roots(k)) for k in range(len(near)) if not near.is_between(k)]
    assert sorted(r for own in whole for r in own) == sorted(set(roots.tolist()))
    for a, b in zip(roots[near.i].tolist(), roots[near.j].tolist(), strict=True):
        together = any({a, b} <= own for own in whole)
        assert together or tuple(sorted((a, b))) in covered
    while (question := session.question()) is not None:
        a, b = question.a, question.b
        session.answer(a, b, bool(small.truth[a] == small.truth[b]))
    labels, (i, j) = small.labels(session), small.listed
    chosen = (small.bits > -6) & (small.truth[i] == small.truth[j])
    assert (labels[i] == labels[j])[chosen].all()
