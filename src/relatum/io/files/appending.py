"""Files that only ever grow: locked, and on the disk before anybody is told."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from relatum.errors import DataError


@contextmanager
def locked(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read and add to, which nobody else does meanwhile."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        told = error.strerror or str(error)
        raise DataError(f"{path} cannot be written: {told}.") from None
    with os.fdopen(handle, "r+b", buffering=0) as file:
        try:
            _lock(file)
        except OSError as error:  # not every file system can
            told = error.strerror or str(error)
            raise DataError(
                f"{path} cannot be locked, so that others might write over it: {told}; name a file "
                "on a disk of this machine."
            ) from None
        yield file  # closing the file gives the lock back


def _lock(file: BinaryIO) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        import importlib

        msvcrt: Any = importlib.import_module("msvcrt")
        file.seek(1 << 40)  # a byte that nobody writes
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        return
    fcntl.flock(file.fileno(), fcntl.LOCK_EX)


def add(path: Path, file: BinaryIO, data: bytes) -> None:
    """Add rows at the end and wait until they are on the disk: all of them, or none."""
    end = file.seek(0, os.SEEK_END)
    try:
        written = 0
        while written < len(data):
            written += os.write(file.fileno(), data[written:])
        os.fsync(file.fileno())
    except OSError as error:
        os.ftruncate(file.fileno(), end)
        told = error.strerror or str(error)
        raise DataError(f"{path} cannot be written, and nothing was: {told}.") from None
    if not end:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Wait until a folder, which has a new file, is on the disk, where systems know how."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system can
            os.fsync(handle)
    finally:
        os.close(handle)
