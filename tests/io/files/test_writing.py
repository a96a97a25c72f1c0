"""Files are written whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.io.files import writing
from relatum.io.files.writing import (
    numbers_as_text,
    require_writable,
    write_atomically,
    write_lines,
)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    target = tmp_path / "out.bin"
    write_atomically(target, b"old")

    def fails(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", fails)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.bin"]
    with pytest.raises(DataError, match="cannot be written"):
        write_atomically(tmp_path / "missing" / "x", b"")
    with pytest.raises(DataError, match="it is a folder"):
        write_atomically(tmp_path, b"")


def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "out.bin"
    target.write_bytes(b"old")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"out\.bin cannot be written: No space left"):
        write_atomically(target, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["out.bin"]
    assert target.read_bytes() == b"old"


def test_modes_links_and_pipes(tmp_path):
    mask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o600)
    write_atomically(tmp_path / "new", b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to("new")
    write_atomically(tmp_path / "link", b"z")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"z"
    write_atomically("/dev/null", b"nothing is replaced here")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116
    require_writable("/dev/null")


def test_the_same_lines_give_the_same_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_lines(tmp_path / name, ["1 2", "ä"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == "1 2\nä\n"


def test_numbers_come_back_the_same():
    numbers = np.array([0.1, -3.0, 1e300, 1e16, 5e-324, 2.0**52, -0.0])
    assert numbers_as_text(numbers, "x")[:2] == ["0.1", "-3"]
    assert [float(t) for t in numbers_as_text(numbers, "x")] == numbers.tolist()
    with pytest.raises(DataError, match="Entry 1 of the scores is inf"):
        numbers_as_text(np.array([1.0, np.inf]), "the scores")


WRITER = """
import os, sys, time
from relatum.io.files.writing import replacing
with replacing(sys.argv[1]) as half:
    half.write_text("half of it")
    print(half.name, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="processes by number are POSIX's")
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, monkeypatch):
    target = tmp_path / "out [1].csv"
    target.write_text("old")
    left = []
    for _ in range(2):
        run = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True
        )
        left.append(tmp_path / run.stdout.readline().strip())
        if len(left) == 1:
            run.kill()
            run.communicate()
    assert all(half.is_file() for half in left)
    other = tmp_path / ".other.csv.half-1.x"
    other.write_text("of another file")
    try:
        write_atomically(target, b"soon")
        assert left[0].exists()  # it may be of another machine: it has a moment
        monkeypatch.setattr(writing, "A_MOMENT", 0.0)
        time.sleep(0.02)
        write_atomically(target, b"new")
        assert not left[0].exists()
        assert left[1].is_file()  # its process is there
        assert other.is_file()
        os.utime(left[1], (0, 0))
        write_atomically(target, b"newer")
        assert not left[1].exists()  # a day later nobody writes it any more
    finally:
        run.kill()
        run.communicate()
    assert target.read_text() == "newer"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".other.csv.half-1.x", "out [1].csv"]
