"""Text out of files, plain or gzipped, a line at a time; errors name file, line and way out.

Nothing is read further than the first thing that cannot be text, so that a damaged file of
any size is refused at once.
"""

from __future__ import annotations

import difflib
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from relatum.errors import DataError

LONGEST_WORD = 1 << 20  # bytes without a blank, a comma or a line end
LONGEST_LINE = 1 << 28
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


def whole_number(word: str) -> int | None:
    """Return the whole number that a word is, or None."""
    return int(word) if _WHOLE.fullmatch(word) else None


def as_path(path: Any) -> Path:
    """Return a path, or refuse what names no file."""
    try:
        found = Path(path)
        if b"\0" in os.fsencode(found):
            raise ValueError
    except (TypeError, ValueError):  # no text, a zero in it, or letters that no file has
        told = repr(path)[:60] if isinstance(path, str) else f"a {type(path).__name__}"
        raise DataError(f"A file is named by a path, a text, got {told}.") from None
    return found


@contextmanager
def open_to_read(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, unzipped if its name ends in ``.gz``."""
    path = as_path(path)
    try:
        if path.is_dir():
            raise DataError(f"{path} is a folder; name a file in it.")
        with path.open("rb") as file:
            if path.suffix != ".gz":
                yield file
                return
            with gzip.GzipFile(fileobj=file) as unzipped:
                yield unzipped  # type: ignore[misc]
    except FileNotFoundError:
        raise DataError(_missing(path)) from None
    except PermissionError:
        raise DataError(
            f"{path} cannot be read: permission denied. Make it readable (chmod +r), or copy it."
        ) from None
    except gzip.BadGzipFile:
        raise DataError(
            f"{path} cannot be read: its name ends in .gz, but it is not gzipped. Rename it."
        ) from None
    except (EOFError, zlib.error):
        raise DataError(
            f"{path} cannot be read: its gzipped data are cut off or damaged. Fetch it again."
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def _missing(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"There is no file {path}, as there is no folder {folder}; check the path."
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names[:10_000], 1, 0.75)
    hint = f"did you mean {folder / near[0]}?" if near else "check the name and the folder."
    return f"There is no file {path}; {hint}"


class _Checked(io.RawIOBase):
    """Bytes that may be text: no zeros, no endless words."""

    def __init__(self, file: IO[bytes], path: str | Path) -> None:
        self.file, self.path = file, path
        self.lines, self.word, self.begun = 1, 0, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        self._check(data)
        buffer[: len(data)] = data
        return len(data)

    def _check(self, data: bytes) -> None:
        if not self.begun and data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(f"{self.path}, line 1: this is UTF-16; save the file as UTF-8.")
        self.begun = True
        zero = data.find(0)
        if zero >= 0:
            line = self.lines + data.count(b"\n", 0, zero)
            raise DataError(
                f"{self.path}, line {line}: this is no text but binary data (a zero byte); check "
                "that it is the right file, or name its format with --format."
            )
        last = max(data.rfind(blank) for blank in (b"\n", b" ", b",", b"\t", b"\r"))
        self.word = self.word + len(data) if last < 0 else len(data) - last
        if self.word > LONGEST_WORD:
            raise DataError(
                f"{self.path}, line {self.lines}: a word of more than a million letters; this is "
                "no table or list of numbers. Check that it is the right file."
            )
        self.lines += data.count(b"\n")


def lines_of(path: str | Path) -> Iterator[str]:
    """Yield the lines of a file, without their ends."""
    number = 0
    with open_to_read(path) as file:
        checked = io.BufferedReader(_Checked(file, path), 1 << 16)
        text = io.TextIOWrapper(checked, encoding="utf-8-sig")
        try:
            while line := text.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE:
                    raise DataError(
                        f"{path}, line {number}: longer than {LONGEST_LINE:,} letters; break it "
                        "into lines."
                    )
                yield line.rstrip("\n")
        except UnicodeDecodeError as error:
            # what was decoded before is whole lines and the beginning of this piece's first
            at = number + 1 + error.object.count(b"\n", 0, error.start)
            raise DataError(
                f"{path}, line {at}: this is not text in UTF-8 (byte 0x"
                f"{error.object[error.start]:02x}); save the file as UTF-8."
            ) from None


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line) of the lines that are not blank."""
    for number, line in enumerate(lines_of(path), start=1):
        if line.strip():
            yield number, line


def read_text(path: str | Path) -> str:
    """Return the text of a file, with plain line ends."""
    return "\n".join(lines_of(path))
