"""Bounds for large clusterings into small sets: what each element can have at most.

An element has at most k - 1 others in its set. Half of its largest log-odds, as many as
that, added up over all elements, bound every partition: cheap, and far below the sum of all
positive log-odds where the cap is what keeps sets small.
"""

from __future__ import annotations

import math

import numpy as np

from relatum.array_types import Floats, Index
from relatum.problem import Problem, SparseScores, condensed_places
from relatum.proof import FAMILIES, Cuts
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import (
    ListedArrays,
    condensed_arrays,
    group_states,
    keys_of,
    listed_arrays,
)
from relatum.solvers.partition.bounds.known import Known, Proved, cuts_of, raised

FEW_TERMS = 2_000_000  # pairs and terms of rows up to which the rows of a proof are tried as well


def capped_bound(problem: Problem, known: Known, control: Control) -> Proved:
    """Bound the value of every partition by what elements have with their best partners.

    Parameters
    ----------
    problem : Problem
        On equivalence relations with a cap; no positive background.
    known : Known
        The rows of a proof leave smaller log-odds, for which the same holds; the better of
        both is returned.
    control : Control
        Once time is up, the rows of a proof are not tried.
    """
    magnitude, cuts = problem.scores.magnitude(), cuts_of(known.proof)
    best = raised(_halves(problem), magnitude, ())
    few = problem.log_odds.size + sum(cut.index.size for cut in cuts) <= FEW_TERMS
    if cuts and few and not control.expired():
        other = _with_rows(problem, cuts)
        if other < best[0]:
            best = raised(other, magnitude, ())[0], known.proof
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
    everyone = np.arange(n, dtype=np.int64)
    for a in range(n):  # row by row: nothing of the size of all pairs is made
        begin = int(condensed_places(a, a + 1, n))
        before = condensed[condensed_places(everyone[:a], a, n)]
        row = np.concatenate([before, condensed[begin : begin + n - 1 - a]])
        row = row[row > 0]
        if len(row) > most:
            first = len(row) - most
            row = np.partition(row, first)[first:] if most else row[:0]
        total += float(row.sum(dtype=np.float64))
    return constant + 0.5 * total


def largest_per_owner(owner: Index, values: Floats, room: Index) -> Floats:
    """Return, for each owner, the largest of its values, as many as it has room for."""
    place = np.lexsort((-values, owner))
    first = np.searchsorted(owner[place], np.arange(len(room)))
    rank = np.arange(len(place)) - first[owner[place]]
    return np.asarray(values[place][rank < room[owner[place]]])


def _with_rows(problem: Problem, cuts: tuple[Cuts, ...]) -> float:
    """Return the same for what rows leave of the log-odds, and the sides of the rows."""
    n, total = problem.n, 0.0
    listed = _unordered(problem)
    keys, terms = [listed.keys], [listed.log_odds]
    for cut in cuts:
        rows = FAMILIES[cut.family].rows(cut.index, problem.shape)
        total += float(cut.multipliers @ rows.rhs)
        taken, own = cut.multipliers[rows.row_of_term()] * rows.coefficient, rows.a == rows.b
        total -= float(taken[own].sum())  # elements are related to themselves
        keys.append(keys_of(rows.a[~own], rows.b[~own], n))
        terms.append(-taken[~own])
    touched, place = np.unique(np.concatenate(keys), return_inverse=True)
    at = np.searchsorted(touched, listed.keys)
    left, state = np.full(len(touched), problem.background), group_states(problem, touched)
    left[at], state[at] = 0.0, listed.state
    np.add.at(left, place, np.concatenate(terms))
    known, free = state == 1, (state < 0) & (left > 0)
    i, j = touched // n, touched % n
    room = np.full(n, int(problem.feasible.cap or n) - 1)
    np.subtract.at(room, np.concatenate([i[known], j[known]]), 1)
    ends, values = np.concatenate([i[free], j[free]]), np.concatenate([left[free]] * 2)
    best = largest_per_owner(ends, values, np.maximum(room, 0))
    return total + listed.constant + 0.5 * float(best.sum()) + float(left[known].sum())


def _unordered(problem: Problem) -> ListedArrays:
    """Return the scored pairs of a problem in any layout."""
    if isinstance(problem.scores, SparseScores):
        return listed_arrays(problem)
    arrays = condensed_arrays(problem)
    i, j = np.triu_indices(problem.n, 1)
    state = np.full(len(i), -1, dtype=np.int8)
    state[arrays.places] = arrays.state
    return ListedArrays(i * problem.n + j, arrays.log_odds, state, arrays.constant)
