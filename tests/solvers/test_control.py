"""Controls: time, stopping, reports and interrupts, through any depth of parts."""

from __future__ import annotations

import math
import signal
import threading

import pytest

from relatum.solvers.control import Control, Progress, polite_interrupts


def test_time_runs_out():
    control = Control(time_limit=1e-9)
    assert control.expired()
    assert control.remaining() == 0.0
    endless = Control()
    assert not endless.expired()
    assert endless.remaining() == math.inf
    assert endless.seconds() >= 0.0


def test_stopping_reaches_children_of_children_at_once():
    root = Control(time_limit=1000.0)
    child = root.child(None, 500.0)
    grandchild = child.child(None, 100.0)
    assert not grandchild.expired()
    assert 0 < grandchild.remaining() <= 100.0
    root.stop()
    for control in (root, child, grandchild):
        assert control.expired()
        assert control.remaining() == 0.0


def test_a_child_that_is_told_to_stop_stops_everything():
    root = Control(time_limit=1000.0)
    grandchild = root.child(None, 500.0).child(None, 100.0)
    grandchild.stop()
    assert root.expired()


def test_children_never_have_more_time_than_their_parents():
    root = Control(time_limit=10.0)
    assert root.child(None, 1e9).remaining() <= 10.0
    assert root.child(None, 0.0).expired()
    assert not root.expired()


def test_reports_reach_the_monitor_with_what_the_other_parts_add():
    heard = []
    root = Control(monitor=heard.append)
    part = root.child(None, 1.0, other_value=2.0, other_bound=2.5)
    part.child(None, 1.0, other_value=3.0, other_bound=4.0).report(1.0, 4.0, 5, 6)
    (progress,) = heard
    assert isinstance(progress, Progress)
    assert progress[1:] == (6.0, 10.5, 5, 6)
    assert not root.stopped  # append returns None


def test_only_true_stops():
    for answer, stops in ((True, True), (1, False), (None, False), ("yes", False)):
        control = Control(monitor=lambda progress, answer=answer: answer)
        control.report(0.0)
        assert control.stopped is stops


def test_the_first_interrupt_stops_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    control = Control()
    with polite_interrupts(control):
        signal.raise_signal(signal.SIGINT)
        assert control.stopped
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_handler_is_put_back_whatever_happens():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), polite_interrupts(Control()):
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is before


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        control = Control()
        with polite_interrupts(control):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_interrupts_alone():
    seen = []

    def work():
        with polite_interrupts(Control()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
