"""Controls: time, stopping, reports and interrupts, through any depth of parts."""

from __future__ import annotations

import math
import signal
import threading
from contextvars import copy_context

import pytest

from relatum.solvers.control import (
    Control,
    Progress,
    outer_control,
    polite_interrupts,
    within,
)


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
    part = root.child(None, 1.0, lambda: (2.0, 2.5))
    part.child(None, 1.0, lambda: (3.0, 4.0)).report(1.0, 4.0, 5, 6)
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


class Ticks:
    """A clock that goes on by one second whenever it is looked at."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return float(self.looks)


def test_a_clock_of_ones_own_is_that_of_all_parts():
    control = Control(time_limit=10.0, clock=Ticks())
    part = control.child(None, 5.0).share(0.5)
    assert part.clock is control.clock
    assert not part.expired()
    looks = 0
    while not part.expired():
        looks += 1
    assert looks <= 5
    assert control.ended  # a share of the time is over, though not all of it
    assert not control.expired()


def test_parts_with_time_of_their_own_do_not_end_the_whole():
    control = Control(time_limit=1000.0)
    assert control.child(None, 0.0).expired()
    silent = control.child(None, 10.0, silent=True)
    assert silent.share(0.0).expired()
    assert not control.ended


def test_what_is_silent_is_not_heard():
    heard = []
    control = Control(monitor=heard.append)
    silent = control.child(None, 10.0, silent=True)
    silent.report(1.0)
    silent.child(None, 5.0).report(1.0)
    assert heard == []
    assert not silent.listens()


def test_what_is_late_already_has_less_of_a_last_moment_but_some():
    late = [Control(time_limit=1.0, started=-s, clock=lambda: 0.0) for s in (1.0, 1.04, 1.3, 9.0)]
    first, second, third, last = (control.last_moment().remaining() for control in late)
    assert first == pytest.approx(0.08)
    assert second == pytest.approx(0.04)
    assert third == pytest.approx(0.03)
    assert last == pytest.approx(0.03)


def test_there_is_a_last_moment_for_a_bound():
    assert 0.05 < Control(time_limit=1e-9).last_moment().remaining() < 0.2
    late = Control(time_limit=100.0, started=-100.0, clock=lambda: 0.0)
    assert 1.0 < late.last_moment().remaining() < 5.0
    assert Control(time_limit=50.0).last_moment().remaining() > 49.0
    assert Control().last_moment().remaining() == math.inf
    control = Control(time_limit=100.0)
    control.stop()
    last = control.last_moment()
    assert not last.expired()
    assert last.remaining() < 0.5
    fresh = Control(time_limit=100.0)
    last = fresh.last_moment()
    fresh.stop()
    assert last.expired()  # nobody had asked to stop before


def test_controls_within_another_stop_with_it():
    outer = Control()
    with within(outer):
        assert outer_control() is outer
        inner = Control(time_limit=10.0)
        seen = []
        context = copy_context()
        thread = threading.Thread(target=lambda: seen.append(context.run(outer_control)))
        thread.start()
        thread.join()
    assert seen == [outer]
    assert outer_control() is None
    assert not inner.expired()
    outer.stop()
    assert inner.child(None, 5.0).expired()
    assert not Control().expired()
