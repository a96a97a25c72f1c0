"""The scores of a clustering by element: listed neighbours, and a background for all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.probability.exact.cluster_parts import Part
from relatum.probability.exact.weights import require_moderate
from relatum.problem import Problem, SparseScores, require_memory
from relatum.solvers.reductions import connected


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What a walk over clusterings needs to know.

    Attributes
    ----------
    start, other, above : arrays
        Rows of neighbours: by how much scores exceed the background, -inf if they are apart.
    sizes : array
        How many elements of the problem each stands for.
    labels : array
        What each element of the problem is here.
    background : float
    constant : float
        The sum of the scores of elements that are one here.
    """

    start: Index
    other: NDArray[np.int32]
    above: Floats
    sizes: Index
    labels: Index
    background: float
    constant: float

    def heated(self, share: float) -> Neighbours:
        """Return the same with all scores multiplied by a number larger than 0."""
        return replace(self, above=share * self.above, background=share * self.background)

    def value(self, labels: Index) -> float:
        """Return the value of a clustering, given by labels 0, 1, ... of what is here, in bits."""
        i = np.repeat(np.arange(len(self.sizes)), np.diff(self.start))
        same = labels[i] == labels[self.other]
        masses = np.bincount(labels, weights=self.sizes)
        pairs = (float((masses**2).sum()) - float((self.sizes**2).sum())) / 2
        return self.constant + float(self.above[same].sum()) / 2 + self.background * pairs


def neighbours_of(part: Part, problem: Problem) -> Neighbours:
    """Return the neighbours in a part, from its matrices or from the list of the problem."""
    scores = problem.scores
    background = float(scores.background) if isinstance(scores, SparseScores) else 0.0
    if len(part.allowed) < len(part.sizes):
        assert isinstance(scores, SparseScores)
        return _of_list(part.elements, problem, scores)
    product = part.sizes[:, None] * part.sizes[None, :]
    above = np.where(part.allowed, part.scores - background * product, -np.inf)
    np.fill_diagonal(above, 0.0)
    i, j = np.nonzero(above)
    start, other, entries = _rows(i, j, above[i, j], len(part.sizes))
    constant = float(part.constant)
    return Neighbours(start, other, entries, part.sizes, part.labels, background, constant)


def _rows(i: Index, j: Index, above: Floats, n: int) -> tuple[Index, NDArray[np.int32], Floats]:
    """Return rows of neighbours from entries sorted by i; entries of one pair are added up."""
    require_moderate(above[np.isfinite(above)])
    key, place = np.unique(i.astype(np.int64) * n + j, return_inverse=True)
    sums = np.zeros(len(key))
    np.add.at(sums, place, above)
    counts = np.bincount(key // n, minlength=n)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return start, (key % n).astype(np.int32), sums


def _of_list(elements: Index, problem: Problem, scores: SparseScores) -> Neighbours:
    """Return the neighbours of elements of a problem with many listed pairs."""
    n = problem.n
    place = np.full(n, -1, np.int64)
    place[elements] = np.arange(len(elements))
    yes, no = problem.evidence.related, problem.evidence.unrelated
    together = connected(n, [yes.T])[elements]
    labels = np.unique(together, return_inverse=True)[1].astype(np.int64)
    a, b = [place[no[:, 0]]], [place[no[:, 1]]]
    for group in problem.feasible.groups:
        for p, q in _within(group.codes[elements]):
            a.append(p)
            b.append(q)
    i, j = place[scores.i], place[scores.j]
    w = np.asarray(scores.log_odds, np.float64) - scores.background
    first, second = np.concatenate([i, *a]), np.concatenate([j, *b])
    w = np.concatenate([w, np.full(len(first) - len(w), -np.inf)])
    inside = (first >= 0) & (second >= 0) & (first != second)
    first, second = labels[first[inside]], labels[second[inside]]
    w, apart = w[inside], first != second
    sizes = np.bincount(labels).astype(np.int64)
    pairs = float((sizes * (sizes - 1)).sum()) / 2
    constant = float(w[~apart].sum()) + scores.background * pairs
    first, second, w = first[apart], second[apart], w[apart]
    start, other, above = _rows(
        np.concatenate([first, second]),
        np.concatenate([second, first]),
        np.tile(w, 2),
        len(sizes),
    )
    return Neighbours(start, other, above, sizes, labels, float(scores.background), constant)


def _within(codes: Index) -> list[tuple[Index, Index]]:
    """Return all pairs of elements of the same group, group by group."""
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    count = sum(len(g) * (len(g) - 1) // 2 for g in groups)
    require_memory(
        60 * count,
        f"{count} pairs of elements of the same group",
        "ask about parts of the problem",
    )
    pairs = [np.triu_indices(len(g), 1) for g in groups]
    return [(g[p], g[q]) for g, (p, q) in zip(groups, pairs, strict=True) if len(p)]
