"""Clusters of one or two elements: the heaviest matching of two sides, with prices as proof.

Two sources without duplicates are such a problem: of each, a cluster holds one element at most. So
are clusterings whose evidence excludes all pairs on either of two sides. Only pairs with positive
log-odds are matched, so that many elements with few such pairs are no larger a problem than these.

The prices prove the matching: no pair is worth more than its elements' prices, no element has one
below 0, and together they are what the matching is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.errors import SolverError
from relatum.kernels.matching import heaviest_matching
from relatum.problem import (
    EQUIVALENCES,
    CondensedScores,
    ExactSum,
    Partition,
    Problem,
    SparseScores,
    condensed_places,
    float_up,
)
from relatum.proof import Certificate, Leaf, Prices, Proof, checked_slack, find_conflict
from relatum.solvers.control import Control
from relatum.solvers.reductions.connected import connected
from relatum.solvers.registry import Outcome, Solver, register

FEW_ELEMENTS = 2000  # up to which sides are sought in what evidence excludes
# below, branch and cut is as quick, and its bound is not that of rounded prices but exact
LEAST_ELEMENTS = 20


class Edges(NamedTuple):
    """Pairs that may be joined and gain by it.

    ``rest`` is what the sum of two log-odds lacks to be exact.
    """

    i: Index
    j: Index
    weight: Floats
    rest: Floats


class Matched(NamedTuple):
    """A matching: the other element of each, or -1, and the price of each."""

    mate: Index
    price: Floats


def match_pairs(
    left: Flags, i: Index, j: Index, weight: Floats, expired: Callable[[], bool] | None = None
) -> Matched:
    """Match elements of the left with others, each pair in either direction and once.

    Parameters
    ----------
    left : bool array (n,)
    i, j : int64 arrays
        Pairs, each of a left and a right element.
    weight : float64 array
        Of these pairs, positive.
    expired : callable () -> bool, optional
        Says when to stop.
    """
    n = len(left)
    number = np.where(left, np.cumsum(left), np.cumsum(~left)) - 1  # on its side
    a, b = np.where(left[i], i, j), np.where(left[i], j, i)
    order = np.lexsort((b, a))
    ours, theirs = np.flatnonzero(left), np.flatnonzero(~left)
    start = np.searchsorted(a[order], np.append(ours, n)).astype(np.int64)
    others = np.ascontiguousarray(number[b[order]], dtype=np.int64)
    weights = np.ascontiguousarray(weight[order], dtype=np.float64)
    found, up, down = heaviest_matching(start, others, weights, len(theirs), expired)
    mate, price = np.full(n, -1, dtype=np.int64), np.zeros(n)
    own, other = ours[found >= 0], theirs[found[found >= 0]]
    mate[own], mate[other] = other, own
    price[ours], price[theirs] = up, down
    return Matched(mate, price)


def sides_of(problem: Problem) -> Flags | None:
    """Return two sides such that all pairs on the same side are excluded; None if there are none.

    Of groups, if there are at most two; else, of few elements, by what is known of their pairs.
    """
    for group in problem.feasible.groups:
        if int(group.codes.max()) <= 1:
            return np.asarray(group.codes == 0)
    n, excluded = problem.n, len(problem.evidence.unrelated)
    for group in problem.feasible.groups:
        sizes = np.bincount(group.codes)
        excluded += int((sizes * (sizes - 1) // 2).sum())
    # two sides have at most n**2 / 4 pairs across
    if n > FEW_ELEMENTS or 4 * excluded < n * (n - 2):
        return None
    open_ = problem.state < 0  # as evidence names pairs, in one direction
    return _coloured(open_ & open_.T)


def _coloured(open_: Flags) -> Flags | None:
    """Return two sides with all pairs across, if there are such."""
    n = len(open_)
    i, j = np.nonzero(np.triu(open_, 1))
    if 4 * len(i) > n * n:
        return None
    label = connected(2 * n, [(i, j + n), (j, i + n)])  # every element on either side
    if (label[:n] == label[n:]).any():
        return None
    return np.asarray(label[:n] < label[n:])


def _edges_of(problem: Problem, free: Flags, left: Flags) -> Edges:
    """Return the pairs of two free elements that may be joined and gain by it."""
    scores, n = problem.scores, problem.n
    dense = not isinstance(scores, SparseScores) or problem.background > 0
    if dense and not isinstance(scores, CondensedScores):
        c = problem.dense()
        a, b = np.flatnonzero(left & free), np.flatnonzero(~left & free)
        one, two = c[np.ix_(a, b)], c[np.ix_(b, a)].T
        p, q = np.nonzero(one + two > 0)
        i, j = a[p], b[q]
        weight, rest = two_sum(one[p, q], two[p, q])
    else:
        if isinstance(scores, SparseScores):
            i, j = scores.i, scores.j
        else:
            i, j = np.triu_indices(n, 1)
        weight = scores.log_odds
        keep = (weight > 0) & (left[i] != left[j]) & free[i] & free[j]
        i, j, weight = i[keep], j[keep], weight[keep].astype(np.float64)
        rest = np.zeros(len(i))
    out = np.sort(problem.evidence.unrelated, axis=1)
    keep = ~np.isin(np.minimum(i, j) * n + np.maximum(i, j), out[:, 0] * n + out[:, 1])
    for group in problem.feasible.groups:  # the sides are of one, and there may be others
        keep &= group.codes[i] != group.codes[j]
    return Edges(i[keep], j[keep], weight[keep], rest[keep])


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as two floats each: the nearest one, and what it lacks."""
    near = a + b
    other = near - a
    return near, (a - (near - other)) + (b - other)


