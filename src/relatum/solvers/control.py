"""What a solver may use up and whom it tells: time, seed, start, monitor, Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from relatum.live import Line
from relatum.problem import Problem, Relation
from relatum.proof import OPTIMAL_GAP


class Progress(NamedTuple):
    """What a monitor receives."""

    seconds: float
    value: float
    bound: float
    nodes: int
    rows: int

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a plain tuple: whoever reads an estimate to check it imports no solver."""
        return tuple, (tuple(self),)


Monitor = Callable[[Progress], Any]

_OUTER: ContextVar[Control | None] = ContextVar("outer", default=None)

KEPT = 400  # reports of a call, for a picture of it
QUICK = 0.25  # seconds before which reports are made only for monitors, where they cost something
LATE_SECONDS = 0.2  # by which an answer may come after the time limit, at least,
LATE_SHARE = 0.05  # or as a share of the limit
LAST_MOMENT = 0.4  # of that, for a bound when time is up,
LEAST_MOMENT = 0.15  # and at least so much, if what came before has used that up


@dataclass
class Control:
    """Limits and listeners of one call of `infer`.

    Solvers poll `expired` between pieces of work that take a fraction of a second, and
    then return the best relation and bound they have.

    Attributes
    ----------
    time_limit : float
        Seconds from the creation of the control.
    seed : int
    start : Relation or None
        A relation to start from; solvers never return a worse one.
    prove : bool
        Whether a bound is wanted as tight as time allows.
    monitor : callable or None
        Called with `Progress`; if it returns True, the search stops.
    gap : float
        Bits between value and bound that make a proof complete.
    clock : callable
        Returns seconds; never goes back.
    whole : Problem or None
        What is asked about, if the problem that is solved is a part of it or reduced.
    """

    time_limit: float = math.inf
    seed: int = 0
    start: Relation | None = None
    prove: bool = False
    monitor: Monitor | None = None
    started: float = math.nan  # by the clock; the moment of creation unless said
    stopped: bool = False
    searched: bool = False  # whether `start` is what a search as without a proof has found
    ended: bool = False  # whether a search has ended because its share of the time was over
    gap: float = OPTIMAL_GAP
    clock: Callable[[], float] = time.perf_counter
    whole: Problem | None = None
    line: Line | None = None  # on the screen
    reports: list[Progress] = field(default_factory=list)  # at most `KEPT` of them

    def __post_init__(self) -> None:
        if math.isnan(self.started):
            self.started = self.clock()
        self.outer = _OUTER.get()

    def seconds(self) -> float:
        """Return the time since the beginning."""
        return self.clock() - self.started

    def remaining(self) -> float:
        """Return the time left, never negative."""
        return 0.0 if self.told_to_stop() else max(0.0, self.time_limit - self.seconds())

    def expired(self) -> bool:
        """Say whether to stop: out of time, interrupted, or told so by the monitor."""
        return self.told_to_stop() or self.seconds() >= self.time_limit

    def told_to_stop(self) -> bool:
        """Say whether the monitor or an interrupt asked to stop, here or around (`within`)."""
        return self.stopped or (self.outer is not None and self.outer.told_to_stop())

    def listens(self) -> bool:
        """Say whether a report is worth some work: someone hears it, or this takes its time."""
        return self.monitor is not None or self.seconds() > QUICK

    def stop(self) -> None:
        """Ask the solver to return what it has."""
        self.stopped = True

    def report(self, value: float, bound: float = math.inf, nodes: int = 0, rows: int = 0) -> None:
        """Tell the monitor how things stand, show it, and keep it."""
        progress = Progress(self.seconds(), value, bound, nodes, rows)
        self.reports.append(progress)
        if len(self.reports) >= KEPT:
            del self.reports[1::2]
        if self.line is not None:
            self.line.numbers(value, bound)
        if self.monitor is not None and self.monitor(progress) is True:
            self.stop()

    def child(
        self,
        start: Relation | None,
        time_limit: float,
        others: Callable[[], tuple[float, float]] | None = None,
        silent: bool = False,
    ) -> Control:
        """Return a control for a part of the problem, sharing this one's deadline.

        What is known of the other parts, value and bound as `others` returns them, is added to
        what the part reports, so that monitors always hear of the whole. It is asked for only if
        the report is worth it. What is silent reports nothing: it is about another problem.
        """
        return _Child(
            time_limit=min(self.time_limit, self.seconds() + time_limit),
            seed=self.seed,
            start=start,
            prove=self.prove,
            started=self.started,
            searched=self.searched and start is not None,
            gap=self.gap,
            clock=self.clock,
            whole=self.whole,
            parent=self,
            others=others,
            silent=silent,
        )

    def share(self, part: float) -> Control:
        """Return a control for the same problem that ends after a share of the time left."""
        left = self.remaining()
        own = self.child(self.start, part * left if left > 0 else 0.0)
        assert isinstance(own, _Child)
        own.shared = True
        return own

    def note_end(self) -> None:
        """Note that time has ended a search, if only the time it was given."""
        self.ended = True

    def last_moment(self) -> Control:
        """Return a control for what must not be left out though time may be up: a bound.

        It has what is left of the time and a part of that by which an answer may be late; if this
        is over, too, very little. A request to stop does not end it at once, but it soon ends.
        """
        left = LATE_SECONDS
        if not self.told_to_stop():
            late = max(LATE_SECONDS, LATE_SHARE * self.time_limit)
            end = self.time_limit + LAST_MOMENT * late
            left = max(end - self.seconds(), LEAST_MOMENT * late)
            left = max(self.remaining(), min(left, LAST_MOMENT * late))
        return _LastMoment(
            time_limit=self.seconds() + left,
            seed=self.seed,
            start=self.start,
            prove=self.prove,
            started=self.started,
            gap=self.gap,
            clock=self.clock,
            parent=self,
        )


