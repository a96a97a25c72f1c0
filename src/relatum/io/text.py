"""Text out of files, plain or gzipped, with errors that name the file."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from relatum.errors import DataError

__all__ = ["read_text"]


def read_text(path: str | Path) -> str:
    """Return the text of a file, unzipped if its name ends in ``.gz``."""
    path = Path(path)
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text in UTF-8: {error.reason} at {error.start}.") from None
