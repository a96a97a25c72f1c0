"""Where data sets are: in the folder that RELATUM_DATA names, and in files, plain or gzip."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

from relatum.errors import DataError

__all__ = ["bytes_of", "data_path"]


def data_path(*names: str) -> Path | None:
    """Return the path of a data set in the folder that RELATUM_DATA names, if it is there.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.datasets.data_path("no such data set") is None
    True
    """
    folder = os.environ.get("RELATUM_DATA", "")
    path = Path(folder, *names)
    return path if folder and path.exists() else None


def bytes_of(path: Any) -> bytes:
    """Return what a file holds, unzipped if it is gzipped."""
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except TypeError:
        raise DataError(f"A file is named by a path, got a {type(path).__name__}.") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        told = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        raise DataError(f"{str(path)[:200]} cannot be read: {told}; check the path.") from None
