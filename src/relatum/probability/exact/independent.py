"""Sets that say nothing of more than two pairs at once: every pair, with its mirror, by itself.

RELATIONS, and what REFLEXIVE, SYMMETRIC, ANTISYMMETRIC and CONNEX make of them: closed forms, for
any size.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from relatum.array_types import Flags, Floats
from relatum.probability.exact.weights import infeasible, opened
from relatum.probability.methods import Task
from relatum.probability.posterior import DenseMarginals, Posterior, kind_of
from relatum.problem import Problem, Relation
from relatum.solvers import Control


def refusal(task: Task) -> str | None:
    """Refuse nothing: a matrix that does not fit into memory is refused where it is made."""
    return None


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of relations whose pairs are independent, but for mirrored ones."""
    problem = task.problem
    found = opened(problem)
    allowed = np.stack([~found.related, ~found.unrelated])
    if not problem.feasible.homogeneous:
        p, bits = _single(found.scores, allowed)
        draw = partial(_draw_single, p, problem)
    else:
        states, bits = _mirrored(problem, found.scores, allowed)
        p = states[2] + states[3]
        draw = partial(_draw_mirrored, states, problem)
    if not np.isfinite(bits).all():
        raise infeasible(problem)
    normalizer = found.constant + Fraction(math.fsum(bits.ravel()))
    return Posterior(DenseMarginals(p), normalizer, exact=True, method="closed form", draw=draw)


def _single(scores: Floats, allowed: Flags) -> tuple[Floats, Floats]:
    """Return the probability of each pair by itself, and the log2 of its weights' sum."""
    bits = np.where(allowed[1], np.where(allowed[0], np.logaddexp2(0.0, scores), 0.0), 0.0)
    sure = np.where(allowed[1], 1.0, 0.0)
    with np.errstate(over="ignore"):
        return np.where(allowed[0] & allowed[1], 1.0 / (1.0 + np.exp2(-scores)), sure), bits


def _mirrored(problem: Problem, scores: Floats, allowed: Flags) -> tuple[Floats, Floats]:
    """Return the probabilities of (neither, mirror only, pair only, both), by ordered pair.

    And the log2 of the weights' sums, of unordered pairs and the diagonal.
    """
    has = problem.feasible.has
    upper = np.triu(np.ones(problem.shape, np.bool_), 1)
    upper, mirror = upper | upper.T, allowed.transpose(0, 2, 1)
    may = np.stack(
        [
            allowed[0] & mirror[0] & (not has("connex")),
            allowed[0] & mirror[1] & (not has("symmetric")),
            allowed[1] & mirror[0] & (not has("symmetric")),
            allowed[1] & mirror[1] & (not has("antisymmetric")),
        ]
    )
    zero = np.zeros_like(scores)
    weights = np.where(may, np.stack([zero, scores.T, scores, scores + scores.T]), -np.inf)
    own = np.eye(len(scores), dtype=np.bool_)
    weights[:, own] = -np.inf
    weights[0, own] = np.where(allowed[0][own], 0.0, -np.inf)
    weights[3, own] = np.where(allowed[1][own], scores[own], -np.inf)
    top = weights.max(axis=0)
    with np.errstate(invalid="ignore"):
        states = np.exp2(weights - top)
    total = states.sum(axis=0)
    bits = top + np.log2(total)
    return states / total, np.where(np.triu(upper | own), bits, 0.0)


def _draw_single(
    p: Floats, problem: Problem, count: int, rng: np.random.Generator
) -> list[Relation]:
    kind = kind_of(problem.feasible)
    return [Relation(rng.random(p.shape) < p).to(kind) for _ in range(count)]


def _draw_mirrored(
    states: Floats, problem: Problem, count: int, rng: np.random.Generator
) -> list[Relation]:
    sums, kind = np.cumsum(states, axis=0), kind_of(problem.feasible)
    relations = []
    for _ in range(count):
        u = np.triu(rng.random(problem.shape)) * sums[3]
        state = np.triu((u[None] >= sums).sum(axis=0))
        matrix = (state >= 2) | ((state == 1) | (state == 3)).T
        relations.append(Relation(matrix).to(kind))
    return relations
