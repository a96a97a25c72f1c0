"""Candidates: the pairs of records that are worth comparing.

Each record and its nearest by letters and by words of the whole record, and records that share a
key. Letters and words that very many records have are left out of the search, as they say little
and cost most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.kernels.tables.nearest import nearest_rows
from relatum.problem import shown
from relatum.records.comparison import WHOLE, whole_texts
from relatum.records.intake import Records, require_columns
from relatum.records.vectors import Frequencies, term_counts, weighted

STEPS = 10_000  # products of terms for each record, about, that a search may take
LARGEST = 50  # records that share a key; of more, a key says too little
CHUNK = 20_000  # records whose vectors are made at a time
ROWS = 2_000  # records whose nearest are looked for between two looks at the keyboard


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of rows, the smaller first, sorted and each once.

    Attributes
    ----------
    pairs : int64 array (pairs, 2)
    by : uint8 array (pairs,)
        Which searches found a pair: 1 for letters, 2 for words, 4 for keys, added.
    left_out : int
        Values of keys that more than `LARGEST` records share.
    """

    pairs: Index
    by: Any
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, eq=False)
class _Found:
    keys: list[Index] = field(default_factory=list)
    by: list[Any] = field(default_factory=list)

    def add(self, n: int, i: Index, j: Index, mark: int) -> None:
        keep = i != j
        low, high = np.minimum(i, j)[keep], np.maximum(i, j)[keep]
        keys = np.unique(low * n + high)
        self.keys.append(keys)
        self.by.append(np.full(len(keys), mark, np.uint8))

    def gathered(self, n: int, left_out: int) -> Candidates:
        if not sum(map(len, self.keys)):
            return Candidates(np.empty((0, 2), np.int64), np.empty(0, np.uint8), left_out)
        every, by = np.concatenate(self.keys), np.concatenate(self.by)
        order = np.argsort(every, kind="stable")
        every, by = every[order], by[order]
        first = np.flatnonzero(np.concatenate([[True], every[1:] != every[:-1]]))
        keys = every[first]
        marks = np.bitwise_or.reduceat(by, first) if len(first) else by
        return Candidates(np.column_stack([keys // n, keys % n]), marks, left_out)


def candidates(
    records: Records,
    frequencies: dict[str, Frequencies],
    neighbors: int,
    keys: Sequence[Any] = (),
    apart: bool = False,
) -> Candidates:
    """Return the pairs of records that are worth comparing.

    Parameters
    ----------
    records : Records
    frequencies : mapping
        How rare letters and words of whole records are, by ``the whole record/letters`` and so on.
    neighbors : int
        How many of the nearest, by letters and by words each, of every record.
    keys : sequence of int64 arrays
        Numbers of records' keys, -1 for none; see `key_codes`.
    apart : bool
        Only pairs of records of two sources.
    """
    n, found, left_out = len(records), _Found(), 0
    groups = records.source_codes if apart else None
    for mark, what in ((1, "letters"), (2, "words")):
        rarity = frequencies[f"{WHOLE}/{what}"].rarity(1 << (18 if what == "letters" else 20))
        table = _whole_vectors(records, what, rarity)
        for i, j in nearest(table, neighbors, groups):
            found.add(n, i, j, mark)
    for codes in keys:
        i, j, large = sharing(codes)
        left_out += large
        if groups is not None:
            other = groups[i] != groups[j]
            i, j = i[other], j[other]
        found.add(n, i, j, 4)
    return found.gathered(n, left_out)


def _whole_vectors(records: Records, what: str, rarity: Any) -> Any:
    parts = []
    for start in range(0, len(records), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(records)))
        parts.append(weighted(term_counts(whole_texts(records, False, rows), what), rarity))
    return sparse.vstack(parts, format="csr") if parts else sparse.csr_array((0, 1))


def frequent_terms(table: Any, most: float) -> Any:
    """Return a table without the most frequent columns, so that a product takes `most` steps."""
    counts = np.bincount(table.indices, minlength=table.shape[1]).astype(np.float64)
    order = np.argsort(counts, kind="stable")
    steps = np.cumsum(counts[order] ** 2)
    keep = np.zeros(table.shape[1], np.bool_)
    keep[order[: np.searchsorted(steps, most, side="right")]] = True
    if keep[counts > 0].all():
        return table
    entries = keep[table.indices]
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))[entries]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=table.shape[0]))])
    own = (table.data[entries], table.indices[entries], pointers)
    return sparse.csr_array(own, shape=table.shape)


