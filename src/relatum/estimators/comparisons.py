"""Comparisons of two items, as people keep them: wins, losses, draws, or the goals of both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.problem import plain_array, shown

RESULTS = {"win": 1.0, "loss": 0.0, "draw": 0.5}


class Comparisons(NamedTuple):
    """Comparisons as arrays.

    Attributes
    ----------
    first, second : int64 arrays (k,)
        Places in `items`.
    result : float64 array (k,)
        Of the first: 1 for a win, 0 for a loss, 0.5 for a draw.
    weight : float64 array (k,) or None
    items : list
        In the order in which they occur.
    """

    first: Index
    second: Index
    result: Floats
    weight: Floats | None
    items: list[Any]


def read_comparisons(
    a: Iterable[Any], b: Iterable[Any], outcome: Any = None, weight: Any = None
) -> Comparisons:
    """Read comparisons; see `LinearRanker.fit_comparisons` for what they may look like."""
    names = _items(a, "a"), _items(b, "b")
    count = len(names[0])
    if count != len(names[1]) or count == 0:
        raise DataError(
            f"Comparisons are of a[k] and b[k], one or more, got {count} items in a and "
            f"{len(names[1])} in b."
        )
    number: dict[Any, int] = {}
    for pair in zip(*names, strict=True):
        for name in pair:
            number.setdefault(name, len(number))
    first, second = (np.array([number[name] for name in side], np.int64) for side in names)
    same = np.flatnonzero(first == second)
    if len(same):
        raise DataError(
            f"Comparison {same[0]} compares {names[0][same[0]]!r} with itself; leave it out."
        )
    result = np.ones(count) if outcome is None else _results(outcome, count)
    return Comparisons(first, second, result, _weights(weight, count), list(number))


def _items(side: Iterable[Any], which: str) -> list[Any]:
    if isinstance(side, str) or not isinstance(side, Iterable):
        raise DataError(f"{which} is a list of items, one per comparison, got {shown(side)}.")
    items = [x.item() if isinstance(x, np.generic) else x for x in side]
    for k, item in enumerate(items):
        if not isinstance(item, Hashable) or item is None or item != item:
            raise DataError(
                f"{which}[{k}] is no name of an item, got {shown(item)}; give texts or numbers, "
                "and leave out comparisons of which an item is missing."
            )
    return items


def _results(outcome: Any, count: int) -> Floats:
    """Return 1, 0 or 0.5 for each comparison."""
    goals = _goals(outcome, count)
    if goals is not None:
        return np.asarray(0.5 + 0.5 * np.sign(goals[0] - goals[1]))
    if isinstance(outcome, str) or not isinstance(outcome, Iterable):
        raise DataError(_expected(outcome, count))
    results = [_result(k, x) for k, x in enumerate(outcome)]
    if len(results) != count:
        raise DataError(_expected(f"{len(results)} of them", count))
    return np.array(results)


def _result(k: int, given: Any) -> float:
    if isinstance(given, str) and given in RESULTS:
        return RESULTS[given]
    if isinstance(given, int | float | np.number) and given in (0.0, 0.5, 1.0):
        return float(given)
    raise DataError(
        f'outcome[{k}] is "win", "loss" or "draw", or 1, 0 or 0.5, got {shown(given)}; for goals '
        "give those of both, outcome=(goals of a, goals of b)."
    )


def _expected(got: Any, count: int) -> str:
    return (
        f'outcome is {count} times "win", "loss" or "draw", or 1, 0 or 0.5, one per comparison, or '
        f"(goals of a, goals of b), got {shown(got) if not isinstance(got, str) else got}."
    )


def _goals(outcome: Any, count: int) -> tuple[Floats, Floats] | None:
    """Return the goals of both, if that is what is given: two lists, or two columns."""
    if isinstance(outcome, tuple | list):
        if len(outcome) != 2 or any(np.ndim(side) != 1 for side in outcome):
            return None
        sides: list[NDArray[Any]] = [plain_array(side, "Goals", DataError) for side in outcome]
    else:
        table = np.asarray(outcome)
        if table.ndim != 2:
            return None
        if table.shape[1] != 2:
            raise DataError(
                "outcome has one entry per comparison, or two columns, the goals of a and of b, "
                f"got shape {table.shape}."
            )
        sides = [plain_array(column, "Goals", DataError) for column in table.T]
    for side in sides:
        if side.dtype.kind not in "biuf" or len(side) != count or not np.isfinite(side).all():
            raise DataError(
                f"Goals are {count} finite numbers for each side, got {len(side)} of dtype "
                f"{side.dtype}; leave out games without a result."
            )
    return sides[0].astype(np.float64), sides[1].astype(np.float64)


def _weights(weight: Any, count: int) -> Floats | None:
    if weight is None:
        return None
    given = plain_array(weight, "weight", DataError)
    numeric = given.dtype.kind in "biuf" and given.shape == (count,)
    if not numeric or not (np.isfinite(given).all() and (given >= 0).all()):
        raise DataError(
            f"weight is {count} finite numbers from 0 on, one per comparison, got shape "
            f"{given.shape} and dtype {given.dtype}."
        )
    return given.astype(np.float64)
