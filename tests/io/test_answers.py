"""Answers survive whatever happens to their writer, and each other."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from datetime import datetime

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io.answers import (
    DIFFERENT,
    SAME,
    AnswersFile,
    answered_entities,
    answered_pairs,
    is_answers,
    read_answers,
    require_answerable,
)

ODD = ["=1+1", "a,b", 'say "no"', "two\nlines", "\r", "back\\slash\\n", "'=x", "é٣", " ", "-4.5"]


@pytest.mark.parametrize("name", ODD)
def test_odd_ids_come_back_as_they_were(tmp_path, name):
    path = tmp_path / "answers.csv"
    AnswersFile(path).append([(name, "x", SAME)], who=name)
    (found,) = read_answers(path)
    assert (found.left, found.right, found.who) == (name, "x", name)
    assert len(path.read_bytes().splitlines()) == 2


def test_sources_are_part_of_the_id(tmp_path):
    file = AnswersFile(tmp_path / "answers.csv", ["s_l", "id_l", "s_r", "id_r"])
    file.append([(("x", 1), ("y", 2), DIFFERENT)])
    assert answered_pairs(tmp_path / "answers.csv") == {
        "related": [],
        "unrelated": [(("x", "1"), ("y", "2"))],
    }


def test_undo_and_answering_again(tmp_path):
    file = AnswersFile(tmp_path / "answers.csv")
    first = file.append([("a", "b", SAME), ("b", "c", SAME)], who="ann")
    file.append([("b", "a", DIFFERENT)], who="ann")  # she changed her mind
    file.append([("a", "b", SAME)], who="bob")
    held = [(a.left, a.right, a.verdict, a.who) for a in file.in_force()]
    assert held == [
        ("b", "c", SAME, "ann"),
        ("b", "a", DIFFERENT, "ann"),
        ("a", "b", SAME, "bob"),
    ]
    file.undo(first, who="ann")
    assert [a.who for a in file.in_force()] == ["ann", "bob"]
    assert file.last_action("bob") == 3
    assert AnswersFile(tmp_path / "answers.csv").in_force() == file.in_force()
    with pytest.raises(DataError, match="no action 99"):
        file.undo(99)


def test_a_clock_that_goes_backwards_changes_no_order(tmp_path, monkeypatch):
    class Clock(datetime):
        year_ = 2099

        @classmethod
        def now(cls, tz=None):
            cls.year_ -= 30
            return datetime(cls.year_, 1, 1, tzinfo=tz)

    monkeypatch.setattr("relatum.io.answers.datetime", Clock)
    file = AnswersFile(tmp_path / "answers.csv")
    file.append([("a", "b", SAME)], who="ann")  # in 2069
    last = file.append([("b", "a", DIFFERENT)], who="ann")  # in 2039
    for own in (file, AnswersFile(file.path)):
        assert [(a.when[:4], a.verdict) for a in own.in_force()] == [("2039", DIFFERENT)]
        assert own.last_action("ann") == last
    AnswersFile(file.path).undo(last, who="ann")  # in 2009
    for own in (file, AnswersFile(file.path)):
        own.refresh()
        assert [(a.when[:4], a.verdict) for a in own.in_force()] == [("2069", SAME)]
        assert own.last_action("ann") == 1


def test_a_row_cut_short_is_skipped_and_removed(tmp_path):
    path = tmp_path / "answers.csv"
    file = AnswersFile(path)
    file.append([("a", "b", SAME)])
    whole = path.read_bytes()
    file.append([("c", "different", DIFFERENT)])
    both = path.read_bytes()
    for length in range(len(whole), len(both)):
        path.write_bytes(both[:length])
        found = AnswersFile(path)
        complete = length == len(both) - 1  # only the line break is missing
        assert len(found.in_force()) == 1 + complete
        found.append([("e", "f", SAME)])
        assert [a.left for a in read_answers(path)] == ["a", *(["c"] if complete else []), "e"]


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("id_l,id_r,related\na,b,1\n")
    assert not is_answers(path)
    with pytest.raises(DataError, match="not a file of answers"):
        AnswersFile(path)
    with pytest.raises(DataError, match="not a file of answers"):
        read_answers(path)
    with pytest.raises(DataError, match=r"\.csv"):
        AnswersFile(tmp_path / "answers.txt")
    with pytest.raises(DataError, match="no folder"):
        AnswersFile(tmp_path / "nowhere" / "answers.csv")
    AnswersFile(tmp_path / "b.csv").append([("a", "b", SAME)])
    with (tmp_path / "b.csv").open("a") as file:
        file.write("when,who,x,,,a,b,same\n")
    with pytest.raises(DataError, match="row 3 is not an answer"):
        read_answers(tmp_path / "b.csv")
    with pytest.raises(DataError, match="at least one"):
        AnswersFile(tmp_path / "c.csv").append([])


WRITER = """
import sys
from relatum.io.answers import AnswersFile
file = AnswersFile(sys.argv[1])
print("ready", flush=True)
for k in range(int(sys.argv[3])):
    file.append([(f"{sys.argv[2]}{k}", "x", "same"), (f"{sys.argv[2]}{k}", "y", "different")])
    print(k, flush=True)
