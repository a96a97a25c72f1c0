"""The columns of a table of scored pairs, and rows that are not as they should be.

Columns are named as Splink names them: ``unique_id_l``, ``unique_id_r``, the score
``match_weight`` (log2-odds, that is bits) or else ``match_probability``, and, where several
tables were linked, ``source_dataset_l`` and ``source_dataset_r``; an element is then a record
of a source.

What happens to rows that are not as they should be:

==================  ========================================  ====================================
kind                what it is                                ``odd_rows="refuse"`` | ``"handle"``
==================  ========================================  ====================================
null_ids            an id is null                             refused | the row is dropped
null_scores         the score is null or NaN                  refused | dropped: not scored
out_of_range        a probability outside [0, 1], or more     refused | dropped: not scored
                    than `MOST_BITS` bits
contradictory       a pair with different scores              refused | the mean log-odds counts
self_pairs          both ids are the same                     the pair is ignored; the element stays
duplicates          a pair listed again with the same score   listed once
certain             probability 0 or 1, infinite log-odds     `CERTAIN` bits, with its sign
==================  ========================================  ====================================

A pair is unordered: (a, b) and (b, a) are the same pair. Two scores are the same if they
differ by at most `SAME` bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats
from relatum.errors import DataError, EvidenceError, ProblemError
from relatum.problem import plain_array, score_column, shown, switch

CERTAIN = 64.0  # bits of a certainty: beyond what a float64 probability can tell from 1
SAME = 1e-6  # bits
MOST_BITS = 1e200  # of a score: however many there are, what they add up to is a float
_LEAST_BITS = 2.0**-1022  # of a score that is not zero: below, numbers have fewer digits
_MEANING = {
    "null_ids": "with a null id",
    "null_scores": "whose score is null or NaN",
    "out_of_range": "whose probability is outside [0, 1], or whose log-odds are above 2**900",
    "contradictory": "that score a pair differently than another row",
}
REFUSED = tuple(_MEANING)  # unless rows are handled
RESULT = ("cluster_id", "cluster_size", "cluster_gap", "component")  # columns beside ids
_BETWEEN = "_-. "  # signs between the words of a name


@dataclass(frozen=True)
class Columns:
    """Which columns hold what.

    Attributes
    ----------
    left, right : str
        The ids.
    score : str
    is_probability : bool
        Whether the score is a probability, otherwise it is log2-odds.
    source_left, source_right : str or None
        The sources of the records, if ids are unique only within a source.
    """

    left: str = "unique_id_l"
    right: str = "unique_id_r"
    score: str = "match_weight"
    is_probability: bool = False
    source_left: str | None = None
    source_right: str | None = None

    @property
    def id_name(self) -> str:
        """The name of the id column of the result: what the names of both columns share.

        ``unique_id`` of ``unique_id_l`` and ``unique_id_r``, ``id`` of ``a_id`` and ``b_id``, and
        also where they share nothing.
        """
        name = shared_name(self.left, self.right) or "id"
        return name if name not in (*RESULT, self.source_name) else f"{name}_element"

    @property
    def source_name(self) -> str | None:
        """The name of the source column of the result."""
        return None if self.source_left is None else self.source_left.removesuffix("_l")

    def names(self) -> list[str]:
        """All columns that are read."""
        ids = [self.left, self.right, self.score]
        return ids + [s for s in (self.source_left, self.source_right) if s is not None]


def shared_name(left: str, right: str) -> str:
    """Return the words that the names of two columns begin or end with; "" if there are none.

    Examples
    --------
    >>> [shared_name(*p) for p in [("unique_id_l", "unique_id_r"), ("a_id", "b_id"), ("x", "y")]]
    ['unique_id', 'id', '']
    """
    begin = _begin(left, right)
    rests = [name[len(begin) :] for name in (left, right)]
    ends_a_word = begin.rstrip(_BETWEEN) != begin
    if begin and (ends_a_word or all(r[:1].isdigit() or r[:1].isupper() for r in rests)):
        return begin.rstrip(_BETWEEN)
    end = _begin(left[::-1], right[::-1])[::-1]
    place = next((k for k, sign in enumerate(end) if sign in _BETWEEN), len(end))
    return end[place:].strip(_BETWEEN)


def _begin(a: str, b: str) -> str:
    """Return the letters that two texts begin with."""
    same = (k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return a[: next(same, min(len(a), len(b)))]


def find_columns(
    names: Iterable[str],
    left: str = "unique_id_l",
    right: str = "unique_id_r",
    log_odds: str | None = None,
    probability: str | None = None,
) -> Columns:
    """Find the columns of a table by its column names.

    Parameters
    ----------
    names : iterable of str
        The columns the table has.
    left, right : str
        The ids.
    log_odds, probability : str, optional
        The score, as bits or as a probability; by default ``match_weight`` if there is such a
        column, else ``match_probability``.

    Examples
    --------
    >>> find_columns(["unique_id_l", "unique_id_r", "match_probability"]).is_probability
    True
    """
    try:
        have = [] if isinstance(names, str) else [str(name) for name in names]
    except Exception:  # also what classes that are not ours raise
        have = []
    if not have:
        raise DataError(f"The columns of a table are a list of names, got {shown(names)}.")
    for name in (left, right, log_odds, probability):
        if name is not None and not isinstance(name, str):
            raise DataError(f"A column has a name, a text, got {shown(name)}.")
    try:
        score, is_probability = score_column(have, (left, right), log_odds, probability)
    except ProblemError as error:
        raise DataError(str(error)) from None
    sources: tuple[str | None, str | None] = (None, None)
    if {"source_dataset_l", "source_dataset_r"} <= set(have):
        sources = ("source_dataset_l", "source_dataset_r")
    return Columns(left, right, score, is_probability, *sources)


def bits_of(scores: ArrayLike, is_probability: bool) -> Floats:
    """Return scores as finite bits; NaN stays NaN, and what is out of range becomes NaN.

    Examples
    --------
    >>> bits_of([0.5, 0.8, 1.0], True).round(9).tolist()
    [0.0, 2.0, 64.0]
    """
    given = plain_array(scores, "Scores", DataError)
    if given.dtype.kind not in "biuf":
        raise DataError(f"Scores are numbers, got dtype {given.dtype}; convert them first.")
    with np.errstate(over="ignore"):
        x = given.astype(np.float64)
    if switch(is_probability, "is_probability", DataError):
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.log2(x) - np.log2(1 - x)
    x = np.where(np.isinf(x), np.copysign(CERTAIN, x), x)
    size = np.abs(x)
    return np.where(size > MOST_BITS, np.nan, np.where(size < _LEAST_BITS, 0.0, x))


def refuse(counts: Mapping[str, int], examples: Mapping[str, Sequence[Any]]) -> None:
    """Raise `DataError` if there are rows that are refused, showing some of each kind.

    Parameters
    ----------
    counts : mapping
        Number of rows of each kind.
    examples : mapping
        Some rows of each kind, as dictionaries or tuples.
    """
    odd = [kind for kind in REFUSED if counts.get(kind, 0)]
    if not odd:
        return
    parts = []
    for kind in odd:
        rows = [" ".join(str(row).split())[:200] for row in examples.get(kind, ())][:3]
        such = f", such as {', '.join(rows)}" if rows else ""
        parts.append(f"{kind}: {counts[kind]} rows {_MEANING[kind]}{such}")
    raise DataError(
        f"The table of pairs has rows that cannot be taken as they are ({'; '.join(parts)}); "
        'correct them, or pass odd_rows="handle": rows without ids or usable scores are then '
        "dropped, and contradictory scores averaged."
    )


def evidence_pairs(evidence: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return pairs of ids known to be related, and not, from a mapping."""
    unknown = set(evidence) - {"related", "unrelated"}
    if unknown:
        raise EvidenceError(
            "evidence is {'related': [(id, id), ...], 'unrelated': [...]}, or a table of pairs of "
            f"ids with a column 'related'; got the key {sorted(map(str, unknown))[0]!r}."
        )
    related, unrelated = evidence.get("related", ()), evidence.get("unrelated", ())
    return [tuple(pair) for pair in related], [tuple(pair) for pair in unrelated]


