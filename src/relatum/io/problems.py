"""Problems out of files of any format that the library reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from relatum.errors import DataError, FeasibleSetError, ProblemError
from relatum.io.cplib import read_cplib
from relatum.io.files.reading import as_path, numbered_lines, whole_number
from relatum.io.listed_pairs import ListedPairs
from relatum.io.lolib import read_lolib
from relatum.io.matrices import read_matrix
from relatum.io.multicut import read_multicut
from relatum.io.pace import read_pace
from relatum.io.preflib import read_preflib
from relatum.io.scored_pairs import (
    ARROW_ENDINGS,
    SPLINK_IDS,
    numbered_rows,
    read_pair_table,
    wrong_columns,
)
from relatum.io.signed_graph import read_signed_graph
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    MAPS,
    NAMED_SETS,
    RELATIONS,
    FeasibleSet,
    Problem,
    at_most,
    distinct_names,
    numbered_evidence,
    require_log_odds,
    require_memory,
    shown,
    spread_of,
)

PROBABILITIES = ("match_probability", "probability")  # columns that say what they hold
SHORT_NAMES = {"equivalence": EQUIVALENCES, "order": LINEAR_ORDERS, "map": MAPS}


def parse_set(text: str) -> FeasibleSet:
    """Return the feasible set written as ``NAME & NAME & at_most(k)``.

    ``equivalence``, ``order`` and ``map`` are short for the three classical sets.
    """
    if not isinstance(text, str):
        raise DataError(f"A feasible set is written as a text, such as 'order', got {shown(text)}.")
    result = RELATIONS
    for word in (w.strip() for w in text.split("&")):
        cap = re.fullmatch(r"at_most\(\s*([0-9]{1,15})[0-9]*\s*\)", word)  # too many are refused
        if cap:
            result = result & at_most(int(cap[1]))
        elif word in SHORT_NAMES:
            result = result & SHORT_NAMES[word]
        elif word.upper() in NAMED_SETS:
            result = result & NAMED_SETS[word.upper()]
        else:
            known = ", ".join([*SHORT_NAMES, *NAMED_SETS, "at_most(k)"])
            raise DataError(f"There is no feasible set {word!r}; there are {known}, joined by &.")
    return result


@dataclass(frozen=True)
class Request:
    """What to read from a file and how.

    Attributes
    ----------
    path : Path
    feasible : FeasibleSet, optional
        By default what the format is about.
    format : str, optional
        A key of `FORMATS`; guessed from the name and the first lines otherwise.
    background : float, optional
        Log-odds of pairs that the file does not list.
    number : int
        Which instance, of files that hold several.
    columns : mapping
        Names of columns of a table of pairs: ``left``, ``right``, ``log_odds`` or
        ``probability``, as `Problem.from_table` takes them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> rt.io.write_matrix(path, [[0.0, 2.0], [-3.0, 0.0]])
    >>> request = rt.io.Request(path, feasible=rt.LINEAR_ORDERS, format="matrix")
    >>> rt.io.read_problem(request)
    Problem(2 x 2 log-odds, LINEAR_ORDERS)
    """

    path: Path
    feasible: FeasibleSet | None = None
    format: str | None = None
    background: float | None = None
    number: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def set_or(self, default: FeasibleSet) -> FeasibleSet:
        """Return the feasible set asked for, or the format's own."""
        return default if self.feasible is None else self.feasible


def _lolib(r: Request) -> Problem:
    return Problem(read_lolib(r.path), r.set_or(LINEAR_ORDERS))


def _cplib(r: Request) -> Problem:
    scores = read_cplib(r.path)
    return Problem(scores if len(scores) else np.zeros((1, 1)), r.set_or(EQUIVALENCES))


def _listed(r: Request, pairs: ListedPairs) -> Problem:
    return Problem.from_pairs(
        pairs.i,
        pairs.j,
        pairs.log_odds,
        n=pairs.n,
        background=r.background or 0.0,
        feasible=r.set_or(EQUIVALENCES),
        combine="sum",
    )


