"""Maps and their kin: properties of the images of each element alone, solved row by row."""

from __future__ import annotations

import math

import numpy as np

from relatum.array_types import Floats, Index
from relatum.problem import DENSE_LIMIT, Map, PartialMap, Problem, Relation
from relatum.proof import Cuts, Leaf, checked_slack
from relatum.solvers.control import Control
from relatum.solvers.registry import Outcome, Solver, register


def _refuses(problem: Problem) -> str | None:
    feasible = problem.feasible
    if not feasible.names <= {"has_image", "unique_image"}:
        return "decides the images of every element on their own; other properties tie them"
    if problem.shape[0] * problem.shape[1] > DENSE_LIMIT:
        return "needs the dense matrix, which does not fit"
    return None


def solve(problem: Problem, control: Control) -> Outcome:
    """Take the best images of each element."""
    if problem.feasible.has("unique_image") and not (problem.evidence or problem.feasible.groups):
        return _argmax(problem)  # nothing is fixed: no matrix of states is made
    if problem.contradicts_itself:
        return Outcome(None, -math.inf, Leaf(infeasible=True))
    return _by_row(problem)


def image_cuts(price: Floats, k: int, has_image: bool) -> tuple[Cuts, ...]:
    """Turn the price of an image of each element into rows: at most k images if it is positive."""
    rows = np.arange(len(price))
    caps = Cuts("at_most", np.column_stack([rows, np.full(len(rows), k)]), np.maximum(price, 0.0))
    images = Cuts("has_image", rows[:, None], np.maximum(-price, 0.0))
    return (caps.positive(), images.positive()) if has_image else (caps.positive(),)


def _argmax(problem: Problem) -> Outcome:
    """Solve maps and partial maps without evidence, in one pass over the log-odds."""
    c = problem.log_odds if problem.log_odds.ndim == 2 else problem.dense()
    labels = c.argmax(axis=1)
    price = c[np.arange(len(c)), labels].astype(np.float64)
    total = problem.feasible.has("has_image")
    if total:
        relation: Relation = Map(labels, n_labels=c.shape[1])
    else:
        relation = PartialMap(np.where(price > 0, labels, -1), n_labels=c.shape[1])
        price = np.maximum(price, 0.0)
    return _proved(problem, relation, image_cuts(price, 1, total))


def _by_row(problem: Problem) -> Outcome:
    """Any cap on images, with evidence: the k best open images of each element."""
    c, state = problem.dense(), problem.state
    n_a, n_b = problem.shape
    feasible = problem.feasible
    has_image = feasible.has("has_image")
    k = 1 if feasible.has("unique_image") else min(feasible.cap or n_b, n_b)
    y = state == 1
    given = y.sum(axis=1)
    open_c = np.where(state < 0, c, -np.inf)
    order = np.argsort(-open_c, axis=1, kind="stable")
    ranked = np.take_along_axis(open_c, order, axis=1)
    places = np.arange(n_b)[None, :]
    chosen = (places < (k - given)[:, None]) & (ranked > 0)
    if has_image:
        chosen[:, 0] |= (given == 0) & np.isfinite(ranked[:, 0])
    add = np.zeros_like(y)
    np.put_along_axis(add, order, chosen, axis=1)
    y = y | add
    if (given > k).any() or (has_image and not y.any(axis=1).all()):
        return _infeasible(problem, k, given)
    # the price of an image: what the last place is worth to the best one left out
    last = np.clip(k - given, 0, n_b)
    price = np.where(last < n_b, ranked[np.arange(n_a), np.minimum(last, n_b - 1)], -np.inf)
    price = np.maximum(price, 0.0)
    if has_image:
        price = np.where((given == 0) & (ranked[:, 0] < 0), ranked[:, 0], price)
    relation = Relation(y)
    if feasible.has("unique_image"):
        relation = relation.to(Map if has_image else PartialMap)
    return _proved(problem, relation, image_cuts(price, k, has_image))


def _proved(problem: Problem, relation: Relation, cuts: tuple[Cuts, ...]) -> Outcome:
    """Return a relation whose value its rows prove to be the bound: without rounding, they do.

    What a row leaves of an image in it is positive only if the relation has the image.
    """
    terms = 2 * problem.shape[1] * sum(len(cut) for cut in cuts)
    bound = problem.exact_value(relation) + checked_slack(problem, cuts, terms)
    return Outcome(relation, bound, Leaf(cuts))


def _infeasible(problem: Problem, k: int, given: Index) -> Outcome:
    too_many = np.flatnonzero(given > k)
    if too_many.size:
        cut = Cuts("at_most", np.array([[too_many[0], k]]), np.ones(1))
    else:
        a = np.flatnonzero((problem.state == 0).all(axis=1))[0]
        cut = Cuts("has_image", np.array([[a]]), np.ones(1))
    return Outcome(None, -math.inf, Leaf((cut,), infeasible=True))


register(
    Solver(
        name="argmax",
        summary="MAPS, PARTIAL_MAPS, at_most(k): the best images of each element, in linear time.",
        proves=True,
        refuses=_refuses,
        run=solve,
        rank=lambda problem, prove: 1.0,
        exact=True,
    )
)
