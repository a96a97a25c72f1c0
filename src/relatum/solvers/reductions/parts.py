"""Proofs whose parts are to prove more: the bounds that they state are raised."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from relatum.array_types import Flags, Index
from relatum.problem import Problem, SparseScores, float_up
from relatum.proof import (
    OPTIMAL_GAP,
    Branch,
    Contract,
    Cuts,
    Decompose,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    Proof,
    SubsetOrder,
    checked_slack,
)
from relatum.solvers.reductions.base import Bound

ORDERED_ELEMENTS = 62  # that a checker orders outright
COUNTED_BITS = 59  # binary digits, of all log-odds together, with which it orders or looks for sets

More = Callable[[Flags], Fraction]  # what to add to the bound of a part of the elements


def with_more(proof: Proof, more: More, n: int) -> tuple[Proof, Fraction, Fraction]:
    """Raise the bounds of the parts of a proof about n elements.

    Returns
    -------
    proof : Proof
    added : Fraction
        What was added to the bounds of all parts together.
    lost : Fraction
        What they were raised beyond that, to be floats again.
    """
    return _with_more(proof, np.arange(n), more)


def _with_more(proof: Proof, labels: Index, more: More) -> tuple[Proof, Fraction, Fraction]:
    """Raise bounds; `labels` has the proof's element for each of the problem's, -1 for none."""
    match proof:
        case Fix() | Imply():
            then, added, lost = _with_more(proof.then, labels, more)
            return replace(proof, then=then), added, lost
        case Contract() | Merge():
            inner = np.where(labels >= 0, np.asarray(proof.labels)[labels], -1)
            then, added, lost = _with_more(proof.then, inner, more)
            return replace(proof, then=then), added, lost
        case Decompose():
            return _decomposed(proof, labels, more)
    return proof, Fraction(0), Fraction(0)  # below a branch nothing is decomposed


def _decomposed(proof: Decompose, labels: Index, more: More) -> tuple[Proof, Fraction, Fraction]:
    parts, added, lost = [], Fraction(0), Fraction(0)
    place = np.full(int(labels.max()) + 2, -1, dtype=np.int64)
    for elements, bound, inner in proof.parts:
        place[elements] = np.arange(len(elements))
        own = np.where(labels >= 0, place[labels], -1)
        then, _, inside = _with_more(inner, own, more)
        here = more(own >= 0)
        claim = float_up(Fraction(bound) + here + inside)
        added, lost = added + here, lost + Fraction(claim) - Fraction(bound) - here
        parts.append((elements, claim, then))
        place[elements] = -1
    outright = all(isinstance(part[2], SubsetOrder) for part in parts)
    if lost > OPTIMAL_GAP / 8 and outright and labels.max() < ORDERED_ELEMENTS:
        return SubsetOrder(), added, Fraction(0)  # in one piece no bound of a part is rounded
    return Decompose(tuple(parts)), added, lost


def raised(bound: Bound, proof: Proof, error: Fraction, n: int) -> tuple[Bound, Proof]:
    """Raise a bound about n elements, and those of the parts of its proof, by an error.

    The error may be in any part, as well as in what lies between parts.
    """
    if math.isinf(bound) or error == 0:
        return bound, proof
    proof, added, lost = with_more(proof, lambda part: error, n)
    return Fraction(bound) + error + added + lost, proof


def _nodes(proof: Proof) -> Iterator[Proof]:
    todo = [proof]
    while todo:
        node = todo.pop()
        yield node
        match node:
            case Fix() | Imply() | Contract() | Merge():
                todo.append(node.then)
            case Branch():
                todo += [node.unrelated, node.related]
            case Decompose():
                todo += [part[2] for part in node.parts]


def _terms(cut: Cuts, shape: tuple[int, int]) -> int:
    """Return how many terms some rows have at most, with what is on their right sides."""
    width = int(cut.index.shape[1])
    if cut.family == "square":  # what is lost with a unit of a multiplier
        return sum(total * total for total in np.abs(cut.index).sum(axis=1).tolist())
    if cut.family in ("has_image", "at_most", "has_preimage", "unique_preimage"):
        width = 2 * max(shape)
    elif cut.family in ("two_partition", "capped_set"):
        width = width * width
    return len(cut) * (2 * width + 1)


def _counted_slack(problem: Problem, orders: bool, prices: bool) -> Fraction:
    """Return what a checker may lose that orders elements or looks for sets, with fewer digits."""
    if not orders and not prices:
        return Fraction(0)
    c, n = np.abs(problem.dense()), problem.n
    np.fill_diagonal(c, 0.0)
    total = float(c.sum())
    if total < 2.0**52 and np.array_equal(c, np.rint(c)) and not prices:
        return Fraction(0)
    units = n * (n - 1) // 2 + 1
    if prices:  # of every set, pairs and prices; these add up to no more than twice the log-odds
        cap = min(n, problem.feasible.cap or n)
        units = 3 * n * (cap * (cap + 1) // 2 + 1)
    return units * Fraction(total) * Fraction(1, 1 << COUNTED_BITS)


def lost_by_prices(problem: Problem) -> float:
    """Return by how much a proof of a problem by prices of elements raises its bound, in bits.

    Infinity where it cannot be checked: a checker needs a score for every pair.
    """
    if isinstance(problem.scores, SparseScores):
        return math.inf
    return float(_counted_slack(problem, orders=False, prices=True))


def checkable(problem: Problem, bound: Bound, proof: Proof) -> tuple[Bound, Proof]:
    """Raise a bound by what a checker may have to round, so that it finds no larger one.

    That is nothing where it need not round, and far below `OPTIMAL_GAP` unless log-odds of a
    problem are of very different size.
    """
    if math.isinf(bound):
        return bound, proof
    cuts: list[Cuts] = []
    orders, prices, terms = False, False, 0
    for node in _nodes(proof):
        if isinstance(node, Leaf | Fix | Prices):
            cuts += node.cuts
            terms = max(terms, sum(_terms(cut, problem.shape) for cut in node.cuts))
        orders = orders or isinstance(node, SubsetOrder)
        prices = prices or isinstance(node, Prices)
    slack = checked_slack(problem, cuts, terms) + _counted_slack(problem, orders, prices)
    return raised(bound, proof, slack, problem.shape[0])
