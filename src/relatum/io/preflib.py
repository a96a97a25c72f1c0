"""Rankings in the format of PrefLib: .soc, .soi, .toc and .toi files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.io.files.reading import as_path, numbered_lines, whole_number
from relatum.io.files.writing import write_lines
from relatum.problem import require_memory, shown

MOST_RANKED = 1_000_000  # of a table of ranks that is still made
ROWS_BYTES = 1 << 25  # of ranks, between two looks at the memory that is left
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

    Examples
    --------
    >>> import relatum as rt
    >>> import numpy as np
    >>> ranks, counts = np.array([[0, 1, 2], [1, 0, 0]]), np.array([2.0, 1.0])
    >>> some = rt.io.Rankings(ranks, counts, ("a", "b", "c"))
    >>> some.names, some.counts.tolist()
    (('a', 'b', 'c'), [2.0, 1.0])
    """

    ranks: Index
    counts: Floats
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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.toc"
    >>> import numpy as np
    >>> ranks, counts = np.array([[0, 1, 2], [1, 0, 0]]), np.array([2.0, 1.0])
    >>> some = rt.io.Rankings(ranks, counts, ("a", "b", "c"))
    >>> rt.io.write_preflib(path, some)
    >>> rt.io.read_preflib(path).ranks.tolist()
    [[0, 1, 2], [1, 0, 0]]
    """
    header: dict[str, str] = {}
    names: dict[int, str] = {}
    ranks: list[Index] = []
    counts: list[float] = []
    n, kind, number = 0, "", 0
    for number, line in numbered_lines(path):
        where = f"{path}, line {number}"
        if line.startswith("#"):
            match = _HEADER.match(line)
            if match and match[1] == "ALTERNATIVE NAME" and match[2]:
                names[int(match[2][:15])] = match[3].strip()
            elif match:
                header[match[1]] = match[3].strip()
            continue
        if not n:  # the header ends where rankings begin
            n, kind = _size_and_kind(header, where)
        if len(ranks) % max(1, ROWS_BYTES // (8 * n)) == 0:  # once for so many bytes
            require_memory(
                16 * n * len(ranks) + 2 * ROWS_BYTES,
                f"{where}: a table of more than {len(ranks)} rankings of {n} elements",
                "split the file",
                DataError,
            )
        ranks.append(np.full(n, -1, dtype=np.int64))
        counts.append(_parse_row(line, ranks[-1], where, kind))
    if not n:
        n, kind = _size_and_kind(header, f"{path}, line {max(1, number)}")
    _check_counts(header, counts, f"{path}, line {max(1, number)}")
    labels = tuple(names.get(i + 1, str(i + 1)) for i in range(n))
    table = np.array(ranks, dtype=np.int64).reshape(-1, n)
    return Rankings(table, np.array(counts), labels, header.get("TITLE", ""))


def _size_and_kind(header: dict[str, str], where: str) -> tuple[int, str]:
    text = header.get("NUMBER ALTERNATIVES", "")
    n, kind = whole_number(text) or 0, header.get("DATA TYPE", "")
    if not 1 <= n <= MOST_RANKED:
        raise DataError(
            f"{where}: the header must give the number of elements, up to {MOST_RANKED:,}, in a "
            f"line '# NUMBER ALTERNATIVES: n' before the rankings, got {text[:60]!r}."
        )
    if kind not in KINDS:
        raise DataError(
            f"{where}: the data type is one of {', '.join(KINDS)}, in a line '# DATA TYPE: soc' "
            f"before the rankings, got {kind[:60]!r}."
        )
    return n, kind


def _check_counts(header: dict[str, str], counts: list[float], where: str) -> None:
    for key, what, got in (
        ("NUMBER VOTERS", "voters", int(sum(counts))),
        ("NUMBER UNIQUE ORDERS", "rankings", len(counts)),
    ):
        announced = whole_number(header.get(key, ""))
        if announced is not None and announced != got:
            raise DataError(
                f"{where}: the header announces {announced} {what}, but the rankings add up to "
                f"{got}. Is the file cut off?"
            )


def _parse_row(line: str, ranks: Index, where: str, kind: str) -> float:
    """Fill in one ranking, e.g. ``3: 2,{1,4}``; return the number of its voters."""
    count, colon, places = line.partition(":")
    voters = whole_number(count.strip())
    if not colon or voters is None or voters < 0:
        raise DataError(
            f"{where}: a ranking reads 'count: 2,{{1,4}},3', got {line.strip()[:60]!r}."
        )
    place = 0
    rest = _PLACE.sub("", places).replace(",", "").strip()
    if rest:
        raise DataError(f"{where}: {rest[:60]!r} is neither an element nor a tie {{...}}.")
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
    return float(voters)


def _set_rank(element: str, place: int, ranks: Index, where: str) -> None:
    number = whole_number(element)
    if number is None or not 1 <= number <= len(ranks):
        raise DataError(f"{where}: elements are numbered 1 ... {len(ranks)}, got {element[:60]!r}.")
    if ranks[number - 1] >= 0:
        raise DataError(f"{where}: element {number} is ranked twice.")
    ranks[number - 1] = place


def write_preflib(path: str | Path, rankings: Rankings) -> None:
    """Write rankings so that `read_preflib` reads them back.

    Parameters
    ----------
    path : str or Path
        The ending, .soc, .soi, .toc or .toi (also with .gz), says whether rankings are strict
        and complete. Written whole or not at all.
    rankings : Rankings
        Places are written in their order; their numbers are read back without holes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.toc"
    >>> import numpy as np
    >>> ranks, counts = np.array([[0, 1, 2], [1, 0, 0]]), np.array([2.0, 1.0])
    >>> some = rt.io.Rankings(ranks, counts, ("a", "b", "c"))
    >>> rt.io.write_preflib(path, some)
    >>> rt.io.read_preflib(path).ranks.tolist()
    [[0, 1, 2], [1, 0, 0]]
    """
    plain = as_path(path).with_suffix("") if as_path(path).suffix == ".gz" else as_path(path)
    if not isinstance(rankings, Rankings):
        raise DataError(f"write_preflib takes Rankings, got {shown(rankings)}.")
    kind = plain.suffix[1:]
    if kind not in KINDS:
        raise DataError(f"{path}: a PrefLib file ends in .{', .'.join(KINDS)}, got {kind!r}.")
    if not rankings.complete and kind.endswith("c"):
        raise DataError(
            f"{path}: not every ranking ranks all {rankings.n} elements; use the ending .soi or "
            ".toi."
        )
    odd = [n for n in (*rankings.names, rankings.title) if n != n.strip() or not n.isprintable()]
    if odd:
        raise DataError(f"{path}: a name is one line without blanks around it, got {odd[0]!r}.")
    voters = np.asarray(rankings.counts)
    if (voters < 0).any() or (voters != np.floor(voters)).any():
        raise DataError(f"{path}: a ranking is that of a whole number of voters; see counts.")
    lines = [
        f"# FILE NAME: {plain.name}",
        f"# TITLE: {rankings.title}",
        f"# DATA TYPE: {kind}",
        f"# NUMBER ALTERNATIVES: {rankings.n}",
        f"# NUMBER VOTERS: {int(voters.sum())}",
        f"# NUMBER UNIQUE ORDERS: {len(voters)}",
        *(f"# ALTERNATIVE NAME {k}: {name}" for k, name in enumerate(rankings.names, start=1)),
    ]
    for ranks, count in zip(rankings.ranks, voters.tolist(), strict=True):
        lines.append(f"{int(count)}: {_places(ranks, kind, path)}")
    write_lines(path, lines)


def _places(ranks: Index, kind: str, path: str | Path) -> str:
    words = []
    for place in np.unique(ranks[ranks >= 0]):
        tied = [str(k + 1) for k in np.flatnonzero(ranks == place)]
        if len(tied) > 1 and kind.startswith("s"):
            raise DataError(
                f"{path}: elements {tied[0]} and {tied[1]} are tied; use the ending .to{kind[2]}."
            )
        words.append(tied[0] if len(tied) == 1 else "{" + ",".join(tied) + "}")
    return ",".join(words)
