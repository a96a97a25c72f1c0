"""Pairs of records compared field by field, each by levels of similarity.

A `Scale` is one way to compare one field, with levels from "other" to "the same"; missing values
are a scale of their own. A pair of records is the numbers of its levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.records import similarity
from relatum.records.fields import Column, code_of, dates_in, numbers_in
from relatum.records.intake import Records
from relatum.records.vectors import Frequencies, row_products, term_counts, weighted

Levels = NDArray[np.int8]  # (scales, pairs)
WHOLE = "the whole record"
CACHED = 20_000_000  # characters whose vectors are kept; of more, they are made when needed
CHUNK = 100_000  # pairs compared at a time

_COSINES = (0.15, 0.3, 0.45, 0.6, 0.75, 0.85, 0.95, 0.999)
_NAMES = (0.5, 0.65, 0.75, 0.85)
_NAME_WORDS = (0.3, 0.6, 0.9)
_RATIOS = (0.7, 0.3, 0.1, 0.02)
_SETS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.999)
_CODES = (0.2, 0.4, 0.6, 0.8, 0.95)
_RARE = (5.0, 9.0, 13.0)  # bits: of 2^5, 2^9, 2^13 records, one has the value
_GIVEN = ("given", "one missing", "both missing")


@dataclass(frozen=True)
class Scale:
    """One way to compare one field.

    Attributes
    ----------
    field, what : str
        The field, and what of it is compared.
    levels : tuple of str
        What each level means; the first is that of pairs with missing values.
    """

    field: str
    what: str
    levels: tuple[str, ...]


def _least(thresholds: Sequence[float]) -> tuple[str, ...]:
    return "other", *(f"at least {t:g}" for t in thresholds)


_RARITY = ("any value", *(f"the same, of one in {2 ** int(t)}" for t in _RARE))
_SCALES: dict[str, dict[str, tuple[str, ...]]] = {
    "text": {"letters": _least(_COSINES), "words": _least(_COSINES), "rarity": _RARITY},
    "name": {
        "letters": (*_least(_NAMES), "one letter apart", "the same"),
        "initial": ("other", "same first letter", "one is the initial"),
        "words": _least(_NAME_WORDS),
        "rarity": _RARITY,
    },
    "exact": {"value": ("other", "one sign apart", "the same"), "rarity": _RARITY},
    "number": {
        "ratio": ("other", *(f"within {np.expm1(t):.0%}" for t in _RATIOS), "the same"),
        "rarity": _RARITY,
    },
    "date": {"day": similarity.DATES},
    "words": {"common words": _least(_SETS), "rare words": _least(_COSINES)},
    WHOLE: {
        "letters": _least(_COSINES),
        "words": _least(_COSINES),
        "codes": ("none", "other", *_least(_CODES)[1:]),
    },
}


def scales_of(fields: Mapping[str, str]) -> tuple[Scale, ...]:
    """Return the scales by which records with such fields are compared."""
    out = []
    for name, kind in [*fields.items(), (WHOLE, WHOLE)]:
        if kind != WHOLE:
            out.append(Scale(name, "missing", _GIVEN))
        out += [Scale(name, what, levels) for what, levels in _SCALES[kind].items()]
    return tuple(out)


def terms_of(fields: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return what is counted in records: by name, the field and the kind of terms."""
    out = {}
    for name, kind in fields.items():
        if kind in ("text", "name", "words"):
            out[f"{name}/words"] = name, "words"
        if kind == "text":
            out[f"{name}/letters"] = name, "letters"
        if "rarity" in _SCALES[kind]:
            out[f"{name}/values"] = name, "values"
    for what in ("letters", "words", "codes"):
        out[f"{WHOLE}/{what}"] = WHOLE, what
    return out


@dataclass(frozen=True, eq=False)
class Terms:
    """Vectors of texts, kept or made when they are needed."""

    texts: Callable[[Index | None], list[str]]  # of some numbers, or of all
    kind: str
    rarity: NDArray[np.float32]
    kept: Any = None

    def products(self, i: Index, j: Index) -> Floats:
        """Return the similarity, from 0 to 1, of pairs of texts."""
        if self.kept is not None:
            return row_products(self.kept, i, j)
        rows, both = np.unique(np.concatenate([i, j]), return_inverse=True)
        table = weighted(term_counts(self.texts(rows), self.kind), self.rarity)
        return row_products(table, both[: len(i)], both[len(i) :])


