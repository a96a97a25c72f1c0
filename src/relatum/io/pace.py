"""Graphs in the format of PACE (``.gr``), as cluster-editing problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.io.files.reading import numbered_lines, whole_number
from relatum.io.files.writing import write_lines
from relatum.io.listed_pairs import checked_count, checked_elements


def read_pace(path: str | Path) -> tuple[int, Index, Index]:
    """Read a graph: the line ``p NAME n m``, then m lines ``u v``, nodes numbered from 1.

    Lines that begin with ``c`` are comments.

    Returns
    -------
    n, i, j
        The number of nodes, and the edges, numbered from 0. Cluster editing scores an edge
        +1 and every other pair -1: ``Problem.from_pairs(i, j, np.ones(len(i)), n=n,
        background=-1.0, feasible=EQUIVALENCES)``.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.gr"
    >>> rt.io.write_pace(path, 3, [0, 1], [1, 2])
    >>> n, i, j = rt.io.read_pace(path)
    >>> n, i.tolist(), j.tolist()
    (3, [0, 1], [1, 2])
    """
    header: tuple[int, int] | None = None
    edges: list[tuple[int, int]] = []
    number = 1
    for number, line in numbered_lines(path):
        words = line.split()
        if words[0] == "c":
            continue
        where = f"{path}, line {number}"
        if header is None:
            header = _header(words, line, where)
            continue
        u, v = (whole_number(w) for w in words) if len(words) == 2 else (None, None)
        if u is None or v is None:
            raise DataError(f"{where}: expected an edge 'u v', got {line.strip()[:60]!r}.")
        if not (1 <= u <= header[0] and 1 <= v <= header[0]) or u == v:
            raise DataError(f"{where}: an edge joins two of the nodes 1 ... {header[0]}.")
        if len(edges) == header[1]:
            raise DataError(f"{where}: {header[1]} edges are announced, and this is one more.")
        edges.append((u - 1, v - 1))
    if header is None:
        raise DataError(f"{path}, line {number}: there is no line 'p NAME n m'.")
    if len(edges) < header[1]:
        raise DataError(
            f"{path}, line {number}: {header[1]} edges are announced, but {len(edges)} follow. Is "
            "the file cut off?"
        )
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return header[0], array[:, 0], array[:, 1]


def _header(words: list[str], line: str, where: str) -> tuple[int, int]:
    if words[0] == "p" and len(words) == 4:
        n, m = whole_number(words[2]), whole_number(words[3])
        if n is not None and m is not None and n >= 0 and m >= 0:
            return n, m
    raise DataError(f"{where}: expected the line 'p NAME n m', got {line.strip()[:60]!r}.")


def write_pace(path: str | Path, n: int, i: ArrayLike, j: ArrayLike, name: str = "cep") -> None:
    """Write a graph so that `read_pace` reads it back.

    Parameters
    ----------
    path : str or Path
        Gzipped if the name ends in ``.gz``; written whole or not at all.
    n : int
        The number of nodes.
    i, j : integer arrays
        The edges, numbered from 0.
    name : str
        The name of the problem in the first line: ``cep`` is cluster editing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.gr"
    >>> rt.io.write_pace(path, 3, [0, 1], [1, 2])
    >>> n, i, j = rt.io.read_pace(path)
    >>> n, i.tolist(), j.tolist()
    (3, [0, 1], [1, 2])
    """
    n = checked_count(n)
    first, second = checked_elements(i), checked_elements(j)
    if first.shape != second.shape or not (isinstance(name, str) and name.isidentifier()):
        raise DataError(
            f"i and j list one edge per entry, got {first.size} and {second.size}; the problem has "
            f"a name such as 'cep', got {name!r:.60}."
        )
    edges = np.column_stack([first, second])
    outside = ((edges < 0) | (edges >= n)).any(axis=1)
    bad = np.flatnonzero(outside | (edges[:, 0] == edges[:, 1]))
    if bad.size:
        raise DataError(
            f"Edge {bad[0]} joins {tuple(edges[bad[0]].tolist())}; an edge joins two of the nodes "
            f"0 ... {n - 1}."
        )
    lines = (f"{u + 1} {v + 1}" for u, v in edges.tolist())
    write_lines(path, [f"p {name} {n} {len(edges)}", *lines])
