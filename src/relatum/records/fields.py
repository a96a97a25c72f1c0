"""Fields of records: their kinds, and columns of values made comparable.

A column keeps every different value once, and for each record the number of its value: records
are many, but many of them say the same. Texts are compared without regard to case, accents and
runs of blanks; an empty text, null and NaN are missing values, number -1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.problem import shown

Kind = Literal["text", "name", "exact", "number", "date", "words"]
Codes = NDArray[np.int32]

KINDS: dict[str, str] = {
    "text": "free text: titles, descriptions, addresses",
    "name": "a name of few words: similar if few letters differ",
    "exact": "a code: the same or not",
    "number": "an amount: compared by ratio",
    "date": "a day, or a year",
    "words": "a set of words, in any order",
}
_BLANKS, _SIGNS = re.compile(r"\s+"), re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d+)(?![\d.,]*\d)")
_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
_MISSING = {"", "nan", "none", "null", "n/a", "na", "nat", "<na>"}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one field.

    Attributes
    ----------
    name : str
    kind : str
    values : list of str
        Every different value once, as it is compared.
    codes : int32 array (records,)
        Which of them a record has; -1 if none.
    """

    name: str
    kind: str
    values: list[str]
    codes: Codes

    def counts(self) -> Index:
        """Return how many records have each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def checked_fields(fields: Any) -> dict[str, str]:
    """Return a mapping of columns to kinds, or raise `DataError`."""
    if not isinstance(fields, Mapping) or not fields:
        raise DataError(
            'fields= names the columns to compare and their kinds, such as {"title": "text", '
            f'"year": "exact"}}; got {shown(fields)}.'
        )
    for name, kind in fields.items():
        if not isinstance(name, str):
            raise DataError(f"A column has a name, a text, got {shown(name)}.")
        if not isinstance(kind, str) or kind not in KINDS:
            told = "; ".join(f"{key!r}: {what}" for key, what in KINDS.items())
            raise DataError(f"The kind of the field {name!r} is one of {told}. Got {shown(kind)}.")
    return dict(fields)


def plain(text: str) -> str:
    """Return a text in lower case, without accents and runs of blanks.

    Examples
    --------
    >>> plain("  Zoë  Müller ")
    'zoe muller'
    """
    text = text.casefold()
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in parts if not unicodedata.combining(c))
    return _BLANKS.sub(" ", text).strip()


def words_of(text: str) -> str:
    """Return the words of a plain text, with one blank between them."""
    return _SIGNS.sub(" ", text).strip()


def code_of(text: str) -> str:
    """Return the letters and digits of a plain text.

    Examples
    --------
    >>> code_of("310/246-1501") == code_of("310-246-1501")
    True
    """
    return _SIGNS.sub("", text)


def _with_point(found: re.Match[str]) -> str:
    """Return a number with a decimal point for its comma, unless that is one of thousands."""
    whole, part = found.groups()
    decimal = "." in whole or whole == "0" or len(part) != 3
    return f"{whole.replace('.', '')}.{part}" if decimal else found.group()


def number_of(text: str) -> float:
    """Return the first number in a text, or NaN.

    Examples
    --------
    >>> number_of("$1,299.50"), number_of("1.299,50"), number_of("12,5"), number_of("none")
    (1299.5, 1299.5, 12.5, nan)
    """
    text = _DECIMAL_COMMA.sub(_with_point, text) if "," in text else text
    found = _NUMBER.search(_THOUSANDS.sub("", text))
    return float(found.group()) if found else float("nan")


def date_of(text: str) -> tuple[int, int, int]:
    """Return year, month and day of a text; 0 for what it does not say.

    Years have four digits. Of 3/4/1990, the first is taken for the day, unless it cannot be.

    Examples
    --------
    >>> date_of("1990-04-03"), date_of("19900403"), date_of("3 April 1990"), date_of("in 1990")
    ((1990, 4, 3), (1990, 4, 3), (1990, 4, 3), (1990, 0, 0))
    """
    text = text.lower()
    text = text.split("t")[0] if re.match(r"\d{4}-\d\d-\d\dt", text) else text
    digits = re.findall(r"\d+", text)
    if digits and len(digits[0]) == 8:
        whole = digits[0]
        return int(whole[:4]), int(whole[4:6]), int(whole[6:])
    named = [k + 1 for k, month in enumerate(_MONTHS) if re.search(rf"\b{month}", text)]
    years = [d for d in digits if len(d) == 4]
    year = int(years[0]) if years else 0
    rest = [int(d) for d in digits if len(d) <= 2]
    if named:
        return year, named[0], rest[0] if rest else 0
    first_is_year = bool(years) and digits[0] == years[0]
    if len(rest) < 2:
        return year, rest[0] if rest and first_is_year else 0, 0
    month, day = (rest[0], rest[1]) if first_is_year else (rest[1], rest[0])
    return (year, day, month) if month > 12 >= day else (year, month, day)


def _date(text: str) -> str:
    year, month, day = date_of(text)
    return f"{year:04d}{month:02d}{day:02d}" if (year, month, day) != (0, 0, 0) else ""


def _number(text: str) -> str:
    value = number_of(text)
    return repr(value) if np.isfinite(value) else ""


_AS_COMPARED: dict[str, Callable[[str], str]] = {
    "text": lambda text: text,
    "name": words_of,
    "exact": code_of,
    "number": _number,
    "date": _date,
    "words": lambda text: " ".join(sorted(set(words_of(text).split()))),
}


def column_of(name: str, kind: str, values: Sequence[str | None], codes: Codes) -> Column:
    """Return a column of different values, and of numbers of records' values.

    Parameters
    ----------
    name, kind : str
    values : sequence of str or None
        As they stand in the table, each once.
    codes : int32 array (records,)
        Which of them a record has; -1 if none.
    """
    as_compared = _AS_COMPARED[kind]
    number: dict[str, int] = {}
    new = np.full(len(values) + 1, -1, dtype=np.int32)  # the last one for -1
    for k, value in enumerate(values):
        text = "" if value is None else plain(value)
        text = "" if text in _MISSING else as_compared(text)
        if text:
            new[k] = number.setdefault(text, len(number))
    return Column(name, kind, list(number), new[codes])


def numbers_in(column: Column) -> Floats:
    """Return the values of a column of numbers."""
    return np.array([float(value) for value in column.values], dtype=np.float64)


def dates_in(column: Column) -> Index:
    """Return (year, month, day) of the values of a column of dates."""
    parts = [(int(v[:4]), int(v[4:6]), int(v[6:])) for v in column.values]
    return np.array(parts, dtype=np.int64).reshape(-1, 3)
