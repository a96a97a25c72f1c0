"""What rows with multipliers prove, without rounding: the bound that a solver claims in the end.

Multipliers come from floats that are off by a little, and any that are not negative will do. So
they are first rounded down to multiples of one power of two, so coarse that sums of them are
exact in float64. Then what they take from a pair is exact, what they leave of its log-odds is
the sum of two floats, and the bound is a sum of floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from relatum.array_types import Floats
from relatum.problem import ExactSum, Problem, exact_sum
from relatum.proof import FAMILIES, Cuts, Leaf, SparseRows, checked_slack, summed_squares
from relatum.solvers.pair_states import PairStates, State

DIGITS = 52  # binary, of what rows take from a pair: less than float64 has


def leaf_bound(
    problem: Problem, cuts: Sequence[Cuts], state: State | None = None
) -> tuple[Fraction | float, Leaf]:
    """Return the bound of some rows, and the proof, with multipliers that are rounded down.

    The bound is -inf if some pair is left no state.

    Parameters
    ----------
    problem : Problem
        Of which a matrix can be made.
    cuts : sequence of Cuts
        Rows that are valid for its feasible set.
    state : int8 array (n_a, n_b), optional
        What is fixed, mirror pairs included; what evidence says if left out.
    """
    given = [cut for cut in map(Cuts.positive, _alike(cuts)) if len(cut)]
    rows = [_written(cut, problem.shape) for cut in given]
    rounded = _rounded(given, rows, problem.shape)
    taken, sides = np.zeros(problem.shape), Fraction(0)
    for cut, own in zip(rounded, rows, strict=True):
        y = cut.multipliers[: len(own)]
        np.add.at(taken, (own.a, own.b), y[own.row_of_term()] * own.coefficient)
        for side in np.unique(own.rhs).tolist():
            sides += side * exact_sum(y[own.rhs == side])
    left, rest = _difference(problem.dense(), taken)
    states = PairStates(problem, left, rest, state)
    if states.empty:
        return -math.inf, Leaf(infeasible=True)
    total = ExactSum(left[states.related])
    total.add(rest[states.related])
    size = math.fsum(float(np.abs(own.coefficient).sum(dtype=np.float64)) for own in rows)
    terms = math.ceil(size * (1 + 1e-9)) + sum(int(np.abs(own.rhs).sum()) for own in rows)
    slack = checked_slack(problem, rounded, terms)
    return total.value() + sides + slack, Leaf(tuple(c for c in rounded if len(c)))


def _alike(cuts: Sequence[Cuts]) -> Iterator[Cuts]:
    """Yield cuts; squares of different multipliers on their own, so that they can be added up."""
    for cut in cuts:
        if cut.family != "square":
            yield cut
            continue
        for y in np.unique(cut.multipliers):
            own = cut.multipliers == y
            yield Cuts(cut.family, cut.index[own], cut.multipliers[own])


def _written(cut: Cuts, shape: tuple[int, int]) -> SparseRows:
    """Write rows down; squares, which have one multiplier, as their sum."""
    if cut.family == "square":
        return summed_squares(cut.index)
    return FAMILIES[cut.family].rows(cut.index, shape)


def _rounded(
    cuts: Sequence[Cuts], rows: Sequence[SparseRows], shape: tuple[int, int]
) -> list[Cuts]:
    """Round multipliers down, so that what they take from any pair is a sum without rounding."""
    most = np.zeros(shape)
    for cut, own in zip(cuts, rows, strict=True):
        terms = cut.multipliers[: len(own)][own.row_of_term()] * np.abs(own.coefficient)
        np.add.at(most, (own.a, own.b), terms)
    places = DIGITS - math.frexp(float(most.max(initial=0.0)))[1]
    return [
        Cuts(c.family, c.index, np.ldexp(np.floor(np.ldexp(c.multipliers, places)), -places))
        for c in cuts
    ]


def _difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a - b as two floats each: the nearest one, and what it lacks."""
    near = a - b
    other = near - a
    return near, (a - (near - other)) - (b + other)
