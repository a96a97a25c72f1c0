"""The archive of model files, against NumPy's own reader of such archives."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from relatum.io.models.stored_arrays import DAMAGE, arrays_of, holds, manifest_of, packed

ARRAYS = [np.arange(6.0).reshape(2, 3), np.array(["a", "bc"]), np.array([True]), np.array(7)]


def test_numpy_reads_it_and_it_is_read_back():
    data = packed({"a": [1, "b"]}, ARRAYS)
    assert data == packed({"a": [1, "b"]}, ARRAYS)
    assert manifest_of(io.BytesIO(data)) == {"a": [1, "b"]}
    with np.load(io.BytesIO(data), allow_pickle=False) as theirs:
        for k, (ours, array) in enumerate(zip(arrays_of(io.BytesIO(data)), ARRAYS, strict=True)):
            assert ours.dtype == theirs[f"a{k}"].dtype == array.dtype
            assert np.array_equal(ours, theirs[f"a{k}"])
            assert ours.flags.writeable


def test_numbers_of_the_other_byte_order():
    swapped = np.arange(4, dtype=">i4")
    (ours,) = arrays_of(io.BytesIO(packed({}, [swapped])))
    assert ours.dtype == np.int32
    assert ours.tolist() == [0, 1, 2, 3]


def test_bytes_that_are_no_boolean_and_no_text():
    data = packed({}, [np.array([1, 0, 1], dtype=np.uint8).view(bool)])
    data = data.replace(b"\x01\x00\x01PK", b"\x09\x00\x01PK")
    with pytest.raises(zipfile.BadZipFile, match="CRC"):
        arrays_of(io.BytesIO(data))
    odd = np.array([9, 0, 1], dtype=np.uint8).view(bool)
    assert arrays_of(io.BytesIO(packed({}, [odd])))[0].view(np.uint8).tolist() == [1, 0, 1]
    for letter in (0x7FFFFFFF, 0x110000, 0xD800, 0xDFFF):
        wrong = np.array([97, letter], dtype=np.uint32).view("U1")
        with pytest.raises(ValueError, match="no letters"):
            arrays_of(io.BytesIO(packed({}, [wrong])))
    fine = np.array([0x10FFFF, 0xD7FF, 0xE000], dtype=np.uint32).view("U1")
    assert np.array_equal(arrays_of(io.BytesIO(packed({}, [fine])))[0], fine)


def test_heads_of_arrays_that_do_not_end_are_damage():
    """NumPy's reader of heads asks Python's tokenizer, whose error is no ValueError."""
    whole = packed({}, [np.arange(3.0)])
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    for old, new in ((b"(3,)", b"(3, "), (b"}", b" "), (b"False", b"(((((")):
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w") as archive:
            for name, data in entries.items():
                archive.writestr(name, data.replace(old, new) if name == "a0.npy" else data)
        with pytest.raises(DAMAGE):
            arrays_of(sink)


def test_which_types_are_kept():
    for name in ("bool", "int8", "uint64", "float16", "float32", "float64", "U3"):
        assert holds(np.dtype(name))
    for name in ("O", "complex64", "S3", "M8[s]", "V4", "f8,i4"):
        assert not holds(np.dtype(name))
    assert not holds(np.dtype(np.longdouble)) or np.dtype(np.longdouble).itemsize == 8
    with pytest.raises(ValueError, match="Object arrays"):
        packed({}, [np.array([print])])
