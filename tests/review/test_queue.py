"""Which question comes first: as if all components had been looked at."""

from __future__ import annotations

from relatum.review.catalogue import Filter
from relatum.review.doubtful import agenda_of


def every_question(session):
    out = []
    for row in session.components(Filter(), 0, 1000)[0]:
        out += agenda_of(session.solved(row.root), session.ledger).questions
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


def test_what_is_left_shrinks_to_nothing(opened, table):
    session = opened()
    assert session.left() > 0
    count = 0
    while (question := session.question()) is not None:
        a, b = question.a, question.b
        session.answer(a, b, bool(table.truth[a] == table.truth[b]))
        count += 1
    assert session.left() == 0
    assert 0 < count < 300
