"""The pairs that a problem leaves open, one entry each, with their scores and what is true of them.

For symmetric sets and linear orders an unordered pair counts once: its score is the sum of the
log-odds of both directions, or the difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.problem import (
    CondensedScores,
    Partition,
    Problem,
    Relation,
    SparseScores,
    WeakOrder,
)

SMALL = 2000  # elements up to which all pairs are looked at


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs of a problem, in the layout of its log-odds.

    Attributes
    ----------
    i, j : int64 arrays
    bits : float array
        The log-odds of "i is related to j" against "it is not", all else equal.
    open : bool array
        Which pairs neither evidence nor properties decide; of unordered pairs only one entry.
    """

    i: Index
    j: Index
    bits: Floats
    open: Flags


def is_order(problem: Problem) -> bool:
    """Say whether exactly one of both directions of a pair holds."""
    return problem.feasible.has("antisymmetric") and problem.feasible.has("connex")


def scored_pairs(problem: Problem) -> ScoredPairs:
    """Return the pairs that a problem scores."""
    scores, (rows, columns) = problem.scores, problem.shape
    symmetric, order = problem.feasible.has("symmetric"), is_order(problem)
    if isinstance(scores, SparseScores):
        i, j, c = scores.i, scores.j, np.asarray(scores.log_odds, np.float64)
        if order:
            dense = problem.dense()
            c = (dense - dense.T)[i, j]
    elif isinstance(scores, CondensedScores):
        i, j = (x.astype(np.int64) for x in np.triu_indices(rows, 1))
        c = np.asarray(scores.log_odds, np.float64)
    else:
        i, j = np.divmod(np.arange(rows * columns), columns)
        matrix = np.asarray(scores.log_odds, np.float64)
        if symmetric or order:
            matrix = matrix + matrix.T if symmetric else matrix - matrix.T
        c = matrix.ravel()
    open_ = ~fixed_pairs(problem, i, j)
    if symmetric or order:
        open_ &= i < j
        if order and isinstance(scores, SparseScores):
            keys, mirrored = i * columns + j, j * columns + i
            open_ |= (i > j) & ~np.isin(mirrored, keys) & ~fixed_pairs(problem, i, j)
    return ScoredPairs(i, j, c, open_)


def fixed_pairs(problem: Problem, i: Index, j: Index) -> Flags:
    """Say which pairs evidence and properties decide; of large problems, evidence and groups."""
    if max(problem.shape) <= SMALL:
        fixed = problem.state >= 0
        if problem.feasible.has("symmetric") or is_order(problem):
            fixed = fixed | fixed.T
        return np.asarray(fixed[i, j])
    out = np.zeros(len(i), np.bool_)
    if problem.shape[0] == problem.shape[1]:
        out |= (i == j) & problem.feasible.has("reflexive")
    for group in problem.feasible.groups:
        out |= group.codes[i] == group.codes[j]
    known = np.concatenate([problem.evidence.related, problem.evidence.unrelated])
    width = np.int64(problem.shape[1])
    for a, b in ((i, j), (j, i)) if problem.feasible.has("symmetric") else ((i, j),):
        out |= np.isin(a * width + b, known[:, 0] * width + known[:, 1])
    return out


def is_related(truth: Relation, i: Index, j: Index) -> Flags:
    """Say which pairs a relation has."""
    if isinstance(truth, Partition):
        return np.asarray(truth.labels[i] == truth.labels[j])
    if isinstance(truth, WeakOrder):
        return np.asarray(truth.ranks[i] <= truth.ranks[j])
    return np.asarray(truth.matrix()[i, j])
