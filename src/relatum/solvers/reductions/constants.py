"""What all relations have in common is set aside: the log-odds of pairs that are fixed.

The diagonal of a reflexive set and pairs given as related add the same to every value, pairs
given as unrelated add nothing. Where these log-odds are large, sums with them would round the
others away; so they are made small, and added back exactly in the end. A proof stays what it
is, as a checker adds them up itself; only the bounds of parts that it states are raised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Index
from relatum.problem import (
    CondensedScores,
    DenseScores,
    Problem,
    SparseScores,
    condensed_places,
    exact_sum,
    float_up,
    sum_of,
)
from relatum.proof import OPTIMAL_GAP, Proof
from relatum.solvers.pair_states import mirrored_state
from relatum.solvers.reductions.base import Bound, Reduced, largest
from relatum.solvers.reductions.parts import with_more

LARGE = 2.0**10  # bits of fixed pairs from which on they are set aside
UNDIVIDED_ELEMENTS = 300  # up to which a clustering is not divided if that would cost digits


@dataclass(frozen=True, eq=False)
class _Common:
    """Fixed pairs: where their log-odds are, and the related ones as pairs."""

    places: Any  # index into the array of log-odds
    a: Index  # of those that are related
    b: Index
    scores: NDArray[Any]

    def inside(self, part: Flags) -> Fraction:
        """Return what was taken from related pairs of some elements."""
        some = self.scores[part[self.a] & part[self.b]]
        return exact_sum(some) - exact_sum(_small(some))


def _common(problem: Problem) -> _Common | None:
    """Find the fixed pairs; None if they contradict one another."""
    scores, feasible = problem.scores, problem.feasible.complete
    known = bool(len(problem.evidence) or feasible.groups)
    if isinstance(scores, DenseScores):
        if not known:
            own = np.arange(problem.n) if feasible.has("reflexive") else np.empty(0, np.int64)
            return _Common((own, own), own, own, scores.log_odds[own, own])
        state, clash = mirrored_state(problem)
        if clash:
            return None
        if feasible.cap is not None:  # prices of elements are about what is inside sets, too
            state[(state == 1) & ~np.eye(*state.shape, dtype=np.bool_)] = -1
        a, b = np.nonzero(state == 1)
        return _Common(np.nonzero(state >= 0), a, b, scores.log_odds[a, b])
    if not isinstance(scores, CondensedScores | SparseScores):
        return None
    return _listed(problem, feasible.cap is not None)


def _listed(problem: Problem, capped: bool) -> _Common | None:
    """Find the fixed pairs of condensed and listed log-odds."""
    scores, n = problem.scores, problem.n
    if isinstance(scores, SparseScores):
        i, j = scores.i, scores.j
        if scores.kind != "unordered":
            own = np.flatnonzero(i == j) if problem.feasible.has("reflexive") else i[:0]
            return _Common(own, i[own], j[own], scores.log_odds[own])
        keys = i * n + j
    else:
        pairs = np.concatenate([problem.evidence.related, problem.evidence.unrelated])
        pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
        i, j = pairs.T if len(pairs) else np.empty((2, 0), dtype=np.int64)
        keys = i * n + j
    yes = (i == j) & problem.feasible.has("reflexive")
    no = np.zeros(len(keys), dtype=np.bool_)
    for given, flags in ((problem.evidence.related, yes), (problem.evidence.unrelated, no)):
        low, high = np.sort(given, axis=1).T if len(given) else np.empty((2, 0), dtype=np.int64)
        flags |= np.isin(keys, low * n + high)
    for group in problem.feasible.groups:
        no |= (group.codes[i] == group.codes[j]) & (i != j)
    if (yes & no).any():
        return None
    if capped:
        yes &= i == j
    places = np.arange(len(keys))
    if isinstance(scores, CondensedScores):
        places = condensed_places(i, j, n)
    return _Common(places[yes | no], i[yes], j[yes], scores.log_odds[places[yes]])


class Constants:
    """Set large log-odds of fixed pairs aside."""

    name = "constants"
    always = True

    def accepts(self, problem: Problem) -> bool:
        if largest(problem) * problem.log_odds.size < LARGE:
            return False
        common = _common(problem)
        if common is None:
            return False
        fixed = problem.log_odds[common.places].astype(np.float64)
        return bool(np.abs(fixed / LARGE).sum() >= 1)

    def apply(self, problem: Problem) -> Reduced:
        common = _common(problem)
        assert common is not None
        left = problem.log_odds.copy()
        left[common.places] = _small(left[common.places])
        constant = exact_sum(common.scores) - exact_sum(_small(common.scores))
        digits = float_up(abs(constant)) * 2.0**-52 * problem.n  # that floats of parts may lack
        few = problem.n <= UNDIVIDED_ELEMENTS and digits > OPTIMAL_GAP / 8
        return Reduced(
            [_with_log_odds(problem, left)],
            constant,
            lambda relations: relations[0],
            lambda relation: [relation],
            partial(_prove, common, constant, problem.shape[0]),
            without=frozenset({"components"}) if few else frozenset(),
        )


def _small(scores: NDArray[Any]) -> NDArray[Any]:
    """Return what is put in the place of log-odds: their last binary digit, or 1 if that is less.

    A number that divides these and all others divides the log-odds, too. So what follows from
    values being multiples of one number holds with them as well.
    """
    mantissa, exponent = np.frexp(scores.astype(np.float64))
    digits = (mantissa * 2.0**53).astype(np.int64)
    last = np.ldexp((digits & -digits).astype(np.float64), exponent - 53)
    return np.asarray(np.minimum(last, 1.0), dtype=scores.dtype)


def _with_log_odds(problem: Problem, log_odds: NDArray[Any]) -> Problem:
    """Return the problem with other log-odds in the layout of its own."""
    log_odds.flags.writeable = False
    other, scores = copy(problem), copy(problem.scores)
    scores.log_odds = log_odds  # type: ignore[misc]
    other.scores = scores
    return other


def _prove(
    common: _Common,
    constant: Fraction,
    n: int,
    bounds: Sequence[Bound],
    proofs: Sequence[Proof],
) -> tuple[Bound, Proof]:
    proof, _, lost = with_more(proofs[0], common.inside, n)
    bound = bounds[0] if math.isinf(bounds[0]) else sum_of([bounds[0], constant, lost])
    return bound, proof
