"""JSON and arrays in one file: a ZIP archive as ``numpy.savez`` writes, and nothing compressed.

The entry ``manifest.json`` comes first; ``a0.npy``, ``a1.npy``, ... are the arrays. As nothing is
compressed, no entry can become larger than the file, and every size is known before it is read.
"""

from __future__ import annotations

import io
import json
import math
import tokenize
import zipfile
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

MANIFEST = "manifest.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of every entry: the same content gives the same bytes

# Whatever a file that is damaged, foreign or made to do harm makes the readers raise.
DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,  # encrypted entries, and nesting that is too deep
    TypeError,
    ValueError,
    tokenize.TokenError,  # of heads of arrays that do not end
    zipfile.BadZipFile,
)


def holds(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a type are kept: booleans, numbers of up to eight bytes, and text."""
    return dtype.kind == "U" or (dtype.kind in "biuf" and dtype.itemsize <= 8)


def packed(manifest: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """Return the bytes of an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(manifest, allow_nan=False, separators=(",", ":"))
        archive.writestr(zipfile.ZipInfo(MANIFEST, _EPOCH), text)
        for k, array in enumerate(arrays):
            entry = io.BytesIO()
            npy.write_array(entry, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"a{k}.npy", _EPOCH), entry.getvalue())
    return buffer.getvalue()


def manifest_of(file: IO[bytes]) -> Any:
    """Return the manifest of an archive; one of `DAMAGE` is raised if it is none."""
    with zipfile.ZipFile(file) as archive:
        text = archive.read(_checked(file, archive)[0]).decode()
    return json.loads(text, parse_constant=_refused)


def arrays_of(file: IO[bytes]) -> list[NDArray[Any]]:
    """Return the arrays of an archive; one of `DAMAGE` is raised if it is none."""
    with zipfile.ZipFile(file) as archive:
        return [_array(archive.read(entry)) for entry in _checked(file, archive)[1:]]


def _checked(file: IO[bytes], archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the entries, before any of them is read."""
    size, entries = file.seek(0, io.SEEK_END), archive.infolist()
    names = [MANIFEST, *(f"a{k}.npy" for k in range(len(entries) - 1))]
    if [entry.filename for entry in entries] != names:
        raise ValueError("its entries are not those of a model")
    if any(e.compress_type or e.compress_size != e.file_size for e in entries):
        raise ValueError("its entries are compressed")
    if sum(entry.file_size for entry in entries) > size:
        raise ValueError("its entries are larger than the file")
    return entries


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _array(data: bytes) -> NDArray[Any]:
    """Read an array whose head says no more and no less than what follows."""
    file = io.BytesIO(data)
    if npy.read_magic(file) != (1, 0):
        raise ValueError("an array is of an unknown version")
    shape, by_columns, dtype = npy.read_array_header_1_0(file)
    if not holds(dtype):
        raise ValueError(f"arrays of type {str(dtype)[:40]} are not read")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError("an array is not as large as it says")
    flat = np.frombuffer(data, dtype, offset=file.tell())
    if dtype.kind == "b":
        flat = flat.view(np.uint8) != 0  # a byte may be anything
    elif dtype.kind == "U" and flat.size:
        letters = flat.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if letters.max() > 0x10FFFF or ((letters >> 11) == 0x1B).any():  # none, or half of one
            raise ValueError("an array of text holds what are no letters")
    own = flat.astype(dtype.newbyteorder("="))  # a copy, which can be written
    return own.reshape(shape, order="F" if by_columns else "C")
