"""Files written whole or not at all, gzipped where the name says so."""

from __future__ import annotations

import errno
import glob
import gzip
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.errors import DataError, RelatumError
from relatum.io.files.reading import as_path

HALF = "half-"  # in the hidden names of files that are being written
ABANDONED = 24 * 3600.0  # seconds since it was last written to, after which nobody writes a file
A_MOMENT = 60.0  # the same where its process is not there: it may be on another machine


def require_writable(path: str | Path) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    path = as_path(path)
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


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a new file to write, which takes the place of another one once it is whole.

    Nobody ever sees half of it: it has a name of its own, in the same folder, until it is on the
    disk. If anything goes wrong, it is removed, and what was there before stays. The last of
    several writers wins.
    """
    path = as_path(path)
    require_writable(path)
    with _told_of(path):
        path = path.resolve()  # a link stays a link
        begun = f".{path.name[:100]}."
        _remove_abandoned(path.parent, begun)
        own = f"{begun}{HALF}{os.getpid()}."
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=own)
        os.close(handle)
    half = Path(name)
    try:
        with _told_of(path):
            yield half
            _to_disk(half)
            half.chmod(_mode(path))
            half.replace(path)
            _to_disk(path.parent)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def _remove_abandoned(folder: Path, begun: str) -> None:
    """Remove what processes that were killed have left of the same file, if it is old enough.

    Their number is in the name; that of a process that is still there, here or on another machine
    that shares the folder, is left alone for a day.
    """
    now = time.time()
    for half in folder.glob(f"{glob.escape(begun)}{HALF}*"):
        number = half.name[len(begun) + len(HALF) :].split(".")[0]
        try:
            age = now - half.stat().st_mtime
            if number.isdigit() and (age > ABANDONED or (age > A_MOMENT and _is_gone(int(number)))):
                half.unlink()
        except OSError:  # it was renamed or removed meanwhile, or is not ours
            continue


def _is_gone(process: int) -> bool:
    """Say whether there is no process of this number."""
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Turn what the system says into an error that names the file."""
    try:
        yield
    except OSError as error:
        if isinstance(error, RelatumError):
            raise
        told = error.strerror or " ".join(str(error).split())[:200]
        raise DataError(f"{path} cannot be written: {told}.") from None


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # a folder cannot be opened everywhere
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):  # not for folders there
            raise
    finally:
        os.close(handle)


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all; pipes and devices are written as they are.

    Parameters
    ----------
    path : str or Path
    data : bytes
    """
    path = as_path(path)
    require_writable(path)
    if not _replaceable(path):
        with _told_of(path):
            path.write_bytes(data)
        return
    with replacing(path) as half:
        half.write_bytes(data)


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
    if as_path(path).suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # the same content gives the same bytes
    write_atomically(path, data)


def floats_of(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as float64; those that are too large for one become infinite."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float64)


def numbers_as_text(numbers: ArrayLike, what: str) -> list[str]:
    """Write numbers so that they are read back the same, whole numbers without a point."""
    try:
        array = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"The entries of {what} are numbers, but {error}.") from None
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise DataError(
            f"Entry {bad[0]} of {what} is {array.ravel()[bad[0]]}; this format holds finite "
            "numbers only. Keep what is known as evidence in a file of its own."
        )
    return [_shortest(x) for x in array.ravel().tolist()]


def _shortest(x: float) -> str:
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)
