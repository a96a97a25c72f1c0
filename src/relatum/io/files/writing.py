"""Files written whole or not at all, gzipped where the name says so."""

from __future__ import annotations

import gzip
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from relatum.errors import DataError


def require_writable(path: str | Path) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} cannot be written: it is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise DataError(
            f"{path} cannot be written: there is no folder {path.parent}; make it first."
        )
    if not os.access(path.parent, os.W_OK) and _replaceable(path):
        raise DataError(
            f"{path} cannot be written: the folder {path.parent} is not yours to write to; name "
            "another."
        )


def _replaceable(path: Path) -> bool:
    """Whether a path is a file or nothing yet, not a pipe or a device."""
    return not path.exists() or stat.S_ISREG(path.stat().st_mode)


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all; pipes and devices are written as they are.

    Parameters
    ----------
    path : str or Path
    data : bytes
    """
    path = Path(path)
    require_writable(path)
    try:
        if not _replaceable(path):
            path.write_bytes(data)
            return
        path = path.resolve()  # a link stays a link
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DataError(f"{path} cannot be written: {error.strerror or error}.") from None
        raise


def _mode(path: Path) -> int:
    """Return the mode of the file that is replaced, or of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines of text atomically, gzipped if the name ends in ``.gz``."""
    data = "".join(f"{line}\n" for line in lines).encode()
    if Path(path).suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # the same content gives the same bytes
    write_atomically(path, data)


def numbers_as_text(numbers: ArrayLike, what: str) -> list[str]:
    """Write numbers so that they are read back the same, whole numbers without a point."""
    array = np.asarray(numbers, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise DataError(
            f"Entry {bad[0]} of {what} is {array.ravel()[bad[0]]}; this format holds finite "
            "numbers only. Keep what is known as evidence in a file of its own."
        )
    return [_shortest(x) for x in array.ravel().tolist()]


def _shortest(x: float) -> str:
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)
