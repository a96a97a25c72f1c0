"""Images of digits: those that scikit-learn ships, MNIST, and folders in its format."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.datasets.files import bytes_of, data_path
from relatum.errors import DataError

__all__ = ["Digits", "fetch_mnist", "load_digits", "load_images", "load_mnist", "read_idx"]

_GET_MNIST = 'python -c "import relatum.datasets as d; d.fetch_mnist()"'
_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


class Digits(NamedTuple):
    """Images and what they show.

    Attributes
    ----------
    images : uint8 array (n, pixels)
        Grey values: from 0 to 16 for the embedded digits, to 255 for MNIST.
    labels : int64 array (n,)

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_digits()
    >>> train.images.shape, train.labels[:5].tolist()
    ((1000, 64), [0, 1, 2, 3, 4])
    """

    images: NDArray[np.uint8]
    labels: Index


def load_digits() -> tuple[Digits, Digits]:
    """Return the first 1,000 digits of scikit-learn's set for training, and the other 797.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_digits()
    >>> train.images.shape, test.images.shape
    ((1000, 64), (797, 64))
    """
    from sklearn.datasets import load_digits as load

    data = load()
    images, labels = data.data.astype(np.uint8), data.target.astype(np.int64)
    return Digits(images[:1000], labels[:1000]), Digits(images[1000:], labels[1000:])


def read_idx(path: str | Path) -> NDArray[np.generic]:
    """Read an array in the idx format of MNIST, plain or gzip.

    Parameters
    ----------
    path : path of a file such as ``train-images-idx3-ubyte.gz``

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.idx"
    >>> _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 6, 7]))
    >>> rt.datasets.read_idx(path).tolist()
    [5, 6, 7]
    """
    data = bytes_of(path)
    head = data[:2] == b"\0\0" and len(data) >= 4 and len(data) >= 4 + 4 * data[3]
    if not head or data[2] not in _IDX_TYPES:
        raise DataError(
            f"{path} is not an idx file: it should begin with two zeros, a type and the number of "
            f"dimensions, got {data[:4]!r}; give the files of MNIST or of a set in its format."
        )
    begin = 4 + 4 * data[3]
    shape = struct.unpack(f">{data[3]}I", data[4:begin])
    dtype = np.dtype(_IDX_TYPES[data[2]])
    count = math.prod(shape)
    if len(data) != begin + count * dtype.itemsize:
        raise DataError(
            f"{path} should hold {count} numbers, shape {shape}, but has "
            f"{len(data) - begin} bytes after its head; it may be cut short: get it again."
        )
    return np.frombuffer(data, dtype, offset=begin).reshape(shape).astype(dtype.newbyteorder("="))


def load_images(folder: str | Path) -> tuple[Digits, Digits]:
    """Read a data set in the format of MNIST: training and test images with their labels.

    Parameters
    ----------
    folder : path
        Holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k``,
        plain or with ``.gz`` (as Fashion-MNIST, Kuzushiji-MNIST and EMNIST come).

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_images("fashion")  # doctest: +SKIP
    """
    if not isinstance(folder, str | os.PathLike):
        raise DataError(f"A folder is named by a path, got a {type(folder).__name__}.")
    parts = []
    for part in ("train", "t10k"):
        images = read_idx(_one_of(Path(folder), f"{part}-images-idx3-ubyte"))
        labels = read_idx(_one_of(Path(folder), f"{part}-labels-idx1-ubyte"))
        if images.ndim < 2 or images.dtype != np.uint8 or labels.dtype.kind not in "iu":
            raise DataError(
                f"{folder}: the images of {part} are {images.ndim} axes of {images.dtype}, their "
                f"labels {labels.dtype}; images are bytes, one row or more for each, and labels "
                "whole numbers."
            )
        if len(images) != len(labels) or labels.ndim != 1:
            raise DataError(
                f"{folder}: {len(images)} images but labels of shape {labels.shape} in {part}; "
                f"there should be one label per image."
            )
        flat = images.reshape(len(images), -1).astype(np.uint8, copy=False)
        parts.append(Digits(flat, labels.astype(np.int64)))
    return parts[0], parts[1]


def _one_of(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name, folder / name.replace("-idx", ".idx")):
        if path.is_file():
            return path
    raise DataError(
        f"There is no file {name} or {name}.gz in {folder}. Put the four idx files of the data "
        f"set there. For MNIST, let RELATUM_DATA name a folder that holds mnist/, or run: "
        f"{_GET_MNIST}"
    )


def load_mnist() -> tuple[Digits, Digits]:
    """Return MNIST from the folder mnist/ of RELATUM_DATA, or as `fetch_mnist` has kept it.

    Nothing is downloaded; if the data set is not there, the error says how to get it.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_mnist()  # doctest: +SKIP
    """
    folder = data_path("mnist")
    if folder is not None:
        return load_images(folder)
    kept = _kept(None)
    if kept.is_file():
        return _split(kept)
    raise DataError(
        f"MNIST is not here: neither in mnist/ of the folder named by RELATUM_DATA "
        f"({os.environ.get('RELATUM_DATA') or 'not set'}) nor in {kept}. Set RELATUM_DATA, or "
        f"get it (about 55 MB from openml.org) by: {_GET_MNIST}"
    )


def fetch_mnist(data_home: str | Path | None = None) -> tuple[Digits, Digits]:
    """Return MNIST, downloaded once from OpenML by scikit-learn and kept.

    Parameters
    ----------
    data_home : path, optional
        Where it is kept; by default, scikit-learn's data folder.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.fetch_mnist()  # doctest: +SKIP
    """
    kept = _kept(data_home)
    if not kept.is_file():
        from sklearn.datasets import fetch_openml

        try:
            data = fetch_openml(
                "mnist_784", version=1, as_frame=False, parser="liac-arff", data_home=data_home
            )
        except OSError as error:
            raise DataError(
                f"MNIST could not be downloaded from openml.org ({error}). Try again, or put its "
                f"four idx files into mnist/ of a folder and set RELATUM_DATA to that folder."
            ) from error
        images, labels = data.data.astype(np.uint8), data.target.astype(np.int64)
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(".partial")
        with partial.open("wb") as file:
            np.savez_compressed(file, images=images, labels=labels)
        partial.replace(kept)
    return _split(kept)


def _kept(data_home: str | Path | None) -> Path:
    from sklearn.datasets import get_data_home

    return Path(get_data_home(data_home)) / "relatum" / "mnist_784.npz"


def _split(path: Path) -> tuple[Digits, Digits]:
    try:
        with path.open("rb") as file, np.load(file) as data:
            images, labels = data["images"], data["labels"]
    except Exception as error:  # whatever an archive that is damaged raises
        told = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DataError(
            f"{path}, where MNIST is kept, is damaged ({told}). Remove it, and get it again by: "
            f"{_GET_MNIST}"
        ) from None
    return Digits(images[:60000], labels[:60000]), Digits(images[60000:], labels[60000:])