@dataclass
class _Child(Control):
    parent: Control = field(default_factory=Control)
    others: Callable[[], tuple[float, float]] | None = None
    silent: bool = False
    shared: bool = False  # whether it is a share of the time of the same problem

    def expired(self) -> bool:
        over = super().expired()
        if over and self.shared:
            self.note_end()
        return over

    def note_end(self) -> None:
        if not self.silent:
            self.parent.note_end()

    def told_to_stop(self) -> bool:
        return self.stopped or self.parent.told_to_stop()

    def stop(self) -> None:
        self.parent.stop()

    def listens(self) -> bool:
        return not self.silent and self.parent.listens()

    def report(self, value: float, bound: float = math.inf, nodes: int = 0, rows: int = 0) -> None:
        if self.silent:
            return
        if self.others is None:
            self.parent.report(value, bound, nodes, rows)
        elif self.listens():
            more, most = self.others()
            self.parent.report(value + more, bound + most, nodes, rows)


@dataclass
class _LastMoment(_Child):
    """Goes on for a moment though the parent was stopped before."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.late = self.silent = self.parent.told_to_stop()

    def told_to_stop(self) -> bool:
        return self.stopped or (self.parent.told_to_stop() and not self.late)


@contextmanager
def within(outer: Control) -> Iterator[None]:
    """Let every control that is made here, in this context, stop when another one is stopped.

    For whoever calls `infer` many times, perhaps on threads, and hears of Ctrl-C for all.
    """
    token = _OUTER.set(outer)
    try:
        yield
    finally:
        _OUTER.reset(token)


def outer_control() -> Control | None:
    """Return the control that everything here is within, if there is one."""
    return _OUTER.get()


@contextmanager
def polite_interrupts(control: Control) -> Iterator[None]:
    """Turn the first Ctrl-C into a request to stop; the second interrupts at once.

    Only the main thread can do so; in other threads KeyboardInterrupt stays as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def handler(number: int, frame: FrameType | None) -> None:
        if control.stopped:
            signal.signal(signal.SIGINT, before)
            raise KeyboardInterrupt
        control.stop()
        if getattr(before, "polite", False) and callable(before):
            before(number, frame)  # whoever called us is to stop as well

    handler.polite = True  # type: ignore[attr-defined]
    if not callable(before) and before != signal.SIG_DFL:
        yield  # someone outside Python handles interrupts, or they are ignored
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
