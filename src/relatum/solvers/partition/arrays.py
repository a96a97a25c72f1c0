"""A problem over equivalence relations as arrays: must-links contracted, rules compressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from relatum.array_types import Index
from relatum.kernels.partition.dense import contract_dense
from relatum.kernels.partition.rules import Rules
from relatum.kernels.partition.sparse import SparseGraph, contract_sparse
from relatum.problem import CondensedScores, DenseScores, Partition, Problem, SparseScores
from relatum.solvers.reductions.contraction import groups_of_must_links

__all__ = ["Instance", "contracted_rules", "instance_of", "renumbered"]

SMALL = 2000  # elements up to which listed pairs are written to a matrix


def renumbered(labels: NDArray[Any]) -> Index:
    """Labels 0, 1, ... without gaps."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


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
    if isinstance(problem.scores, SparseScores) and (m > SMALL or not matrix):
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
        c = np.zeros((n, n), scores.log_odds.dtype)
        start = 0
        for a in range(n - 1):
            row = scores.log_odds[start : start + n - 1 - a]
            c[a, a + 1 :] = row
            c[a + 1 :, a] = row
            start += n - 1 - a
        return c, 1.0
    c = scores.dense()
    return np.ascontiguousarray(c + c.T), 1.0


def _symmetric(c: NDArray[Any]) -> bool:
    for start in range(0, len(c), 512):
        stop = min(len(c), start + 512)
        for left in range(0, start + 1, 512):
            right = min(len(c), left + 512)
            if not np.array_equal(c[start:stop, left:right], c[left:right, start:stop].T):
                return False
    return True


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
    pointers, others = _compressed(np.concatenate([no[:, 0], no[:, 1]]), no[:, ::-1], m)
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
    flat = columns.T.ravel() if columns.ndim == 2 else columns
    order = np.lexsort((flat, rows))
    pointers = np.zeros(m + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=m), out=pointers[1:])
    return pointers, np.ascontiguousarray(flat[order], dtype=np.int64)


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
