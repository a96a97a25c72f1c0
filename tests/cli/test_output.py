"""What goes to the terminal is JSON that any reader takes, and lines that nobody folds."""

from __future__ import annotations

import json
import math

import pytest

from relatum.cli.output import console, echo_json, finite, show_clusters


@pytest.mark.parametrize("number", [0.0, -1.5, 1e300])
def test_finite_numbers_stay(number):
    assert finite(number) == number


@pytest.mark.parametrize("number", [None, math.inf, -math.inf, math.nan])
def test_json_has_no_infinity(number):
    assert finite(number) is None


def test_one_object_per_line_in_any_script(capsys):
    value = {"name": "Žofie\nπ", "bound": finite(math.inf), "parts": [1, 2.5]}
    echo_json(value)
    echo_json([])
    first, second = capsys.readouterr().out.splitlines()
    assert json.loads(first) == value
    assert "Žofie" in first
    assert json.loads(second) == []
    with pytest.raises(ValueError, match="not JSON compliant"):
        echo_json({"gap": math.nan})


def test_long_lines_are_not_wrapped(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    console().print("word " * 30)
    assert capsys.readouterr().out.strip() == ("word " * 30).strip()
    console(stderr=True).print("told")
    assert capsys.readouterr() == ("", "told\n")


def test_a_closed_pipe_is_left_to_the_caller():
    with pytest.raises(BrokenPipeError):
        console().on_broken_pipe()


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_clusters_are_lines_that_fit(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    many = [str(k) for k in range(50)]
    show_clusters(console(), [("first", many), ("[b]", ["x" * 400])], 2, total=7)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["cluster", "elements"]
    assert lines[1].split()[:4] == ["first", "50", "0,", "1,"]
    assert lines[1].endswith("11, ...") or columns == 40
    assert lines[2].startswith("[b]")
    assert max(map(len, lines)) <= max(columns, 50)
    assert lines[3] == "and 5 more; -o writes all of them"
    show_clusters(console(), [("", ["a", "b"])], 20)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["elements"],
        ["2", "a,", "b"],
    ]
