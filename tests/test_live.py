"""A line while a call lasts: where it appears, what it says, and that it goes."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import relatum as rt
from relatum import live

SLOW = """
import sys
import numpy as np, relatum as rt
problem = rt.Problem(np.random.default_rng(0).normal(size=(60, 60)), rt.LINEAR_ORDERS)
{call}
print("done")
"""
CALL = "rt.infer(problem, prove=True, time_limit=2.0{more})"


def run_in_terminal(code, interrupt=False, **environment):
    """Run code whose stderr is a terminal; return what was printed, and what was shown."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"} | environment
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # nobody writes any more
            break
        if not part:
            break
        shown += part
        if interrupt and b"searching" in shown:
            process.send_signal(signal.SIGINT)
            interrupt = False
    os.close(master)
    return process.communicate()[0].decode(), shown.decode(), process.returncode


@pytest.mark.slow
def test_a_terminal_shows_a_line_that_goes():
    printed, shown, code = run_in_terminal(SLOW.format(call=CALL.format(more="")))
    assert (printed, code) == ("done\n", 0)
    assert re.search(r"searching  value [\d.]+  bound [\d.]+  gap [\d.]+ bits  \d+ s", shown)
    assert "\x1b[2K" in shown  # the line is erased
    assert shown.rstrip().endswith("\x1b[2K")
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # the cursor comes back


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "environment"),
    [(", verbose=False", {}), (", monitor=lambda p: None", {}), ("", {"RELATUM_PROGRESS": "0"})],
)
def test_a_line_can_be_turned_off(more, environment):
    code = SLOW.format(call=CALL.format(more=more))
    assert run_in_terminal(code, **environment) == ("done\n", "", 0)


@pytest.mark.slow
def test_no_terminal_no_line():
    found = subprocess.run(
        [sys.executable, "-c", SLOW.format(call=CALL.format(more=""))], capture_output=True
    )
    assert (found.stdout, found.stderr) == (b"done\n", b"")


@pytest.mark.slow
def test_the_line_goes_with_ctrl_c():
    call = "rt.infer(problem, prove=True, time_limit=60.0)"
    printed, shown, code = run_in_terminal(SLOW.format(call=call), interrupt=True)
    assert (printed, code) == ("done\n", 0)
    assert shown.rstrip().endswith("\x1b[2K")


@pytest.fixture
def screen(monkeypatch):
    """A screen that keeps what is drawn, and is quick about it."""
    drawn = []

    class Kept:
        def show(self, text):
            drawn.append(text)

        def close(self):
            drawn.append("")

    monkeypatch.setattr(live, "_SCREEN", live._Screen())
    monkeypatch.setattr(live, "_Terminal", Kept)
    monkeypatch.setattr(live, "place", lambda: "terminal")
    monkeypatch.setattr(live, "PATIENCE", 0.05)
    monkeypatch.setattr(live, "INTERVAL", 0.01)
    monkeypatch.setattr(live, "IDLE", 0.05)
    monkeypatch.delenv(live.SWITCH, raising=False)
    return drawn


def wait_for(drawn, what, seconds=10.0):
    end = time.monotonic() + seconds
    while not any(what in text for text in drawn) and time.monotonic() < end:
        time.sleep(0.01)
    assert any(what in text for text in drawn)


def test_calls_within_calls_share_one_line(screen):
    with live.line("outer") as first:
        with live.line("inner") as second:
            second.say("step", 2, 3)
        assert second is first
        wait_for(screen, "outer  step 2 of 3")
    assert screen[-1] == ""
    assert screen.count("") == 1


def test_calls_within_a_line_of_its_own_are_kept_off(screen):
    with live.line("many", alone=True) as first, live.line("one") as second:
        first.say("problem", 5, 9)
        second.numbers(1.0, 2.0)
        wait_for(screen, "many  problem 5 of 9")
    assert not any("value" in text for text in screen)


def test_short_calls_draw_nothing_and_errors_clean_up(screen):
    with live.line("short"):
        pass
    assert screen == []

    def wrong():
        with live.line("wrong"):
            wait_for(screen, "wrong")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wrong()
    assert screen[-1] == ""
    with live.line("next"):
        wait_for(screen, "next")
    assert screen[-1] == ""


def test_other_threads_and_silence_have_no_line(screen):
    def work():
        with live.line("elsewhere"):
            time.sleep(0.15)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with live.silence(), live.line("silent"):
        time.sleep(0.15)
    with live.silence(False), live.line("heard"):
        wait_for(screen, "heard")
    assert not any("elsewhere" in text or "silent" in text for text in screen)


def test_what_draws_badly_breaks_nothing(screen, monkeypatch):
    monkeypatch.setattr(live, "_Terminal", lambda: 1 / 0)
    with live.line("fine"):
        time.sleep(0.15)


def test_nobody_looks_for_ever(screen):
    with live.line("short"):
        thread = live._SCREEN.thread
    thread.join(10.0)
    assert not thread.is_alive()
    with live.line("again"):
        wait_for(screen, "again")


def test_many_problems_are_counted(screen, monkeypatch):
    problems = [rt.Problem(np.eye(3) * k, rt.EQUIVALENCES) for k in range(4)]
    texts = []
    monkeypatch.setattr(live.Line, "say", lambda self, *told: texts.append(told))
    rt.infer_many(problems, n_jobs=1)
    assert texts[-1] == ("problem", 4, 4)


def test_what_is_unknown_is_not_said():
    own = live.Line("searching")
    assert own.text() == "searching  0 s"
    own.numbers(-float("inf"), 3.0)
    assert own.text() == "searching  bound 3  0 s"


def test_decorated_functions_keep_their_names():
    @live.seen("adding")
    def add(a: int, b: int = 2) -> int:
        """Add."""
        return a + b

    assert (add(1), add.__name__, add.__doc__) == (3, "add", "Add.")