def gap_of_prices(edges: Edges, mate: Index, price: Floats) -> Fraction:
    """Return how far prices, and what pairs are worth above them, exceed a matching; not less.

    Exact, but that what is tiny above a price is rounded up.
    """
    s, t = two_sum(price[edges.i], price[edges.j])
    d, e = two_sum(edges.weight, -s)  # the pair is worth d + e - t + rest above its prices
    matched = mate[edges.i] == edges.j
    total = ExactSum(price)
    for terms in (edges.weight, edges.rest):
        total.add(-terms[matched])
    exact = (e == t) & (edges.rest == 0)
    with np.errstate(under="ignore"):
        above = d + (e - t + edges.rest)
        above += 2.0**-50 * np.abs(above) + 2.0**-90 * (np.abs(edges.weight) + s)
    above = np.where(exact, d, above)
    total.add(above[above > 0])
    return total.value()


def price_slack(problem: Problem, price: Floats) -> Fraction:
    """Return by how much a checker may round the bound of prices up: log-odds and prices, once."""
    scores = problem.log_odds.size + problem.n
    return checked_slack(problem, prices=price, scores=scores)


def _mates_known(problem: Problem) -> Index | None:
    """Return the element that each is known to be related to, -1 for none; None for several."""
    mate = np.full(problem.n, -1, dtype=np.int64)
    pairs = np.unique(np.sort(problem.evidence.related, axis=1), axis=0)
    a, b = pairs[pairs[:, 0] != pairs[:, 1]].T
    mate[a], mate[b] = b, a
    once = len(np.unique(np.concatenate([a, b]))) == 2 * len(a)
    return mate if once else None


def _priced(problem: Problem, known: Index, price: Floats) -> Floats:
    """Let pairs that are known to be related cost what they are worth."""
    scores, n, out = problem.scores, problem.n, price.copy()
    a = np.flatnonzero(known > np.arange(n))
    b = known[a]
    if isinstance(scores, SparseScores):
        keys, wanted = scores.i * n + scores.j, a * n + b
        place = np.searchsorted(keys, wanted)
        listed = np.append(keys, -1)[place] == wanted
        out[a] = np.where(listed, np.append(scores.log_odds, 0.0)[place], problem.background)
    elif isinstance(scores, CondensedScores):
        out[a] = scores.log_odds[condensed_places(a, b, n)]
    else:
        out[a], out[b] = scores.log_odds[a, b], scores.log_odds[b, a]
    return out


def run(problem: Problem, control: Control) -> Outcome:
    """Match two sides; pairs that are known to be related stay out of it."""
    left, known = sides_of(problem), _mates_known(problem)
    assert left is not None  # `_refuses` saw to it
    relation = None if known is None else _partition(known)
    if known is None or relation is None or not problem.feasible.contains(relation):
        conflict = find_conflict(problem)
        proof: Proof = Leaf(infeasible=True) if conflict is None else conflict.certificate.proof
        return Outcome(None, -math.inf, proof)
    free = known < 0
    edges = _edges_of(problem, free, left)
    mate, price = match_pairs(left, *edges[:3], control.expired)
    relation = _partition(np.where(free, mate, known))
    bound, proof = _proved(problem, relation, edges, known, Matched(mate, price))
    return Outcome(relation, bound, proof, {"pairs": len(edges.i)})


def _proved(
    problem: Problem, relation: Partition, edges: Edges, known: Index, matched: Matched
) -> tuple[Fraction, Prices]:
    """Return the bound of a matching's prices, and what a checker is to see of them."""
    price = _priced(problem, known, matched.price)
    gap = gap_of_prices(edges, *matched) + price_slack(problem, price)
    return problem.exact_value(relation) + gap, Prices((), price)


def certificate_of_prices(problem: Problem, relation: Partition, price: Floats) -> Certificate:
    """Return what prices, as `match_pairs` finds them, prove of a problem that is a matching.

    Parameters
    ----------
    problem : Problem
    relation : Partition
        Of elements that are alone, and pairs.
    price : float64 array (n,)
        Of elements that are not known to be related.
    """
    left, known = sides_of(problem), _mates_known(problem)
    if left is None or known is None:
        raise SolverError("Prices of elements prove matchings of two sides, got another problem.")
    edges = _edges_of(problem, known < 0, left)
    order = np.argsort(relation.labels, kind="stable")
    same = relation.labels[order[1:]] == relation.labels[order[:-1]]
    mate = np.full(problem.n, -1, dtype=np.int64)
    a, b = order[:-1][same], order[1:][same]
    mate[a], mate[b] = b, a
    bound, proof = _proved(problem, relation, edges, known, Matched(mate, price))
    return Certificate(float_up(bound), proof)


def _partition(mate: Index) -> Partition:
    own = np.arange(len(mate))
    return Partition(np.where(mate >= 0, np.minimum(own, mate), own))


def _refuses(problem: Problem) -> str | None:
    feasible = problem.feasible
    if feasible.structure != EQUIVALENCES:
        return "solves equivalence relations only"
    if problem.background > 0 and problem.n > FEW_ELEMENTS:
        return f"takes a positive background of up to {FEW_ELEMENTS} elements"
    grouped = any(int(group.codes.max()) <= 1 for group in feasible.groups)
    if len(problem.evidence.related) and not grouped:
        return "takes pairs given as related with one_per_group of two groups only"
    if sides_of(problem) is None:
        return "matches two sides, all pairs on either of which are excluded"
    if not grouped and problem.n < LEAST_ELEMENTS:
        return f"takes sides that evidence defines from {LEAST_ELEMENTS} elements on"
    return None


register(
    Solver(
        name="matching",
        summary="Clusters of two duplicate-free sources, by augmenting paths.",
        proves=True,
        refuses=_refuses,
        run=run,
        rank=lambda problem, prove: 0.5,
        exact=True,
    )
)
