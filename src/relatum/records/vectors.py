"""Texts as sparse vectors of letters or words, weighted by how rare these are.

Runs of letters and words are hashed into a fixed number of places, so that no vocabulary is kept:
what is counted in one table of records can be added to what was counted in another. Everything
is done with whole arrays of characters, none of it letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relatum.array_types import Floats, Index
from relatum.kernels.tables.nearest import pair_products
from relatum.records.fields import words_of

PLACES = {"letters": 18, "words": 20, "codes": 20}  # log2 of how many places there are
CHUNK = 50_000  # texts turned into vectors at a time
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_BASE = np.uint64(1_000_003)
_BLANK, _END = ord(" "), ord("\n")
_CODE = re.compile(r"[\w/.-]+")
_DIGIT = re.compile(r"\d")


def codes_in(text: str) -> str:
    """Return the words with a digit of a plain text, without signs: model numbers and the like.

    Examples
    --------
    >>> codes_in("sony turntable ps-lx350h, 33 rpm")
    'pslx350h'
    """
    found = (word for word in _CODE.findall(text) if _DIGIT.search(word))
    words = (re.sub(r"[\W_]", "", word) for word in found)
    return " ".join(word for word in words if len(word) > 2)


def _spread(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int32]:
    keys = keys ^ (keys >> np.uint64(29))
    return ((keys * _SPREAD) >> np.uint64(64 - bits)).astype(np.int32)


def _characters(texts: Sequence[str]) -> tuple[NDArray[np.uint64], Index]:
    """Return the characters of texts, blanks around and an end after each, and their rows."""
    whole = "".join(f" {text} \n" for text in texts)
    signs = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = signs == _END
    return signs.astype(np.uint64), np.cumsum(ends) - ends


def _runs(signs: NDArray[np.uint64], rows: Index, size: int) -> tuple[Index, NDArray[np.uint64]]:
    """Return rows and keys of runs of letters that end in no other word than they begin."""
    count = max(0, len(signs) - size + 1)
    keys, keep = np.zeros(count, np.uint64), np.ones(count, np.bool_)
    for k in range(size):
        part = signs[k : k + count]
        keys = keys * _BASE + part
        keep &= part != _END
        if 0 < k < size - 1:
            keep &= part != _BLANK
    if size == 2:
        keep &= (signs[:count] != _BLANK) | (signs[1 : count + 1] != _BLANK)
    return rows[:count][keep], keys[keep] + np.uint64(size)


def _whole_words(signs: NDArray[np.uint64], rows: Index) -> tuple[Index, NDArray[np.uint64]]:
    inside = (signs != _BLANK) & (signs != _END)
    starts = np.flatnonzero(inside & ~np.concatenate([[False], inside[:-1]]))
    if not len(starts):
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    place = _places(starts, len(signs))
    powers = np.cumprod(np.full(int(place.max()) + 1, _BASE, np.uint64))
    weighted = np.where(inside, signs * powers[place], 0).astype(np.uint64)
    return rows[starts], np.add.reduceat(weighted, starts)


def _places(starts: Index, count: int) -> Index:
    """Return how far each character is from the start of its word."""
    place = np.arange(count)
    first = np.zeros(count, np.int64)
    first[starts] = starts
    return place - np.maximum.accumulate(first)


def term_counts(texts: Sequence[str], kind: str) -> Any:
    """Return a sparse matrix: how often terms occur in texts.

    Parameters
    ----------
    texts : sequence of str
        Plain texts.
    kind : {"letters", "words", "codes"}
        Runs of two and three letters of a word, blanks around it included; words; or words with
        a digit.
    """
    bits, parts = PLACES[kind], []
    for start in range(0, len(texts), CHUNK):
        some = texts[start : start + CHUNK]
        cleaned = [codes_in(t) if kind == "codes" else words_of(t) for t in some]
        signs, rows = _characters(cleaned)
        if kind == "letters":
            found = [_runs(signs, rows, size) for size in (2, 3)]
        else:
            found = [_whole_words(signs, rows)]
        where = np.concatenate([r for r, _ in found])
        columns = np.concatenate([_spread(keys, bits) for _, keys in found])
        ones = np.ones(len(where), np.float32)
        shape = (len(some), 1 << bits)
        parts.append(sparse.coo_array((ones, (where, columns)), shape=shape).tocsr())
    if not parts:
        return sparse.csr_array((0, 1 << bits), dtype=np.float32)
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")


@dataclass(frozen=True, eq=False)
class Frequencies:
    """In how many records terms occur, and of how many.

    Attributes
    ----------
    places : int64 array
        Terms that occur, as places of hashing.
    counts : float64 array
        In how many records each does.
    total : float
        How many records have a value.
    """

    places: Index
    counts: Floats
    total: float

    @classmethod
    def of(cls, table: Any, weights: Floats) -> Frequencies:
        """Count the terms of values that `weights` records have."""
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        counts = np.bincount(table.indices, weights[rows], minlength=table.shape[1])
        places = np.flatnonzero(counts)
        return cls(places, counts[places].astype(np.float64), float(weights.sum()))

    def plus(self, other: Frequencies) -> Frequencies:
        """Return what both have counted."""
        places = np.concatenate([self.places, other.places])
        places, number = np.unique(places, return_inverse=True)
        counts = np.bincount(number, np.concatenate([self.counts, other.counts]))
        return Frequencies(places, counts.astype(np.float64), self.total + other.total)

    def rarity(self, size: int) -> NDArray[np.float32]:
        """Return the weight of each place: the more, the rarer the term."""
        found = np.zeros(size)
        found[self.places] = self.counts
        return (np.log((1 + self.total) / (1 + found)) + 1).astype(np.float32)


def weighted(table: Any, rarity: NDArray[np.float32]) -> Any:
    """Return rows of length 1, of logarithms of counts times rarity."""
    data = (1 + np.log(table.data)) * rarity[table.indices]
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    norms = np.sqrt(np.bincount(rows, data.astype(np.float64) ** 2, minlength=table.shape[0]))
    data = (data / np.maximum(norms, 1e-12)[rows]).astype(np.float32)
    return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)


def row_products(table: Any, i: Index, j: Index) -> Floats:
    """Return the inner products of pairs of rows."""
    out = np.empty(len(i))
    terms, values = table.indices.astype(np.int32, copy=False), table.data
    ends = (np.ascontiguousarray(x, dtype=np.int64) for x in (i, j))
    pair_products(table.indptr.astype(np.int64), terms, values, *ends, out)
    return out
