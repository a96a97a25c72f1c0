"""The file that holds the certificate of a table's clusters.

It is a zip archive, uncompressed, with a manifest in JSON and these members:

``cluster.npy``
    For each element, in the order of their ids, the smallest element of its cluster.
``part.npy``
    The same of its part, where components were split; otherwise parts are components.
``gaps.npy``
    Parts whose gap is not zero: their smallest element, and the gap in bits.
``evidence.npy``, ``groups.npy``
    What is known besides the scores, by element.
``missing/k.npy``
    Pairs that ``score_missing`` scored, and their bits.
``proofs/k.npz``
    The bundle that proves the gap of the part whose smallest element is k.

The manifest lists the SHA-256 of every member. Whoever changes one can change that as well: what
is claimed is believed because it is proved, and not because of it.
"""

from __future__ import annotations

import hashlib
import json
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from relatum.errors import CertificateError, DataError
from relatum.io.files import replacing

FORMAT, VERSION = "relatum-clusters", 1
SAVED = "relatum-saved-clusters"  # another kind of file, see `relatum.pair_tables.saving`
MANIFEST = "manifest.json"
_LARGEST = 1 << 30  # bytes of a manifest: some 10^7 members
_BLOCK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
# whatever an archive that is damaged, or packed or locked in another way, raises
DAMAGE = (
    ArithmeticError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,  # of heads of arrays that do not end
    zipfile.BadZipFile,
    zlib.error,
)
GAP = np.dtype([("part", "<i8"), ("gap", "<f8")])