@dataclass(frozen=True, eq=False)
class Comparison:
    """Records that can be compared with each other.

    Attributes
    ----------
    records : Records
    earlier : mapping of str to Frequencies
        What was counted in other records, by the names of `terms_of`.
    """

    records: Records
    earlier: Mapping[str, Frequencies]

    @cached_property
    def fields(self) -> dict[str, str]:
        """Fields and their kinds."""
        return {name: column.kind for name, column in self.records.columns.items()}

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """How they are compared."""
        return scales_of(self.fields)

    @cached_property
    def _counted(self) -> tuple[dict[str, Frequencies], dict[str, Any]]:
        """Count terms, and keep those of vectors that are not too many."""
        found, kept = {}, {}
        for key, (name, what) in terms_of(self.fields).items():
            texts, weights = self._texts(name, what), self._weights(name)
            if self._size(name) <= CACHED:
                kept[key] = term_counts(texts(None), _kind(what))
                found[key] = Frequencies.of(kept[key], weights)
                continue
            for start in range(0, len(weights), CHUNK):
                some = np.arange(start, min(start + CHUNK, len(weights)))
                part = Frequencies.of(term_counts(texts(some), _kind(what)), weights[some])
                found[key] = found[key].plus(part) if key in found else part
        return found, kept

    @cached_property
    def frequencies(self) -> dict[str, Frequencies]:
        """What was counted in these records and the earlier ones."""
        own = self._counted[0]
        return {k: f.plus(self.earlier[k]) if k in self.earlier else f for k, f in own.items()}

    @cached_property
    def _terms(self) -> dict[str, Terms]:
        kept = self._counted[1]
        out = {}
        for key, (name, what) in terms_of(self.fields).items():
            rarity = self.frequencies[key].rarity(1 << 20 if _kind(what) != "letters" else 1 << 18)
            table = weighted(kept.pop(key), rarity) if key in kept and what != "values" else None
            out[key] = Terms(self._texts(name, what), _kind(what), rarity, table)
        return out

    @cached_property
    def _rare(self) -> dict[str, NDArray[np.int8]]:
        """Return, by field, how rare each value is, as levels."""
        out = {}
        for name, column in self.records.columns.items():
            key = f"{name}/values"
            if key in self.frequencies:
                counted = self.frequencies[key]
                size = np.zeros(1 << 20)
                size[counted.places] = counted.counts
                found = np.empty(len(column.values))
                for start in range(0, len(found), CHUNK):
                    some = column.values[start : start + CHUNK]
                    table = term_counts([code_of(v) or "0" for v in some], "words")
                    found[start : start + CHUNK] = size[table.indices[table.indptr[:-1]]]
                bits = np.log2(max(1.0, counted.total)) - np.log2(np.maximum(1, found))
                out[name] = np.searchsorted(_RARE, bits, side="right").astype(np.int8)
        return out

    def _size(self, name: str) -> int:
        columns = self.records.columns
        if name != WHOLE:
            return sum(map(len, columns[name].values))
        mean = [sum(map(len, c.values)) / max(1, len(c.values)) for c in columns.values()]
        return int(sum(mean) * len(self.records))

    def _weights(self, name: str) -> Floats:
        if name == WHOLE:
            return np.ones(len(self.records))
        return self.records.columns[name].counts().astype(np.float64)

    def _texts(self, name: str, what: str) -> Callable[[Index | None], list[str]]:
        if name == WHOLE:
            return lambda rows: whole_texts(self.records, what == "codes", rows)
        values = self.records.columns[name].values
        if what == "values":
            return lambda rows: [code_of(v) or "0" for v in _chosen(values, rows)]
        return lambda rows: _chosen(values, rows)

    def levels(self, i: Index, j: Index) -> Levels:
        """Return the levels of pairs of records, (scales, pairs)."""
        out = np.zeros((len(self.scales), len(i)), dtype=np.int8)
        for start in range(0, len(i), CHUNK):
            part = slice(start, start + CHUNK)
            self._fill(out[:, part], i[part], j[part])
        return out

    def _fill(self, out: Levels, i: Index, j: Index) -> None:
        row = 0
        for column in self.records.columns.values():
            a, b = column.codes[i].astype(np.int64), column.codes[j].astype(np.int64)
            given = (a >= 0) & (b >= 0)
            out[row] = np.where(given, 0, np.where((a < 0) & (b < 0), 2, 1))
            a, b = np.minimum(a, b)[given], np.maximum(a, b)[given]
            keys, back = np.unique(a * len(column.values) + b, return_inverse=True)
            size = max(1, len(column.values))
            found = self._compared(column, keys // size, keys % size)
            for k, level in enumerate(found):
                out[row + 1 + k, given] = level[back]
            row += 1 + len(found)
        for what in ("letters", "words"):
            out[row] = _binned(self._terms[f"{WHOLE}/{what}"].products(i, j), _COSINES)
            row += 1
        out[row] = self._codes(i, j)

    def _codes(self, i: Index, j: Index) -> NDArray[np.int8]:
        terms = self._terms[f"{WHOLE}/codes"]
        rows, both = np.unique(np.concatenate([i, j]), return_inverse=True)
        table = terms.kept[rows] if terms.kept is not None else None
        if table is None:
            table = weighted(term_counts(terms.texts(rows), "codes"), terms.rarity)
        some = np.diff(table.indptr) > 0
        a, b = both[: len(i)], both[len(i) :]
        level = _binned(row_products(table, a, b), _CODES) + 1
        return np.where(some[a] & some[b], level, 0).astype(np.int8)

    def _compared(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        """Return the levels of pairs of values, one array for each scale but missing."""
        found: list[NDArray[np.int8]] = _COMPARE[column.kind](self, column, a, b)
        if column.name in self._rare:
            found.append(np.where(a == b, self._rare[column.name][a], 0).astype(np.int8))
        return found

    def _cosines(self, column: Column, what: str, a: Index, b: Index) -> Floats:
        return self._terms[f"{column.name}/{what}"].products(a, b)

    def _text(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        found = [self._cosines(column, what, a, b) for what in ("letters", "words")]
        return [_binned(x, _COSINES) for x in found]

    def _name(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        letters, lengths, a_, b_ = _letters(column, a, b)
        apart = similarity.edit_distances(letters, lengths, a_, b_)
        longest = np.maximum(lengths[a_], lengths[b_])
        level = _binned(1 - apart / np.maximum(1, longest), _NAMES)
        level[(apart == 1) & (longest > 2)] = len(_NAMES) + 1
        level[a == b] = len(_NAMES) + 2
        first = (letters[a_, 0] == letters[b_, 0]).astype(np.int8)
        first[similarity.is_initial(letters, lengths, a_, b_) & (a != b)] = 2
        return [level, first, _binned(self._cosines(column, "words", a, b), _NAME_WORDS)]

    def _exact(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        letters, lengths, a_, b_ = _letters(column, a, b)
        near = similarity.edit_distances(letters, lengths, a_, b_) == 1
        near &= np.maximum(lengths[a_], lengths[b_]) > 3
        return [np.where(a == b, 2, near).astype(np.int8)]

    def _number(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        apart = similarity.ratios(numbers_in(column), a, b)
        level = np.searchsorted(-np.array(_RATIOS), -apart, side="right").astype(np.int8)
        level[a == b] = len(_RATIOS) + 1
        return [level]

    def _date(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        rows, both = np.unique(np.concatenate([a, b]), return_inverse=True)
        chosen = Column(column.name, column.kind, _chosen(column.values, rows), column.codes)
        return [similarity.date_levels(dates_in(chosen), both[: len(a)], both[len(a) :])]

    def _words(self, column: Column, a: Index, b: Index) -> list[NDArray[np.int8]]:
        rows, both = np.unique(np.concatenate([a, b]), return_inverse=True)
        counts = term_counts(_chosen(column.values, rows), "words")
        counts.data[:] = 1
        sizes, a_, b_ = np.diff(counts.indptr), both[: len(a)], both[len(a) :]
        shared = similarity.jaccard(row_products(counts, a_, b_), sizes[a_], sizes[b_])
        return [_binned(shared, _SETS), _binned(self._cosines(column, "words", a, b), _COSINES)]


_COMPARE: dict[str, Any] = {
    "text": Comparison._text,
    "name": Comparison._name,
    "exact": Comparison._exact,
    "number": Comparison._number,
    "date": Comparison._date,
    "words": Comparison._words,
}


def _kind(what: str) -> str:
    return "words" if what == "values" else what


def _chosen(values: list[str], rows: Index | None) -> list[str]:
    return values if rows is None else [values[k] for k in rows.tolist()]


def _letters(column: Column, a: Index, b: Index) -> tuple[NDArray[np.uint32], Index, Index, Index]:
    rows, both = np.unique(np.concatenate([a, b]), return_inverse=True)
    letters, lengths = similarity.letters_of(_chosen(column.values, rows))
    return letters, lengths, both[: len(a)], both[len(a) :]


def _binned(values: Floats, thresholds: Sequence[float]) -> NDArray[np.int8]:
    return np.searchsorted(thresholds, values + 1e-6, side="right").astype(np.int8)


def whole_texts(records: Records, only_text: bool, rows: Index | None) -> list[str]:
    """Return the values of each record in one text; numbers are left out.

    Parameters
    ----------
    records : Records
    only_text : bool
        Of fields of the kind "text" only.
    rows : int64 array or None
        Which records; None for all.
    """
    count = len(records) if rows is None else len(rows)
    parts = []
    for column in records.columns.values():
        if column.kind == "number" or (only_text and column.kind != "text"):
            continue
        codes = column.codes if rows is None else column.codes[rows]
        values = [*column.values, ""]
        parts.append([values[k] for k in codes.tolist()])
    return [" ".join(row) for row in zip(*parts, strict=True)] if parts else [""] * count
