"""The file itself: arrays and a manifest in an archive, of which nothing is taken on trust.

A file from elsewhere may state sizes that are not true, or unpack to a thousand times its own
size. So the sizes that the archive states are added up before anything is read; what is read is
cut at them; the header of an array has to agree with its size; and the manifest is looked over
before it is parsed.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from copy import copy
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index

MEGABYTE = 1 << 20
FLOOR = 64 * MEGABYTE  # so much any bundle may unpack to
PER_BYTE = 64  # and so many bytes for every byte of the file
PER_SCORE = 64  # and for every log-odds of the problem, where that is given
LARGEST_MANIFEST = 256 * MEGABYTE
MOST_BRACKETS = 16_000_000  # of a manifest: lists and objects, about 100 bytes of memory each
DEEPEST = 12  # brackets within brackets
MANIFEST = "manifest"
_HEADER = re.compile(
    rb"\{'descr': '([<>|][biuf][1248])', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9, ]{0,60})\), \} *\n"
)
_TYPES = frozenset(["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')


class DamageError(ValueError):
    """What is wrong with a bundle, as a piece of a sentence."""


def allowance(file_size: int, n_scores: int = 0) -> int:
    """Return how many bytes a bundle may unpack to.

    Certificates of large problems have a few numbers for every score, and proofs of small ones
    as many nodes as the search took; either kind packs to some tenth of its size.
    """
    return FLOOR + PER_BYTE * file_size + PER_SCORE * n_scores


class Archive:
    """An archive that is open to be read.

    Parameters
    ----------
    file : file object
    n_scores : int
        How many log-odds the problem has, if it is known.
    """

    def __init__(self, file: IO[bytes], n_scores: int = 0) -> None:
        size = file.seek(0, io.SEEK_END)
        self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        self._unread = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(self._unread) != len(entries):
            raise DamageError("two entries have the same name")
        if any(e.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for e in entries):
            raise DamageError("it is packed in a way that cannot be cut where it should end")
        stated, allowed = sum(e.file_size for e in entries), allowance(size, n_scores)
        if stated > allowed:
            raise DamageError(
                f"it unpacks to {stated / MEGABYTE:.0f} MB, where {allowed / MEGABYTE:.0f} are "
                "allowed for its size and problem"
            )

    def take(self, name: str) -> NDArray[Any]:
        """Return an array; it can be taken once."""
        entry = self._unread.pop(name, None)
        if entry is None:
            raise DamageError(f"the array {name} is missing, or referred to more than once")
        longer = copy(entry)
        longer.file_size += 1  # so that a stream that goes on is noticed, and cut there
        with self._zip.open(longer) as stream:
            array_type, shape, begin = _read_header(stream, entry)
            data = stream.read(entry.file_size - begin + 1)
        if len(data) != entry.file_size - begin:
            raise DamageError(f"the array {name} is longer or shorter than stated")
        if array_type.kind == "b" and data.translate(None, b"\0\1"):
            raise DamageError(f"the array {name} has flags that are neither true nor false")
        found = np.frombuffer(data, array_type).reshape(shape)
        return found.astype(array_type.newbyteorder("="))  # a copy, which can be written to

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, an object of JSON."""
        entry = self._unread.get(MANIFEST)
        if entry is None:
            raise DamageError("there is no manifest")
        if entry.file_size > min(LARGEST_MANIFEST, MEGABYTE + PER_BYTE * entry.compress_size):
            raise DamageError(f"the manifest has {entry.file_size / MEGABYTE:.0f} MB")
        letters = self.take(MANIFEST)
        if letters.dtype != np.uint8 or letters.ndim != 1:  # other readers may see another text
            raise DamageError("the manifest is no vector of bytes")
        text = letters.tobytes()
        _look_over(text)
        found = json.loads(text.decode())  # in no other encoding, which is not looked over
        if not isinstance(found, dict):
            raise DamageError("the manifest is no object of JSON")
        return found

    def require_read(self) -> None:
        """Refuse an archive with arrays that nothing referred to."""
        if self._unread:
            raise DamageError(f"nothing refers to the array {min(self._unread)}")


def _read_header(
    stream: IO[bytes], entry: zipfile.ZipInfo
) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return type, shape and length of the header of an array in the format .npy."""
    begin = stream.read(10)
    length = int.from_bytes(begin[8:], "little")
    header = _HEADER.fullmatch(stream.read(length)) if length < 1000 else None
    if begin[:8] != b"\x93NUMPY\x01\x00" or header is None:
        raise DamageError(f"the entry {entry.filename} is no array of numbers")
    array_type, shape = header[1].decode(), header[3].split(b",")
    if array_type[1:] not in _TYPES or header[2] != b"False":
        raise DamageError(f"the entry {entry.filename} is not of a plain type, or not by rows")
    lengths = tuple(int(n) for n in shape if n.strip())
    found = np.dtype(array_type)
    if math.prod(lengths) * found.itemsize != entry.file_size - 10 - length:
        raise DamageError(f"the array {entry.filename} has not the size that its header says")
    return found, lengths, 10 + length


def _look_over(text: bytes) -> None:
    """Refuse JSON that is nested deeply, or that has very many parts."""
    code = np.frombuffer(_STRINGS.sub(b"", text), dtype=np.uint8)
    opened = (code == ord("[")) | (code == ord("{"))
    closed = (code == ord("]")) | (code == ord("}"))
    if int(opened.sum()) > MOST_BRACKETS:
        raise DamageError("the manifest has too many parts")
    steps = opened.astype(np.int8) - closed.astype(np.int8)
    if int(np.cumsum(steps, dtype=np.int32).max(initial=0)) > DEEPEST:
        raise DamageError(f"the manifest is nested more than {DEEPEST} times")


def packed(manifest: Mapping[str, Any], arrays: list[NDArray[Any]]) -> bytes:
    """Return the bytes of an archive."""
    text = np.frombuffer(json.dumps(manifest, allow_nan=False).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    named = {f"a{k}": np.ascontiguousarray(array) for k, array in enumerate(arrays)}
    np.savez_compressed(buffer, allow_pickle=False, **{MANIFEST: text}, **named)
    return buffer.getvalue()


def whole_numbers(array: NDArray[Any], axes: int = 1) -> Index:
    """Return an array as int64, refusing numbers that are not whole or too large for it."""
    largest = np.iinfo(np.int64).max
    if array.dtype.kind not in "iu" or array.ndim != axes or array.max(initial=0) > largest:
        raise DamageError(f"{array.dtype} of shape {array.shape} is no array of element numbers")
    return array.astype(np.int64, copy=False)


def flags(array: NDArray[Any]) -> Flags:
    """Return a vector of booleans, refusing other types."""
    if array.dtype != np.bool_ or array.ndim != 1:
        raise DamageError(f"{array.dtype} of shape {array.shape} is no vector of flags")
    return array


def floats(array: NDArray[Any]) -> Floats:
    """Return a vector as float64, refusing other types than floats."""
    if array.dtype.kind != "f" or array.ndim != 1:
        raise DamageError(f"{array.dtype} of shape {array.shape} is no vector of floats")
    return array.astype(np.float64, copy=False)
