"""Certificates are files that are read back the same, or not at all."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from relatum.errors import CertificateError, DataError
from relatum.pair_tables import is_certificate
from relatum.pair_tables.check.container import MANIFEST, Archive, write_archive


@pytest.fixture
def written(tmp_path):
    files = tmp_path / "files"
    (files / "proofs").mkdir(parents=True)
    (files / "proofs" / "7.npz").write_bytes(b"anything")
    path = tmp_path / "clusters.cert"
    arrays = {"a.npy": np.arange(6, dtype="<i4"), "b.npy": np.empty((0, 3), dtype="<i4")}
    write_archive(path, {"value": 0.1}, arrays, files)
    return path


def rewritten(path, change):
    """Write an archive again, its members changed."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name, data in members.items():
            new.writestr(name, data)


def test_what_is_written_is_read(written, tmp_path):
    assert is_certificate(written)
    archive = Archive(written)
    assert archive.manifest["value"] == 0.1
    assert archive.names() == {"a.npy", "b.npy", "proofs/7.npz"}
    assert archive.array("a.npy", "<i4", (6,)).tolist() == list(range(6))
    assert archive.array("b.npy", "<i4", (None, 3)).shape == (0, 3)
    archive.extract("proofs/7.npz", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"anything"
    archive.close()
    again = tmp_path / "again.cert"
    arrays = {"a.npy": np.arange(6, dtype="<i4"), "b.npy": np.empty((0, 3), dtype="<i4")}
    write_archive(again, {"value": 0.1}, arrays, tmp_path / "files")
    assert again.read_bytes() == written.read_bytes()


@pytest.mark.parametrize(
    ("dtype", "shape"), [("<i8", (6,)), ("<i4", (5,)), ("<i4", (6, 1)), ("<i4", ())]
)
def test_arrays_of_other_types_and_shapes_are_refused(written, dtype, shape):
    with pytest.raises(CertificateError, match=r"member a\.npy"):
        Archive(written).array("a.npy", dtype, shape)


def test_members_are_those_of_the_manifest(written):
    def change(members):
        members["a.npy"] = members["a.npy"][:-1] + b"\x07"

    rewritten(written, change)
    with pytest.raises(CertificateError, match="not the one"):
        Archive(written).array("a.npy", "<i4", (6,))
    rewritten(written, lambda members: members.update({"more.npy": b""}))
    with pytest.raises(CertificateError, match="does not list"):
        Archive(written).names()


def test_an_array_is_as_long_as_it_says(written):
    def change(members):
        head = members["a.npy"].replace(b"(6,)", b"(9,)")
        members["a.npy"] = head

    rewritten(written, change)
    with pytest.raises(CertificateError, match="as long as it says"):
        Archive(written).array("a.npy", "<i4", (None,))


def test_compressed_members_are_refused(written):
    with zipfile.ZipFile(written) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            kind = zipfile.ZIP_STORED if name == MANIFEST else zipfile.ZIP_DEFLATED
            new.writestr(name, data, kind)
    with pytest.raises(CertificateError, match="compressed"):
        Archive(written).names()


def test_locked_members_are_refused(written):
    """A flag of a member says that it is encrypted; nobody has the password."""
    raw = bytearray(written.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = raw.find(signature)
        while place >= 0:
            raw[place + at] |= 1
            place = raw.find(signature, place + 1)
    written.write_bytes(bytes(raw))
    with pytest.raises(DataError, match="is not a certificate of clusters"):
        Archive(written)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"format": "relatum-clusters", "version": 2}',
        '{"format": "relatum-clusters", "version": 1, "value": NaN}',
        "[" * 100_000,
    ],
)
def test_other_manifests_are_no_certificates(written, text):
    rewritten(written, lambda members: members.update({MANIFEST: text.encode()}))
    with pytest.raises(DataError, match="is not a certificate of clusters"):
        Archive(written)


def test_other_files_are_no_certificates(written, tmp_path):
    for name, data in (("text", b"hello"), ("half", written.read_bytes()[:-30])):
        path = tmp_path / name
        path.write_bytes(data)
        assert not is_certificate(path)
        with pytest.raises(DataError, match="is not a certificate of clusters"):
            Archive(path)
    assert not is_certificate(tmp_path / "nothing")


def test_nothing_is_left_of_what_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_archive(tmp_path / "c", {"value": float("nan")}, {}, tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
    write_archive(tmp_path / "c", {"value": 1.0}, {}, tmp_path / "none")
    assert json.loads(zipfile.ZipFile(tmp_path / "c").read(MANIFEST))["members"] == {}
