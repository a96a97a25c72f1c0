import gzip

import pytest

from relatum.errors import DataError
from relatum.io.text import read_text


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
