"""Weights 2^score as mantissa and exponent, what is fixed set aside, and what all kinds refuse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats
from relatum.errors import ProblemError, SolverError
from relatum.problem import Problem, exact_sum
from relatum.proof import find_conflict
from relatum.solvers import Control

Places = NDArray[np.int32]
Weights = tuple[Floats, Places]  # mantissas and exponents
LARGEST_SUM = 2.0**28  # bits: of the sizes of all open scores, so that exponents are integers
NEVER = -(1 << 30)  # the exponent of zero, as in kernels/probability/scaled.pxd


def split(bits: Floats, allowed: Flags | None = None) -> Weights:
    """Return mantissas in [1/2, 1) and exponents of 2^bits; zero where it is not allowed.

    Examples
    --------
    >>> mantissa, places = split(np.array([3.0, -0.5]))
    >>> (mantissa * 2.0**places).round(3).tolist()
    [8.0, 0.707]
    """
    whole = np.floor(bits)
    mantissa, places = np.exp2(bits - whole) / 2, (whole + 1).astype(np.int32)
    carried = mantissa >= 1.0  # the fraction was so near to 1 that its power is 2
    mantissa, places = np.where(carried, 0.5, mantissa), places + carried.astype(np.int32)
    if allowed is not None:
        mantissa, places = np.where(allowed, mantissa, 0.0), np.where(allowed, places, NEVER)
    return np.ascontiguousarray(mantissa), np.ascontiguousarray(places, dtype=np.int32)


def log2_of(mantissa: float, places: int) -> Fraction:
    """Return the log2 of a scaled number, without rounding its exponent away."""
    return Fraction(int(places)) + Fraction(math.log2(mantissa))


@dataclass(frozen=True, eq=False)
class Open:
    """A problem of moderate size: what is fixed, and the scores of what is open.

    Attributes
    ----------
    scores : (|A|, |B|) array
        In bits; 0 where a pair is fixed.
    related, unrelated : bool arrays
        What evidence and properties fix; mirrored for symmetric sets.
    constant : Fraction
        The sum of the scores of pairs that are fixed as related.
    """

    scores: Floats
    related: Flags
    unrelated: Flags
    constant: Fraction


def opened(problem: Problem) -> Open:
    """Set aside what is fixed; refuse what contradicts itself, and sums that are too large."""
    state, c = problem.state, problem.dense()
    related, unrelated = state == 1, state == 0
    if problem.contradicts_itself:
        raise infeasible(problem)
    if problem.feasible.has("symmetric"):
        related, unrelated = related | related.T, unrelated | unrelated.T
    if (related & unrelated).any():
        raise infeasible(problem)
    scores = np.where(related | unrelated, 0.0, c)
    require_moderate(scores)
    return Open(scores, related, unrelated, exact_sum(np.ascontiguousarray(c[related])))


def require_moderate(scores: Floats) -> None:
    """Refuse scores whose powers have exponents that are no integers of the kernels."""
    total = float(np.abs(scores).sum())
    if not total <= LARGEST_SUM:
        raise ProblemError(
            f"Probabilities are of log-odds that add up to at most {LARGEST_SUM:.3g} bits, got "
            f"{total:.3g}: all others would be 0 or 1 in any case; what is certain is evidence: "
            "write inf or -inf."
        )


def infeasible(problem: Problem) -> ProblemError:
    """Return the error that says that no relation is feasible, and why if that is easy to say."""
    conflict = find_conflict(problem)
    why = conflict.message if conflict is not None else "No relation is feasible."
    return ProblemError(f"{why} So none has a probability.")


def require_time(control: Control) -> None:
    """Stop where time is up: a sum over some of the relations says nothing."""
    if control.told_to_stop():
        raise KeyboardInterrupt
    if control.expired():
        raise SolverError(
            f"The sum over all relations was not complete after {control.time_limit:g} seconds; "
            "give more time (time_limit), or evidence that makes the problem smaller."
        )


def bit_sums(weights: Floats) -> Floats:
    """Sum numbers given by subset over the subsets that hold each element.

    Examples
    --------
    >>> bit_sums(np.array([1.0, 2.0, 4.0, 8.0])).tolist()
    [10.0, 12.0]
    """
    n = (len(weights) - 1).bit_length()
    sums = np.empty(n)
    for bit in range(n - 1, -1, -1):
        half = 1 << bit
        sums[bit] = weights[half:].sum()
        weights = weights[:half] + weights[half:]
    return sums


def pair_sums(sets: Floats) -> Floats:
    """Sum probabilities of sets over those that hold both elements of each pair; 1 for one.

    Parameters
    ----------
    sets : array of length 2^n
        By subset: the probability that it is one of the sets of a partition.
    """
    n = (len(sets) - 1).bit_length()
    pairs = np.ones((n, n))
    whole = sets.reshape((2,) * n)  # the last axis is element 0
    for a in range(n):
        pairs[a] = np.insert(bit_sums(np.take(whole, 1, axis=n - 1 - a).ravel()), a, 1.0)
    return np.asarray((pairs + pairs.T) / 2)
