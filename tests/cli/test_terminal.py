"""The command as a process: Ctrl-C, closed pipes, exit codes, what goes to which stream."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import relatum as rt

SOURCE = str(Path(rt.__file__).parent.parent)
COMMAND = [sys.executable, "-c", "from relatum.cli import main; main()"]


def _environment() -> dict[str, str]:
    path = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "TERM": "xterm", "COLUMNS": "120"}


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
    )


@pytest.fixture
def hard(tmp_path) -> Path:
    """An order that no one proves optimal in the time of a test."""
    rng = np.random.default_rng(0)
    path = tmp_path / "hard.lop"
    rt.io.write_lolib(path, rng.integers(0, 100, (70, 70)).astype(float))
    return path


def _interrupt_when(text: bytes, *arguments: object) -> tuple[int, str]:
    """Run with a terminal for standard error; press Ctrl-C once the text has appeared there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=_environment(),
    )
    os.close(theirs)
    seen, deadline, pressed = b"", time.monotonic() + 300, False
    while process.poll() is None and time.monotonic() < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
        if text in seen and not pressed:
            process.send_signal(signal.SIGINT)
            pressed = True
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    assert pressed, seen
    return process.returncode, out


def test_ctrl_c_keeps_the_best_so_far(hard, tmp_path):
    bundle = tmp_path / "best.npz"
    code, out = _interrupt_when(
        b"gap", "solve", hard, "--prove", "--time-limit", "250", "-o", bundle
    )
    assert code == 0
    assert "FEASIBLE" in out
    assert "stopped by Ctrl-C: this is the best so far" in out
    problem = rt.io.read_problem(rt.io.Request(hard))
    kept = rt.io.load_estimate(bundle, problem)
    assert kept.status is rt.Status.FEASIBLE
    assert kept.stats["stopped"] is True
    assert kept.value < kept.bound < np.inf
    assert rt.verify(problem, kept)


def test_the_time_limit_is_told(hard):
    told = json.loads(_run("solve", hard, "--prove", "--time-limit", 1, "--json").stdout)
    assert (told["status"], told["stopped"]) == ("FEASIBLE", True)
    assert told["gap"] == pytest.approx(told["bound"] - told["value"])


@pytest.mark.parametrize("arguments", [("solvers",), ("--help",), ("solve", "--prove", "--json")])
def test_readers_that_leave_early(cliques, tmp_path, arguments):
    """`relatum ... | head -0` ends quietly; files are written all the same."""
    out = tmp_path / "out.csv"
    if arguments[0] == "solve":
        arguments = ("solve", cliques, *arguments[1:], "-o", out)
    ours, theirs = os.pipe()
    os.close(ours)
    process = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=_environment(),
    )
    os.close(theirs)
    assert process.stderr == ""
    assert process.returncode == 141
    assert out.exists() == (arguments[0] == "solve")


def test_streams_are_pure(cliques, tmp_path):
    done = _run("solve", cliques, "--prove", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["value"] == 6.0
    assert done.stdout.count("\n") == 1
    done = _run("solve", cliques, "--prove", "--quiet", "-o", tmp_path / "out.json")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert json.loads((tmp_path / "out.json").read_text())["value"] == 6.0


def test_exit_codes(cliques, tmp_path):
    """The codes of docs/files.md, each by a run that ends with it."""
    bundle, facts = tmp_path / "e.npz", tmp_path / "facts.csv"
    assert _run("solve", cliques, "--prove", "-q", "-o", bundle).returncode == 0
    assert _run("verify", cliques, bundle).returncode == 0
    problem = rt.io.read_problem(rt.io.Request(cliques))
    e = rt.infer(problem, prove=True)
    wrong = rt.Estimate(e.status, e.relation, e.value + 1, e.bound + 1, e.certificate)
    rt.io.save_estimate(bundle, problem, wrong)
    assert _run("verify", cliques, bundle).returncode == 1
    assert _run("solve", tmp_path / "none").returncode == 2
    assert _run("solve", cliques, "--no-such-option").returncode == 2
    assert _run("solve").returncode == 2
    facts.write_text("a,b,related\n0,1,1\n0,1,0\n")
    assert _run("solve", cliques, "--evidence", facts).returncode == 3


def test_outputs_are_checked_before_the_search(hard, tmp_path):
    for out in (tmp_path / "x.doc", tmp_path / "none" / "x.csv", tmp_path):
        done = _run("solve", hard, "--prove", "--time-limit", 500, "-o", out)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert str(out) in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [("PREORDERS",), ("LINEAR_ORDERS", "--prove")])
def test_ctrl_c_ends_large_problems_long_before_their_time(tmp_path, options):
    path = tmp_path / "large.npy"
    np.save(path, np.random.default_rng(0).normal(size=(400, 400)))
    process = subprocess.Popen(
        [*COMMAND, "solve", str(path), "--time-limit", "600", "--as", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    time.sleep(10)  # for the search to be under way, on any machine
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert time.monotonic() - pressed < 60  # a tenth of the time that it was given
    assert process.returncode == 0
    assert "stopped by Ctrl-C: this is the best so far" in out
