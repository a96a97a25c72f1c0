"""The command says what it found, and its exit code whether that is as it should be."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import relatum.cli.reproduce as command
from instances.reproduction import TINY
from relatum.cli import cli, main


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(command, "QUICK", TINY)


def test_a_part_of_the_quick_reproduction(tiny, tmp_path):
    run = CliRunner().invoke(cli, ["reproduce", "--quick", "-o", str(tmp_path), "--part", "orders"])
    assert run.exit_code in (0, 1)
    assert "every order proven optimal and verified" in run.output
    assert run.exit_code == ("NO " in run.output)
    assert (tmp_path / "report.md").is_file()
    again = CliRunner().invoke(
        cli, ["reproduce", "--quick", "-o", str(tmp_path), "--part", "orders"]
    )
    assert "computing" in run.output
    assert "computing" not in again.output


def test_claims_that_do_not_hold_give_exit_code_one(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "reproduce", lambda *a, **k: [("it holds", True), ("not", False)])
    run = CliRunner().invoke(cli, ["reproduce", "--full", "-o", str(tmp_path)])
    assert run.exit_code == 1
    assert "NO   not" in run.output


def test_default_is_quick(monkeypatch, tmp_path):
    used = []
    monkeypatch.setattr(command, "reproduce", lambda settings, *a, **k: used.append(settings) or [])
    assert CliRunner().invoke(cli, ["reproduce", "-o", str(tmp_path)]).exit_code == 0
    assert [settings.name for settings in used] == ["quick"]


def test_nothing_is_reported_of_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(
        "sys.argv", ["relatum", "reproduce", "--computed", "-o", str(tmp_path / "x")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "Nothing has been computed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
