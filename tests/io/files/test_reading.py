import gzip

import pytest

from relatum.errors import DataError
from relatum.io.files.reading import lines_of, numbered_lines, read_text, whole_number


def test_missing_broken_and_foreign_files_are_named(tmp_path):
    with pytest.raises(DataError, match="no file"):
        read_text(tmp_path / "absent")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    with pytest.raises(DataError, match=r"a\.gz"):
        read_text(tmp_path / "a.gz")
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        read_text(tmp_path / "b")
    with pytest.raises(DataError):
        read_text(tmp_path)


def test_the_line_of_a_wrong_byte_is_told_however_far_it_is(tmp_path):
    path = tmp_path / "far"
    for line in (1, 2, 5000, 70_000):
        path.write_bytes(b"0 1 2\n" * (line - 1) + b"caf\xe9\n" + b"0 1 2\n" * 9)
        with pytest.raises(DataError, match=rf"far, line {line}: .*0xe9"):
            read_text(path)
        path.write_bytes(b"0 1 2\n" * (line - 1) + b"0 \0 2\n" + b"0 1 2\n" * 9)
        with pytest.raises(DataError, match=rf"far, line {line}: .*zero byte"):
            read_text(path)


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress("\ufeffä b\r\n\n c \nd".encode()))
    assert list(lines_of(path)) == ["ä b", "", " c ", "d"]
    assert list(numbered_lines(path)) == [(1, "ä b"), (3, " c "), (4, "d")]
    path.write_bytes(b"no gzip")
    with pytest.raises(DataError, match="not gzipped"):
        read_text(path)
    bomb = gzip.compress(b"\0" * (64 << 20))
    path.write_bytes(bomb)
    with pytest.raises(DataError, match=r"line 1: .*zero byte"):
        read_text(path)


def test_whole_numbers():
    words = ["7", "-3", "+4", "007", "1.0", "", "²", "1_0", "9" * 16]
    assert [whole_number(w) for w in words] == [7, -3, 4, 7, None, None, None, None, None]
