"""Save and load fitted models: nothing in a model file is ever run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relatum.errors import DataError
from relatum.io.files import open_to_read, write_atomically
from relatum.io.models.kinds import KINDS
from relatum.io.models.soundness import is_fitted, require
from relatum.io.models.stored_arrays import DAMAGE, arrays_of, manifest_of, packed
from relatum.io.models.values import Reader, Writer

FORMAT, VERSION = "relatum-model", 1


def save_model(path: str | Path, model: Any, notes: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file, atomically.

    The file holds the parameters of the model and what it has learned, as JSON and arrays. What
    was inferred of the training elements (``estimate_``, ``joint_``) is left out.

    Parameters
    ----------
    path : str or Path
    model : estimator
        A fitted `MapClassifier`, `PartitionClustering` or `LinearRanker`, a measure, a lifting, or
        a pipeline of them with scalers and PCA of scikit-learn.
    notes : mapping, optional
        Plain values to keep with it.

    Raises
    ------
    DataError
        If the model is not fitted, or has parts that are none of these.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import relatum as rt
    >>> ranker = rt.LinearRanker().fit(["a b c", "a c", "b c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rt.io.save_model(Path(folder, "order.model"), ranker)
    ...     again = rt.io.load_model(Path(folder, "order.model"))
    >>> again.predict(["c", "b", "a"])
    ['a', 'b', 'c']
    """
    writer, name = Writer(), type(model).__name__
    content = writer.value(model, "the model")
    if name not in KINDS:
        raise DataError(f"A model file holds a fitted model, got a {name}.")
    if not is_fitted(model):
        raise DataError(f"This {name} is not fitted yet: call its fit method, then save it.")
    noted = writer.value(dict(notes or {}), "the notes")
    manifest = {"format": FORMAT, "version": VERSION, "model": content, "notes": noted}
    data = packed(manifest, writer.arrays)
    try:  # nothing is written that could not be read
        _restored(manifest, arrays_of(io.BytesIO(data)))
    except DAMAGE as error:
        raise DataError(f"This {name} cannot be kept in a file: {_told(error)}.") from None
    write_atomically(path, data)


def load_model(path: str | Path) -> Any:
    """Read a model that `save_model` or ``relatum fit`` has written.

    Nothing in the file is run, and no more memory is used than the file is large, or the model
    needs anyway; so it may come from anywhere.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    estimator
        As fitted, without ``estimate_`` and ``joint_``.

    Raises
    ------
    DataError
        If the file is not a model, is damaged, or was written by a newer version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "some.model"
    >>> model = rt.LogisticMeasure().fit([[0.0], [1.0]], [0, 1])
    >>> rt.io.save_model(path, model)
    >>> type(rt.io.load_model(path)).__name__
    'LogisticMeasure'
    """
    return read_model(path)[0]


def read_model(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return the model in a file and the notes that were kept with it."""
    with open_to_read(path) as file:
        head = file.read(4)
        if head[:1] == b"\x80":
            raise DataError(
                f"{path} is a pickle, as 'relatum fit' wrote them before: a pickle can run code, "
                "so it is not read any more. Fit the model again."
            )
        if head != b"PK\x03\x04":
            raise DataError(f"{path} is not a model of relatum; write one with 'relatum fit'.")
        try:
            manifest = manifest_of(file)
            version = _version(manifest)
            if version <= VERSION:
                return _restored(manifest, arrays_of(file))
        except DAMAGE as error:
            raise DataError(
                f"{path} is not a model of relatum, or is damaged ({_told(error)}); write it again "
                "with 'relatum fit'."
            ) from None
    raise DataError(
        f"{path} is a model file of version {version}, and this relatum reads up to version "
        f"{VERSION}: update relatum, or fit the model again."
    )


def _told(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0]
    return first[:200].rstrip(".") or type(error).__name__


def _version(manifest: Any) -> int:
    require(isinstance(manifest, dict) and manifest.get("format") == FORMAT, "another format")
    version = manifest["version"]
    require(type(version) is int and 1 <= version < 2**31, "its version is wrong")
    return int(version)


def _restored(manifest: dict[str, Any], arrays: list[Any]) -> tuple[Any, dict[str, Any]]:
    """Return the model and the notes, checked."""
    reader, content = Reader(arrays), manifest["model"]
    require(isinstance(content, dict) and "object" in content, "it holds no model")
    model, notes = reader.value(content), reader.value(manifest["notes"])
    require(isinstance(notes, dict), "its notes are wrong")
    require(is_fitted(model), "its model is not fitted")
    return model, notes
