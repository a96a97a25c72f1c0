"""A review against clustering from nothing with the answers as evidence, and brute force."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.review import Session
from relatum.review.exporting import evidence_of

pa = pytest.importorskip("pyarrow")


def ask(session, truth, count, lies=()):
    for k in range(count):
        question = session.question()
        if question is None:
            return
        same = bool(truth[question.a] == truth[question.b])
        session.answer(question.a, question.b, same != (k in lies))


def labels_of(session):
    """Return the cluster of every element."""
    n = len(session.origin.roots)
    out = np.empty(n, dtype=object)
    for root in {session.root(k) for k in range(n)}:
        solved = session.solved(root)
        for element, label in zip(solved.base.elements, solved.labels, strict=True):
            out[element] = (root, int(label))
    return rt.Partition(np.unique([str(x) for x in out], return_inverse=True)[1]).labels


def test_after_each_answer_everything_is_as_from_nothing(opened, table):
    session = opened()
    for _ in range(12):
        ask(session, table.truth, 1)
        anew = rt.cluster_pairs(table.pairs, evidence=evidence_of(session), prove=True)
        numbers = session.numbers()
        assert numbers.value == pytest.approx(anew.summary.value, abs=1e-6)
        assert numbers.bound >= anew.summary.value - 1e-6
        assert numbers.clusters == anew.summary.clusters
        counts = np.bincount(np.unique(anew.table["cluster_id"], return_inverse=True)[1])
        sizes = dict(zip(*(x.tolist() for x in np.unique(counts, return_counts=True)), strict=True))
        assert numbers.sizes == sizes


def test_the_file_of_answers_is_evidence(opened, table, tmp_path):
    session = opened()
    ask(session, table.truth, 10)
    session.undo()
    by_file = rt.cluster_pairs(table.pairs, evidence=tmp_path / "answers.csv")
    by_hand = rt.cluster_pairs(table.pairs, evidence=evidence_of(session))
    assert by_file.table.equals(by_hand.table)


def test_answers_are_taken_back_in_any_order(opened, table):
    session = opened()
    before = session.numbers()
    start = labels_of(session)
    ask(session, table.truth, 8, lies=(1, 4))
    actions = sorted({a.action for a in session.file.in_force()})
    for action in [actions[k] for k in (3, 0, 7, 5, 1, 2, 6, 4)]:
        session.undo(action)
    assert session.numbers() == before
    assert np.array_equal(labels_of(session), start)
    assert session.undo() is None


def test_what_changed_is_told(opened, table):
    session = opened()
    seen = set()
    for _ in range(20):
        before = labels_of(session)
        question = session.question()
        if question is None:
            break
        same = bool(table.truth[question.a] == table.truth[question.b])
        told = session.answer(question.a, question.b, same)
        after = labels_of(session)
        sets = [{tuple(np.flatnonzero(x == k)) for k in set(x)} for x in (before, after)]
        assert {s for c in told.changes for s in c.before} == sets[0] - sets[1]
        assert {s for c in told.changes for s in c.after} == sets[1] - sets[0]
        seen |= {c.kind for c in told.changes}
    assert seen


def test_components_are_joined_by_an_answer(opened, table):
    session = opened()
    roots = sorted({session.root(k) for k in range(len(table.truth))})
    a, b = roots[0], roots[1]
    together = session.solved(a).base.n + session.solved(b).base.n
    count = session.numbers().components
    told = session.answer(a, b, True)
    assert session.root(a) == session.root(b)
    assert session.solved(a).base.n == together
    assert session.numbers().components == count - 1
    solved = session.solved(a)
    assert solved.labels[solved.base.place(a)] == solved.labels[solved.base.place(b)]
    assert told.changes
    anew = rt.cluster_pairs(table.pairs, evidence=evidence_of(session), prove=True)
    assert session.numbers().value == pytest.approx(anew.summary.value, abs=1e-6)
    session.undo()
    assert session.root(a) != session.root(b)
    assert session.numbers().components == count


def test_contradictions_are_named_and_set_aside(opened):
    session = opened()
    first = session.answer(0, 1, True)
    session.answer(1, 2, True)
    told = session.answer(0, 2, False)
    assert len(told.contradictions) == 1
    ((found, sentence),) = session.contradictions()
    assert {(f.a, f.b, f.same) for f in found.facts} == {(0, 1, True), (1, 2, True), (0, 2, False)}
    assert "r000" in sentence
    assert "r002" in sentence
    solved = session.solved(session.root(0))
    assert len({solved.labels[solved.base.place(k)] for k in (0, 1, 2)}) == 1
    session.undo(first.action)  # any one of them resolves it
    assert session.contradictions() == []
    solved = session.solved(session.root(0))
    assert solved.labels[solved.base.place(0)] != solved.labels[solved.base.place(2)]


def test_two_people_who_disagree_contradict_each_other(opened):
    ann, bob = opened(), opened(who="bob")
    ann.answer(0, 1, True)
    told = bob.answer(0, 1, False)
    assert len(told.contradictions) == 1
    ann.sync()
    assert len(ann.contradictions()) == 1
    ann.answer(0, 1, False)  # who answers again means the last answer
    assert ann.contradictions() == []
    bob.sync()
    assert bob.contradictions() == []


def test_two_sessions_on_one_file_are_the_same(opened, table):
    ann, bob = opened(), opened(who="bob")
    for k in range(10):
        ask((ann, bob)[k % 2], table.truth, 1)
    ann.sync()
    bob.sync()
    assert ann.numbers() == bob.numbers()
    assert np.array_equal(labels_of(ann), labels_of(bob))
    anew = opened()
    assert anew.numbers().value == pytest.approx(ann.numbers().value, abs=1e-6)


def test_answers_about_others_are_kept_and_told(opened, tmp_path):
    from relatum.io import AnswersFile

    file = AnswersFile(tmp_path / "answers.csv", ["unique_id_l", "unique_id_r"])
    file.append([("r000", "nobody", "same")], who="ann")
    session = opened()
    assert [a.right for a in session.unknown] == ["nobody"]
    assert session.numbers().answers == 1


def test_explanations_count_answers(opened):
    session = opened()
    session.answer(0, 1, True)
    why = session.explain(0, 1)
    assert why.related
    assert "Properties and evidence allow nothing else" in why.sentence
    other = next(k for k in range(60) if session.root(k) != session.root(0))
    across = session.explain(0, other)  # of two components, as one problem
    assert not across.related


def test_what_is_refused(opened, table):
    session = opened()
    with pytest.raises(DataError, match="name two"):
        session.answer(3, 3, True)
    with pytest.raises(DataError, match="no element 999"):
        session.answer(3, 999, True)
    with pytest.raises(DataError, match="no component"):
        session.solved(10**9)
    with pytest.raises(DataError, match="no action"):
        session.undo(77)
    unknown = rt.pair_tables.Clusters(table.clusters.table, table.clusters.summary)
    with pytest.raises(DataError, match="do not know the table"):
        Session(unknown)


def test_groups_and_caps_are_kept(table, tmp_path):
    groups = {name: k % 9 for k, name in enumerate(table.names)}
    found = rt.cluster_pairs(table.pairs, one_per_group=groups, max_size=3)
    session = Session(found, answers=tmp_path / "a.csv")
    ask(session, table.truth, 12)
    labels = labels_of(session)
    assert np.bincount(labels).max() <= 3
    for k in set(labels):
        own = [j % 9 for j in np.flatnonzero(labels == k)]
        assert len(own) == len(set(own))
    told = session.answer(0, 9, True)  # of one group
    assert len(told.contradictions) == 1


def test_confidence_is_computed_where_clusters_have_none(table, tmp_path):
    plain = rt.cluster_pairs(table.pairs)
    session = Session(plain, answers=tmp_path / "a.csv")
    known = table.clusters.origin.whole["confidence"].to_numpy()
    rows = session.catalogue._all("SELECT sure FROM elements ORDER BY element")
    assert np.allclose([r[0] for r in rows], known)


def test_the_list_follows_the_answers(opened):
    from relatum.review.catalogue import Filter

    session = opened()
    root = session.components(Filter(), 0, 1)[0][0].root
    question = session.question(root)
    session.answer(question.a, question.b, True)
    rows = {row.root: row for row in session.components(Filter(least=1), 0, 1000)[0]}
    solved = session.solved(root)
    assert rows[root].answers == 1
    assert rows[root].clusters == solved.clusters
    assert rows[root].sure == pytest.approx(session.sure(solved))
    other = next(k for k in rows if k != root)
    session.answer(root, other, True)
    rows = {row.root for row in session.components(Filter(least=1), 0, 1000)[0]}
    assert max(root, other) not in rows
    session.undo()
    assert max(root, other) in {r.root for r in session.components(Filter(least=1), 0, 1000)[0]}


def test_ids_that_are_numbers(tmp_path):
    pairs = pa.table(
        {"unique_id_l": [7, 3, 5], "unique_id_r": [3, 5, 2], "match_weight": [2.0, 0.2, 1.0]}
    )
    session = Session(rt.cluster_pairs(pairs), answers=tmp_path / "a.csv")
    session.answer(1, 2, False)  # 3 and 5
    assert [sorted(session.names(c)) for c in clusters_of(session.solved(0))] == [[2, 5], [3, 7]]
    why = session.explain(1, 2)
    assert why.pair == (3, 5)
    anew = rt.cluster_pairs(pairs, evidence=tmp_path / "a.csv")
    assert session.numbers().value == anew.summary.value


def clusters_of(solved):
    return [solved.base.elements[solved.labels == k].tolist() for k in range(solved.clusters)]


def test_an_empty_table_is_nothing_to_review(tmp_path):
    empty = pa.table({"unique_id_l": [""], "unique_id_r": ["x"], "match_weight": [1.0]}).slice(1)
    with pytest.raises(DataError, match="nothing to review"):
        Session(rt.cluster_pairs(empty), answers=tmp_path / "answers.csv")


def test_answers_that_could_not_be_kept_are_told_when_the_review_is_opened(
    opened, tmp_path, read_only
):
    opened().answer(0, 1, True)
    path = tmp_path / "answers.csv"
    before = path.read_bytes()
    with read_only(path), pytest.raises(DataError, match="cannot be written: Permission denied"):
        opened()
    assert path.read_bytes() == before
    assert opened().numbers().answers == 1


def test_files_of_two_people_put_behind_each_other_have_actions_of_one_number(opened, tmp_path):
    """Only what holds is told to be used, though both answers are about one pair and action."""
    opened(answers="ann.csv").answer(0, 1, True)
    opened(answers="bob.csv", who="bob").answer(0, 1, False)
    ann, bob = ((tmp_path / name).read_bytes() for name in ("ann.csv", "bob.csv"))
    (tmp_path / "answers.csv").write_bytes(ann + bob.split(b"\n", 1)[1])
    both = opened()
    assert [c.fact.who for c in both.ledger.contradictions] == ["bob"]
    assert [(a.who, a.verdict) for a in both.used()] == [("ann", "same")]
