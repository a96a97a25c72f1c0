"""One line on the screen while a call lasts: what it does, value, bound, gap and seconds.

Whoever waits longer than a second, in a terminal or a notebook, sees how things stand; the line
goes when the call ends, however it ends. Calls within calls write into the line of the outermost.
Nothing is shown where nobody looks: where stderr is a file or a pipe, on other threads and
processes, within `silence`, or with ``RELATUM_PROGRESS=0`` in the environment.

A call that is shorter pays for one record. The line is drawn by a thread that looks up a few times
a second while anything runs; rich is imported only when there is something to show.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

__all__ = ["Line", "line", "seen", "silence"]

PATIENCE = 1.0  # seconds before a line appears
INTERVAL = 0.25  # seconds between looks
IDLE = 2.0  # seconds without any call after which nobody looks any more
SWITCH = "RELATUM_PROGRESS"

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Line:
    """What a call says of itself; drawn by others, if at all."""

    def __init__(self, what: str, alone: bool = False) -> None:
        self.what, self.stage, self.alone = what, "", alone
        self.value, self.bound = -math.inf, math.inf
        self.began = time.monotonic()

    def say(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Tell what is being done, and how much of it is done."""
        self.stage = f"{stage} {done:,} of {total:,}" if total else stage

    def numbers(self, value: float, bound: float) -> None:
        """Tell the value found and the bound, in bits."""
        self.value, self.bound = value, bound

    def text(self) -> str:
        """Return the line."""
        parts = [self.what, self.stage]
        if math.isfinite(self.value):
            parts.append(f"value {self.value:,.6g}")
        if math.isfinite(self.bound):
            parts.append(f"bound {self.bound:,.6g}")
        if math.isfinite(self.value) and math.isfinite(self.bound):
            parts.append(f"gap {max(0.0, self.bound - self.value):.4g} bits")
        parts.append(f"{time.monotonic() - self.began:.0f} s")
        return "  ".join(part for part in parts if part)


class _Screen:
    """Who draws: at most one line, of the outermost call on the main thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.current: Line | None = None
        self.silent = 0  # depth of `silence`
        self.left = 0.0  # when the last call ended
        self.drawer: Any = None  # while a line is on the screen
        self.thread: threading.Thread | None = None

    def watches(self) -> bool:
        """Say whether a new call may have a line."""
        return (
            self.silent == 0
            and _on_main_thread()
            and _in_main_process()
            and os.environ.get(SWITCH, "") not in ("0", "off", "no", "false")
            and place() != ""
        )

    def begin(self, own: Line) -> None:
        self.current = own
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._look, name="relatum-live", daemon=True)
            self.thread.start()

    def end(self) -> None:
        self.current, self.left = None, time.monotonic()
        if self.drawer is not None:
            with self.lock:
                self._wipe()

    def _look(self) -> None:
        while True:
            time.sleep(INTERVAL)
            own = self.current
            if own is None:
                if time.monotonic() - self.left > IDLE:
                    return
            elif time.monotonic() - own.began >= PATIENCE:
                with self.lock:
                    if self.current is own:
                        self._draw(own)

    def _draw(self, own: Line) -> None:
        with suppress(Exception):  # a line is never worth an error
            if self.drawer is None:
                self.drawer = _Notebook() if place() == "notebook" else _Terminal()
            self.drawer.show(own.text())

    def _wipe(self) -> None:
        drawer, self.drawer = self.drawer, None
        if drawer is not None:
            with suppress(Exception):
                drawer.close()


class _Terminal:
    """A line of a terminal, below whatever is printed in the meantime."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self.text = partial(Text, no_wrap=True, overflow="ellipsis", style="dim")
        self.live = Live(
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=_is_terminal(sys.stdout),  # else what is printed stays in its file
        )
        self.live.start()

    def show(self, text: str) -> None:
        self.live.update(self.text(text), refresh=True)

    def close(self) -> None:
        self.live.stop()


class _Notebook:
    """A line below a cell of a notebook."""

    def __init__(self) -> None:
        display = import_module("IPython.display").display
        self.handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, text: str) -> None:
        self.handle.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        self.handle.update({"text/plain": ""}, raw=True)


_SCREEN = _Screen()


def _in_main_process() -> bool:
    workers = sys.modules.get("multiprocessing")  # which workers of all kinds import
    return workers is None or workers.current_process().name == "MainProcess"


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # closed, or none
        return False


def place() -> str:
    """Return where a line can be shown: "terminal", "notebook", or nowhere."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    if type(shell).__name__ == "ZMQInteractiveShell":
        return "notebook"
    dumb = os.environ.get("TERM", "") in ("dumb", "unknown")
    return "terminal" if _is_terminal(sys.stderr) and not dumb else ""


@contextmanager
def line(what: str, alone: bool = False) -> Iterator[Line]:
    """Show how a call stands, if somebody looks and it takes more than a second.

    Parameters
    ----------
    what : str
        What the call does, in a word or two.
    alone : bool
        Whether calls within this one are kept off its line: what they say is not of the whole.

    Examples
    --------
    >>> with line("counting") as own:
    ...     own.say("numbers", 3, 10)
    ...     own.numbers(1.5, 2.0)
    ...     own.text()
    'counting  numbers 3 of 10  value 1.5  bound 2  gap 0.5 bits  0 s'
    """
    outer = _SCREEN.current
    if outer is not None and not outer.alone and _on_main_thread():
        yield outer  # one line only
        return
    own = Line(what, alone)
    if outer is not None or not _SCREEN.watches():
        yield own
        return
    _SCREEN.begin(own)
    try:
        yield own
    finally:
        _SCREEN.end()


@contextmanager
def silence(silent: bool = True) -> Iterator[None]:
    """Show no line of the calls in here."""
    _SCREEN.silent += silent
    try:
        yield
    finally:
        _SCREEN.silent -= silent


def seen(what: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function have a `line` while it runs."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def shown(*arguments: _P.args, **options: _P.kwargs) -> _R:
            with line(what):
                return function(*arguments, **options)

        return shown

    return decorate
