"""The command line as a user sees it: output, exit codes, files."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import relatum.cli as command_line
from relatum.cli import cli, main


def _run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


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


def test_solvers_completion_and_help():
    listed = _run("solvers").output
    assert "branch_and_cut" in listed
    assert "relatum" in _run("completion", "bash").output
    assert "Exit codes" in _run("--help").output


def test_help_imports_no_numerics():
    code = (
        "import sys, relatum.cli\n"
        "heavy = {'sklearn', 'scipy', 'highspy', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert command_line.__all__ == ["main"]
