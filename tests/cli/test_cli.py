"""The command line as a user sees it: output, exit codes, files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import relatum.cli as command_line
from relatum.cli import cli, main

CLIQUES = "4\n4 3 -6\n-1 -5\n1\n"  # values of {0, 1, 2}, {3}: 6


@pytest.fixture
def cliques(tmp_path) -> Path:
    path = tmp_path / "cliques.txt"
    path.write_text(CLIQUES)
    return path


def _run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def test_solve_then_verify(cliques, tmp_path):
    bundle = tmp_path / "e.npz"
    result = _run("solve", cliques, "--prove", "-o", bundle)
    assert result.exit_code == 0
    assert "OPTIMAL" in result.output
    assert "value 6.000000 bits" in result.output
    result = _run("verify", cliques, bundle)
    assert (result.exit_code, result.output.split(":")[0]) == (0, "verified")
    result = _run("verify", cliques, bundle, "--json")
    assert json.loads(result.output)["ok"] is True


def test_json_csv_and_metrics(cliques, tmp_path):
    result = _run("solve", cliques, "--prove", "--json")
    told = json.loads(result.output)
    assert (told["status"], told["value"], told["gap"]) == ("OPTIMAL", 6.0, 0.0)
    assert told["rows"] == [[0, 0], [1, 0], [2, 0], [3, 1]]
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    assert _run("solve", cliques, "--prove", "-q", "-o", first).output == ""
    assert first.read_text() == "element,set\n0,0\n1,0\n2,0\n3,1\n"
    second.write_text("element,set\n3,x\n0,y\n1,y\n2,z\n")
    numbers = json.loads(_run("metrics", first, second, "--json").output)
    assert numbers["rand_error"] == pytest.approx(2 / 6)
    assert numbers["pair_recall"] == pytest.approx(1 / 3)
    assert "pair_f1" in _run("metrics", first, second).output


def test_orders_and_their_metrics(tmp_path):
    path = tmp_path / "x.lop"
    path.write_text("3\n0 5 1\n2 0 4\n3 1 0\n")
    out = tmp_path / "order.csv"
    assert _run("solve", path, "--prove", "-o", out).exit_code == 0
    assert out.read_text() == "rank,element\n0,0\n1,1\n2,2\n"
    other = tmp_path / "other.csv"
    other.write_text("rank,element\n0,2\n1,1\n2,0\n")
    assert json.loads(_run("metrics", out, other, "--json").output)["kendall"] == 1.0


def test_evidence_sets_and_infeasibility(cliques, tmp_path):
    facts = tmp_path / "facts.csv"
    facts.write_text("a,b,related\n0,1,0\n")
    told = json.loads(_run("solve", cliques, "--evidence", facts, "--prove", "--json").output)
    assert told["rows"][0][1] != told["rows"][1][1]
    told = json.loads(_run("solve", cliques, "--as", "equivalence & at_most(2)", "--json").output)
    assert told["value"] == 5.0
    facts.write_text("a,b,related\n0,1,1\n1,2,1\n0,2,0\n")
    result = _run("solve", cliques, "--evidence", facts)
    assert result.exit_code == 3
    assert "0~1 and 1~2 given, 0~2 forbidden" in result.output


def _main(monkeypatch, capsys, *arguments: object) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["relatum", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0), capsys.readouterr().err


def test_errors_are_one_line_and_leave_nothing_behind(monkeypatch, capsys, cliques, tmp_path):
    cases = [
        (("solve", tmp_path / "none.txt"), "There is no file"),
        (("solve", cliques, "--as", "trees"), "no feasible set 'trees'"),
        (("solve", cliques, "--solver", "magic"), "no solver named 'magic'"),
        (("solve", cliques, "-o", tmp_path / "x.doc"), "ends in .csv"),
        (("verify", cliques, cliques), "not a bundle"),
        (("metrics", cliques, cliques), "both are partitions"),
    ]
    for arguments, message in cases:
        code, text = _main(monkeypatch, capsys, *arguments)
        assert code == 2
        assert message in text.replace("both \nare", "both are")
        assert text.startswith("relatum: ")
        assert "Traceback" not in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cliques.txt"]


def test_a_forged_bundle_has_exit_code_one(cliques, tmp_path):
    import relatum as rt
    from relatum.io.problems import Request, read_problem

    problem = read_problem(Request(cliques))
    e = rt.infer(problem, prove=True)
    from dataclasses import replace

    forged = replace(e, value=e.value + 1, bound=e.bound + 1)
    rt.io.save_estimate(tmp_path / "f.npz", problem, forged)
    result = _run("verify", cliques, tmp_path / "f.npz")
    assert result.exit_code == 1
    assert result.output.startswith("NOT verified")


def test_demo_solvers_completion_and_help(tmp_path):
    result = _run("demo", "--quick", "--page", tmp_path / "demo.html")
    assert result.exit_code == 0
    assert result.output.count("OPTIMAL") == 4
    assert "NO" not in result.output.split("map:")[0].split()
    listed = _run("solvers").output
    assert "branch_and_cut" in listed
    assert "relatum" in _run("completion", "bash").output
    assert "Exit codes" in _run("--help").output


def test_help_imports_no_numerics():
    code = (
        "import sys, relatum.cli\n"
        "heavy = {'numba', 'sklearn', 'scipy', 'highspy', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert command_line.__all__ == ["main"]


def test_the_page_holds_table_and_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "demo.html"
    assert _run("demo", "--quick", "--page", page).exit_code == 0
    text = page.read_text()
    assert text.count("<tr>") == 5
    assert text.count("data:image/png;base64,") == 8
    assert "http" not in text  # nothing is fetched
