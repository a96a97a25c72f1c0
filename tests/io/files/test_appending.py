"""Files that only grow: a full disk leaves no part of what was to be added."""

from __future__ import annotations

import errno
import subprocess
import sys

import pytest

from relatum.errors import DataError
from relatum.io.files import add, locked

FULL = """
import resource, signal, sys
from pathlib import Path
from relatum.errors import DataError
from relatum.io import AnswersFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
file = AnswersFile(path)
file.append([("a", "b", "same")])
size = path.stat().st_size
before = path.read_bytes()
for room in (1, 60, 100, 5000, 20_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
    try:
        file.append([(f"x{k}", f"y{k}", "same") for k in range(1000)])
    except DataError as error:
        assert "nothing was" in str(error)
    else:
        raise AssertionError
    assert path.read_bytes() == before
    assert len(file.rows) == len(AnswersFile(path).rows) == 1
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
assert file.append([("c", "d", "same")]) == 2
assert len(AnswersFile(path).rows) == 2
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of POSIX")
def test_all_rows_or_none_where_there_is_no_room(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path / "answers.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rows_are_added_at_the_end(tmp_path):
    path = tmp_path / "file"
    for text in (b"one\n", b"two\n"):
        with locked(path) as file:
            add(path, file, text)
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.skipif(sys.platform == "win32", reason="locks of other kinds")
def test_where_nothing_can_be_locked_nothing_is_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    path = tmp_path / "answers.csv"
    path.write_bytes(b"before\n")
    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(DataError, match=r"cannot be locked.*No locks available"), locked(path):
        pytest.fail("it went on without a lock")
    assert path.read_bytes() == b"before\n"
