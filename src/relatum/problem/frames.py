"""Columns out of tables and graphs of other libraries, none of which is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import ProblemError, RelatumError
from relatum.problem.arguments import is_missing, labels_array, object_array, plain_array, shown
from relatum.problem.feasible import EQUIVALENCES, FeasibleSet
from relatum.problem.names import names_of

# Bits of a pair that nobody scored, where equivalence relations are asked for and nothing else is
# known: of eight constants the one with the smallest regret on real and planted tables, from
# block recalls of .3 to 1 (benchmarks/background.py)
UNSCORED = -0.5
_FEWEST = 4  # scores that tell: three small numbers may well be bits


def default_background(feasible: FeasibleSet) -> float:
    """Return the log-odds of pairs that a table does not list, if nobody says what they are.

    Only of equivalence relations does a table of candidate pairs say anything by leaving a pair
    out; in orders and maps such a pair is not known, which is 0 bits.
    """
    return UNSCORED if feasible <= EQUIVALENCES else 0.0


def require_log_odds(name: str, spread: Sequence[float | None], rows: int) -> None:
    """Refuse a column of scores that nobody called log-odds and that look like probabilities.

    Parameters
    ----------
    name : str
        Of the column.
    spread : (least, most, least between, most between)
        Of all numbers, and of those strictly between 0 and 1; None where there are none. Zeros
        and ones alone are a graph, and one number repeated is a weight.
    rows : int
    """
    low, high, first, last = spread
    if rows < _FEWEST or low is None or high is None or first is None or last is None:
        return
    if low >= 0 and high <= 1 and first < last:
        raise ProblemError(
            f"All {rows} numbers in column {name!r} lie between 0 and 1 ({low:.3g} to {high:.3g}), "
            "as probabilities do; taken for bits, all would speak for the relation. Say which they "
            f'are: probability="{name}" or log_odds="{name}".'
        )


def spread_of(values: Floats) -> tuple[float | None, ...]:
    """Return what `require_log_odds` asks about numbers."""
    known = values[~np.isnan(values)]
    between = known[(known > 0) & (known < 1)]
    return tuple(
        None if not part.size else float(end(part))
        for part in (known, between)
        for end in (np.min, np.max)
    )


def _column_names(table: Any) -> list[str]:
    names = getattr(table, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(table, "columns", None)  # pandas, polars
    if names is None:
        raise ProblemError(
            "A table of pairs is a pandas or polars DataFrame or a pyarrow Table, got "
            f"{type(table).__name__}."
        )
    return [str(n) for n in (names() if callable(names) else names)]


def _column(table: Any, name: str) -> NDArray[Any]:
    try:
        column = table[name]
        if hasattr(column, "to_numpy"):
            column = column.to_numpy()
    except Exception as error:  # whatever the library that made the table raises
        if isinstance(error, RelatumError):
            raise
        told = " ".join(str(error).split())[:160].rstrip(".")
        raise ProblemError(f"Column {name!r} of the table cannot be read: {told}.") from None
    array = plain_array(column, f"The entries of column {name!r}")
    if array.ndim != 1:
        raise ProblemError(f"The table of pairs has several columns {name!r}; rename all but one.")
    return array


def columns_of_table(
    table: Any, left: str, right: str, log_odds: str | None, probability: str | None
) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Return (left ids, right ids, log2-odds) of a table of scored pairs."""
    names = _column_names(table)
    score, is_probability = score_column(names, (left, right), log_odds, probability)
    values = _numbers(_column(table, score), score)
    if not is_probability and log_odds is None:
        require_log_odds(score, spread_of(values), len(values))
    if is_probability:
        values = _log_odds_of(values, score)
    return _column(table, left), _column(table, right), values


def score_column(
    names: Sequence[str], ids: tuple[str, str], log_odds: str | None, probability: str | None
) -> tuple[str, bool]:
    """Return the column of scores of a table of pairs, and whether it holds probabilities.

    By default it is ``match_weight`` if there is such a column, else ``match_probability``.
    """
    for name in (*ids, log_odds, probability):
        if name is not None and not isinstance(name, str):
            raise ProblemError(f"A column has a name, a text, got {shown(name)}.")
    if log_odds is not None and probability is not None:
        raise ProblemError("Give the score column once: either log_odds= or probability=.")
    if log_odds is None and probability is None:
        weights = "match_weight" in names or "match_probability" not in names
        log_odds, probability = ("match_weight", None) if weights else (None, "match_probability")
    score = str(probability if log_odds is None else log_odds)
    missing = [name for name in (*ids, score) if name not in names]
    if missing:
        raise ProblemError(
            f"The table of pairs has no column {missing[0]!r}; its columns are {', '.join(names)}. "
            "Name the columns with left=, right= and log_odds= (bits, by default match_weight) or "
            "probability= (by default match_probability)."
        )
    return score, log_odds is None