def require_evidence_columns(columns: Columns, names: Sequence[str]) -> None:
    """Raise `DataError` if a table of evidence lacks a column."""
    for name in (columns.left, columns.right, "related"):
        if name not in names:
            raise DataError(
                f"The table of evidence has no column {name!r}; its columns are "
                f"{', '.join(names)}. It names elements in the same columns as the table of pairs, "
                "and says 1 or 0 in 'related'."
            )


def require_group_columns(name: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the columns of pairs that ``one_per_group=name`` means, or raise `DataError`."""
    for ending in ("_l", "_r"):
        if name + ending not in names:
            raise DataError(
                f"one_per_group={name!r} names the columns {name}_l and {name}_r; the table of "
                f"pairs has no column {name + ending!r}."
            )
    return f"{name}_l", f"{name}_r"


def two_values(what: str, element: Any) -> DataError:
    """Return the error for an argument that gives an element two values."""
    return DataError(f"{what}= gives the element {element} two values; give it one.")


# pyarrow's own ways from numpy and back import pandas wherever that is installed, which takes
# longer than a small table


def numbers_of(column: Any) -> NDArray[Any]:
    """Return an Arrow array of numbers as a numpy array, with NaN where it is null."""
    if column.null_count:
        column = column.fill_null(np.nan)
    return np.from_dlpack(column)


def arrow_numbers(numbers: NDArray[Any]) -> Any:
    """Return a numpy array of numbers as an Arrow array."""
    import pyarrow as pa

    kind, memory = pa.from_numpy_dtype(numbers.dtype), np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(memory)])
