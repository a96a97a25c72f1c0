"""Problems into files of any format that holds them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.cplib import write_cplib
from relatum.io.files.reading import as_path
from relatum.io.listed_pairs import ListedPairs
from relatum.io.lolib import write_lolib
from relatum.io.matrices import write_matrix
from relatum.io.multicut import write_multicut
from relatum.io.pace import write_pace
from relatum.io.problems import format_of
from relatum.io.scored_pairs import write_pair_table
from relatum.io.signed_graph import write_signed_graph
from relatum.problem import EQUIVALENCES, UNSCORED, Problem, SparseScores, shown

Notes = list[str]


def _require_direction(problem: Problem, directed: bool, name: str) -> None:
    symmetric = problem.feasible.has("symmetric")
    if symmetric and directed:
        raise DataError(
            f"{name} scores ordered pairs, this problem ({problem.feasible}) unordered ones; "
            "formats for it are cplib, signed, multicut and pairs."
        )
    if not symmetric and not directed:
        raise DataError(
            f"{name} scores unordered pairs, this problem ({problem.feasible}) ordered ones; "
            "formats for it are pairs and matrix, and lolib for orders."
        )


def _constant(constant: float) -> Notes:
    return [f"the diagonal, {constant:g} bits of every value, is left out"] if constant else []


def _listed(problem: Problem, usual: float = 0.0) -> tuple[ListedPairs, Notes]:
    """Unordered pairs with their scores, and what they leave out but for the usual background."""
    scores = problem.scores
    if not isinstance(scores, SparseScores):
        upper, constant = problem.folded()
        i, j = np.triu_indices(problem.n, 1)
        pairs = ListedPairs(problem.n, i, j, np.asarray(upper, dtype=np.float64))
        return pairs, _constant(constant)
    off = scores.i != scores.j
    diagonal = float(np.asarray(scores.log_odds)[~off].sum(dtype=np.float64))
    notes = _constant(diagonal)
    if scores.background != usual:
        notes.append(
            f"pairs that are not listed have {scores.background:g} bits: read it with "
            f"--background {scores.background:g}"
        )
    found = np.asarray(scores.log_odds[off], dtype=np.float64)
    return ListedPairs(problem.n, scores.i[off], scores.j[off], found), notes


def _lolib(path: Path, problem: Problem) -> Notes:
    c = problem.dense()
    write_lolib(path, c)
    return _constant(float(np.diagonal(c).sum()))


def _cplib(path: Path, problem: Problem) -> Notes:
    upper, constant = problem.folded()
    write_cplib(path, upper)
    return _constant(constant)


def _sparse(write: Callable[[Path, ListedPairs], None]) -> Callable[[Path, Problem], Notes]:
    """Return what writes a problem by listing its pairs."""

    def listed(path: Path, problem: Problem) -> Notes:
        pairs, notes = _listed(problem)
        write(path, pairs)
        return notes

    return listed


def _pace(path: Path, problem: Problem) -> Notes:
    upper, constant = problem.folded()
    if not np.isin(upper, (-1.0, 1.0)).all():
        raise DataError(
            "pace says of each pair that it is an edge (+1) or not (-1), this problem has other "
            "log-odds; formats for it are cplib, signed, multicut and pairs."
        )
    i, j = np.triu_indices(problem.n, 1)
    write_pace(path, problem.n, i[upper > 0], j[upper > 0])
    return _constant(constant)


def _pairs(path: Path, problem: Problem) -> Notes:
    if problem.feasible.has("symmetric"):
        pairs, notes = _listed(problem, UNSCORED if problem.feasible <= EQUIVALENCES else 0.0)
    else:
        if problem.shape[0] != problem.shape[1] or not problem.feasible.homogeneous:
            raise DataError("pairs holds relations on one set; the format for maps is matrix.")
        c = problem.dense()
        i, j = np.nonzero(~np.eye(problem.n, dtype=np.bool_))
        pairs = ListedPairs(problem.n, i, j, c[i, j])
        notes = [*_constant(float(np.diagonal(c).sum())), "pairs have a direction: say so by --as"]
    alone = problem.n - len(np.union1d(pairs.i, pairs.j))
    if alone:
        notes.append(f"{alone} elements without a listed pair are left out")
    ids: NDArray[np.generic] = np.arange(problem.n) if problem.ids is None else problem.ids
    write_pair_table(path, ids[pairs.i], ids[pairs.j], pairs.log_odds)
    return notes


def _matrix(path: Path, problem: Problem) -> Notes:
    write_matrix(path, problem.dense())
    return [f"read it with --as {str(problem.feasible.structure).lower()!r}"]


WRITERS: dict[str, Callable[[Path, Problem], Notes]] = {
    "lolib": _lolib,
    "cplib": _cplib,
    "multicut": _sparse(write_multicut),
    "signed": _sparse(write_signed_graph),
    "pace": _pace,
    "pairs": _pairs,
    "matrix": _matrix,
}


def write_problem(path: str | Path, problem: Problem, format: str | None = None) -> list[str]:  # noqa: A002
    """Write the log-odds of a problem to a file that `read_problem` reads back.

    Parameters
    ----------
    path : str or Path
        Gzipped if the name ends in ``.gz``; written whole or not at all.
    problem : Problem
        Without evidence, which has a file of its own.
    format : str, optional
        A key of `WRITERS`; told from the ending of the name otherwise.

    Returns
    -------
    list of str
        What the format does not hold, such as names of elements.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.npy"
    >>> problem = rt.Problem([[0.0, 2.0], [-3.0, 0.0]], rt.LINEAR_ORDERS)
    >>> rt.io.write_problem(path, problem)
    ["read it with --as 'linear_orders'"]
    """
    path = as_path(path)
    if not isinstance(problem, Problem):
        raise DataError(f"write_problem takes a relatum.Problem, got {shown(problem)}.")
    name = format_of(path) if format is None else format
    if name == "preflib":
        raise DataError(
            f"{path}: rankings cannot be told from the log-odds of pairs; use write_preflib for "
            "rankings, or the format lolib."
        )
    if not isinstance(name, str) or name not in WRITERS:
        raise DataError(
            f"{path}: the format to write cannot be told from the ending; name it with --to, one "
            f"of {', '.join(WRITERS)}."
        )
    if len(problem.evidence):
        raise DataError(
            f"{path}: evidence is no part of a file of log-odds; leave it out, and give it as "
            "--evidence when the file is read."
        )
    if name not in ("pairs", "matrix"):
        _require_direction(problem, name == "lolib", name)
    notes = WRITERS[name](path, problem)
    if problem.ids is not None and name != "pairs":
        notes.append("elements are numbered from 0 in the order of their names, which are left out")
    return notes