def _numbers(values: NDArray[Any], name: str) -> Floats:
    texts = values.dtype.kind in "US" or any(isinstance(x, str) for x in values.tolist())
    try:
        if texts or values.dtype.kind in "mMcV":
            raise TypeError(f"it holds {'texts' if texts else values.dtype}")
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(
            f"Column {name!r} holds one number per row, but {error}; drop or fill such rows first."
        ) from None


def _log_odds_of(p: Floats, name: str) -> Floats:
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if bad.size:
        raise ProblemError(
            f"Column {name!r} holds probabilities between 0 and 1, but row {bad[0]} has "
            f"{p[bad[0]]}; log-odds go in with log_odds={name!r}."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(p) - np.log2(1 - p))


def _one_column(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Put columns of ids together, so that different ids stay different."""
    kinds = {column.dtype.kind for column in columns if column.size}
    if kinds == {"i", "u"}:  # numpy would make floats of them, which are not exact
        low = min(int(column.min()) for column in columns if column.size)
        columns = [column.astype(object if low < 0 else np.uint64) for column in columns]
    elif len(kinds) > 1 and kinds & set("USO") and "O" not in kinds:  # 1 and "1" are two ids
        raise ProblemError(
            "Ids are of one type that sorts, but one column holds numbers and the other texts; "
            "convert the columns to one type."
        )
    return np.concatenate(columns)


def enumerate_ids(*columns: NDArray[Any]) -> tuple[NDArray[Any], list[Index]]:
    """Return the sorted ids of several columns, and each column as places in them."""
    both = _one_column(columns)
    if both.dtype == object:
        missing = np.array([is_missing(v) for v in both], dtype=np.bool_)
    else:
        missing = both != both  # NaN is the one value that differs from itself
    if np.any(missing):
        row = int(np.flatnonzero(missing)[0]) % len(columns[0])
        raise ProblemError(f"An id is missing in row {row}; drop such rows first.")
    try:
        ids, codes = np.unique(both, return_inverse=True)
    except TypeError as error:
        raise ProblemError(
            f"Ids are of one type that sorts, but {error}; convert the columns to one type."
        ) from None
    parts = np.split(codes.astype(np.int64), np.cumsum([len(c) for c in columns])[:-1])
    return ids, parts


def places_in(names: Any, *columns: NDArray[Any]) -> tuple[NDArray[Any], list[Index]]:
    """Return given ids, and each column as places in them."""
    listed = labels_array(names, "names")
    known = names_of(listed, (len(listed) if listed.ndim else 0,) * 2, True)
    side = None if known is None else known.sides[0]
    assert side is not None
    places = []
    for column in columns:
        found = [side.find(x) for x in column.tolist()]
        if None in found:
            row = found.index(None)
            raise ProblemError(
                f"names list every id of the table, but not {shown(column.tolist()[row])}, of row "
                f"{row}."
            )
        places.append(np.array(found, dtype=np.int64))
    return listed, places


def _float(number: Any) -> float:
    try:
        return float(number)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"Log-odds are real numbers in bits, but {error}.") from None


def columns_of_edges(graph: Any, weight: str) -> tuple[NDArray[Any], Index, Index, Floats]:
    """Return (nodes, i, j, weights) of a networkx graph."""
    nodes = list(graph.nodes)
    number = {node: k for k, node in enumerate(nodes)}
    i, j, score = [], [], []
    if not isinstance(weight, str):
        raise ProblemError(f"weight is the name of an attribute of edges, got {shown(weight)}.")
    for u, v, data in graph.edges(data=True):
        if weight not in data:
            raise ProblemError(
                f"Edge ({u!r}, {v!r}) has no attribute {weight!r}; name the one that holds "
                "log-odds with weight=."
            )
        bits = data[weight]
        if not isinstance(bits, Real | np.number):
            raise ProblemError(
                f"Edge ({u!r}, {v!r}) has log-odds in {weight!r}, a number, got {shown(bits)}."
            )
        i.append(number[u])
        j.append(number[v])
        score.append(_float(bits))
    ids = object_array(nodes)
    return ids, np.array(i, np.int64), np.array(j, np.int64), np.array(score, np.float64)
