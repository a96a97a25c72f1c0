"""Data sets are found by name in one folder; files that cannot be read are named."""

from __future__ import annotations

import gzip

import pytest

from relatum.datasets import data_path
from relatum.datasets.files import bytes_of
from relatum.errors import DataError


def test_data_sets_are_looked_for_in_one_folder(tmp_path, monkeypatch):
    (tmp_path / "some").mkdir()
    monkeypatch.setenv("RELATUM_DATA", str(tmp_path))
    assert data_path("some") == tmp_path / "some"
    assert data_path("other") is None
    monkeypatch.delenv("RELATUM_DATA")
    monkeypatch.chdir(tmp_path)
    assert data_path("some") is None  # without a folder, not the one where we are


def test_files_are_unzipped_by_what_they_hold(tmp_path):
    plain, zipped = tmp_path / "plain.gz", tmp_path / "zipped"
    plain.write_bytes(b"as it is")
    zipped.write_bytes(gzip.compress(b"as it was"))
    assert bytes_of(plain) == b"as it is"
    assert bytes_of(zipped) == b"as it was"


@pytest.mark.parametrize("data", [b"\x1f\x8b no gzip", gzip.compress(b"a" * 1000)[:-20]])
def test_damaged_files_are_named(tmp_path, data):
    path = tmp_path / "damaged"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"damaged cannot be read"):
        bytes_of(path)


def test_what_is_no_path_is_named():
    with pytest.raises(DataError, match="got a int"):
        bytes_of(3)
