"""Children of the test process in which things go wrong: killed, out of room, of little right."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

EVENTS = ("open", "os.rename", "os.chmod", "os.remove", "os.truncate", "os.link")
NOBODY = 65534


class Ended(NamedTuple):
    """How a child ended: its exit code, negative for a signal, and what it said."""

    code: int
    said: str


def in_child(do: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> Ended:
    """Run a function in a forked child, after another that spoils its life."""
    with tempfile.TemporaryFile() as told:
        number = os.fork()
        if number == 0:
            os.dup2(told.fileno(), 1)
            os.dup2(told.fileno(), 2)
            code = 99
            sys.dont_write_bytecode = True  # half of a module would stay behind for others
            try:
                sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
                sys.stderr = open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
                before()
                do()
                code = 0
            except SystemExit as stop:
                code = int(stop.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                os._exit(code)
        _, status = os.waitpid(number, 0)
        told.seek(0)
        return Ended(os.waitstatus_to_exitcode(status), told.read().decode())


def killed_at(event: int, folder: Path) -> Callable[[], None]:
    """Return what kills a process (-9) just before the so-manieth thing it does in a folder."""
    count = 0

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if name in EVENTS and any(str(folder) in str(a) for a in arguments[:2]):
            if count == event:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1

    return lambda: sys.addaudithook(watch)


def room_for(size: int, deadly: bool) -> Callable[[], None]:
    """Return what limits files to so many bytes; who writes more is killed, or told."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if deadly else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def as_nobody() -> None:
    """Give up the rights of the superuser."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
