"""Problems and estimates as entries of a manifest, and the fingerprint of a problem."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.io.bundle.archive import DamageError, whole_numbers
from relatum.io.bundle.nodes import Put, Take
from relatum.problem import (
    ANTISYMMETRIC,
    CONNEX,
    HAS_IMAGE,
    HAS_PREIMAGE,
    REFLEXIVE,
    RELATIONS,
    SYMMETRIC,
    TRANSITIVE,
    UNIQUE_IMAGE,
    UNIQUE_PREIMAGE,
    FeasibleSet,
    LinearOrder,
    Map,
    PartialMap,
    Partition,
    Problem,
    Relation,
    SparseScores,
    WeakOrder,
    at_most,
    numbered_evidence,
    object_array,
    one_per_group,
    plain_names,
)

EMBEDDED = (
    2_000_000  # scores, pairs of evidence and groups of elements up to which a problem is kept
)
_PROPERTIES: dict[str, FeasibleSet] = {
    "reflexive": REFLEXIVE,
    "symmetric": SYMMETRIC,
    "antisymmetric": ANTISYMMETRIC,
    "transitive": TRANSITIVE,
    "connex": CONNEX,
    "has_image": HAS_IMAGE,
    "unique_image": UNIQUE_IMAGE,
    "has_preimage": HAS_PREIMAGE,
    "unique_preimage": UNIQUE_PREIMAGE,
}
_KINDS: dict[str, type[Relation]] = {
    c.__name__: c for c in (Relation, Map, PartialMap, Partition, LinearOrder, WeakOrder)
}


def fingerprint(problem: Problem, version: int = 2) -> str:
    """Return a hash of the log-odds and the feasible set of a problem.

    Parameters
    ----------
    problem : Problem
    version : {2, 1}
        That of the bundle. The first left out how many elements a sparse problem has.
    """
    digest = hashlib.sha256()
    scores, feasible = problem.scores, problem.feasible
    arrays = [scores.log_odds]
    if isinstance(scores, SparseScores):
        arrays += [scores.i, scores.j, np.array([scores.background])]
    arrays += [problem.evidence.related, problem.evidence.unrelated]
    arrays += [group.codes for group in feasible.groups]
    for array in arrays:
        array = np.asarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    if version > 1:
        digest.update(str((problem.shape, _kind_of_pairs(problem))).encode())
        feasible = feasible.complete
    digest.update(str((sorted(feasible.names), feasible.cap)).encode())
    return digest.hexdigest()


def _kind_of_pairs(problem: Problem) -> str:
    """Return which pairs are scored: all, ordered (a != b) or unordered (a < b) ones."""
    scores = problem.scores
    if isinstance(scores, SparseScores):
        return "all" if scores.kind == "bipartite" else scores.kind
    return "unordered" if scores.log_odds.ndim == 1 else "all"


def problem_entry(problem: Problem, put: Put) -> dict[str, Any]:
    """Write a problem down; if it is large, its fingerprint only."""
    entry: dict[str, Any] = {"fingerprint": fingerprint(problem)}
    scores, feasible, known = problem.scores, problem.feasible.complete, problem.evidence
    size = scores.log_odds.size + len(known) + problem.n * len(feasible.groups)
    sparse = isinstance(scores, SparseScores)
    if size > EMBEDDED or not (sparse or scores.log_odds.size):
        return entry
    listed: dict[str, Any] = {
        "pairs": _kind_of_pairs(problem),
        "background": float(scores.background),
        "log_odds": put(np.ravel(scores.log_odds)),
    }
    if isinstance(scores, SparseScores):
        listed |= {"i": put(scores.i), "j": put(scores.j)}
    return (
        entry
        | names_entry(problem)
        | {
            "shape": list(problem.shape),
            "properties": sorted(feasible.names),
            "cap": feasible.cap,
            "scores": listed,
            "related": put(known.related),
            "unrelated": put(known.unrelated),
            "groups": [put(group.codes) for group in feasible.groups],
        }
    )


def read_problem_entry(entry: dict[str, Any], take: Take) -> Problem | None:
    """Return the problem that a bundle holds; None if it holds a fingerprint only."""
    if "scores" not in entry:
        return None
    n, m = entry["shape"]
    feasible = RELATIONS
    for name in entry["properties"]:
        feasible = feasible & _PROPERTIES[name]
    if entry["cap"] is not None:
        feasible = feasible & at_most(entry["cap"])
    yes, no = (whole_numbers(take(entry[key]), 2) for key in ("related", "unrelated"))
    feasible = feasible & numbered_evidence(yes, no)
    for codes in entry["groups"]:
        feasible = feasible & one_per_group(whole_numbers(take(codes)))
    problem = _scored(entry["scores"], (n, m), take).with_feasible(feasible)
    if problem.shape != (n, m) or fingerprint(problem) != entry["fingerprint"]:
        raise DamageError("its problem is not the one whose fingerprint is stated")
    return _with_names(problem, entry.get("names"))


def names_entry(problem: Problem) -> dict[str, Any]:
    """Write the names of elements down, a list for A and one for B; once, where A = B.

    They are no part of the fingerprint, nor of what is proved. Texts and numbers stay what they
    are; names of other types become texts.
    """
    if problem.names is None:
        return {}
    rows, columns = problem.names
    lists = [rows] if rows is columns else [rows, columns]
    return {"names": [None if x is None else _plain_list(plain_names(x)) for x in lists]}


def _plain_list(names: list[Any]) -> list[Any] | None:
    """Return names that JSON has; None if they are no longer all different."""
    plain = [_plain_name(name) for name in names]
    return plain if len(set(plain)) == len(plain) else None


def _plain_name(name: Any) -> Any:
    whole = isinstance(name, int) and not isinstance(name, bool)
    if isinstance(name, str) or whole or (isinstance(name, float) and math.isfinite(name)):
        return name
    return str(name)


def _with_names(problem: Problem, lists: Any) -> Problem:
    if lists is None:
        return problem
    if not isinstance(lists, list) or len(lists) not in (1, 2):
        raise DamageError("its names are not one list, or two")
    for names in lists:
        kinds = {type(name) for name in names or ()}
        if not (names is None or isinstance(names, list)) or kinds - {str, int, float}:
            raise DamageError("its names are no texts and numbers")
    one = len(lists) == 1
    problem.ids = object_array(lists[0]) if one else tuple(_names_of_side(x) for x in lists)
    return problem


def _names_of_side(names: Any) -> Any:
    return None if names is None else object_array(names)


def _scored(entry: dict[str, Any], shape: tuple[int, int], take: Take) -> Problem:
    """Return the problem with these scores and no properties but symmetry."""
    kind, log_odds = entry["pairs"], take(entry["log_odds"])
    if log_odds.dtype.kind != "f" or not np.isfinite(log_odds).all():
        raise DamageError("its log-odds are no finite floats")
    structure = SYMMETRIC if kind == "unordered" else RELATIONS
    if "i" not in entry:
        matrix = log_odds if kind == "unordered" else log_odds.reshape(shape)
        return Problem(matrix, structure)
    i, j = (whole_numbers(take(entry[key])) for key in ("i", "j"))
    n = shape if kind == "all" else shape[0]
    background = float(entry["background"])
    return Problem.from_pairs(i, j, log_odds, n=n, background=background, feasible=structure)


def number(x: float) -> float | str:
    """Return a number as JSON has it; infinite ones are the words inf and -inf."""
    return float(x) if math.isfinite(x) else str(float(x))


def read_number(value: Any) -> float:
    """Return a number of a manifest."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise DamageError(f"{str(value)[:20]!r} stands where a number should")
    return float(value)


def relation_entry(relation: Relation | None, put: Put) -> Any:
    """Write a relation down: its kind, and what it is made from."""
    if relation is None:
        return None
    array, *rest = relation.__reduce__()[1]
    return {"kind": type(relation).__name__, "of": [put(array), *rest]}


def read_relation_entry(entry: Any, take: Take) -> Relation | None:
    """Return the relation that an entry stands for."""
    if entry is None:
        return None
    kind, (first, *rest) = _KINDS[entry["kind"]], entry["of"]
    array: NDArray[Any] = take(first)
    if kind is not Relation:
        array = whole_numbers(array)
    elif array.dtype != np.bool_:
        raise DamageError("its relation is no matrix of flags")
    return kind(array, *rest)
