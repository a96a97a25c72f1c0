"""Signed networks: lists of edges that say agree or disagree."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from relatum.errors import DataError
from relatum.io.files.reading import numbered_lines
from relatum.io.files.writing import write_lines
from relatum.io.listed_pairs import ListedPairs, checked, counts_of, lines_of_pairs, pairs_of


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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.txt"
    >>> rt.io.write_signed_graph(path, rt.io.ListedPairs(3, [0, 1], [1, 2], [4.0, -1.0]))
    >>> rt.io.read_signed_graph(path).log_odds.tolist()
    [4.0, -1.0]
    """
    lines = numbered_lines(path)
    number, first = next(lines, (1, ""))
    header = counts_of(first, path, number)
    if header is None or header[2] is not None:
        got = repr(first[:60]) if first else "an empty file"
        raise DataError(f"{path}, line {number}: the file begins with 'n m', got {got}.")
    n, m, _ = header
    body = list(islice(lines, m))
    more = next(lines, None)
    if len(body) < m or more is not None:
        got = f"only {len(body)} follow" if more is None else f"line {more[0]} is one more"
        hint = "Is the file cut off?" if more is None else "Is the second number right?"
        raise DataError(
            f"{path}, line {number}: {m} edges are announced in line {number}, but {got}. {hint}"
        )
    return pairs_of(body, path, n)


def write_signed_graph(path: str | Path, pairs: ListedPairs) -> None:
    """Write a signed network so that `read_signed_graph` reads it back.

    Parameters
    ----------
    path : str or Path
        Gzipped if the name ends in ``.gz``; written whole or not at all.
    pairs : ListedPairs

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.txt"
    >>> rt.io.write_signed_graph(path, rt.io.ListedPairs(3, [0, 1], [1, 2], [4.0, -1.0]))
    >>> rt.io.read_signed_graph(path).log_odds.tolist()
    [4.0, -1.0]
    """
    pairs = checked(pairs)
    write_lines(path, [f"{pairs.n} {len(pairs.i)}", *lines_of_pairs(pairs)])