def nearest(
    table: Any, neighbors: int, groups: Index | None = None, steps: float = STEPS
) -> Iterator[tuple[Index, Index]]:
    """Yield pairs of rows, each with its nearest ones, in parts.

    Parameters
    ----------
    table : CSR array (n, terms)
        Rows of length 1.
    neighbors : int
    groups : int64 array (n,), optional
        Only rows of other groups count as near.
    steps : float
        Products of terms for each row, about, that may be spent.
    """
    n = table.shape[0]
    neighbors = min(neighbors, max(1, n - 1))
    table = frequent_terms(table, steps * n)
    rows, columns = _parts(table), _parts(table.T.tocsr())
    own = np.empty(0, np.int64) if groups is None else groups.astype(np.int64)
    sums, touched = np.zeros(n, np.float32), np.empty(n, np.int64)
    for start in range(0, n, ROWS):
        count = min(ROWS, n - start)
        near = np.empty((count, neighbors), np.int64)
        likes = np.empty((count, neighbors), np.float32)
        nearest_rows(rows, columns, own, start, near, likes, sums, touched)
        i = np.repeat(np.arange(start, start + count), neighbors)
        found = near.ravel() >= 0
        yield i[found], near.ravel()[found]


def _parts(table: Any) -> tuple[Index, Any, Any]:
    return (
        table.indptr.astype(np.int64),
        table.indices.astype(np.int32, copy=False),
        table.data.astype(np.float32, copy=False),
    )


def sharing(codes: Index) -> tuple[Index, Index, int]:
    """Return all pairs of records with the same key, and how many keys too many records share."""
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    own = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])) if len(own) else own
    sizes = np.diff(np.append(starts, len(own)))
    i, j = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for size in np.unique(sizes[(sizes > 1) & (sizes <= LARGEST)]).tolist():
        block = order[starts[sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        i.append(block[:, a].ravel())
        j.append(block[:, b].ravel())
    return np.concatenate(i), np.concatenate(j), int(np.count_nonzero(sizes > LARGEST))


def key_codes(table: Any, keys: Sequence[Any]) -> list[Index]:
    """Return the keys of records as numbers, -1 where a part of a key is missing.

    Parameters
    ----------
    table : Arrow table
    keys : sequence
        Names of columns, tuples of such names, or functions from a record, a dictionary, to a key.
    """
    return [_key(table, key) for key in keys]


def _key(table: Any, key: Any) -> Index:
    if callable(key):
        return _numbered([_called(key, row) for row in table.to_pylist()])
    names = (key,) if isinstance(key, str) else key
    if (
        not isinstance(names, tuple)
        or not names
        or not all(isinstance(name, str) for name in names)
    ):
        raise DataError(
            "A key is the name of a column, a tuple of names, or a function of a record; got "
            f"{shown(key)}."
        )
    require_columns(table, names)
    parts = [table.column(name).to_pylist() for name in names]
    missing: tuple[Any, ...] = (None, "")
    rows = zip(*parts, strict=True)
    return _numbered([None if any(v in missing for v in row) else row for row in rows])


def _called(key: Callable[[Any], Any], row: Any) -> Any:
    found = key(row)
    return None if found == "" else found


def _numbered(values: list[Any]) -> Index:
    number: dict[Any, int] = {}
    try:
        found = [-1 if v is None else number.setdefault(v, len(number)) for v in values]
    except TypeError:
        raise DataError("A key is a value such as a text, a number or a tuple of them.") from None
    return np.array(found, dtype=np.int64)


def caught_twice(likely: Floats, by: Any) -> float:
    """Estimate the share of true pairs that are candidates, from what two searches found.

    If letters and words find true pairs independently of each other, the share that words find
    of what letters found is the share that they find at all (capture and recapture). They do not
    quite, so that the estimate is rather too high.

    Parameters
    ----------
    likely : float64 array
        Probability of each candidate.
    by : uint8 array
        Which searches found it, see `Candidates`.
    """
    first, second = ((by & mark) > 0 for mark in (1, 2))
    one, two = float(likely[first].sum()), float(likely[second].sum())
    both = float(likely[first & second].sum())
    union, total = float(likely.sum()), (one + 1) * (two + 1) / (both + 1) - 1
    return min(1.0, union / total) if total > 0 else float("nan")
