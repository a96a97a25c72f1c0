"""Log-odds so large that they decide their pair become evidence: penalties and the like.

People write "must not be related" as -1e9 bits. If, bounded pair by pair, no relation with such
a pair is worth as much as one that is known, the pair is fixed, and one statement proves it. Left
in the sums, it would round the other log-odds away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.problem import (
    EQUIVALENCES,
    Partition,
    Problem,
    Relation,
    SparseScores,
    float_up,
    numbered_evidence,
)
from relatum.proof import Fix, Proof, Propagator
from relatum.solvers.pair_states import State, best_sum, mirror_states
from relatum.solvers.reductions.base import Bound, Reduced, largest
from relatum.solvers.reductions.connected import connected
from relatum.solvers.trivial_bound import trivial_bound

LARGE = 2.0**10  # bits from which on log-odds are looked at
FEW_PAIRS = 40_000  # up to which a relation of any set is made, the largest log-odds first
MOST_ELEMENTS = 5_000  # of a clustering with a log-odds for every pair
ROUNDS = 3  # of penalties of different size

Wrap = Callable[[Proof], Proof]
Step = tuple[Wrap, Fraction]  # the statements that fix pairs, and the value of a known relation


class Exclusions:
    """Fix pairs that their log-odds decide."""

    name = "exclusions"
    always = True

    def accepts(self, problem: Problem) -> bool:
        if not _few(problem):
            listed = isinstance(problem.scores, SparseScores) or problem.n <= MOST_ELEMENTS
            if problem.feasible.structure != EQUIVALENCES or not listed:
                return False
        return largest(problem) >= LARGE

    def apply(self, problem: Problem) -> Reduced:
        start: Relation | None = None
        steps: list[Step] = []
        part = problem
        for _ in range(ROUNDS):
            found = _by_any(part) if _few(part) else _of_partition(part)
            if found is None:
                break
            start, pairs, values, wrap = found
            steps.append((wrap, problem.exact_value(start)))
            part = part.with_feasible(
                part.feasible & numbered_evidence(pairs[values], pairs[~values])
            )
        return Reduced(
            [part],
            Fraction(0),
            lambda relations: relations[0],
            lambda relation: [relation],
            partial(_prove, steps),
            start=start,
        )


def _few(problem: Problem) -> bool:
    return problem.shape[0] * problem.shape[1] <= FEW_PAIRS


def _prove(
    steps: list[Step], bounds: Sequence[Bound], proofs: Sequence[Proof]
) -> tuple[Bound, Proof]:
    bound, proof = bounds[0], proofs[0]
    for wrap, value in reversed(steps):
        bound, proof = max(bound, value), wrap(proof)
    return bound, proof


def _needed(problem: Problem, most: Fraction, value: Fraction) -> float:
    """Return the loss, from the best of each pair on, that a decided pair has at least."""
    rounding = 2.0**-60 * (problem.scores.magnitude() + abs(problem.background) * problem.n_pairs)
    return max(LARGE, (1 + 1e-9) * float_up(most - value) + rounding)


def _by_any(problem: Problem) -> tuple[Relation, Index, Flags, Wrap] | None:
    """Decide pairs of any set by a relation that takes the largest log-odds first."""
    propagator = Propagator(problem.feasible)
    closure = propagator.close_all(problem.state)
    if problem.contradicts_itself or closure.conflict is not None:
        return None
    state, c = closure.state, problem.dense()
    most, start = best_sum(problem, state), _heavy_first(problem, propagator, state, c)
    if most is None or start is None:
        return None
    loss, values = _losses(problem, c, state)
    decided = (state < 0) & (loss >= _needed(problem, most, problem.exact_value(start)))
    decided &= start.matrix() == values
    if problem.feasible.has("symmetric"):
        decided &= np.triu(np.ones_like(decided))
    pairs = np.argwhere(decided).astype(np.int64)
    if not len(pairs):
        return None
    chosen = values[decided]
    return start, pairs, chosen, lambda then: closure.proof(Fix((), pairs, chosen, then))


def _heavy_first(
    problem: Problem, propagator: Propagator, state: State, c: Floats
) -> Relation | None:
    """Return a relation decided pair by pair, large log-odds first."""
    with np.errstate(over="ignore"):
        wanted = c + c.T if problem.feasible.has("symmetric") else c
    order = np.argsort(-np.abs(wanted), axis=None, kind="stable")
    matrix = propagator.complete(state, order, wanted > 0)
    found = None if matrix is None else Relation(matrix)
    return found if found is not None and problem.feasible.contains(found) else None


def _losses(problem: Problem, c: Floats, state: State) -> tuple[Floats, Flags]:
    """Return what each pair loses, with its mirror pair, by its worse value; and the better one."""
    best = np.full((2, *c.shape), -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        if problem.feasible.homogeneous:
            mirror = state.T
            for xf, xb in mirror_states(problem):
                allowed = ((state < 0) | (state == xf)) & ((mirror < 0) | (mirror == xb))
                best[xf] = np.maximum(best[xf], np.where(allowed, xf * c + xb * c.T, -np.inf))
            own = np.diag_indices(len(c))
            best[0][own], best[1][own] = 0.0, np.diagonal(c)
        else:
            best[0], best[1] = 0.0, c
        loss = np.abs(best[1] - best[0])
    return np.where(np.isfinite(loss), loss, 0.0), best[1] > best[0]


def _of_partition(problem: Problem) -> tuple[Relation, Index, Flags, Wrap] | None:
    """Decide pairs of a large clustering that must not be related, by sets of what must be."""
    start = Partition(connected(problem.n, [problem.evidence.related.T]))
    most, _ = trivial_bound(problem)
    if not isinstance(most, Fraction) or not problem.feasible.contains(start):
        return None
    needed = _needed(problem, most, problem.exact_value(start))
    scores = problem.scores
    if isinstance(scores, SparseScores):
        below = (scores.log_odds <= -needed) & (scores.i != scores.j)
        pairs = np.column_stack([scores.i[below], scores.j[below]])
    else:
        with np.errstate(over="ignore"):
            folded = problem.folded()[0]
        i, j = np.triu_indices(problem.n, 1)
        below = folded <= -needed
        pairs = np.column_stack([i[below], j[below]])
    pairs = pairs[start.labels[pairs[:, 0]] != start.labels[pairs[:, 1]]].astype(np.int64)
    values = np.zeros(len(pairs), dtype=np.bool_)
    if not len(pairs):
        return None
    return start, pairs, values, lambda then: Fix((), pairs, values, then)
