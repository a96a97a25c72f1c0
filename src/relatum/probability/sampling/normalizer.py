"""log2 Z from draws at several temperatures, down to where one relation is frequent.

Where scores are multiplied by b, relations have probabilities 2^(b value) / Z(b). For large b one
of them, y, is frequent, and its frequency gives log2 Z(b) = b value(y) - log2 p(y). From there
to b = 1, ratios of neighbouring sums come from the draws of both (Bennett's acceptance ratio). This
needs no sum over all relations at the hot end, which evidence, caps and groups would not leave
known. Errors are those of leaving out one chain at a time, at all temperatures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats
from relatum.errors import SolverError
from relatum.probability.sampling.chains import Walks
from relatum.probability.sampling.drawn import Draws

FREQUENT = 0.25  # of the draws that are one relation, where it gets no colder
STEP = 2.0  # bits: the deviation of what two neighbouring temperatures disagree about
LEVELS = 40
TIED = 1e-9  # bits, per bit of the largest value


@dataclass(frozen=True)
class Gain:
    """log2 Z, more than the value of the start.

    Attributes
    ----------
    bits : float or None
        None if it could not be found.
    error : float
    levels : int
        Temperatures.
    why : str
        Why it could not be found.
    """

    bits: float | None
    error: float = 0.0
    levels: int = 1
    why: str = ""


def log2_sum(
    first: Walks, colder: Callable[[float, int], Walks], canonical: Callable[[Draws], NDArray[Any]]
) -> Gain:
    """Return the log2 of the sum of 2^(value - value of the start) over all relations.

    Parameters
    ----------
    first : Walks
        With the scores as they are.
    colder : callable (factor of the scores, number of the level) -> Walks
        Raises `SolverError` where time is up.
    canonical : callable (rows of draws) -> rows that are equal if the relations are
    """
    factors, values = [1.0], [first.values]
    walks = first
    while True:
        found = _best(walks, values[-1], canonical)
        if found[1].mean() >= FREQUENT:
            break
        deviation = float(values[-1].std())
        if len(factors) == LEVELS or deviation * factors[-1] <= 1e-6:
            return Gain(None, why="no relation became frequent when scores were multiplied")
        factors.append(factors[-1] + min(STEP / deviation, 4 * factors[-1]))
        try:
            walks = colder(factors[-1], len(factors))
        except SolverError:
            return Gain(None, why="there was no time for it")
        if not walks.complete:
            return Gain(None, why="there was no time for it")
        values.append(walks.values / factors[-1])
    chains = np.arange(first.values.shape[0])
    whole = _bits(factors, values, found, np.ones(len(chains), np.bool_))
    left_out = np.array([_bits(factors, values, found, chains != c) for c in chains])
    k = len(chains)
    error = float(np.sqrt((k - 1) / k * ((left_out - left_out.mean()) ** 2).sum()))
    return Gain(whole, error, len(factors))


def total(
    parts: list[tuple[float, Gain]], exact: Fraction, said: dict[str, Any]
) -> tuple[Fraction | None, float]:
    """Return log2 Z of all parts and its standard error; say in diagnostics what is to be said.

    Parameters
    ----------
    parts : list of (value of the start, gain)
        Of what was drawn.
    exact : Fraction
        log2 Z of everything else.
    said : dict
        Diagnostics.
    """
    said["temperatures"] = max((gain.levels for _, gain in parts), default=0)
    bits, error = exact, 0.0
    for start, gain in parts:
        if gain.bits is None:
            said["log2 Z"] = f"unknown: {gain.why}"
            return None, float("nan")
        bits += Fraction(start) + Fraction(gain.bits)
        error = float(np.hypot(error, gain.error))
    said["error of log2 Z"] = error
    return bits, error


def _best(
    walks: Walks, values: Floats, canonical: Callable[[Draws], NDArray[Any]]
) -> tuple[float, Flags]:
    """Return the value of the most frequent of the best relations, and which draws are it."""
    top = float(values.max())
    chain, row = np.nonzero(values >= top - TIED * max(1.0, float(np.abs(values).max())))
    rows = canonical(walks.draws[chain, row])
    _, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    own = which.ravel() == counts.argmax()
    is_it = np.zeros(values.shape, np.bool_)
    is_it[chain[own], row[own]] = True
    return top, is_it


def _bits(
    factors: list[float], values: list[Floats], best: tuple[float, Flags], kept: Flags
) -> float:
    """Return log2 Z from some of the chains."""
    top, is_it = best
    frequency = max(float(is_it[kept].mean()), 0.5 / is_it[kept].size)
    bits = factors[-1] * top - float(np.log2(frequency))
    for k in range(len(factors) - 1):
        step = factors[k + 1] - factors[k]
        bits -= _log2_ratio(step * values[k][kept].ravel(), step * values[k + 1][kept].ravel())
    return bits


def _log2_ratio(hot: Floats, cold: Floats) -> float:
    """Return the log2 of the ratio of two sums, cold to hot, by Bennett's acceptance ratio.

    Parameters
    ----------
    hot, cold : arrays
        Of draws of either, the log2 of the ratio of their weights.

    Examples
    --------
    >>> round(_log2_ratio(np.full(5, 2.0), np.full(7, 2.0)), 9)
    2.0
    """
    more = float(np.log2(len(hot) / len(cold)))

    def excess(r: float) -> float:
        # falls in r; bits beyond a thousand are as good as infinite
        up = np.exp2(np.clip(r + more - hot, -1000, 1000))
        down = np.exp2(np.clip(cold - r - more, -1000, 1000))
        return float((1 / (1 + up)).sum() - (1 / (1 + down)).sum())

    low = min(hot.min(), cold.min()) - 60.0 - abs(more)
    high = max(hot.max(), cold.max()) + 60.0 + abs(more)
    for _ in range(100):
        middle = (low + high) / 2
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
    return float((low + high) / 2)