def _multicut(r: Request) -> Problem:
    instances = read_multicut(r.path)
    if not 0 <= r.number < len(instances):
        raise DataError(f"{r.path} holds the instances 0 ... {len(instances) - 1}, not {r.number}.")
    return _listed(r, instances[r.number])


def _signed(r: Request) -> Problem:
    return _listed(r, read_signed_graph(r.path))


def _pace(r: Request) -> Problem:
    n, i, j = read_pace(r.path)
    background = -1.0 if r.background is None else r.background
    return Problem.from_pairs(
        i, j, np.ones(len(i)), n=n, background=background, feasible=r.set_or(EQUIVALENCES)
    )


def _pairs(r: Request) -> Problem:
    table = read_pair_table(r.path, r.columns)
    names = list(getattr(table, "column_names", None) or table.columns)
    options: dict[str, Any] = dict(r.columns)
    named = {"log_odds", "probability"} & set(options)
    if not {"left", "right"} & set(options) and not set(SPLINK_IDS) <= set(names):
        if len(names) != 3:  # two ids and a score, by place
            raise wrong_columns(str(r.path), names)
        score = options[min(named)] if named else names[2]
        ids = [name for name in names if name != score]
        options |= {"left": ids[0], "right": ids[1]}
        if not named:
            kind = "probability" if score in PROBABILITIES else "log_odds"
            options[kind] = score
            if kind == "log_odds":  # by place: nobody called them so
                _require_log_odds(table, score)
    elif not named and not {"match_weight", "match_probability"} & set(names):
        raise wrong_columns(str(r.path), names)
    feasible = r.set_or(EQUIVALENCES)
    return Problem.from_table(table, background=r.background, feasible=feasible, **options)


def _require_log_odds(table: Any, name: str) -> None:
    column = table[name]
    try:
        values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):  # `Problem.from_table` says what is wrong
        return
    require_log_odds(name, spread_of(numbers), len(numbers))


def _preflib(r: Request) -> Problem:
    rankings = read_preflib(r.path)
    require_memory(
        40 * rankings.n**2, f"The matrix of {rankings.n} elements", "leave elements out", DataError
    )
    c = np.zeros((rankings.n, rankings.n))
    for ranks, count in zip(rankings.ranks, rankings.counts, strict=True):
        known = ranks >= 0
        before = (ranks[:, None] < ranks[None, :]) & known[:, None] & known[None, :]
        c += count * before
    names = distinct_names(rankings.names)
    # Kemeny: each voter's pair is one bit
    return Problem(c - c.T, r.set_or(LINEAR_ORDERS), names=names)


def _matrix(r: Request) -> Problem:
    scores = read_matrix(r.path)
    return Problem(scores, r.set_or(MAPS if scores.ndim == 2 else EQUIVALENCES))


FORMATS: dict[str, Callable[[Request], Problem]] = {
    "lolib": _lolib,
    "cplib": _cplib,
    "multicut": _multicut,
    "signed": _signed,
    "pace": _pace,
    "preflib": _preflib,
    "pairs": _pairs,
    "matrix": _matrix,
}
_ENDINGS = {
    "pace": (".gr",),
    "preflib": (".soc", ".soi", ".toc", ".toi"),
    "pairs": (".csv", ".tsv", *ARROW_ENDINGS),
    "matrix": (".npy", ".npz"),
    "lolib": (".mat", ".lop"),
}


def format_of(path: Path) -> str | None:
    """Tell the format from the ending of a file's name."""
    told = (f for s in reversed(path.suffixes) for f, endings in _ENDINGS.items() if s in endings)
    return next(told, None)


