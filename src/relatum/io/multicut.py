"""Multicut instances: sparse graphs whose edges cost something if they are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from relatum.errors import DataError
from relatum.io.files.reading import numbered_lines
from relatum.io.files.writing import numbers_as_text, write_lines
from relatum.io.listed_pairs import ListedPairs, checked, counts_of, lines_of_pairs, pairs_of


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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.txt"
    >>> rt.io.write_multicut(path, rt.io.ListedPairs(3, [0, 1], [1, 2], [4.0, -1.0]))
    >>> rt.io.read_multicut(path)[0].log_odds.tolist()
    [4.0, -1.0]
    """
    lines = ((k, line) for k, line in numbered_lines(path) if not line.startswith("#"))
    found: list[ListedPairs] = []
    for number, line in lines:
        if not found and line.strip() == "MULTICUT":
            return [_headed(lines, path, number)]
        found.append(_instance(number, line, lines, path))
    if not found:
        raise DataError(
            f"{path}, line 1: there is no instance in the file; one begins with a line 'n m'."
        )
    return found


def _instance(
    number: int, line: str, lines: Iterator[tuple[int, str]], path: str | Path
) -> ListedPairs:
    header = counts_of(line, path, number)
    if header is None or header[0] < 1:
        raise DataError(
            f"{path}, line {number}: an instance begins with 'n m' or 'n m optimum', n positive, "
            f"got {line[:60]!r}."
        )
    n, m, optimum = header
    body = list(islice(lines, m))
    if len(body) < m:
        raise DataError(
            f"{path}, line {number}: {m} edges are announced, but the file ends after "
            f"{len(body)}. Is it cut off?"
        )
    return pairs_of(body, path, n, optimum)


def _headed(lines: Iterator[tuple[int, str]], path: str | Path, number: int) -> ListedPairs:
    """Read edges up to the end of the file; elements are those named."""
    unbounded = pairs_of(list(lines), path, 1 << 31)
    ends = (int(unbounded.i.max(initial=-1)), int(unbounded.j.max(initial=-1)))
    if max(ends) < 0:
        raise DataError(f"{path}, line {number}: no edges follow the heading MULTICUT.")
    return unbounded._replace(n=max(ends) + 1)


def write_multicut(path: str | Path, instances: ListedPairs | Sequence[ListedPairs]) -> None:
    """Write one or several instances so that `read_multicut` reads them back.

    Parameters
    ----------
    path : str or Path
        Gzipped if the name ends in ``.gz``; written whole or not at all.
    instances : ListedPairs or a sequence of them
        Log-odds are written as costs, as they are.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.txt"
    >>> rt.io.write_multicut(path, rt.io.ListedPairs(3, [0, 1], [1, 2], [4.0, -1.0]))
    >>> rt.io.read_multicut(path)[0].log_odds.tolist()
    [4.0, -1.0]
    """
    try:
        given = [instances] if isinstance(instances, ListedPairs) else list(instances)
    except TypeError:
        given = [instances]  # type: ignore[list-item]
    given = [checked(pairs) for pairs in given]
    if not given:
        raise DataError("A multicut file holds one instance or more, got none.")
    lines: list[str] = []
    for pairs in given:
        optimum = [] if pairs.optimum is None else [pairs.optimum]
        lines.append(
            " ".join([str(pairs.n), str(len(pairs.i)), *numbers_as_text(optimum, "the optimum")])
        )
        lines += lines_of_pairs(pairs)
    write_lines(path, lines)
