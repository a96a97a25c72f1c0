"""The command line speaks of options, ids and files, not of arguments and numbers."""

from __future__ import annotations

import sys

import pytest

from relatum.cli import cli, main
from relatum.cli.language import in_options

OPTIONS = {str(p.name): p.opts[0] for p in cli.commands["cluster"].params}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ('pass odd_rows="handle": rows', "pass --odd-rows handle: rows"),
        ("max_size is a whole number", "--max-size is a whole number"),
        ("labels= gives two values", "--labels gives two values"),
        ('background="learned" needs labels=: x', "--background learned needs --labels: x"),
        ("one_per_group='s' names", "--one-per-group s names"),
        ("threads is a number", "--threads is a number"),
        ("the threads is a word", "the threads is a word"),
        ("/data/max_size.csv is lost", "/data/max_size.csv is lost"),
        ("the column 'max_size' is lost", "the column 'max_size' is lost"),
        ("Name them with left=, right=.", "Name them with --left, --right."),
    ],
)
def test_arguments_become_options(said, meant):
    assert in_options(said, OPTIONS) == meant


def _says(monkeypatch, capsys, *words: object) -> str:
    monkeypatch.setattr(sys, "argv", ["relatum", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr()
    assert stop.value.code == 2, said
    assert said.err.count("\n") == 1, said
    return said.err


PAIRS = "unique_id_l,unique_id_r,match_weight\nann,bob,1\nbob,ann,2\n"
CASES = {
    ("solve", "{pairs}"): ["('ann', 'bob'), with 1 and 2 bits", "drop the repeats"],
    ("solve", "{good}", "--time-limit", "-1"): ["--time-limit is a positive", "inf sets no limit"],
    ("solve", "{good}", "--seed", "-1"): ["--seed is an integer from 0 on"],
    ("solve", "{good}", "--background", "nan"): ["The background, in bits, is a finite number"],
    ("solve", "{good}", "--as", f"at_most({10**30})"): ["at_most(k)", "from 1 to 2147483648"],
    ("solve", "{large}"): ["line 2: '1e999' is larger than any number here", "inf or -inf"],
    ("cluster", "{large}", "-o", "{out}"): ["'1e999' is larger than any number here"],
    ("cluster", "{pairs}", "-o", "{out}"): ["--odd-rows handle", "contradictory: 2 rows"],
    ("cluster", "{good}", "-o", "{out}", "--max-size", "0"): [
        "--max-size is a whole number from 1"
    ],
    ("cluster", "{good}", "-o", "{out}", "--left", "x"): ["no column 'x'", "--left, --right and"],
    ("cluster", "{good}", "-o", "{out}", "--one-per-group", "s"): ["--one-per-group s names"],
    ("cluster", "{good}", "-o", "{out}", "--background", "learned"): ["learned needs --labels"],
    ("cluster", "{good}", "-o", "{out}", "--memory-limit", "x"): ["such as '2GB', got 'x'"],
}


@pytest.mark.parametrize("words", CASES, ids=lambda w: " ".join(w[:1] + w[2:]))
def test_what_commands_say(tmp_path, monkeypatch, capsys, words):
    files = {"pairs": PAIRS, "good": PAIRS.replace("bob,ann,2", "bob,cy,2")}
    files["large"] = files["good"].replace("bob,1", "bob,1e999")
    given = {name: tmp_path / f"{name}.csv" for name in (*files, "out")}
    for name, text in files.items():
        given[name].write_text(text)
    said = _says(monkeypatch, capsys, *(word.format(**given) for word in words))
    for part in CASES[words]:
        assert part in said
    for word in ("combine=", "n=", "odd_rows", "time_limit", "max_size", "Problem."):
        assert word not in said
    assert not given["out"].exists()


def test_conflicts_are_told_by_ids(tmp_path, monkeypatch, capsys):
    (tmp_path / "p.csv").write_text("a,b,bits\nann,bob,1\nbob,cy,1\n")
    (tmp_path / "e.csv").write_text("a,b,related\nann,bob,1\nbob,cy,1\nann,cy,0\n")
    words = ["solve", tmp_path / "p.csv", "--evidence", tmp_path / "e.csv"]
    monkeypatch.setattr(sys, "argv", ["relatum", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().out
    assert stop.value.code == 3
    assert "ann~bob and bob~cy given, ann~cy forbidden" in said
    assert "unrelated=[('ann', 'cy')]" in said
    assert "(0, 1)" not in said
