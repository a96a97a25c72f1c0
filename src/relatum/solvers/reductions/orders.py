"""Linear orders reduced without loss: evidence closed, alike elements merged, components split."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.order.batch import order_components, twin_classes
from relatum.kernels.order.rows import close_precedence
from relatum.problem import Problem
from relatum.proof import Imply, Leaf, Proof, sums_are_exact


@dataclass(frozen=True, eq=False)
class Plan:
    """A linear-order problem after the lossless reductions.

    Attributes
    ----------
    w : float64 array (g, g)
        What class a before class b is worth; zero on the diagonal.
    inner : float64 array (g,)
        What each class is worth by itself.
    before : bool array (g, g)
        Known precedences of classes, transitively closed.
    labels : int64 array (n,)
        The class of each element.
    parts : list of int64 arrays
        Components, as classes, from first to last.
    steps : int64 array
        How the evidence was closed, for the proof.
    rounding : Fraction
        What rounding may have taken from sums of scores of merged elements, all together.
    """

    w: Floats
    inner: Floats
    before: Flags
    labels: Index
    parts: list[Index]
    steps: Index
    rounding: Fraction = Fraction(0)

    @property
    def search_weights(self) -> Floats:
        """Differences w_ab - w_ba, inf where a precedence is known."""
        return _with_precedences(self.w - self.w.T, self.before)


def _with_precedences(d: Floats, before: Flags) -> Floats:
    """Write known precedences into differences, as inf and -inf."""
    if before.any():
        d[before], d[before.T] = np.inf, -np.inf
    return d


def imply_steps(steps: Index, then: Proof) -> Proof:
    """Wrap a proof in the precedences that follow by transitivity, in their order."""
    if not len(steps):
        return then
    pairs = steps[:, [0, 2]]
    return Imply(("transitive",) * len(steps), steps, pairs, np.ones(len(steps), np.bool_), then)


def precedences(problem: Problem) -> Flags:
    """Return the precedences that evidence states: a before b."""
    state = problem.state
    before = (state == 1) | (state.T == 0)
    np.fill_diagonal(before, False)
    return np.asarray(before)


def closed_evidence(problem: Problem) -> tuple[Flags, Index, bool] | None:
    """Return precedences closed under transitivity, the steps, and if they clash.

    None if evidence contradicts itself pair by pair.
    """
    before = np.zeros((problem.n, problem.n), dtype=np.bool_)
    steps: Index = np.empty((0, 3), dtype=np.int64)
    if not len(problem.evidence):
        return before, steps, False
    given = precedences(problem)
    diagonal = np.diagonal(problem.state)
    if problem.contradicts_itself or (diagonal == 0).any() or (given & given.T).any():
        return None
    steps, clash = close_precedence(before, np.argwhere(given).astype(np.int64))
    return before, steps, bool(clash[0] >= 0)


def plan_of(problem: Problem) -> Plan | Proof:
    """Reduce a problem; a proof is returned instead if evidence contradicts itself."""
    closed = closed_evidence(problem)
    if closed is None:
        return Leaf(infeasible=True)
    before, steps, clash = closed
    if clash:
        return imply_steps(steps, Leaf(infeasible=True))
    c = problem.dense()
    n = len(c)
    w = np.array(c, dtype=np.float64)
    inner = np.diagonal(w).copy()
    np.fill_diagonal(w, 0.0)
    marked = np.where(before.T, -np.inf, w) if before.any() else w
    labels, g = twin_classes(marked)
    rounding = Fraction(0)
    if g < n:
        if not sums_are_exact(problem):
            rounding = Fraction(2.0**-50 * n * problem.scores.magnitude())
        w, inner, before = _merged(w, inner, before, labels, g)
    parts = component_order(_with_precedences(w - w.T, before))
    return Plan(w, inner, before, labels, parts, steps, rounding)


def _merged(
    w: Floats, inner: Floats, before: Flags, labels: Index, g: int
) -> tuple[Floats, Floats, Flags]:
    first = np.full(g, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(w))[::-1]
    size = np.bincount(labels).astype(np.float64)
    block = w[np.ix_(first, first)] * size[:, None] * size[None, :]
    own = np.bincount(labels, weights=inner, minlength=g).astype(np.float64)
    for k in np.flatnonzero(size > 1):
        a, b = np.flatnonzero(labels == k)[:2]
        own[k] += w[a, b] * size[k] * (size[k] - 1) / 2
    return block, own, before[np.ix_(first, first)]


def component_order(d: Floats) -> list[Index]:
    """Return the strongly connected components of the arcs d_ab > 0, topologically sorted.

    Of several components that could come next, the one with the first element does.
    """
    if len(d) <= 64:
        small, total = order_components(d)
        return [np.flatnonzero(small == k).astype(np.int64) for k in range(total)]
    from scipy.sparse import csr_array  # slow to import, and not needed for few elements
    from scipy.sparse.csgraph import connected_components

    present = d > 0
    column = np.nonzero(present)[1].astype(np.int32)
    begin = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    # given a matrix, SciPy would make a masked array of it
    arcs = csr_array((np.ones(len(column)), column, begin), shape=d.shape)
    count, label = connected_components(arcs, directed=True, connection="strong")
    if count == 1:
        return [np.arange(len(d), dtype=np.int64)]
    first = np.full(count, len(d), dtype=np.int64)
    np.minimum.at(first, label, np.arange(len(d)))
    member = csr_array((np.ones(len(d)), (label, np.arange(len(d)))), shape=(count, len(d)))
    between = (member @ arcs @ member.T).toarray() > 0
    np.fill_diagonal(between, False)
    waiting = between.sum(axis=0)
    key = first.astype(np.float64)
    parts = []
    for _ in range(count):
        k = int(np.argmin(np.where(waiting == 0, key, np.inf)))
        parts.append(np.flatnonzero(label == k).astype(np.int64))
        key[k] = np.inf
        waiting = waiting - between[k]
    return parts
