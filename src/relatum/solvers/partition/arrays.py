"""The one place where a problem over equivalence relations becomes arrays.

Four layouts, each for those who work on it: `instance_of` contracts must-links and compresses
rules, for searches; `square_arrays` has a matrix entry per pair, for relaxations with a column
per pair; `condensed_arrays` has all pairs once, for packings of dense problems; `listed_arrays`
has listed and decided pairs only, for bounds of sparse ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from relatum.array_types import Floats, Index
from relatum.kernels.folding import unfold
from relatum.kernels.partition.dense import contract_dense
from relatum.kernels.partition.records import Rules, SparseGraph
from relatum.kernels.partition.sparse import contract_sparse
from relatum.problem import (
    CondensedScores,
    DenseScores,
    Partition,
    Problem,
    SparseScores,
    condensed_places,
)
from relatum.solvers.reductions.contraction import groups_of_must_links

FAR = 1e15  # stands for the log-odds of pairs that are decided beforehand
MATRIX_ELEMENTS = 2000  # elements up to which searches want listed pairs written to a matrix


def renumbered(labels: NDArray[Any]) -> Index:
    """Labels 0, 1, ... without gaps."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def square(condensed: NDArray[Any], n: int) -> NDArray[Any]:
    """Return the symmetric matrix, with zero diagonal, of a condensed vector."""
    out = np.zeros((n, n), dtype=condensed.dtype)
    unfold(condensed, out)
    return out


def keys_of(a: Index, b: Index, n: int) -> Index:
    """Return the number ``a * n + b``, a < b, of unordered pairs."""
    return np.asarray(np.minimum(a, b) * n + np.maximum(a, b))


@dataclass(frozen=True, eq=False)
class Instance:
    """What the search needs of a problem.

    Attributes
    ----------
    element : int64 array (n,)
        The contracted element of each element of the problem.
    rules : Rules
    weights : array (m, m) or None
        Scores between contracted elements, if dense; the caller's array where possible.
    graph : SparseGraph or None
        Scores between contracted elements, if sparse.
    constant, scale : float
        The value of a partition of the problem is the constant plus `scale` times the sum of
        these scores inside sets.
    """

    element: Index
    rules: Rules
    weights: NDArray[Any] | None
    graph: SparseGraph | None
    constant: float
    scale: float

    @property
    def n(self) -> int:
        """The number of contracted elements."""
        return len(self.rules.sizes)


def instance_of(problem: Problem, matrix: bool = True) -> Instance | None:
    """Return the arrays of a problem, or None if its evidence contradicts itself.

    Listed pairs of few elements are written to a matrix, unless `matrix` is False.
    """
    n = problem.n
    yes = problem.evidence.related
    linked = bool((yes[:, 0] != yes[:, 1]).any())
    element = groups_of_must_links(yes, n) if linked else np.arange(n, dtype=np.int64)
    rules = _rules_of(problem, element)
    if rules is None:
        return None
    m = len(rules.sizes)
    constant = problem.value(Partition(element))
    if isinstance(problem.scores, SparseScores) and (m > MATRIX_ELEMENTS or not matrix):
        graph = _graph_of(problem.scores)
        if m < n:
            graph = contract_sparse(graph, element, m)
        return Instance(element, rules, None, graph, constant, 1.0)
    weights, scale = _weights_of(problem)
    if m < n:
        weights = contract_dense(weights, element, m)
    return Instance(element, rules, weights, None, constant, scale)


def _weights_of(problem: Problem) -> tuple[NDArray[Any], float]:
    """Symmetric matrix of scores, the caller's own if that is symmetric, and their scale."""
    scores, n = problem.scores, problem.n
    if isinstance(scores, DenseScores):
        c = np.ascontiguousarray(scores.log_odds)
        if _symmetric(c):
            return c, 2.0  # each pair counts in both directions
        return np.ascontiguousarray(c + c.T), 1.0
    if isinstance(scores, CondensedScores):
        return square(scores.log_odds, n), 1.0
    c = scores.dense()
    return np.ascontiguousarray(c + c.T), 1.0


def _symmetric(c: NDArray[Any]) -> bool:
    """Say whether a matrix is symmetric, block by block: columns alone are slow to read."""
    steps = [slice(k, k + 512) for k in range(0, len(c), 512)]
    return all(
        np.array_equal(c[i, j], c[j, i].T) for k, i in enumerate(steps) for j in steps[: k + 1]
    )


def _graph_of(scores: SparseScores) -> SparseGraph:
    """Compressed rows of both directions of the listed pairs; the diagonal is a constant."""
    off = scores.i != scores.j
    i, j = (scores.i, scores.j) if off.all() else (scores.i[off], scores.j[off])
    listed = scores.log_odds if off.all() else scores.log_odds[off]
    excess = listed.astype(np.float64) - scores.background
    n = scores.shape[0]
    upper: csr_array = coo_array(
        (excess, (i.astype(np.int32), j.astype(np.int32))), shape=(n, n)
    ).tocsr()
    both = csr_array(upper + upper.T)
    return SparseGraph(
        both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data, scores.background
    )


def _rules_of(problem: Problem, element: Index) -> Rules | None:
    m = int(element.max()) + 1
    sizes = np.bincount(element, minlength=m).astype(np.int64)
    feasible = problem.feasible
    cap = problem.n if feasible.cap is None else min(problem.n, feasible.cap)
    no = element[problem.evidence.unrelated]
    if int(sizes.max()) > cap or bool((no[:, 0] == no[:, 1]).any()):
        return None
    pointers, others = _compressed(no.T.ravel(), no[:, ::-1].T.ravel(), m)
    groups, begin = [], 0
    for group in feasible.groups:
        groups.append(np.column_stack([element, begin + group.codes]))
        begin += int(group.codes.max()) + 1
    if not groups:
        return Rules(sizes, cap, pointers, others, np.zeros(m + 1, np.int64), others[:0], 0)
    pairs = np.concatenate(groups)
    if len(np.unique(pairs, axis=0)) < len(pairs):
        return None
    group_ptr, group_idx = _compressed(pairs[:, 0], pairs[:, 1], m)
    return Rules(sizes, cap, pointers, others, group_ptr, group_idx, begin)


