"""Archives: nothing is read beyond what is stated, allowed and plain."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

import naive
from relatum.io.bundle import archive
from relatum.io.bundle.archive import (
    Archive,
    DamageError,
    allowance,
    flags,
    floats,
    packed,
    whole_numbers,
)


def _zip(entries: list[tuple[str, bytes]]) -> io.BytesIO:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries:
            file.writestr(name, data)
    return sink


def test_arrays_come_back_once():
    arrays = [np.arange(6).reshape(2, 3), np.array([0.5, -np.inf]), np.array([True, False])]
    bundle = Archive(io.BytesIO(packed({"x": [1, {"y": "[[["}]}, arrays)))
    assert bundle.manifest() == {"x": [1, {"y": "[[["}]}
    for k, array in enumerate(arrays):
        found = bundle.take(f"a{k}")
        assert np.array_equal(found, array)
        assert found.dtype == array.dtype
        assert found.flags.writeable
    bundle.require_read()
    with pytest.raises(DamageError, match="more than once"):
        bundle.take("a0")


@pytest.mark.parametrize("name", [">i2", ">u8", ">f4", ">f8", "<i4", "|u1", "|b1"])
def test_every_byte_order_is_read(name):
    array = np.array([1, 0, 1], dtype=name)
    found = Archive(_zip([("a0.npy", naive.npy(array))])).take("a0")
    assert found.tolist() == array.tolist()
    assert found.dtype.isnative


def test_what_nothing_refers_to_is_refused():
    bundle = Archive(_zip([("a0.npy", naive.npy(np.zeros(1)))]))
    with pytest.raises(DamageError, match="nothing refers to the array a0"):
        bundle.require_read()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_occur_twice_are_refused():
    data = naive.npy(np.zeros(1))
    for names in (("a0.npy", "a0.npy"), ("a0.npy", "a0")):
        with pytest.raises(DamageError, match="same name"):
            Archive(_zip([(name, data) for name in names]))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello, this is no array at all",
        naive.npy(np.zeros(3)).replace(b"<f8", b"|O8"),
        naive.npy(np.zeros(3)).replace(b"<f8", b"<f2"),
        naive.npy(np.zeros(3)).replace(b"<f8", b"<c8"),
        naive.npy(np.zeros(3)).replace(b"<f8", b"<b1"),
        naive.npy(np.zeros(3)).replace(b"(3,)", b"(9,)"),
        naive.npy(np.zeros(3)).replace(b"(3,)", b"(-3)"),
        naive.npy(np.zeros(3)).replace(b"False", b"True ", 1),
        naive.npy(np.asfortranarray(np.zeros((3, 2)))),
        naive.npy(np.array([None, 1], dtype=object)),
        naive.npy(np.zeros(3))[:-1],
        naive.npy(np.zeros(3)) + b"x",
    ],
)
def test_entries_that_are_no_plain_arrays_are_refused(data):
    with pytest.raises(DamageError):
        Archive(_zip([("a0.npy", data)])).take("a0")


def test_what_unpacks_to_more_than_is_allowed_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(archive, "FLOOR", 10_000)
    bomb = _zip([("a0.npy", naive.npy(np.zeros(1_000_000)))])
    size = len(bomb.getvalue())
    assert size < 20_000
    with pytest.raises(DamageError, match="unpacks to 8 MB"):
        Archive(bomb)
    enough = (8_000_128 - allowance(size)) // archive.PER_SCORE + 1  # scores of the problem
    assert Archive(bomb, enough).take("a0").size == 1_000_000


def test_a_stream_is_cut_where_the_archive_says():
    """An entry that says it is short, and is not, is refused, and not unpacked further."""
    data = naive.npy(np.zeros(1000))
    raw = bytearray(_zip([("a0.npy", data)]).getvalue())
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = raw.index(signature) + at
        assert struct.unpack_from("<I", raw, place) == (len(data),)
        struct.pack_into("<I", raw, place, 136)  # the header and one number
    shorter = naive.npy(np.zeros(1))
    assert len(shorter) == 136
    with pytest.raises((DamageError, zipfile.BadZipFile)):
        Archive(io.BytesIO(bytes(raw))).take("a0")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_that_unpacks_as_a_whole_is_refused(packing):
    """A kilobyte of bzip2 can stand for gigabytes, whatever size is stated."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", packing) as file:
        file.writestr("a0.npy", naive.npy(np.zeros(1)))
    with pytest.raises(DamageError, match="packed in a way"):
        Archive(sink)


def test_flags_are_true_or_false():
    data = naive.npy(np.array([True, False]))[:-2] + b"\x02\x00"
    with pytest.raises(DamageError, match="neither true nor false"):
        Archive(_zip([("a0.npy", data)])).take("a0")


def _manifest(text: bytes) -> Archive:
    return Archive(_zip([("manifest.npy", naive.npy(np.frombuffer(text, np.uint8)))]))


def test_manifests_are_looked_over_before_they_are_parsed(monkeypatch):
    assert _manifest(b'{"a": "]]]]\\"[[[[[[[[[[[[[[[["}').manifest() == {"a": ']]]]"' + "[" * 16}
    with pytest.raises(DamageError, match="nested more than 12"):
        _manifest(b"[" * 100_000).manifest()
    with pytest.raises(DamageError, match="no object"):
        _manifest(b"[]").manifest()
    wide = naive.npy(np.frombuffer(b"{}", np.uint8).astype(np.uint16))
    with pytest.raises(DamageError, match="no vector of bytes"):
        Archive(_zip([("manifest.npy", wide)])).manifest()
    with pytest.raises(ValueError, match="double quotes"):
        _manifest("{}".encode("utf-16-le")).manifest()
    with pytest.raises(DamageError, match="no manifest"):
        Archive(_zip([])).manifest()
    monkeypatch.setattr(archive, "MOST_BRACKETS", 100)
    with pytest.raises(DamageError, match="too many parts"):
        _manifest(b'{"a": [' + b"[]," * 100 + b"[]]}").manifest()
    with pytest.raises(DamageError, match="the manifest has 5 MB"):
        _manifest(b" " * 5_000_000).manifest()


def test_whole_numbers_do_not_wrap_and_are_not_rounded():
    assert whole_numbers(np.array([3, 2**63 - 1], np.uint64)).tolist() == [3, 2**63 - 1]
    assert whole_numbers(np.array([[-1]], np.int8), 2).dtype == np.int64
    for array in (
        np.array([2**63], np.uint64),
        np.array([1.0]),
        np.array([np.nan]),
        np.array([True]),
        np.array(1),
        np.array([[1]]),
    ):
        with pytest.raises(DamageError, match="no array of element numbers"):
            whole_numbers(array)


def test_flags_and_floats_are_of_their_type():
    assert flags(np.array([True])).tolist() == [True]
    assert floats(np.array([0.5], np.float32)).dtype == np.float64
    for array in (np.array([1]), np.array([[True]])):
        with pytest.raises(DamageError, match="no vector of flags"):
            flags(array)
    for array in (np.array([1]), np.array([[0.5]]), np.array(0.5)):
        with pytest.raises(DamageError, match="no vector of floats"):
            floats(array)
