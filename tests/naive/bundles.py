"""Bundles taken apart and put together by hand, to see what is refused."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["npy", "pack_bundle", "unpack_bundle"]


def npy(array: np.ndarray) -> bytes:
    """Return the bytes of an array in the format .npy."""
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def unpack_bundle(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the manifest and the arrays of a bundle."""
    with np.load(path) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("manifest").tobytes()), arrays


def pack_bundle(path: Path, manifest: dict[str, Any], arrays: dict[str, Any]) -> Path:
    """Write an archive of a manifest and of arrays, or of whatever bytes stand for one."""
    text = np.frombuffer(json.dumps(manifest).encode(), np.uint8)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in {"manifest": text, **arrays}.items():
            file.writestr(f"{name}.npy", array if isinstance(array, bytes) else npy(array))
    return path