def _compressed(rows: Index, columns: Index, m: int) -> tuple[Index, Index]:
    """Compressed rows of pairs, in order."""
    order = np.lexsort((columns, rows))
    pointers = np.zeros(m + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=m), out=pointers[1:])
    return pointers, np.ascontiguousarray(columns[order], dtype=np.int64)


def contracted_rules(rules: Rules, labels: Index, m: int) -> Rules:
    """Rules for the ``m`` sets of a feasible partition as elements."""
    sizes = np.zeros(m, np.int64)
    np.add.at(sizes, labels, rules.sizes)
    v = np.repeat(labels, np.diff(rules.cannot_ptr))
    pairs = np.unique(np.column_stack([v, labels[rules.cannot_idx]]), axis=0)
    cannot_ptr, cannot_idx = _compressed(pairs[:, 0], pairs[:, 1], m)
    owner = np.repeat(labels, np.diff(rules.group_ptr))
    group_ptr, group_idx = _compressed(owner, rules.group_idx, m)
    return Rules(sizes, rules.cap, cannot_ptr, cannot_idx, group_ptr, group_idx, rules.n_groups)


class SquareArrays(NamedTuple):
    """All pairs as symmetric matrices."""

    weights: Floats  # (n, n): scores of unordered pairs; the diagonal is zero
    state: NDArray[np.int8]  # (n, n): -1 open, 0 unrelated, 1 related; the diagonal is open
    constant: float  # what the diagonal of the problem adds to every value


def square_arrays(problem: Problem) -> SquareArrays:
    """Return a problem as matrices."""
    condensed, constant = problem.folded()
    state = np.where(problem.state < 0, problem.state.T, problem.state).astype(np.int8)
    np.fill_diagonal(state, -1)
    return SquareArrays(square(condensed.astype(np.float64), problem.n), state, constant)


class CondensedArrays(NamedTuple):
    """All unordered pairs once."""

    log_odds: Floats  # (n (n - 1) / 2,): an array of its own
    places: Index  # of pairs that are decided beforehand
    state: NDArray[np.int8]  # of these: 0 unrelated, 1 related
    constant: float  # what the diagonal of the problem adds to every value


def condensed_arrays(problem: Problem) -> CondensedArrays:
    """Return a problem in condensed order."""
    folded, constant = problem.folded()
    shared = folded is problem.log_odds or folded.dtype != np.float64
    log_odds: Floats = np.array(folded, dtype=np.float64) if shared else folded
    i, j = np.empty((2, 0), dtype=np.int64)
    state = np.empty((problem.n, 0), dtype=np.int8)
    if len(problem.evidence) or problem.feasible.groups:
        state = np.maximum(problem.state, problem.state.T)
        i, j = np.nonzero(np.triu(state >= 0, 1))
    return CondensedArrays(log_odds, condensed_places(i, j, problem.n), state[i, j], constant)


class ListedArrays(NamedTuple):
    """Listed pairs, and those that evidence decides."""

    keys: Index  # sorted numbers a * n + b of pairs a < b
    log_odds: Floats
    state: NDArray[np.int8]  # -1 open, 0 unrelated, 1 related
    constant: float  # what listed pairs of an element with itself add to every value


def listed_arrays(problem: Problem) -> ListedArrays:
    """Return a problem with sparse scores as its listed and decided pairs."""
    scores, n = problem.scores, problem.n
    assert isinstance(scores, SparseScores)
    off = scores.i != scores.j
    listed = keys_of(scores.i[off], scores.j[off], n)
    facts = problem.evidence
    known = [p[p[:, 0] != p[:, 1]] for p in (facts.related, facts.unrelated)]
    given = [keys_of(p[:, 0], p[:, 1], n) for p in known]
    keys = merged(listed, np.concatenate(given))
    if keys is listed:
        log_odds = scores.log_odds[off].astype(np.float64)
    else:
        log_odds = np.full(len(keys), problem.background)
        log_odds[np.searchsorted(keys, listed)] = scores.log_odds[off]
    state = group_states(problem, keys)
    for value, pairs in ((1, given[0]), (0, given[1])):
        state[np.searchsorted(keys, pairs)] = value
    constant = float(scores.log_odds[~off].sum(dtype=np.float64))
    return ListedArrays(keys, log_odds, state, constant)


def merged(ordered: Index, others: Index) -> Index:
    """Return the union of numbers that grow, and a few others, sorted.

    Listed pairs are in order; NumPy's union does not know that, and takes seconds for millions.
    """
    if not bool((ordered[1:] > ordered[:-1]).all()):
        return np.union1d(ordered, others)
    if not len(others):
        return ordered
    place = np.minimum(np.searchsorted(ordered, others), max(0, len(ordered) - 1))
    new = np.unique(others[ordered[place] != others] if len(ordered) else others)
    # a stable sort merges two runs that are in order
    return np.sort(np.concatenate([ordered, new]), kind="stable") if len(new) else ordered


def group_states(problem: Problem, keys: Index) -> NDArray[np.int8]:
    """Return 0 for pairs of a group, which are unrelated, and -1 for all others."""
    state = np.full(len(keys), -1, dtype=np.int8)
    for group in problem.feasible.groups:
        state[group.codes[keys // problem.n] == group.codes[keys % problem.n]] = 0
    return state
