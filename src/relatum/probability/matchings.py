"""Matchings among listed pairs, however many: how probable each pair is in one.

Every matching M, a set of pairs without a common element, has the probability 2^(sum of bits) / Z;
pairs that are not listed are in none. Probabilities come from messages between elements (belief
propagation, whose fixed point is that of the Bethe free energy, which is concave for matchings):
each element tells each of its partners how likely it is to be free without that partner. On trees
this is exact. Connected components with cycles are summed over exactly if one of their two sides is
small; for others it is an approximation, whose expected number of pairs was within one per cent of
the exact one in trials, and probabilities mostly within .02.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.probability.exact.assignments import Assignment
from relatum.probability.exact.weights import split
from relatum.solvers import Control
from relatum.solvers.reductions import connected

LEAST = 1e-9  # change of a message, in nats, that counts as none
ROUNDS = 2000
EXACT_WORK = 2e6  # sums of two numbers for one component: some milliseconds


@dataclass(frozen=True, eq=False)
class Matchings:
    """Probabilities of pairs in matchings.

    Attributes
    ----------
    probabilities : float array (pairs,)
    exact : bool array (pairs,)
        Whether nothing but rounding is between them and the truth.
    messages : float array (2 * pairs,)
        Where a similar problem may start from.
    converged : bool
        Whether the messages came to rest.
    """

    probabilities: Floats
    exact: Flags
    messages: Floats
    converged: bool


def matching_probabilities(
    row: Index,
    column: Index,
    bits: Floats,
    shape: tuple[int, int],
    start: Floats | None = None,
    summed: bool = True,
) -> Matchings:
    """Return how probable pairs are in a matching of rows with columns.

    Parameters
    ----------
    row, column : int64 arrays
        Listed pairs, each once.
    bits : float64 array
        Their log-odds.
    shape : (rows, columns)
    start : array, optional
        `Matchings.messages` of a problem with the same pairs.
    summed : bool
        Whether small components with cycles are summed over exactly.

    Examples
    --------
    One row and two columns: no pair, one or the other.

    >>> zeros = np.zeros(2, np.int64)
    >>> found = matching_probabilities(zeros, np.arange(2), np.array([1.0, 0.0]), (1, 2))
    >>> found.probabilities.round(6).tolist(), bool(found.exact.all())
    ([0.5, 0.25], True)
    """
    m, n = len(row), shape[0] + shape[1]
    ends = row.astype(np.int64), column.astype(np.int64) + shape[0]
    messages, converged = _messages(*ends, bits, n, start)
    p = _sigmoid(bits * np.log(2) + messages[:m] + messages[m:])
    exact = np.zeros(m, np.bool_)
    labels = connected(n, [ends])[ends[0]] if m else np.empty(0, np.int64)
    by = np.argsort(labels, kind="stable")
    for pairs in np.split(by, np.flatnonzero(np.diff(labels[by])) + 1) if m else []:
        rows, a = np.unique(row[pairs], return_inverse=True)
        columns, b = np.unique(column[pairs], return_inverse=True)
        exact[pairs] = len(pairs) == len(rows) + len(columns) - 1  # a tree
        if not exact[pairs[0]] and summed:
            sides = (a, b) if len(rows) >= len(columns) else (b, a)
            found = _summed(*sides, bits[pairs])
            exact[pairs] = found is not None
            p[pairs] = p[pairs] if found is None else found
    return Matchings(p, exact, messages, converged)


def _summed(a: Index, b: Index, bits: Floats) -> Floats | None:
    """Return exact probabilities by sums over the subsets of the columns b, if these are few."""
    rows, columns = int(a.max()) + 1, int(b.max()) + 1
    if 4.0 * rows * columns * 2.0**columns > EXACT_WORK:
        return None
    scores, listed = np.zeros((rows, columns)), np.zeros((rows, columns), np.bool_)
    scores[a, b], listed[a, b] = bits, True
    free = np.ones(rows, np.bool_)
    sums = Assignment(*split(scores, listed), free, again=False, covers=False)
    control = Control()
    return np.asarray(sums.probabilities(sums.layers(control), control)[a, b])


def best_matching(row: Index, column: Index, bits: Floats) -> tuple[Index, Index]:
    """Return the most probable matching among listed pairs, as rows and columns."""
    from scipy.sparse import csr_array  # slow to import, and only needed here
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    up = bits > 0
    rows, a = np.unique(row[up], return_inverse=True)
    columns, b = np.unique(column[up], return_inverse=True)
    if not len(rows):
        return rows, columns
    # each row may also stay alone, in a column of its own: all rows are matched, so that one
    # constant, which keeps costs off 0, changes nothing
    most, alone = float(bits[up].max()) + 1.0, np.arange(len(rows))
    cost = np.append(most - bits[up], np.full(len(rows), most))
    at = np.append(a, alone), np.append(b, len(columns) + alone)
    table = csr_array((cost, at), shape=(len(rows), len(columns) + len(rows)))
    first, second = min_weight_full_bipartite_matching(table)
    real = second < len(columns)
    return rows[first[real]], columns[second[real]]


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _messages(
    i: Index, j: Index, bits: Floats, n: int, start: Floats | None
) -> tuple[Floats, bool]:
    """Return log-probabilities of ends to be free without their partner, for (i, j) and (j, i)."""
    m = len(i)
    h = np.zeros(2 * m) if start is None else start.copy()
    if m == 0:
        return h, True
    # entries are what i tells j, then what j tells i, in the order of those who are told
    target = np.concatenate([j, i])
    order = np.argsort(target, kind="stable")
    place = np.empty(2 * m, np.int64)
    place[order] = np.arange(2 * m)
    back = place[(order + m) % (2 * m)]  # what is told the other way
    owners, firsts = np.unique(target[order], return_index=True)
    own = np.searchsorted(owners, target[order])
    nats, h = np.tile(bits * np.log(2), 2)[order], h[order]
    for _ in range(ROUNDS):
        new = -_without_one(nats + h, own, firsts)[back]
        change = float(np.abs(new - h).max())
        h = 0.5 * (h + new)  # the plain iteration swings around the fixed point
        if change < LEAST:
            return h[place], True
    return h[place], False


def _without_one(told: Floats, own: Index, firsts: Index) -> Floats:
    """Return, for each entry, log(1 + sum of exp(others of its element)).

    Taking an entry from the sum of all would leave nothing but rounding where it is nearly all of
    it. So the largest of each element has a sum of its own.
    """
    largest = np.maximum.reduceat(told, firsts)
    at = np.flatnonzero(told == largest[own])
    at = at[np.append(True, np.diff(own[at]) > 0)]  # the first of equal ones
    rest = told.copy()
    rest[at] = -np.inf
    top, second = np.maximum(0.0, largest), np.maximum(0.0, np.maximum.reduceat(rest, firsts))
    share = np.exp(told - top[own])
    total = np.exp(-top) + np.add.reduceat(share, firsts)
    share[at] = 0.0  # not to take a logarithm of nothing
    out = np.log(total[own] - share) + top[own]
    alone = np.exp(-second) + np.add.reduceat(np.exp(rest - second[own]), firsts)
    out[at] = (np.log(alone) + second)[own[at]]
    return np.asarray(out)
