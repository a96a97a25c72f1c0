"""Graphs in the format of PACE (``.gr``), as cluster-editing problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.text import read_text

__all__ = ["read_pace"]


def read_pace(path: str | Path) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
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
    """
    header: tuple[int, int] | None = None
    edges: list[tuple[int, int]] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.split()
        if not words or words[0] == "c":
            continue
        where = f"{path}, line {number}"
        if header is None:
            if words[0] != "p" or len(words) != 4 or not (words[2] + words[3]).isdigit():
                raise DataError(f"{where}: expected the line 'p NAME n m', got {line.strip()!r}.")
            header = (int(words[2]), int(words[3]))
            continue
        if len(words) != 2 or not all(w.isdigit() for w in words):
            raise DataError(f"{where}: expected an edge 'u v', got {line.strip()!r}.")
        u, v = int(words[0]), int(words[1])
        if not (1 <= u <= header[0] and 1 <= v <= header[0]) or u == v:
            raise DataError(f"{where}: an edge joins two of the nodes 1 ... {header[0]}.")
        edges.append((u - 1, v - 1))
    if header is None:
        raise DataError(f"{path}: there is no line 'p NAME n m'.")
    if len(edges) != header[1]:
        raise DataError(f"{path}: {header[1]} edges are announced, but {len(edges)} follow.")
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return header[0], array[:, 0], array[:, 1]
