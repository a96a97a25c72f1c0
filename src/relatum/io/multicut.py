"""Multicut instances: sparse graphs whose edges cost something if they are cut."""

from __future__ import annotations

from pathlib import Path

from relatum.errors import DataError
from relatum.io.listed_pairs import ListedPairs, numbers_of, pairs_of
from relatum.io.text import read_text

__all__ = ["read_multicut"]


def read_multicut(path: str | Path) -> list[ListedPairs]:
    """Read one or several multicut instances.

    Each instance is a line ``n m`` or ``n m optimum`` and m lines ``u v cost``; lines that
    begin with ``#`` are comments. The format's own heading, a line ``MULTICUT`` followed by
    lines ``u v cost`` to the end of the file, is read too.

    The format asks for the partition of least total cost of the edges it cuts: an edge of
    positive cost should not be cut. Costs are therefore read as log-odds as they are, and
    *cost of the cut = sum of all costs - value of the partition*.

    Parameters
    ----------
    path : str or Path
        Read through gzip if the name ends in ``.gz``.

    Returns
    -------
    list of ListedPairs
        ``optimum`` is the least cost of a cut, if the file states it.

    Raises
    ------
    DataError
        With file and line, if the file is not of this format.
    """
    lines = read_text(path).splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if lines and lines[0].strip() == "MULTICUT":
        return [_headed(lines, path)]
    found, at = [], 0
    while at < len(lines):
        if lines[at].startswith("#"):
            at += 1
            continue
        header = numbers_of(lines[at : at + 1], path, at)
        whole = len(header) in (2, 3) and all(x == int(x) and x >= 0 for x in header[:2])
        if not whole:
            raise DataError(
                f"{path}, line {at + 1}: an instance begins with 'n m' or 'n m optimum', got "
                f"{lines[at]!r}."
            )
        n, m = int(header[0]), int(header[1])
        body = lines[at + 1 : at + 1 + m]
        if len(body) < m:
            raise DataError(
                f"{path}, line {at + 1}: {m} edges are announced, but the file ends after "
                f"{len(body)}."
            )
        optimum = float(header[2]) if len(header) == 3 else None
        found.append(pairs_of(body, path, at + 1, n, optimum))
        at += 1 + m
    if not found:
        raise DataError(f"{path}: there is no instance in the file.")
    return found


def _headed(lines: list[str], path: str | Path) -> ListedPairs:
    """Read edges up to the end of the file; elements are those named."""
    unbounded = pairs_of(lines[1:], path, 1, 1 << 31)
    ends = (int(unbounded.i.max(initial=-1)), int(unbounded.j.max(initial=-1)))
    if max(ends) < 0:
        raise DataError(f"{path}: no edges follow the heading MULTICUT.")
    return unbounded._replace(n=max(ends) + 1)