"""


def writer(path, name, count):
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_writers_do_not_overwrite_each_other(tmp_path):
    path = tmp_path / "answers.csv"
    running = [writer(path, name, 40) for name in "ab"]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    found = read_answers(path)
    assert len(found) == 160
    assert {a.left for a in found} == {f"{n}{k}" for n in "ab" for k in range(40)}
    actions = [a.action for a in found]
    assert sorted(set(actions)) == list(range(1, 81))  # each has a number of its own
    assert all(actions.count(k) == 2 for k in set(actions))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_what_was_told_survives_a_kill(tmp_path):
    path = tmp_path / "answers.csv"
    process = writer(path, "k", 100_000)
    assert process.stdout.readline() == "ready\n"
    while not path.exists():
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    told = process.communicate()[0].split()
    told = [int(line) for line in told if line.isdigit()]
    found = {a.left for a in read_answers(path)}
    assert told
    assert {f"k{k}" for k in told[:-1]} <= found  # of the last line, half may have been printed
    AnswersFile(path).append([("after", "x", SAME)])
    assert "after" in {a.left for a in read_answers(path)}


def test_entities_of_answers_are_what_a_linker_learns_from(tmp_path):
    people = rt.datasets.load_people(150)
    ids, truth = people.records["id"].to_pylist(), np.asarray(people.entity)
    file = AnswersFile(tmp_path / "answers.csv", ["id_l", "id_r"])
    rows = range(len(ids) - 1)
    file.append([(ids[k], ids[k + 1], SAME if truth[k] == truth[k + 1] else DIFFERENT)
                 for k in rows if k % 50])  # fmt: skip
    found = answered_entities(file.path, people.records["id"])
    inside = [(k, k + 1) for k in rows if k % 50]
    assert all((found[a] == found[b]) == (truth[a] == truth[b]) for a, b in inside)
    file.append([("x", "y", SAME), ("y", "z", SAME), ("x", "z", DIFFERENT), ("v", "w", SAME)])
    assert answered_entities(file.path, ["x", "y", "z", "nobody", "v"]) == [None] * 4 + [0]
    fields = {"given_name": "name", "surname": "name", "born": "date"}
    learned = rt.RecordLinker(fields).fit(people.records, found)
    assert learned.measure_ is not None
    clusters = learned.predict(people.records, evidence=_only(file, tmp_path, ids))
    labels = np.unique(clusters.table["cluster_id"].to_pylist(), return_inverse=True)[1]
    assert rt.metrics.pair_precision_recall_f1(truth, labels)[2] > 0.9


def _only(file, folder, ids):
    """Return a file of the answers about some records only."""
    known = {str(id_) for id_ in ids}
    other = AnswersFile(folder / "known.csv", ["id_l", "id_r"])
    other.append([(a.left, a.right, a.verdict) for a in file.in_force() if a.left in known])
    return other.path


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: (
            b'"when","who","action","undoes","how","id_l","id_r","verdict"\n'
            + data.partition(b"\n")[2]
        ),
    ],
    ids=["mark", "line breaks", "quotes"],
)
def test_files_that_spreadsheets_saved_are_read(tmp_path, change):
    path = tmp_path / "answers.csv"
    AnswersFile(path).append([("a", "b", SAME)], who="ann")
    path.write_bytes(change(path.read_bytes()))
    AnswersFile(path).append([("c", "d", SAME)])
    assert [(a.left, a.right) for a in read_answers(path)] == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("data", [b"my only line", b"when,who", b"a\rb\rc", b"\0" * 200])
def test_a_line_that_is_not_ours_is_not_removed(tmp_path, data):
    path = tmp_path / "answers.csv"
    path.write_bytes(data)
    if data == b"when,who":  # the beginning of ours, cut short
        AnswersFile(path).append([("a", "b", SAME)])
        assert len(read_answers(path)) == 1
        return
    with pytest.raises(DataError, match=r"not a file of answers|cannot be read"):
        AnswersFile(path).append([("a", "b", SAME)])
    assert path.read_bytes() == data


@pytest.mark.parametrize("names", [("=l", "=r"), ("a,l", "a,r"), ('"l', '"r'), ("\\l\n", "\\r\n")])
def test_odd_names_of_columns(tmp_path, names):
    path = tmp_path / "answers.csv"
    AnswersFile(path, names).append([("1", "2", SAME)])
    assert len(AnswersFile(path, names).rows) == len(read_answers(path)) == 1


def test_what_is_too_long_to_be_read_is_not_written(tmp_path):
    path = tmp_path / "answers.csv"
    file = AnswersFile(path)
    with pytest.raises(DataError, match="200,000 letters"):
        file.append([("a" * 200_000, "b", SAME)])
    file.append([("a" * 50_000, "b", SAME)])
    assert len(AnswersFile(path).rows) == 1
    path.write_bytes(path.read_bytes() + b"," * 5 + b"a" * 200_000 + b",b,same\n")
    with pytest.raises(DataError, match="cannot be read"):
        AnswersFile(path)


def test_a_file_that_was_replaced_is_read_anew(tmp_path):
    path, other = tmp_path / "answers.csv", tmp_path / "other.csv"
    file = AnswersFile(path)
    file.append([("a", "b", SAME)], who="ann")
    AnswersFile(other).append([("c", "d", SAME), ("e", "f", SAME)], who="somebody else")
    other.replace(path)
    assert file.refresh()
    assert [a.left for a in file.in_force()] == ["c", "e"]
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        file.refresh()


def test_answers_are_written_as_they_were_given(tmp_path):
    from relatum.io.answers import write_answers

    file = AnswersFile(tmp_path / "answers.csv", ["s_l", "i_l", "s_r", "i_r"])
    file.append([(("=a", "1\n2"), ("b", "x,\\y"), "same")], who="+ann", how="question")
    file.append([(("a", "3"), ("b", "4"), "different")], who="bob")
    path = tmp_path / "used.csv"
    write_answers(path, file.in_force(), ["s_l", "i_l", "s_r", "i_r"])
    assert read_answers(path) == file.in_force()
    with pytest.raises(DataError, match="csv"):
        write_answers(tmp_path / "used.txt", [])


def test_a_file_that_cannot_be_added_to_is_told_before_anybody_answers(tmp_path, read_only):
    path = tmp_path / "answers.csv"
    require_answerable(path)
    assert not path.exists()  # it is made with the first answer
    AnswersFile(path).append([("a", "b", SAME)])
    before = path.read_bytes()
    require_answerable(path)
    with read_only(path), pytest.raises(DataError, match=r"cannot be written: Permission denied"):
        require_answerable(path)
    with read_only(path):
        assert len(read_answers(path)) == 1  # whoever only reads is not disturbed
    assert path.read_bytes() == before
    with pytest.raises(DataError, match="no folder"):
        require_answerable(tmp_path / "nowhere" / "answers.csv")
    with pytest.raises(DataError, match=r"a file \.csv"):
        require_answerable(tmp_path / "answers.txt")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        require_answerable(tmp_path / "folder.csv")


def test_where_nothing_can_be_locked_that_is_told_before_anybody_answers(tmp_path, monkeypatch):
    pytest.importorskip("fcntl", reason="locks of other kinds")

    def refuse(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    path = tmp_path / "answers.csv"
    AnswersFile(path).append([("a", "b", SAME)])
    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(DataError, match="cannot be locked"):
        require_answerable(path)
