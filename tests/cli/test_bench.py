"""`relatum bench` and `relatum convert` on files whose optima are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import relatum as rt
from relatum.cli import cli
from relatum.cli.bench import compare
from relatum.solvers import SOLVERS

OPTIONS = {"solvers": (), "prove": True, "time_limit": 20.0, "seed": 0}


def _run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def cliques(tmp_path):
    path = tmp_path / "cliques.txt"
    path.write_text("4\n4 3 -6\n-1 -5\n1\n")
    return path


def test_all_solvers_that_fit_agree(cliques):
    problem = rt.io.read_problem(rt.io.Request(cliques))
    rows = compare(problem, OPTIONS)
    fitting = {s.name for s in SOLVERS.values() if s.refuses(problem) is None}
    assert {r["solver"] for r in rows} == fitting
    for row in rows:
        assert row["verified"]
        if SOLVERS[row["solver"]].proves:
            assert (row["status"], row["value"], row["bound"]) == ("OPTIMAL", 6.0, 6.0)
        else:
            assert row["value"] <= 6.0 <= row["bound"]


def test_side_by_side(cliques, tmp_path):
    order = tmp_path / "x.lop"
    order.write_text("3\n0 5 1\n2 0 4\n3 1 0\n")
    result = _run("bench", cliques, "--solver", "greedy_contraction", "--solver", "auto", "--prove")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[1].split() == ["solver", "status", "value", "bound", "gap", "seconds", "verified"]
    assert lines[3].split()[:5] == ["auto", "OPTIMAL", "6.000000", "6.000000", "0"]
    told = json.loads(_run("bench", cliques, order, "--prove", "--json").output)
    assert list(told) == [str(cliques), str(order)]
    best = {r["solver"]: r["value"] for r in told[str(order)] if r["status"] == "OPTIMAL"}
    assert set(best.values()) == {10.0}


def test_solvers_that_refuse_say_so(cliques):
    result = _run("bench", cliques, "--solver", "argmax", "--solver", "auto")
    assert result.exit_code == 0
    assert "argmax  REFUSED" in result.output
    assert "Solver 'argmax' cannot take" in result.output


def test_convert(cliques, tmp_path):
    out = tmp_path / "pairs.csv"
    result = _run("convert", cliques, out)
    assert (result.exit_code, result.output) == (0, "")
    assert out.read_text().splitlines()[1] == "0,1,4.0"
    told = json.loads(_run("solve", out, "--prove", "--json").output)
    assert told["value"] == 6.0
    votes = tmp_path / "votes.soc"
    ranks, voters = np.array([[0, 1, 2], [1, 0, 2]]), np.array([2.0, 1.0])
    rt.io.write_preflib(votes, rt.io.Rankings(ranks, voters, ("a", "b", "c")))
    result = _run("convert", votes, tmp_path / "votes.mat")
    assert "note: elements are numbered from 0" in result.output
    assert rt.io.read_lolib(tmp_path / "votes.mat").tolist() == [[0, 1, 3], [-1, 0, 3], [-3, -3, 0]]
