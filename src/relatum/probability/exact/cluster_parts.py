"""The parts of a clustering problem between which nothing can be related, each as small matrices.

Within a part, elements that evidence puts together are one element with a size. With
``across=False`` elements of different connected components of the scored pairs are never related,
either: a condition, not a consequence, unless such pairs are excluded by evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.probability.methods import Task
from relatum.problem import Problem, SparseScores, exact_sum
from relatum.solvers.reductions import connected

DENSE = 2000  # elements up to which all pairs of a problem are looked at


@dataclass(frozen=True, eq=False)
class Part:
    """Elements that may be related, after those known to be related were made one.

    Attributes
    ----------
    elements : array
        Of the problem, ascending.
    labels : array
        What each of them is in this part: 0, 1, ...
    sizes : array
        How many of them are one.
    scores : (k, k) array
        Sums of the log-odds between them, in bits, in both triangles; 0 on the diagonal.
    allowed : (k, k) bool array
        Which pairs may be related.
    constant : Fraction
        The sum of the log-odds within each of them.
    possible : bool
        Whether no pair is both related and unrelated.
    """

    elements: Index
    labels: Index
    sizes: Index
    scores: Floats
    allowed: Flags
    constant: Fraction
    possible: bool

    @property
    def size(self) -> int:
        """How many elements of the problem it has."""
        return len(self.elements)

    @cached_property
    def sides(self) -> Flags | None:
        """Two sides such that only elements of different sides may be related, if there are."""
        k = len(self.sizes)
        if len(self.allowed) < k:
            return None
        side = np.full(k, -1)
        for start in range(k):
            if side[start] >= 0:
                continue
            side[start], waiting = 0, [start]
            while waiting:
                a = waiting.pop()
                for b in np.flatnonzero(self.allowed[a]):
                    if side[b] == side[a]:
                        return None
                    if side[b] < 0:
                        side[b] = 1 - side[a]
                        waiting.append(int(b))
        return np.asarray(side == 1)


def parts_of(task: Task) -> Iterator[Part]:
    """Yield the parts of a problem over clusterings, by their first elements."""
    problem = task.problem
    if problem.n <= DENSE:
        yield from _of_matrix(problem, task.across)
    elif isinstance(problem.scores, SparseScores) and not task.across:
        yield from _of_list(problem, problem.scores)
    else:
        yield _too_large(np.arange(problem.n))


def _too_large(elements: Index) -> Part:
    """Return a part that no exact method takes: nothing of it is made."""
    ones, none = np.ones(len(elements), np.int64), np.zeros((0, 0))
    return Part(elements, elements, ones, none, none > 0, Fraction(0), possible=True)


def _of_matrix(problem: Problem, across: bool) -> Iterator[Part]:
    """Yield the parts of a problem all of whose pairs are looked at."""
    c, state = problem.dense(), problem.state
    related, unrelated = (state == 1) | (state == 1).T, (state == 0) | (state == 0).T
    possible = not problem.contradicts_itself
    connects = ~unrelated
    if not across:
        connects = connects & ((c != 0) | (c != 0).T)
        if isinstance(problem.scores, SparseScores):
            listed = np.zeros(problem.shape, np.bool_)
            listed[problem.scores.i, problem.scores.j] = True
            connects = ~unrelated & (listed | listed.T)
    groups = connected(problem.n, [np.nonzero(related)])
    labels = connected(problem.n, [np.nonzero(connects), np.nonzero(related)])
    for elements in _by_label(labels):
        here = np.ix_(elements, elements)
        yield _part(elements, groups[elements], c[here], unrelated[here], possible)


def _by_label(labels: Index) -> list[Index]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def _part(elements: Index, groups: Index, c: Floats, unrelated: Flags, possible: bool) -> Part:
    """Make elements one that are in one group, and add up what is between groups."""
    _, labels = np.unique(groups, return_inverse=True)
    k = int(labels.max()) + 1
    one = labels[:, None] == labels[None, :]
    constant = exact_sum(np.ascontiguousarray(c[one]))
    between = np.where(one | unrelated, 0.0, c)
    if k == len(elements):
        scores, apart = between + between.T, unrelated
    else:
        member = np.zeros((k, len(elements)))
        member[labels, np.arange(len(elements))] = 1.0
        scores = member @ between @ member.T
        scores = scores + scores.T
        apart = member @ unrelated @ member.T > 0
    allowed = ~apart
    possible = possible and bool(np.diagonal(allowed).all())
    np.fill_diagonal(allowed, False)
    scores = np.where(allowed, scores, 0.0)
    sizes = np.bincount(labels).astype(np.int64)
    return Part(elements, labels.astype(np.int64), sizes, scores, allowed, constant, possible)


def _of_list(problem: Problem, scores: SparseScores) -> Iterator[Part]:
    """Yield the connected components of many listed pairs."""
    yes, no = problem.evidence.related, problem.evidence.unrelated
    i, j, c = scores.i, scores.j, np.asarray(scores.log_odds, dtype=np.float64)
    low, high = np.minimum(no[:, 0], no[:, 1]), np.maximum(no[:, 0], no[:, 1])
    out = np.isin(i * problem.n + j, low * problem.n + high)
    for group in problem.feasible.groups:
        out |= (group.codes[i] == group.codes[j]) & (i != j)
    groups = connected(problem.n, [yes.T])
    labels = connected(problem.n, [(i[~out], j[~out]), yes.T])
    elements = _by_label(labels)
    place = np.empty(problem.n, np.int64)
    for own in elements:
        place[own] = np.arange(len(own))
    of_pairs = _split_by(labels, i, j, len(elements))
    of_apart = _split_by(labels, no[:, 0], no[:, 1], len(elements))
    for number, own in enumerate(elements):
        n = len(own)
        if n > DENSE:
            yield _too_large(own)
            continue
        matrix = np.triu(np.full((n, n), scores.background), 1)
        listed = of_pairs[number]
        matrix[place[i[listed]], place[j[listed]]] = c[listed]
        unrelated = np.zeros((n, n), np.bool_)
        for group in problem.feasible.groups:
            codes = group.codes[own]
            unrelated |= codes[:, None] == codes[None, :]
        np.fill_diagonal(unrelated, False)
        apart = of_apart[number]
        unrelated[place[no[apart, 0]], place[no[apart, 1]]] = True
        yield _part(own, groups[own], matrix, unrelated | unrelated.T, possible=True)


def _split_by(labels: Index, i: Index, j: Index, count: int) -> list[Index]:
    """Return, for each label, the places of pairs both of whose elements have it."""
    own = np.where(labels[i] == labels[j], labels[i], count)
    order = np.argsort(own, kind="stable")
    sizes = np.bincount(own, minlength=count + 1)
    return np.split(order, np.cumsum(sizes)[:-1])[:count]
