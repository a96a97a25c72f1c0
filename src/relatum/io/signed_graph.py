"""Signed networks: lists of edges that say agree or disagree."""

from __future__ import annotations

from pathlib import Path

from relatum.errors import DataError
from relatum.io.listed_pairs import ListedPairs, numbers_of, pairs_of
from relatum.io.text import read_text

__all__ = ["read_signed_graph"]


def read_signed_graph(path: str | Path) -> ListedPairs:
    """Read a line ``n m`` and m lines ``u v weight``, elements numbered from 0.

    Weights are read as log-odds: positive (agree) says that the two should be in one set,
    negative (disagree) that they should not. The file's unit is kept.

    Parameters
    ----------
    path : str or Path
        Read through gzip if the name ends in ``.gz``.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.
    """
    lines = read_text(path).splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    header = numbers_of(lines[:1], path, 0)
    if len(header) != 2 or any(x < 0 or x != int(x) for x in header):
        got = repr(lines[0]) if lines else "an empty file"
        raise DataError(f"{path}, line 1: the file begins with 'n m', got {got}.")
    n, m = int(header[0]), int(header[1])
    if len(lines) - 1 != m:
        raise DataError(
            f"{path}: {m} edges are announced in line 1, but {len(lines) - 1} lines follow."
        )
    return pairs_of(lines[1:], path, 1, n)
