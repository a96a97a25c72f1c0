"""What users hand in, looked at once: arrays, counts, numbers and switches of the right kind.

Each function returns what was given in the form that the library works with, or raises the
error that it is told to, in one sentence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.errors import ProblemError, RelatumError

MOST_ELEMENTS = 1 << 31  # so that the number of a pair is an int64
LARGEST = 2.0**1000  # bits: the size of a score; what is certain is evidence
LARGEST_SUM = 2.0**1020  # bits: of the sizes of all scores; no sum of them is infinite
SMALLEST = 2.0**-1022  # bits: below, numbers have fewer digits than others
_SHOWN = 60  # letters of what was got that an error shows


def shown(value: object) -> str:
    """Return a value as an error shows it: one short line."""
    try:
        text = repr(value)
    except Exception:  # of classes that are not ours
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def plain_array(values: Any, what: str, error: type[RelatumError] = ProblemError) -> NDArray[Any]:
    """Return an array of what was given; refuse ragged lists and masked arrays.

    Parameters
    ----------
    values : array-like
    what : str
        What it is, in the plural: the beginning of the error's sentence.
    error : class
    """
    parts = values if isinstance(values, list | tuple) else [values]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise error(
            f"{what} are an array whose entries all count, got a masked one; fill it "
            "(array.filled(...)), or leave out what is masked."
        )
    try:
        return np.asarray(values)
    except Exception as wrong:  # also what classes that are not ours raise
        told = (str(wrong).splitlines() or [type(wrong).__name__])[0][:160].rstrip(".")
        raise error(
            f"{what} are an array, or lists of equal lengths, got {shown(values)}, of which numpy "
            f"makes none: {told}."
        ) from None


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return a vector of objects, sequences among them too."""
    array = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        array[k] = value
    return array


def labels_array(labels: Any, what: str, error: type[RelatumError] = ProblemError) -> NDArray[Any]:
    """Return labels or ids as an array; in lists, 1 and "1" stay different, and tuples whole."""
    given = labels
    if isinstance(labels, Iterable) and not hasattr(labels, "__array__"):
        given = list(labels)
        if any(isinstance(x, str | tuple) for x in given):
            return object_array(given)
    return plain_array(given, what, error)


def whole_number(
    value: Any,
    what: str,
    least: int = 1,
    most: int = MOST_ELEMENTS,
    error: type[RelatumError] = ProblemError,
) -> int:
    """Return a whole number in a range; refuse texts, fractions and booleans."""
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise error(f"{what} is a whole number from {least} to {most}, got {shown(value)}.")
    return number


def real_number(value: Any, what: str, error: type[RelatumError] = ProblemError) -> float:
    """Return a finite number; refuse texts, booleans, infinity and NaN."""
    real = isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)
    try:
        number = float(value) if real else math.nan
    except (TypeError, ValueError, OverflowError):  # complex, or larger than any float
        number = math.nan
    if not math.isfinite(number):
        raise error(f"{what} is a finite number, got {shown(value)}.")
    return number


def switch(value: Any, what: str, error: type[RelatumError] = ProblemError) -> bool:
    """Return True or False; refuse what merely counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise error(f"{what} is True or False, got {shown(value)}.")
    return bool(value)


def require_sizes(values: NDArray[Any], count: int | None = None) -> None:
    """Refuse finite scores that are too large or too small to be added up without harm.

    Parameters
    ----------
    values : float array
        Without infinite entries and NaN.
    count : int, optional
        How many scores there are in all, if these are only some of them.
    """
    if values.size == 0 or values.dtype != np.float64:  # float32 has neither
        return
    top = max(float(values.max()), -float(values.min()))
    if top > LARGEST:
        raise ProblemError(
            f"Log-odds are at most 2**1000 bits in size, got {top:g}; what is certain is evidence: "
            "write inf or -inf."
        )
    if top * float(count or values.size) > LARGEST_SUM:
        raise ProblemError(
            f"Log-odds must add up to a float, but there are {count or values.size} of up to "
            f"{top:g} bits; divide all of them by one number."
        )
    size = np.ascontiguousarray(values).view(np.uint64) << np.uint64(1)  # without the sign
    size -= np.uint64(1)  # zero becomes the largest
    least = np.uint64((1 << 53) - 1)  # the bits of SMALLEST, treated in the same way
    if size.min() < least:
        tiny = float(values.ravel()[int(size.argmin())])
        raise ProblemError(
            f"Log-odds are 0.0 or at least 2**-1022 bits in size, got {tiny:g}; use 0.0 for 'no "
            "opinion'."
        )


def is_missing(value: Any) -> bool:
    """Say whether a value stands for nothing: None, NaN, NaT and the like."""
    try:
        return value is None or bool(value != value)
    except Exception:  # pandas.NA has no truth value
        return True