def write_archive(
    path: Path,
    manifest: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    files: Path,
    kind: tuple[str, int] = (FORMAT, VERSION),
) -> None:
    """Write a certificate, or a file of another kind, whole or not at all.

    Parameters
    ----------
    path : Path
    manifest : mapping
        What is claimed; the members and their hashes are added.
    arrays : mapping
        Members by name, written as ``.npy``.
    files : Path
        A folder of files that become members, by their paths in it.
    kind : (str, int)
        The format and its version.
    """
    with (
        replacing(path) as half,
        zipfile.ZipFile(half, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
    ):
        found = {key: _put_array(archive, key, array) for key, array in arrays.items()}
        for file in sorted(p for p in files.rglob("*") if p.is_file()):
            member = file.relative_to(files).as_posix()
            found[member] = _put(archive, member, _blocks_of(file))
        whole = {"format": kind[0], "version": kind[1], **manifest, "members": found}
        _put(archive, MANIFEST, [json.dumps(whole, allow_nan=False).encode()])


def _blocks_of(file: Path) -> Iterable[bytes]:
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block


def _put(archive: zipfile.ZipFile, name: str, blocks: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    with archive.open(zipfile.ZipInfo(name, _EPOCH), "w", force_zip64=True) as member:
        for block in blocks:
            digest.update(block)
            member.write(block)
    return digest.hexdigest()


def _put_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> str:
    array = np.ascontiguousarray(array)
    return _put(archive, name, [_header(array.dtype, array.shape), array.view(np.uint8).data])


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the head of a file ``.npy``."""
    import io

    stream = io.BytesIO()
    told = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(stream, told)
    return stream.getvalue()


def is_archive(path: Path) -> bool:
    """Say whether a file is the certificate of a table's clusters, whatever it claims."""
    try:
        with zipfile.ZipFile(path) as archive:
            if MANIFEST not in archive.namelist():
                return False
            with archive.open(MANIFEST) as stream:
                return f'"format": "{SAVED}"'.encode() not in stream.read(200)
    except DAMAGE:
        return False


class Archive:
    """A certificate that is read member by member; each is checked before it is used.

    Parameters
    ----------
    path : Path
    kind : (str, int)
        The format and its version, if it is not a certificate.

    Raises
    ------
    DataError
        If the file is not a certificate of a table's clusters.
    """

    def __init__(self, path: Path, kind: tuple[str, int] = (FORMAT, VERSION)) -> None:
        self.path, self._kind = path, kind
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest = self._read_manifest()
        except DAMAGE as error:
            told = (str(error).splitlines() or [type(error).__name__])[0][:200]
            if kind[0] == SAVED:
                raise DataError(
                    f"{path} is not a file of saved clusters of version {kind[1]} ({told}); write "
                    "one with Clusters.save(PATH)."
                ) from None
            raise DataError(
                f"{path} is not a certificate of clusters of version {VERSION} ({told}); write one "
                "with cluster_pairs(..., certificate=PATH) or 'relatum cluster --certificate PATH'."
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def _read_manifest(self) -> dict[str, Any]:
        info = self._zip.getinfo(MANIFEST)
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > _LARGEST:
            raise ValueError("its manifest is compressed or too large")
        manifest = json.loads(self._zip.read(info), parse_constant=_no_number)
        form, version = self._kind
        if not isinstance(manifest, dict) or manifest.get("format") != form:
            raise ValueError(f"its format is not {form!r}")
        if manifest.get("version") != version:
            raise ValueError(f"its version is {manifest.get('version')!r}")
        return manifest

    def names(self) -> set[str]:
        """Return the members that the manifest lists, which must be all that there are."""
        listed = self.manifest.get("members")
        there = [info.filename for info in self._zip.infolist()]
        if not isinstance(listed, dict) or sorted([*listed, MANIFEST]) != sorted(there):
            raise CertificateError("Its manifest does not list the members that it has.")
        if any(info.compress_type != zipfile.ZIP_STORED for info in self._zip.infolist()):
            raise CertificateError("A member is compressed; certificates are stored plainly.")
        return set(listed)

    def array(self, name: str, dtype: DTypeLike, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array of a known type and shape; None for a length that is not known."""
        info, digest = self._zip.getinfo(name), hashlib.sha256()
        try:
            with self._zip.open(info) as stream:
                head = np.lib.format.read_magic(stream)
                if head != (1, 0):
                    raise ValueError("of another version")
                found, order, kind = np.lib.format.read_array_header_1_0(stream)
        except DAMAGE as error:
            raise CertificateError(f"The member {name} is no array: {error}.") from None
        fits = len(found) == len(shape) and all(
            want is None or want == have for want, have in zip(shape, found, strict=False)
        )
        if kind != np.dtype(dtype) or order or not fits:
            raise CertificateError(f"The member {name} is {kind} of shape {found}.")
        size = int(np.prod(found, dtype=object)) * kind.itemsize
        begin = info.file_size - size
        if size < 0 or begin != len(_header(kind, found)):
            raise CertificateError(f"The member {name} is not as long as it says.")
        try:
            with self._zip.open(info) as stream:
                digest.update(stream.read(begin))
                data = bytearray(stream.read())
        except DAMAGE as error:
            raise CertificateError(f"The member {name} is damaged: {error}.") from None
        if len(data) != size:
            raise CertificateError(f"The member {name} is not as long as it says.")
        digest.update(data)
        self._compare(name, digest.hexdigest())
        return np.frombuffer(data, dtype=kind).reshape(found)

    def extract(self, name: str, target: Path) -> None:
        """Write a member to a file."""
        digest = hashlib.sha256()
        try:
            with self._zip.open(name) as stream, target.open("wb") as out:
                while block := stream.read(_BLOCK):
                    digest.update(block)
                    out.write(block)
        except DAMAGE as error:
            raise CertificateError(f"The member {name} is damaged: {error}.") from None
        self._compare(name, digest.hexdigest())

    def _compare(self, name: str, digest: str) -> None:
        if self.manifest["members"].get(name) != digest:
            raise CertificateError(f"The member {name} is not the one that the manifest lists.")


def _no_number(text: str) -> Any:
    raise ValueError(f"its manifest says {text}")