def _guess(path: Path) -> str:
    """Tell the format from the ending, or from how many numbers follow the first."""
    named = format_of(path)
    if named is not None:
        return named
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise DataError(f"{path} can be read only once; name its format with --format.")
    lines = ((k, line.split()) for k, line in numbered_lines(path) if not line.startswith("#"))
    told = (s for s in lines if s[1] == ["MULTICUT"] or whole_number(s[1][0]) is not None)
    number, header = next(told, (0, []))  # lines of words before it are a title
    if not header:
        raise DataError(_untold(path, "no line begins with a number"))
    if header == ["MULTICUT"]:
        return "multicut"
    n = int(header[0])
    if n < 1:
        raise DataError(_untold(path, f"line {number} begins with {n}, not with a positive number"))
    second = len(next(lines, (0, []))[1])
    if len(header) in (2, 3) and second == 3:
        return "multicut" if len(header) == 3 else "signed"
    count = len(header) - 1 + second
    for _, words in lines:
        count += len(words)
        if count > n * n:
            break
    if count == n * n:
        return "lolib"
    if count == n * (n - 1) // 2:
        return "cplib"
    raise DataError(
        _untold(
            path,
            f"line {number} begins with {n}, but {count}{' or more' * (count > n * n)} numbers "
            f"follow, neither {n * n} (lolib) nor {n * (n - 1) // 2} (cplib)",
        )
    )


def _untold(path: Path, why: str) -> str:
    return (
        f"{path}: the format cannot be told from its name and content: {why}. Is the file "
        f"complete? Name its format with --format, one of {', '.join(FORMATS)}."
    )


def read_problem(request: Request, facts: FeasibleSet | None = None) -> Problem:
    """Read a problem from a file.

    Parameters
    ----------
    request : Request
    facts : FeasibleSet, optional
        Evidence to add, by numbers of elements.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> rt.io.write_matrix(path, [[0.0, 2.0], [-3.0, 0.0]])
    >>> request = rt.io.Request(path, feasible=rt.LINEAR_ORDERS, format="matrix")
    >>> rt.io.read_problem(request)
    Problem(2 x 2 log-odds, LINEAR_ORDERS)
    """
    if not isinstance(request, Request):
        raise DataError(f"read_problem takes a Request(path), got {shown(request)}.")
    known = request.format is None or isinstance(request.format, str)
    if not known or request.format not in (None, *FORMATS):
        raise DataError(f"There is no format {request.format!r}; there are {', '.join(FORMATS)}.")
    path = as_path(request.path)
    name = request.format or _guess(path)
    try:
        problem = FORMATS[name](replace(request, path=path))
    except (ProblemError, FeasibleSetError) as error:
        raise type(error)(f"{path}: {error}") from None
    return problem if facts is None else problem.with_feasible(problem.feasible & facts)


def read_evidence(path: Path, problem: Problem) -> FeasibleSet:
    """Read evidence: a CSV file with two columns of elements and a column ``related``.

    Elements are the ids of the problem where it has any, else numbers from 0; ``related``
    is 1 or 0 (or yes or no, + or -).
    """
    names, rows = numbered_rows(path)
    if len(names) != 3:
        raise DataError(
            f"{path}, line 1: evidence has three columns, two elements and whether related, got "
            f"{len(names)}."
        )
    number = [_texts(problem, side) for side in (0, 1)]
    yes: list[tuple[int, int]] = []
    no: list[tuple[int, int]] = []
    for line, (a, b, related) in rows:
        ends = list(zip((a.strip(), b.strip()), number, strict=True))
        for word, known in ends:
            if word not in known:
                near = get_close_matches(word, list(known)[:20_000], 3)
                hint = f"; did you mean {', '.join(map(repr, near))}?" if near else "."
                raise DataError(f"{path}, line {line}: the problem has no element {word!r}{hint}")
        pair = (ends[0][1][ends[0][0]], ends[1][1][ends[1][0]])
        word = related.strip().lower()
        if word in ("1", "yes", "true", "+", "related"):
            yes.append(pair)
        elif word in ("0", "no", "false", "-", "unrelated"):
            no.append(pair)
        else:
            raise DataError(f"{path}, line {line}: 'related' is 1 or 0, got {related!r}.")
    return numbered_evidence(yes, no)


def _texts(problem: Problem, side: int) -> dict[str, int]:
    """Return the numbers of the elements of A or B by what a file calls them."""
    names = None if problem.names is None else problem.names[side]
    called = range(problem.shape[side]) if names is None else names
    return {str(name): k for k, name in enumerate(called)}
