"""Rankings in the format of PrefLib: .soc, .soi, .toc and .toi files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.text import read_text

__all__ = ["Rankings", "read_preflib"]

KINDS = ("soc", "soi", "toc", "toi")
_HEADER = re.compile(r"#\s*([A-Z ]+?)(?:\s+(\d+))?\s*:\s*(.*)")
_PLACE = re.compile(r"\{([^{}]*)\}|([^,{}]+)")


@dataclass(frozen=True, eq=False)
class Rankings:
    """Rankings of some of n elements, with ties, each given by so many voters.

    Attributes
    ----------
    ranks : int64 array (r, n)
        Place of each element in each ranking, from 0; equal places are ties; -1 for
        elements that are not ranked.
    counts : float64 array (r,)
        How many voters gave each ranking.
    names : tuple of str
        Names of the elements.
    title : str
    """

    ranks: NDArray[np.int64]
    counts: NDArray[np.float64]
    names: tuple[str, ...]
    title: str = ""

    @property
    def n(self) -> int:
        """The number of elements."""
        return int(self.ranks.shape[1])

    @property
    def complete(self) -> bool:
        """Whether every ranking ranks every element."""
        return bool((self.ranks >= 0).all())


def read_preflib(path: str | Path) -> Rankings:
    """Read rankings from a PrefLib file.

    Parameters
    ----------
    path : str or Path
        A .soc, .soi, .toc or .toi file (strict or with ties, complete or incomplete),
        gzipped if the name ends in ``.gz``. Elements, numbered from 1 there, are numbered
        from 0 here.

    Returns
    -------
    Rankings

    Raises
    ------
    DataError
        With file and line, if the file breaks the format or its own header.
    """
    header: dict[str, str] = {}
    names: dict[int, str] = {}
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.startswith("#"):
            match = _HEADER.match(line)
            if match and match[1] == "ALTERNATIVE NAME" and match[2]:
                names[int(match[2])] = match[3].strip()
            elif match:
                header[match[1]] = match[3].strip()
        elif line.strip():
            rows.append((number, line))
    n = _alternatives(header, path)
    kind = header.get("DATA TYPE", "")
    if kind not in KINDS:
        raise DataError(f"{path}: the data type is one of {', '.join(KINDS)}, got {kind!r}.")
    ranks = np.full((len(rows), n), -1, dtype=np.int64)
    counts = np.empty(len(rows))
    for k, (number, line) in enumerate(rows):
        counts[k] = _parse_row(line, ranks[k], f"{path}, line {number}", kind)
    _check_voters(header, counts, path)
    labels = tuple(names.get(i + 1, str(i + 1)) for i in range(n))
    return Rankings(ranks, counts, labels, header.get("TITLE", ""))


def _alternatives(header: dict[str, str], path: str | Path) -> int:
    text = header.get("NUMBER ALTERNATIVES", "")
    if not text.isdigit() or int(text) < 1:
        raise DataError(
            f"{path}: the header must give the number of elements in a line '# NUMBER "
            f"ALTERNATIVES: n', got {text!r}."
        )
    return int(text)


def _check_voters(header: dict[str, str], counts: NDArray[np.float64], path: str | Path) -> None:
    text = header.get("NUMBER VOTERS", "")
    if text.isdigit() and int(text) != int(counts.sum()):
        raise DataError(
            f"{path}: the header announces {text} voters, but the rankings add up to "
            f"{int(counts.sum())}."
        )


def _parse_row(line: str, ranks: NDArray[np.int64], where: str, kind: str) -> float:
    """Fill in one ranking, e.g. ``3: 2,{1,4}``; return the number of its voters."""
    count, colon, places = line.partition(":")
    if not colon or not count.strip().isdigit():
        raise DataError(f"{where}: a ranking reads 'count: 2,{{1,4}},3', got {line.strip()!r}.")
    place = 0
    rest = _PLACE.sub("", places).replace(",", "").strip()
    if rest:
        raise DataError(f"{where}: {rest!r} is neither an element nor a tie {{...}}.")
    for match in _PLACE.finditer(places):
        tied = match[1].split(",") if match[1] is not None else [match[2]]
        tied = [t.strip() for t in tied if t.strip()]
        if len(tied) > 1 and kind.startswith("s"):
            raise DataError(f"{where}: strict rankings ({kind}) have no ties, got {match[0]!r}.")
        for element in tied:
            _set_rank(element, place, ranks, where)
        place += bool(tied)
    if kind.endswith("c") and (ranks < 0).any():
        missing = int(np.flatnonzero(ranks < 0)[0]) + 1
        raise DataError(f"{where}: complete rankings ({kind}) rank all; {missing} is missing.")
    return float(count)


def _set_rank(element: str, place: int, ranks: NDArray[np.int64], where: str) -> None:
    if not element.isdigit() or not 1 <= int(element) <= len(ranks):
        raise DataError(f"{where}: elements are numbered 1 ... {len(ranks)}, got {element!r}.")
    if ranks[int(element) - 1] >= 0:
        raise DataError(f"{where}: element {element} is ranked twice.")
    ranks[int(element) - 1] = place
