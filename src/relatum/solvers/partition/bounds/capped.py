"""Bounds for large clusterings into small sets: what each element can have at most.

An element has at most k - 1 others in its set. Half of its largest log-odds, as many as
that, added up over all elements, bound every partition: cheap, and far below the sum of all
positive log-odds where the cap is what keeps sets small.
"""

from __future__ import annotations

import math

import numpy as np

from relatum.problem import Problem, SparseScores
from relatum.proof import Leaf, Proof, Rounded
from relatum.proof.checker import best_by_partners, largest_per_owner, view_for

__all__ = ["capped_bound"]

FEW = 2_000_000  # pairs and terms of rows up to which the rows of a proof are tried as well


def capped_bound(problem: Problem, proof: Proof) -> tuple[float, Proof]:
    """Bound the value of every partition by what elements have with their best partners.

    Parameters
    ----------
    problem : Problem
        On equivalence relations with a cap; no positive background.
    proof : Proof
        Of another bound. Its rows leave smaller log-odds, for which the same holds; the
        better of both is returned.
    """
    bound = _halves(problem)
    magnitude = problem.scores.magnitude()
    best: tuple[float, Proof] = bound + 1e-9 * (1 + magnitude), Leaf()
    if isinstance(proof, Leaf) and proof.cuts and not proof.infeasible:
        terms = sum(cut.index.size for cut in proof.cuts)
        if problem.log_odds.size + terms <= FEW:
            view = view_for(problem, Rounded())
            other = float(best_by_partners(view, view.residual(proof.cuts)))
            if other < best[0]:
                best = other + 1e-9 * (1 + magnitude), proof
    return best


def _halves(problem: Problem) -> float:
    """Return half of the largest log-odds of each element, as many as the cap allows."""
    n, most = problem.n, int(problem.feasible.cap or problem.n) - 1
    scores = problem.scores
    if isinstance(scores, SparseScores):
        off = (scores.i != scores.j) & (scores.log_odds > 0)
        ends = np.concatenate([scores.i[off], scores.j[off]])
        values = np.concatenate([scores.log_odds[off]] * 2).astype(np.float64)
        own = scores.log_odds[scores.i == scores.j].astype(np.float64)
        best = largest_per_owner(ends, values, np.full(n, most))
        return math.fsum([*own.tolist(), 0.5 * float(best.sum())])
    condensed, constant = problem.folded()
    total = 0.0
    rest = np.arange(n, dtype=np.int64)
    for a in range(n):  # a row at a time: nothing of the size of all pairs is made
        before = rest[:a] * (2 * n - rest[:a] - 1) // 2 + a - rest[:a] - 1
        begin = a * (2 * n - a - 1) // 2
        row = np.concatenate([condensed[before], condensed[begin : begin + n - 1 - a]])
        row = row[row > 0]
        if len(row) > most:
            row = np.partition(row, len(row) - most)[len(row) - most :]
        total += float(row.sum(dtype=np.float64))
    return constant + 0.5 * total
