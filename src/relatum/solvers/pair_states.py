"""Every pair on its own: the states that evidence and mirror properties leave it, and the best.

Symmetric, antisymmetric and connex speak of the two directions of a pair, reflexive of the
diagonal, evidence of single pairs. What these leave open is decided here pair by pair, and
exactly: states are compared by the signs of sums of two floats, which rounding does not change.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.problem import Problem, exact_sum

State = NDArray[np.int8]
NEARLY = 2.0**-40  # of two scores: a sum of less may have another sign with what they lack
SYMMETRIC = [(0, 0), (1, 1)]  # the states of two mirror pairs of symmetric relations


def mirrored_state(problem: Problem) -> tuple[State, bool]:
    """Return what is fixed, carried over to mirror pairs, and whether that is contradictory."""
    state, feasible = problem.state.copy(), problem.feasible.complete
    if not feasible.homogeneous:
        return state, problem.contradicts_itself
    yes, no = state == 1, state == 0
    off = ~np.eye(len(state), dtype=np.bool_)
    if feasible.has("symmetric"):
        yes, no = yes | yes.T, no | no.T
    if feasible.has("antisymmetric"):
        no = no | (yes.T & off)
    if feasible.has("connex"):
        yes = yes | (no.T & off)
    clash = problem.contradicts_itself or bool((yes & no).any())
    return np.where(yes, 1, np.where(no, 0, -1)).astype(np.int8), clash


def mirror_states(problem: Problem) -> list[tuple[int, int]]:
    """Return the states (x_ab, x_ba) of two mirror pairs that the properties admit."""
    has = problem.feasible.complete.has
    states = [(0, 0), (0, 1), (1, 0), (1, 1)]
    if has("symmetric"):
        states = [s for s in states if s[0] == s[1]]
    if has("antisymmetric"):
        states = [s for s in states if s != (1, 1)]
    if has("connex"):
        states = [s for s in states if s != (0, 0)]
    return states


class PairStates:
    """The best state of every pair, for the log-odds of a problem or for what rows leave of them.

    Parameters
    ----------
    problem : Problem
    scores : float64 array (n_a, n_b)
        What a pair adds if it is related.
    rest : float64 array (n_a, n_b), optional
        What is to be added to the scores, where these are the floats nearest to the sums.
    state : int8 array (n_a, n_b), optional
        What is fixed, mirror pairs included; what evidence says if left out.

    Attributes
    ----------
    empty : bool
        Whether some pair is left no state.
    related : bool array (n_a, n_b)
        A best state; of those that are worth the same, one with fewer related pairs.
    """

    def __init__(
        self,
        problem: Problem,
        scores: Floats,
        rest: Floats | None = None,
        state: State | None = None,
    ) -> None:
        self.scores, self.rest, self.empty = scores, rest, False
        if state is None:
            state, self.empty = mirrored_state(problem)
        self.related: Flags = np.where(state < 0, scores > 0, state == 1)
        if problem.feasible.homogeneous and len(scores) > 1:
            self._decide(state, mirror_states(problem))

    def _decide(self, state: State, states: list[tuple[int, int]]) -> None:
        """Decide mirror pairs together."""
        if states == SYMMETRIC:
            self._decide_symmetric(state)
            return
        i, j = np.triu_indices(len(state), 1)
        forward, backward = state[i, j], state[j, i]
        f, b = self.scores[i, j], self.scores[j, i]
        best = np.full((2, len(i)), -1, dtype=np.int8)
        for xf, xb in states:
            allowed = ((forward < 0) | (forward == xf)) & ((backward < 0) | (backward == xb))
            first = best[0] < 0
            kf, kb = np.where(first, 0, xf - best[0]), np.where(first, 0, xb - best[1])
            with np.errstate(over="ignore"):  # the sign is right all the same
                gain = kf * f + kb * b
            if self.rest is not None:
                self._sharpen(gain, kf, kb, (i, j))
            better = allowed & (first | (gain > 0))
            best[:, better] = [[xf], [xb]]
        self.empty = self.empty or bool((best < 0).any())
        self.related[i, j], self.related[j, i] = best == 1

    def _decide_symmetric(self, state: State) -> None:
        """Relate pairs whose two directions gain together, or are fixed; whole matrices at once."""
        s = self.scores
        with np.errstate(over="ignore"):  # the sign is right all the same
            gain = s + s.T
        both = gain > 0
        if self.rest is not None:
            size = np.abs(s)
            # without a rest the sign of the sum of two floats is right
            lacks = self.rest != 0
            close = (np.abs(gain) <= NEARLY * (size + size.T)) & (lacks | lacks.T)
            for a, b in np.argwhere(np.triu(close, 1)).tolist():
                terms = [s[a, b], s[b, a], self.rest[a, b], self.rest[b, a]]
                both[a, b] = both[b, a] = math.fsum(terms) > 0
        if (state >= 0).any():
            yes, no = state == 1, state == 0
            yes, no = yes | yes.T, no | no.T
            np.fill_diagonal(yes, False)
            np.fill_diagonal(no, False)
            self.empty = self.empty or bool((yes & no).any())
            both = np.where(yes, True, both & ~no)
        np.fill_diagonal(both, np.diagonal(self.related))
        self.related = both

    def _sharpen(self, gain: Floats, kf: Index, kb: Index, pairs: tuple[Index, Index]) -> None:
        """Sum gains up without rounding where scores nearly cancel."""
        assert self.rest is not None
        i, j = pairs
        f, b, rf, rb = (v[p] for v in (self.scores, self.rest) for p in ((i, j), (j, i)))
        close = (np.abs(gain) <= NEARLY * (np.abs(f) + np.abs(b))) & ((rf != 0) | (rb != 0))
        for k in np.flatnonzero(close & ((kf != 0) | (kb != 0))).tolist():
            gain[k] = math.fsum([kf[k] * f[k], kb[k] * b[k], kf[k] * rf[k], kb[k] * rb[k]])


def best_sum(problem: Problem, state: State | None = None) -> Fraction | None:
    """Return the largest sum over the states of every pair; None if some pair has none."""
    scores = problem.dense()
    states = PairStates(problem, scores, state=state)
    if states.empty:
        return None
    return exact_sum(scores[states.related])
